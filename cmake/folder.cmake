# Where the checkout is, for tests that read files of it. A header that they include, and no definition of
# all tests, so that a clone elsewhere finds the objects of the others in ccache.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/places/source_dir.h
     CONTENT "#pragma once\n#define AMDAHL_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\"\n")

# Compiling several files as one takes a third of the time: headers are read and templates made once for
# all of them. After an edit its batch is compiled again, so that their size is what can be waited for; the
# program that people run is built once.
set(batch_bytes 45000)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(batch_bytes 130000)
endif()
set(test_batch_bytes 45000)
option(AMDAHL_BATCHES "compile the files of a folder in batches" ON)

# amdahl_batches(<out> <target> <bytes> <files...>): files that include those, up to so many bytes each.
# They are named as a folder's own includes are, so that a clone elsewhere finds the objects in ccache.
function(amdahl_batches out target bytes)
  if(NOT AMDAHL_BATCHES)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(made "")
  set(text "")
  set(size 0)
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR}/.. ${source})
    file(SIZE ${source} more)
    math(EXPR size "${size} + ${more}")
    string(APPEND text "#include \"${path}\"\n")
    if(size GREATER bytes)
      list(LENGTH made number)
      list(APPEND made ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cc)
      file(CONFIGURE OUTPUT ${target}_${number}.cc CONTENT "${text}" @ONLY)
      set(text "")
      set(size 0)
    endif()
  endforeach()
  if(text)
    list(LENGTH made number)
    list(APPEND made ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${target}_${number}.cc CONTENT "${text}" @ONLY)
  endif()
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# amdahl_folder([COLD] [MEASURES] [COST 60] DEPS base model ... THROUGH app ... LIBS sqlite3 ... ALONE a.cc ...): this
# folder as one library and one test.
# COLD: nothing in it runs often enough to be worth -O2.
# MEASURES: its tests run real processes against the clock, so that a busy machine can spoil them.
# COST: seconds that the test takes; ctest starts long tests first.
# ALONE: files with compile options of their own, or that must see no other file's headers.
# What tests share (testing.cc, x_testing.cc, testing/x.cc) is no part of the library: the tests of this folder
# and of those that name it link it.
#
# A folder sees its own headers and those of the folders it names, and no others: each folder has
# an include root in the build tree that holds nothing but a link to it, and roots are not passed on.
# THROUGH: folders of DEPS that answer in types of the folders below them. Those roots are passed on, so
# that the answers can be read; what this folder itself includes is held to DEPS by tests/tidy_test.cc.
function(amdahl_folder)
  cmake_parse_arguments(ARG "COLD;MEASURES" "COST" "DEPS;THROUGH;LIBS;ALONE" ${ARGN})
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(rooms ${CMAKE_BINARY_DIR}/rooms)
  file(MAKE_DIRECTORY ${rooms}/${name})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${rooms}/${name}/${name} SYMBOLIC)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(helpers ${sources})
  list(FILTER helpers INCLUDE REGEX "testing(\\.cc|/[a-z_]+\\.cc)$")
  list(FILTER sources EXCLUDE REGEX "testing(\\.cc|/[a-z_]+\\.cc)$")

  list(TRANSFORM ARG_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${ARG_ALONE})
  list(REMOVE_ITEM tests ${ARG_ALONE})
  set(tests_alone ${ARG_ALONE})
  list(FILTER tests_alone INCLUDE REGEX "_test\\.cc$")
  list(FILTER ARG_ALONE EXCLUDE REGEX "_test\\.cc$")
  amdahl_batches(sources amdahl_${name} ${batch_bytes} ${sources})
  add_library(amdahl_${name} STATIC ${sources} ${ARG_ALONE})
  set_target_properties(amdahl_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(amdahl_${name} PRIVATE ${ARG_LIBS} fmt::fmt)
  if(ARG_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(amdahl_${name} PRIVATE -O1)
  endif()
  set(targets amdahl_${name})
  if(helpers)
    add_library(amdahl_${name}_testing STATIC EXCLUDE_FROM_ALL ${helpers})
    target_link_libraries(amdahl_${name}_testing PRIVATE amdahl_${name} ${ARG_LIBS} fmt::fmt)
    list(APPEND targets amdahl_${name}_testing)
  endif()
  if(tests)
    amdahl_batches(tests ${name}_tests ${test_batch_bytes} ${tests})
    list(APPEND tests ${tests_alone})
    # The folder's objects come first: of a template that both instantiate, the linker takes the first copy. The
    # copies of the tests are compiled at -O0 and made the simulator's tests take 2.7 times the CPU time.
    add_executable(${name}_test $<TARGET_OBJECTS:amdahl_${name}> ${tests})
    target_link_libraries(${name}_test PRIVATE amdahl_${name} ${ARG_LIBS} fmt::fmt GTest::gtest_main)
    target_include_directories(${name}_test PRIVATE ${CMAKE_BINARY_DIR}/places)
    # In a batch a name of one test is global to the next.
    target_compile_options(${name}_test PRIVATE -Wno-shadow)
    amdahl_quick(${name}_test)
    add_test(NAME ${name} COMMAND ${name}_test)
    set(labels unit)
    if(ARG_MEASURES)
      list(APPEND labels measures)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}")
    if(ARG_COST)
      set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
    endif()
    foreach(room ${name} ${ARG_DEPS})
      if(TARGET amdahl_${room}_testing)
        target_link_libraries(${name}_test PRIVATE amdahl_${room}_testing)
      endif()
    endforeach()
    list(APPEND targets ${name}_test)
  endif()

  foreach(dep ${ARG_THROUGH})
    get_property(below GLOBAL PROPERTY AMDAHL_DEPS_${dep})
    list(APPEND ARG_DEPS ${below})
  endforeach()
  list(REMOVE_DUPLICATES ARG_DEPS)
  set_property(GLOBAL PROPERTY AMDAHL_DEPS_${name} ${ARG_DEPS})
  foreach(target ${targets})
    target_include_directories(${target} PRIVATE ${rooms}/${name})
    amdahl_use(${target} ${ARG_DEPS})
  endforeach()
endfunction()

# amdahl_use(target base model ...): lets a program outside the rooms see and link these.
function(amdahl_use target)
  foreach(dep ${ARGN})
    if(NOT TARGET amdahl_${dep})
      message(FATAL_ERROR "${target} may not use ${dep}: it comes later in the list of rooms")
    endif()
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/rooms/${dep})
    target_link_libraries(${target} PRIVATE amdahl_${dep})
  endforeach()
endfunction()

# amdahl_quick(target): compiles a test the quick way. Most of such a file is read once and run once, so
# that optimising it costs more than it saves, and half of its time went into reading GoogleTest.
# What it tests is optimised as ever; the preset release and the sanitizers' are left alone.
function(amdahl_quick target)
  if(AMDAHL_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    return()
  endif()
  set(flags -O0 -pthread)  # A header precompiled with other flags is not taken.
  target_compile_options(${target} PRIVATE ${flags})
  if(NOT TARGET gtest_header)
    file(WRITE ${CMAKE_BINARY_DIR}/gtest_header.cc "")
    add_library(gtest_header OBJECT ${CMAKE_BINARY_DIR}/gtest_header.cc)
    target_link_libraries(gtest_header PRIVATE GTest::gtest)
    target_compile_options(gtest_header PRIVATE ${flags})
    target_precompile_headers(gtest_header PRIVATE <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM gtest_header)
endfunction()
