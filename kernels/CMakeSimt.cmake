# SPDX-License-Identifier: Apache-2.0
# Targets of the CUDA kernels, included by kernels/CMakeLists.txt:
#   kvcaliper_launch_plan  what a step is launched as, without a device
#   kvcaliper_cuda         make_cuda_backend(): the real one where nvcc is found, else a stub
#   kvcaliper_emulated     the same kernels on the emulator, for tests only
# Sets KVCALIPER_HAVE_CUDA here and in the parent scope.

add_library(kvcaliper_launch_plan STATIC attention_core.cpp launch_plan.cpp launch_plan_index.cpp
  launch_plan_recurrent.cpp
  launch_plan_placed.cpp
  launch_plan_state.cpp)
target_include_directories(kvcaliper_launch_plan PRIVATE ${PROJECT_SOURCE_DIR})
kvcaliper_target_settings(kvcaliper_launch_plan)

# Looks beside PATH and CUDACXX in the usual place, and in the toolkit folder that `./dev cuda` fills.
macro(kvcaliper_find_cuda)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    file(GLOB kvcaliper_toolkits
      ${PROJECT_SOURCE_DIR}/.toolkit/bin
      ${PROJECT_SOURCE_DIR}/.toolkit/*/bin
      ${PROJECT_SOURCE_DIR}/.toolkit/*/*/bin
      ${PROJECT_SOURCE_DIR}/.toolkit/lib/python*/site-packages/nvidia/*/bin)
    find_program(KVCALIPER_NVCC nvcc PATHS ${kvcaliper_toolkits} /usr/local/cuda/bin)
    mark_as_advanced(KVCALIPER_NVCC)
    if(KVCALIPER_NVCC)
      set(ENV{CUDACXX} ${KVCALIPER_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
endmacro()

set(KVCALIPER_HAVE_CUDA OFF)
if(NOT KVCALIPER_CUDA STREQUAL "OFF")
  kvcaliper_find_cuda()
  if(CMAKE_CUDA_COMPILER)
    set(KVCALIPER_HAVE_CUDA ON)
  elseif(KVCALIPER_CUDA STREQUAL "ON")
    message(FATAL_ERROR "KVCALIPER_CUDA is ON, but no CUDA compiler was found (set CUDACXX)")
  else()
    message(STATUS "No CUDA compiler found: kvcaliper is built without its CUDA backend")
  endif()
endif()
set(KVCALIPER_HAVE_CUDA ${KVCALIPER_HAVE_CUDA} PARENT_SCOPE)

if(KVCALIPER_HAVE_CUDA)
  # Before enable_language, which would otherwise choose a default and test the compiler with it.
  set(CMAKE_CUDA_ARCHITECTURES ${KVCALIPER_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  add_library(kvcaliper_cuda STATIC backend_cuda.cu)
  set_target_properties(kvcaliper_cuda PROPERTIES
    CUDA_RUNTIME_LIBRARY Static
    CUDA_STANDARD_REQUIRED OFF)
  # CMake 3.25 knows no C++20 for nvcc, so the dialect is an option. A spilled register is a build
  # error: it would cost speed without any other sign. pedantic is left out: nvcc's own generated
  # code violates it.
  target_compile_options(kvcaliper_cuda PRIVATE
    -std=c++20 -lineinfo --compress-mode=size
    "SHELL:-Xptxas -warn-spills" "SHELL:-Xptxas -Werror"
    "SHELL:-Xcompiler -Wall,-Wextra,-Wshadow,-Wconversion,-Wsign-conversion"
    $<$<BOOL:${KVCALIPER_WARNINGS_AS_ERRORS}>:SHELL:-Werror all-warnings>)
  target_link_libraries(kvcaliper_cuda PRIVATE CUDA::cudart_static)
else()
  add_library(kvcaliper_cuda STATIC backend_cuda_stub.cpp)
  kvcaliper_target_settings(kvcaliper_cuda)
endif()
target_include_directories(kvcaliper_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(kvcaliper_cuda PRIVATE kvcaliper_launch_plan)

if(KVCALIPER_TESTS)
  set(kvcaliper_emulator_sources
    simt/crew.cpp simt/emulator.cpp simt/fiber.cpp simt/race_watch.cpp simt/shared_arena.cpp
    simt/warp_matrix_emulated.cpp simt/write_log.cpp)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    # It watches the kernels; the emulator tells it which thread runs (simt/race_watch.h).
    set_source_files_properties(${kvcaliper_emulator_sources} PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=thread COMPILE_DEFINITIONS KVCALIPER_TSAN)
  endif()
  add_library(kvcaliper_emulated STATIC
    backend_emulated.cpp ${kvcaliper_emulator_sources})
  kvcaliper_target_settings(kvcaliper_emulated)
  # Quants must come out the same everywhere, so no product may melt into a sum.
  target_compile_options(kvcaliper_emulated PRIVATE -ffp-contract=off)
  target_include_directories(kvcaliper_emulated PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(kvcaliper_emulated PRIVATE kvcaliper_launch_plan)
endif()
