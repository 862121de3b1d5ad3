# stile_install_text(SOURCE DESTINATION): run at installation, when the prefix is known. Installs a
# file and replaces the paths of our programs below /usr by those below this prefix.
function(stile_install_text source destination)
  file(READ ${source} text)
  string(REPLACE /usr/sbin/stile ${CMAKE_INSTALL_PREFIX}/${stile_sbin}/stile text "${text}")
  string(REPLACE /usr/bin/stile ${CMAKE_INSTALL_PREFIX}/${stile_bin}/stile text "${text}")
  get_filename_component(name ${source} NAME)
  file(WRITE ${stile_staging}/${name} "${text}")
  file(INSTALL ${stile_staging}/${name} DESTINATION ${destination})
endfunction()
