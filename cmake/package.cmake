# The Debian package: `make package`, or cpack -G DEB in the build folder. One .deb with everything;
# what it depends on is read from the binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stile)
set(CPACK_PACKAGE_VENDOR "Stile")
set(CPACK_PACKAGE_CONTACT "The Stile authors <stile@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "egress-filtering forward proxy for untrusted agents")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/conffiles)

include(CPack)
