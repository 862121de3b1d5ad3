# What Debian wants of a package's files beside their being there: run by cpack on the staged tree.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
get_filename_component(here ${CMAKE_CURRENT_LIST_DIR} ABSOLUTE)
set(documents ${root}/usr/share/doc/stile)

# gzip -n: without a time, so that the same source makes the same package.
function(compress)
  execute_process(COMMAND gzip -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB_RECURSE pages ${root}/usr/share/man/*)
compress(${pages})

file(REMOVE ${documents}/LICENSE)
file(COPY ${here}/copyright DESTINATION ${documents})
configure_file(${here}/changelog ${documents}/changelog @ONLY)
compress(${documents}/changelog)

# Agents' cards are the operator's: nobody else writes there.
file(CHMOD ${root}/etc/stile/agents.d PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
