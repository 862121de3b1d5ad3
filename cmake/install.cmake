# What `cmake --install` puts where. Components: daemon, netns, doc.

# stile_install(COMPONENT DESTINATION target…): those of the programs that this build has.
function(stile_install component destination)
  foreach(program ${ARGN})
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION ${destination} COMPONENT ${component})
    endif()
  endforeach()
endfunction()

stile_install(daemon ${CMAKE_INSTALL_SBINDIR} stiled stile-squid)
stile_install(daemon ${CMAKE_INSTALL_BINDIR} stile)
stile_install(netns ${CMAKE_INSTALL_SBINDIR} stile-netns)

# Where the daemon looks, whatever the prefix. An operator's own file is never written over.
install(CODE "
  if(NOT EXISTS \"\$ENV{DESTDIR}/etc/stile/stile.toml\")
    file(INSTALL \"${PROJECT_SOURCE_DIR}/config/stile.toml\" DESTINATION /etc/stile)
  endif()" COMPONENT daemon)

install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY config/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc FILES_MATCHING PATTERN "*.md")
