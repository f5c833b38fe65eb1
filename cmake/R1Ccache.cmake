# Compiles through ccache when it is installed and works: where its folder cannot be written (a read-only home), it
# fails every compilation, so it is tried once.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  file(WRITE ${PROJECT_BINARY_DIR}/ccache_probe.cpp "int probe();\n")
  execute_process(COMMAND ${CCACHE_PROGRAM} ${CMAKE_CXX_COMPILER} -c ccache_probe.cpp -o ccache_probe.o
                  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} RESULT_VARIABLE ccache_failed
                  OUTPUT_QUIET ERROR_QUIET)
  if(ccache_failed)
    message(STATUS "ccache does not work here and is not used")
  else()
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
endif()
