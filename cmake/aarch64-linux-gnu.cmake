# Toolchain: cross-compiles for 64-bit ARM on another Debian machine and runs what was built with qemu-user.
# `tools/install_packages.sh cross` provides the compiler, the emulator and the ARM libraries in build/aarch64-root.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(r1_root ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root)
cmake_path(NORMAL_PATH r1_root)
set(r1_libraries ${r1_root}/usr/lib/aarch64-linux-gnu:${r1_root}/lib/aarch64-linux-gnu)

# Packages, headers and libraries come from the ARM tree only, programs from this machine only.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${r1_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${r1_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${r1_root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${r1_root})
# Where the linker finds the libraries that libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${r1_libraries})

# ctest runs programs under this; -cpu max has every instruction that some tier wants.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:${r1_libraries})
