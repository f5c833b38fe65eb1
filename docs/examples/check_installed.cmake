# Installs the build into an empty folder and builds and runs the example on it, as a user of the library would.
# Variables: R1_BUILD (a built tree), WORK (a scratch folder), SOURCE (docs/examples), MODEL, CXX, GENERATOR.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${R1_BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/installed -B ${WORK}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/chat ${MODEL})
if(NOT output MATCHES "23")
  message(FATAL_ERROR "expected 23 chickens, got: ${output}")
endif()
