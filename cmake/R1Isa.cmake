# One row a tier: name and private flags. A tier's objects are built with these flags and nothing else of
# the project is: dispatch (kernels/dispatch.cpp) decides at run time who may run them.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(R1_ISA_FLAGS_baseline -msse4.2 -mssse3)
  set(R1_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
  set(R1_ISA_FLAGS_avx_vnni -mavx2 -mfma -mf16c -mavxvnni)
  set(R1_ISA_FLAGS_avx512_vnni -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd
                               -mavx512vnni -mprefer-vector-width=512)
  set(R1_ISA_TIERS baseline avx2 avx_vnni avx512_vnni)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  # neon is this architecture's baseline tier. Every 64-bit ARM CPU has NEON, so it needs no flags.
  set(R1_ISA_FLAGS_neon "")
  set(R1_ISA_FLAGS_neon_dotprod -march=armv8.2-a+dotprod)
  set(R1_ISA_TIERS neon neon_dotprod)
else()
  message(FATAL_ERROR "r1 has kernels for x86-64 and 64-bit ARM; this is ${CMAKE_SYSTEM_PROCESSOR}")
endif()

# r1_isa_tier(name): builds kernels/isa/<name>/*.cpp as an object library. -O2 in every configuration,
# because unoptimised kernels are of no use; no contraction, so that a tier's bits are those of its source;
# xsimd's namespace is renamed, because its inline functions are weak symbols and two tiers share an arch.
# Kernels are noexcept; without exceptions their objects need nothing of the C++ runtime.
function(r1_isa_tier name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/isa/${name}/*.cpp)
  add_library(r1_isa_${name} OBJECT ${sources})
  target_include_directories(r1_isa_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(r1_isa_${name} PRIVATE xsimd)
  target_compile_options(r1_isa_${name} PRIVATE -O2 -ffp-contract=off -fno-lto -fno-exceptions
                                                ${R1_ISA_FLAGS_${name}} ${R1_ISA_SANITIZE_FLAGS})
  target_compile_definitions(r1_isa_${name} PRIVATE xsimd=xsimd_${name})
  r1_warnings(r1_isa_${name})
  # GCC 12's intrinsics pass undefined vectors on purpose, and it warns of them where they are inlined.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(r1_isa_${name} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endfunction()
