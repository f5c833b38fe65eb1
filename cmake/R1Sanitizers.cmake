# Instrumentation of every target of the project: -DR1_SANITIZE=address,undefined (or thread), -DR1_COVERAGE=ON.
# R1_INSTRUMENTED tells the tests that read object files that these are not the objects users get.
set(R1_INSTRUMENTED OFF)
if(R1_SANITIZE)
  set(R1_INSTRUMENTED ON)
  add_compile_options(-fsanitize=${R1_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${R1_SANITIZE})
endif()
if(R1_COVERAGE)
  set(R1_INSTRUMENTED ON)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# Tiers under a sanitizer: AddressSanitizer by calls and for the heap only, where all that kernels work on lies, and no
# UndefinedBehaviorSanitizer. The unrolled tiles with full instrumentation take GCC 12 many minutes an object
# (float_ops.cpp of avx512_vnni: 5 s plain, 31 s inline checks, over 200 s with both; 7 s so).
set(R1_ISA_SANITIZE_FLAGS "")
if(R1_SANITIZE MATCHES "undefined")
  list(APPEND R1_ISA_SANITIZE_FLAGS -fno-sanitize=undefined)
endif()
if(R1_SANITIZE MATCHES "address")
  list(APPEND R1_ISA_SANITIZE_FLAGS -fno-sanitize-address-use-after-scope)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND R1_ISA_SANITIZE_FLAGS "SHELL:--param asan-instrumentation-with-call-threshold=0"
                                      "SHELL:--param asan-stack=0")
  else()
    list(APPEND R1_ISA_SANITIZE_FLAGS "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0"
                                      "SHELL:-mllvm -asan-stack=0")
  endif()
endif()
