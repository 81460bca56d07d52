# The fixes of playbook/inject/ for compiled programs: one library that jobs are started with. Like
# the one of inject/ it lives in strangers' processes; it brings no C++ runtime along, because it
# stands in for functions of theirs.
file(GLOB native_fixes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/playbook/inject/*/fix.cpp)
set(preload ${CMAKE_CURRENT_SOURCE_DIR}/preload)
add_library(amdahl_fixes SHARED ${preload}/kit.cpp ${native_fixes})
set_target_properties(amdahl_fixes PROPERTIES CXX_VISIBILITY_PRESET hidden LINKER_LANGUAGE C
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/preload)
target_include_directories(amdahl_fixes PRIVATE ${preload})
target_compile_options(amdahl_fixes PRIVATE -fno-sanitize=all -fno-exceptions -fno-rtti
                       -fno-threadsafe-statics)
target_link_options(amdahl_fixes PRIVATE -fno-sanitize=all)
target_link_libraries(amdahl_fixes PRIVATE ${CMAKE_DL_LIBS})
amdahl_embed(amdahl_observe preload ${CMAKE_CURRENT_BINARY_DIR}/preload
             ${CMAKE_CURRENT_BINARY_DIR}/preload/libamdahl_fixes.so)
