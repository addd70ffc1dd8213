# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` in a release build makes one .deb of all that was built (./dev package).
set(CPACK_PACKAGE_NAME kvcaliper)
set(CPACK_PACKAGE_VENDOR kvcaliper)
set(CPACK_PACKAGE_CONTACT "kvcaliper developers <kvcaliper@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compute and measure the KV cache of language models")
set(CPACK_PACKAGE_DESCRIPTION
"kvcaliper tells to the byte what a language model keeps in memory while it
generates text: per token, per sequence, in the engine that serves it and on
the GPU it runs on. It holds published figures against its own and measures
them with real decode steps. Desktop application, command line and verifier.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A GPU's driver is found at run time and named by nobody; a font is what Qt draws charts with.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core | fonts-liberation2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "fonts-nanum")

# What Debian's policy asks of every package: its licences, its changes, compressed manual pages.
set(documents ${PROJECT_BINARY_DIR}/package)
configure_file(${PROJECT_SOURCE_DIR}/resources/debian/changelog.in ${documents}/changelog @ONLY)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/resources/man/*.1)
if(NOT TARGET kvcaliper-gui)
  list(FILTER pages EXCLUDE REGEX "kvcaliper-gui")
endif()
find_program(KVCALIPER_GZIP gzip)
if(KVCALIPER_GZIP)
  execute_process(COMMAND ${KVCALIPER_GZIP} -9nf ${documents}/changelog)
  install(FILES ${documents}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
  foreach(page IN LISTS pages)
    get_filename_component(name ${page} NAME)
    configure_file(${page} ${documents}/${name} COPYONLY)
    execute_process(COMMAND ${KVCALIPER_GZIP} -9nf ${documents}/${name})
    install(FILES ${documents}/${name}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endforeach()
else()
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES resources/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

include(CPack)
