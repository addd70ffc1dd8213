// SPDX-License-Identifier: Apache-2.0
// Steps of RG-LRU, RWKV and xLSTM, cut into tasks.
#include "core/error.h"
#include "kernels/backend_cpu_state.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <string>

namespace kvcaliper::kernels {
namespace {

void require(bool condition, const char* message) {
    if (!condition)
        throw Error(std::string("cpu backend: ") + message);
}

/// Calls `run` with a sequence and its channels first … last - 1, from many threads.
template <class View, class Run> void for_channels(const View& v, const Run& run) {
    require(v.sequences > 0 && v.width > 0 && v.count > 0, "empty step");
    constexpr std::int64_t channels = 256;
    const std::int64_t blocks = (v.width + channels - 1) / channels;
    parallel_for(v.sequences * blocks, [&](std::int64_t i) {
        const std::int64_t first = i % blocks * channels;
        run(i / blocks, first, std::min(v.width, first + channels));
    });
}

} // namespace

void run_state_step(const VectorKernels& kernels, const RglruView& v) {
    for_channels(v, [&](std::int64_t s, std::int64_t first, std::int64_t last) {
        kernels.rglru({v.x + s * v.count * v.width, v.gates + s * v.count * 2 * v.width, v.decay,
                       v.state + s * v.width, v.out + s * v.width, v.width, v.count, first, last});
    });
}

void run_state_step(const VectorKernels& kernels, const Rwkv4View& v) {
    for_channels(v, [&](std::int64_t s, std::int64_t first, std::int64_t last) {
        kernels.rwkv4({v.rows + s * v.count * 2 * v.width, v.decay, v.bonus,
                       v.state + s * 3 * v.width, v.out + s * v.width, v.width, v.count, first,
                       last});
    });
}

/// One task per head and sequence: its state stays in the caches of one core.
void run_state_step(const VectorKernels& kernels, const RwkvView& v) {
    require(v.sequences > 0 && v.heads > 0 && v.count > 0, "empty step");
    require(v.width > 0 && v.width <= max_key_width, "width must be between 1 and 384");
    const std::int64_t inner = v.heads * v.width;
    const std::int64_t token = rwkv_rows(v.bonus != nullptr) * inner;
    parallel_for(v.sequences * v.heads, [&](std::int64_t i) {
        const std::int64_t s = i / v.heads, channel = i % v.heads * v.width;
        RwkvTask task{};
        task.rows = v.rows + s * v.count * token + channel;
        task.bonus = v.bonus == nullptr ? nullptr : v.bonus + channel;
        task.state = v.state + i * v.width * v.width;
        task.out = v.out + i * v.width;
        task.width = v.width;
        task.count = v.count;
        task.token_stride = token;
        task.row_stride = inner;
        kernels.rwkv(task);
    });
}

void run_state_step(const VectorKernels& kernels, const XlstmView& v) {
    require(v.sequences > 0 && v.heads > 0 && v.value_width > 0 && v.count > 0, "empty step");
    require(v.key_width > 0 && v.key_width <= max_key_width, "key_width must be between 1 and 384");
    parallel_for(v.sequences * v.heads, [&](std::int64_t i) {
        const std::int64_t s = i / v.heads, head = i % v.heads, step = s * v.count;
        XlstmTask task{};
        task.q = v.q + step * v.stride + head * v.key_width;
        task.k = v.k + step * v.stride + head * v.key_width;
        task.v = v.v + step * v.stride + head * v.value_width;
        task.gates = v.gates + step * 2 * v.heads + head;
        task.state = v.state + i * xlstm_state(v.key_width, v.value_width);
        task.out = v.out + i * (v.value_width + 1);
        task.key_width = v.key_width;
        task.value_width = v.value_width;
        task.count = v.count;
        task.stride = v.stride;
        task.heads = v.heads;
        task.scale = v.scale;
        kernels.xlstm(task);
    });
}

} // namespace kvcaliper::kernels
