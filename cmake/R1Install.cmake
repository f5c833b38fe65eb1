# Installs the library, its public headers and a CMake package: find_package(r1), target r1::r1.
include(CMakePackageConfigHelpers)

install(TARGETS r1 EXPORT r1Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/r1 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT r1Targets NAMESPACE r1:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/r1)
configure_package_config_file(cmake/r1Config.cmake.in ${PROJECT_BINARY_DIR}/r1Config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/r1)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/r1ConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/r1Config.cmake ${PROJECT_BINARY_DIR}/r1ConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/r1)
