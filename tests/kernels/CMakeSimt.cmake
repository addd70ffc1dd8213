# SPDX-License-Identifier: Apache-2.0
# Tests of the CUDA kernels, included by tests/kernels/CMakeLists.txt.
set(simt_support simt_reference.cpp simt_steps.cpp)

kvcaliper_test(launch_plan_test launch_plan_test.cpp
  LIBRARIES kvcaliper_launch_plan GTest::gtest_main)
kvcaliper_test(simt_emulator_test simt_emulator_test.cpp
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(simt_planted_test simt_planted_test.cpp
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
  target_compile_definitions(simt_planted_test PRIVATE KVCALIPER_UBSAN)
endif()
kvcaliper_test(simt_orders_test simt_orders_test.cpp ${simt_support}
  LIBRARIES kvcaliper_emulated kvcaliper_launch_plan GTest::gtest_main)
kvcaliper_test(simt_offsets_test simt_offsets_test.cpp ${simt_support}
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(simt_kernels_test simt_kernels_test.cpp simt_emulated_under_test.cpp ${simt_support}
  LIBRARIES kvcaliper_emulated GTest::gtest_main)

kvcaliper_test(index_orders_test index_orders_test.cpp ${simt_support}
  LIBRARIES kvcaliper_emulated kvcaliper_launch_plan GTest::gtest_main)

# The tensor cores' kernel, its wrappers apart.
set(matrix_support ${simt_support} matrix_steps.cpp format_rows.cpp)
kvcaliper_test(warp_matrix_test warp_matrix_test.cpp
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(attention_core_test attention_core_test.cpp
  LIBRARIES kvcaliper_launch_plan GTest::gtest_main)
kvcaliper_test(matrix_kernels_test
  matrix_kernels_test.cpp matrix_emulated_under_test.cpp ${matrix_support}
  LIBRARIES kvcaliper_emulated kvcaliper::kernels kvcaliper_cuda kvcaliper::core GTest::gtest_main)
kvcaliper_test(matrix_orders_test matrix_orders_test.cpp ${matrix_support}
  LIBRARIES kvcaliper_emulated kvcaliper::kernels kvcaliper_cuda kvcaliper::core GTest::gtest_main)

# The state layers' steps: on the emulator, and on every build of the CPU backend's loops.
set(state_support ${simt_support} state_steps.cpp)
kvcaliper_test(state_kernels_test
  state_kernels_test.cpp simt_emulated_under_test.cpp ${state_support}
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(cpu_state_kernels_test state_kernels_test.cpp ${state_support}
  LIBRARIES kvcaliper::kernels kvcaliper::core GTest::gtest_main)
target_compile_definitions(cpu_state_kernels_test PRIVATE
  KVCALIPER_TEST_CPU SimtStateKernels=CpuStateKernels)
kvcaliper_test(state_offsets_test state_offsets_test.cpp ${state_support}
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(state_orders_test state_orders_test.cpp ${state_support}
  LIBRARIES kvcaliper_emulated kvcaliper_launch_plan GTest::gtest_main)

# The same of RG-LRU, RWKV and xLSTM.
set(recurrent_support ${state_support} recurrent_steps.cpp)
kvcaliper_test(recurrent_kernels_test
  recurrent_kernels_test.cpp simt_emulated_under_test.cpp ${recurrent_support}
  LIBRARIES kvcaliper_emulated GTest::gtest_main)
kvcaliper_test(cpu_recurrent_kernels_test recurrent_kernels_test.cpp ${recurrent_support}
  LIBRARIES kvcaliper::kernels kvcaliper::core GTest::gtest_main)
target_compile_definitions(cpu_recurrent_kernels_test PRIVATE
  KVCALIPER_TEST_CPU SimtRecurrentKernels=CpuRecurrentKernels)
kvcaliper_test(recurrent_orders_test recurrent_orders_test.cpp ${recurrent_support}
  LIBRARIES kvcaliper_emulated kvcaliper_launch_plan GTest::gtest_main)
kvcaliper_test(recurrent_golden_test recurrent_golden_test.cpp ${recurrent_support}
  LIBRARIES kvcaliper_emulated kvcaliper::kernels kvcaliper::core GTest::gtest_main)

# Every backend over one list of shapes.
kvcaliper_test(shape_sweep_test
  shape_sweep_test.cpp shapes.cpp format_rows.cpp ${recurrent_support}
  LIBRARIES kvcaliper::kernels kvcaliper_cuda kvcaliper_emulated kvcaliper::core GTest::gtest_main)
target_compile_definitions(shape_sweep_test PRIVATE KVCALIPER_HAVE_EMULATED)

# The same tests on a GPU, under a name of their own; skipped with the reason where there is none.
kvcaliper_test(cuda_kernels_test simt_kernels_test.cpp simt_cuda_under_test.cpp ${simt_support}
  LIBRARIES kvcaliper_cuda GTest::gtest_main)
target_compile_definitions(cuda_kernels_test PRIVATE SimtKernels=CudaKernels)
kvcaliper_test(cuda_matrix_kernels_test
  matrix_kernels_test.cpp matrix_cuda_under_test.cpp ${matrix_support}
  LIBRARIES kvcaliper::kernels kvcaliper_cuda kvcaliper::core GTest::gtest_main)
target_compile_definitions(cuda_matrix_kernels_test PRIVATE MatrixKernels=CudaMatrixKernels)
kvcaliper_test(cuda_state_kernels_test
  state_kernels_test.cpp simt_cuda_under_test.cpp ${state_support}
  LIBRARIES kvcaliper_cuda GTest::gtest_main)
target_compile_definitions(cuda_state_kernels_test PRIVATE SimtStateKernels=CudaStateKernels)
kvcaliper_test(cuda_recurrent_kernels_test
  recurrent_kernels_test.cpp simt_cuda_under_test.cpp ${recurrent_support}
  LIBRARIES kvcaliper_cuda GTest::gtest_main)
target_compile_definitions(cuda_recurrent_kernels_test PRIVATE
  SimtRecurrentKernels=CudaRecurrentKernels)
kvcaliper_test(cuda_backend_test cuda_backend_test.cpp
  LIBRARIES kvcaliper_cuda kvcaliper_emulated GTest::gtest_main)

if(KVCALIPER_HAVE_CUDA)
  target_compile_definitions(cuda_backend_test PRIVATE KVCALIPER_HAVE_CUDA)
  kvcaliper_test(fat_binary_test fat_binary_test.cpp LIBRARIES kvcaliper_cuda GTest::gtest_main)
  string(REPLACE ";" "," fat_binary_targets "${KVCALIPER_CUDA_ARCHITECTURES}")
  target_compile_definitions(fat_binary_test PRIVATE
    KVCALIPER_CUDA_ARCHIVE="$<TARGET_FILE:kvcaliper_cuda>"
    KVCALIPER_CUDA_TARGETS="${fat_binary_targets}")
endif()
