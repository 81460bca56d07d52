# A library that jobs are started with when they are profiled: OpenCL's calls and NVTX ranges. It
# lives in strangers' processes, so that it brings its own runtime along, shows nothing but the
# names it stands in for, and is never built with a sanitizer.
set(inject ${CMAKE_CURRENT_SOURCE_DIR}/inject)
add_library(amdahl_inject SHARED ${inject}/recorder.cpp ${inject}/queues.cpp ${inject}/opencl.cpp
            ${inject}/nvtx.cpp ${inject}/python_path.cpp)
set_target_properties(amdahl_inject PROPERTIES CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/inject)
target_compile_definitions(amdahl_inject PRIVATE CL_TARGET_OPENCL_VERSION=220
                           CL_USE_DEPRECATED_OPENCL_1_2_APIS)
target_compile_options(amdahl_inject PRIVATE -fno-sanitize=all)
target_link_options(amdahl_inject PRIVATE -fno-sanitize=all -static-libstdc++ -static-libgcc
                    LINKER:--exclude-libs,ALL)
target_link_libraries(amdahl_inject PRIVATE ${CMAKE_DL_LIBS})
amdahl_embed(amdahl_observe inject ${CMAKE_CURRENT_BINARY_DIR}/inject
             ${CMAKE_CURRENT_BINARY_DIR}/inject/libamdahl_inject.so)

# Programs that are watched in the tests: one has a device, the other marks ranges.
find_package(OpenCL REQUIRED)
add_executable(inject_device_job ${inject}/testdata/device_job.cpp)
target_link_libraries(inject_device_job PRIVATE OpenCL::OpenCL)
add_executable(inject_range_job ${inject}/testdata/range_job.cpp)
target_link_libraries(inject_range_job PRIVATE ${CMAKE_DL_LIBS})
if(TARGET observe_test)
  add_dependencies(observe_test inject_device_job inject_range_job)
  target_compile_definitions(observe_test PRIVATE DEVICE_JOB="$<TARGET_FILE:inject_device_job>"
                             RANGE_JOB="$<TARGET_FILE:inject_range_job>")
endif()
