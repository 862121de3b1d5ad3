# What `cmake --install` installs, and where. Components: daemon, netns, doc.

# stile_install(COMPONENT DESTINATION target…): installs the programs that exist in this build.
function(stile_install component destination)
  foreach(program ${ARGN})
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION ${destination} COMPONENT ${component})
    endif()
  endforeach()
endfunction()

stile_install(daemon ${CMAKE_INSTALL_SBINDIR} stiled stile-fleet stile-squid stile-web)
stile_install(daemon ${CMAKE_INSTALL_BINDIR} stile)
stile_install(netns ${CMAKE_INSTALL_SBINDIR} stile-netns stile-spawner)

# stile_install_files(COMPONENT DESTINATION pattern…): files of the source tree, by pattern.
function(stile_install_files component destination)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  install(FILES ${files} DESTINATION ${destination} COMPONENT ${component})
endfunction()

install(CODE "
  set(stile_bin ${CMAKE_INSTALL_BINDIR})
  set(stile_sbin ${CMAKE_INSTALL_SBINDIR})
  set(stile_staging ${PROJECT_BINARY_DIR}/installed)
  include(${PROJECT_SOURCE_DIR}/cmake/install_text.cmake)" COMPONENT daemon)

stile_install_files(daemon ${CMAKE_INSTALL_DATADIR}/stile/profiles profiles/*.toml)
stile_install_files(daemon ${CMAKE_INSTALL_DATADIR}/stile/capabilities capabilities/*.toml)

# systemd always searches below lib, even if the libraries are elsewhere.
file(GLOB units CONFIGURE_DEPENDS systemd/*.service systemd/*.socket)
foreach(unit ${units})
  install(CODE "stile_install_text(${unit} \${CMAKE_INSTALL_PREFIX}/lib/systemd/system)" COMPONENT daemon)
endforeach()
stile_install_files(daemon lib/sysusers.d systemd/sysusers.d/*.conf)
stile_install_files(daemon lib/tmpfiles.d systemd/tmpfiles.d/*.conf)
stile_install_files(daemon lib/sysctl.d systemd/sysctl.d/*.conf)

# The daemon reads this path with any prefix. An existing file of the operator is never overwritten.
function(stile_install_config source destination)
  get_filename_component(name ${source} NAME)
  install(CODE "
    if(NOT EXISTS \"\$ENV{DESTDIR}${destination}/${name}\")
      stile_install_text(${PROJECT_SOURCE_DIR}/${source} ${destination})
    endif()" COMPONENT daemon)
endfunction()

stile_install_config(config/stile.toml /etc/stile)
stile_install_config(config/spawner.toml /etc/stile)
if(EXISTS ${PROJECT_SOURCE_DIR}/systemd/logrotate.d/stile)
  stile_install_config(systemd/logrotate.d/stile /etc/logrotate.d)
endif()
install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}/etc/stile/agents.d\")" COMPONENT daemon)
install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}/etc/stile/capabilities.d\")" COMPONENT daemon)

# Each shell has its own directory. bash and fish look for a file with the name of the program.
set(completions ${CMAKE_INSTALL_DATADIR})
foreach(program stile stiled stile-fleet stile-netns stile-spawner stile-web)
  install(FILES deploy/completions/stile.bash RENAME ${program}
    DESTINATION ${completions}/bash-completion/completions COMPONENT daemon)
  install(FILES deploy/completions/stile.fish RENAME ${program}.fish
    DESTINATION ${completions}/fish/vendor_completions.d COMPONENT daemon)
endforeach()
# zsh of Debian looks into one below /usr and into the other below /usr/local.
foreach(directory vendor-completions site-functions)
  install(FILES deploy/completions/_stile DESTINATION ${completions}/zsh/${directory} COMPONENT daemon)
endforeach()

foreach(section 1 5 8)
  stile_install_files(doc ${CMAKE_INSTALL_MANDIR}/man${section} man/*.${section})
endforeach()
# Same layout as in the source, so that the links between the pages work.
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY config/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/config COMPONENT doc)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
  FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.svg" PATTERN "*.png")
