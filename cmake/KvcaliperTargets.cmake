# SPDX-License-Identifier: Apache-2.0
# Settings every target of ours shares.
function(kvcaliper_target_settings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion>
    # g++ 12 reports overlaps inside std::string (GCC bug 105329) and uninitialised members inside
    # std::variant (105562 and its kin) that are not there.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict;-Wno-maybe-uninitialized>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${KVCALIPER_WARNINGS_AS_ERRORS}>>:-Werror>)
endfunction()

# kvcaliper_test(name sources... LIBRARIES libs...): one GoogleTest program, discovered at test time.
function(kvcaliper_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  kvcaliper_target_settings(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600)
endfunction()
