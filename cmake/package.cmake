# The Debian package: `make package`, or cpack -G DEB in the build folder. One .deb with everything;
# its dependencies are read from the binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stile)
set(CPACK_PACKAGE_VENDOR "Stile")
set(CPACK_PACKAGE_CONTACT "The Stile authors <authors@stile.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "egress-filtering forward proxy for untrusted agents")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Stile decides, for each AI agent on a machine, what it may reach, and logs
every decision before a byte moves. It refuses by default. It opens no TLS
unless the operator asks for it, host by host.

This package holds the daemon (stiled), the command for people (stile), the
fence that leaves it as an agent's only way out (stile-netns), the service
that starts workers behind it (stile-spawner), a page to look at agents, answer
and stop them (stile-web, off by default), the client of a fleet of hosts
(stile-fleet, off by default) and a front that reads the
configuration of squid (stile-squid).")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The maintainer scripts create users and folders with systemd's tools, or their standalone
# versions.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "prometheus, logrotate")

# Files that an upgrade must not overwrite: everything installed below /etc.
set(conffiles /etc/stile/stile.toml /etc/stile/spawner.toml)
if(EXISTS ${PROJECT_SOURCE_DIR}/systemd/logrotate.d/stile)
  list(APPEND conffiles /etc/logrotate.d/stile)
endif()
list(JOIN conffiles "\n" conffiles)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/debian/conffiles CONTENT "${conffiles}\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/debian/conffiles
  ${PROJECT_SOURCE_DIR}/cmake/debian/postinst
  ${PROJECT_SOURCE_DIR}/cmake/debian/prerm
  ${PROJECT_SOURCE_DIR}/cmake/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/arrange.cmake)

include(CPack)
