# Warnings for the project's own targets: r1_warnings(target). Third-party headers come from system folders and are
# not reported. GCC and Clang get the same list, so that code that passes one seldom fails the other.
# -Wextra's missing-field-initializers is off: GCC reports designated initialisers that leave a member out, which is
# how option structs are meant to be filled.
function(r1_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                           -Wcast-qual -Wunused -Woverloaded-virtual -Wvla
                                           -Wno-missing-field-initializers)
  # GCC 12 and 13 report a false -Wrestrict inside std::string's operator+ at -O2 and above (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(R1_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
