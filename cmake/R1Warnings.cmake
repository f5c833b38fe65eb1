# Warnings for the project's own targets: r1_warnings(target).
function(r1_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                           -Wcast-qual -Wunused -Woverloaded-virtual -Wvla)
  if(R1_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
