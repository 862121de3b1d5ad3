# Adjusts the package's files to Debian's rules: run by cpack on the staged tree.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
get_filename_component(here ${CMAKE_CURRENT_LIST_DIR} ABSOLUTE)
set(documents ${root}/usr/share/doc/stile)

# gzip -n: without a time stamp, so that the same source gives the same package.
function(compress)
  execute_process(COMMAND gzip -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB_RECURSE pages ${root}/usr/share/man/*)
compress(${pages})

file(REMOVE ${documents}/LICENSE)
file(COPY ${here}/copyright DESTINATION ${documents})
configure_file(${here}/changelog ${documents}/changelog @ONLY)
compress(${documents}/changelog)

# Agents' cards belong to the operator: only the owner can write there.
file(CHMOD ${root}/etc/stile/agents.d PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
