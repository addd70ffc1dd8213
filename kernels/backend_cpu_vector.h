// SPDX-License-Identifier: Apache-2.0
// What the vectorised loops of the native CPU backend take and do. backend_cpu_vector.cpp is
// compiled once per instruction set; each build fills one VectorKernels table in a namespace of its
// own, so that no inline function compiled for a newer processor can replace one of an older build.
#pragma once

#include "kernels/formats.h"

#include <cstdint>

namespace kvcaliper::kernels {

/// Rows are padded to this many floats in scratch memory: the widest vector of any build.
inline constexpr std::int64_t scratch_padding = 16;
/// Tokens scored together before their values are added.
inline constexpr std::int64_t token_block = 64;

/// Rows of a plane, one per slot: one after another, in pages, or packed with recent ones apart.
struct StoredRows {
    const void* first;
    std::int64_t width, bytes; ///< of a row
    Format format;
    const std::int32_t* pages = nullptr; ///< the page of each run of page_slots slots, or null
    std::int64_t page_slots = 0, page_bytes = 0;
    std::int64_t packed = 0;      ///< slots in front that are in a format with a residual
    bool per_channel = false;     ///< how these are packed
    const void* recent = nullptr; ///< f16 rows of the others, slot t in place t mod ring; or null
    std::int64_t ring = 0;
};

/// One factor of the score: keys[slot][width] against q[head][width].
struct KeyPart {
    const std::uint16_t* q;
    StoredRows keys;
};

/// Query heads that share their keys, against slots first … last - 1.
struct AttendTask {
    KeyPart parts[2];  ///< the second has width 0 except for a latent cache
    StoredRows values; ///< the first part's keys again for a latent cache
    std::int64_t heads;
    std::int64_t first, last;
    float scale;
    bool bf16;      ///< of q
    bool decoded;   ///< rows are no numbers like q: a block of them is made into floats first
    float* scratch; ///< queries, scores and, where decoded, token_block rows of each kind
    float* partial; ///< [heads][padded value_width], unnormalised
    float* maxima;  ///< [heads]
    float* sums;    ///< [heads]
};

/// One row on its way into a plane.
struct EncodeTask {
    const void* source;
    Element element; ///< of the source
    std::int64_t width;
    Format format; ///< not f16 or bf16
    void* out;
};

/// One group of tokens per channel, or one token, on its way into a packed plane; see PackView.
struct PackTask {
    const std::uint16_t* source; ///< [group or 1][width], token_step apart
    std::int64_t token_step, width;
    Format format;
    bool per_channel;
    unsigned char* out;
};
inline constexpr std::int64_t max_packed_group = 128;

/// Channels first … last - 1 of one sequence, count steps.
struct Mamba1Task {
    const std::uint16_t* x; ///< [count][inner]
    const float* dt;        ///< [count][inner]
    const float* b;         ///< [count][state_size]
    const float* c;
    const float* a;
    const float* d;
    const float* weight;
    const float* bias;
    std::uint16_t* history;
    float* state;
    float* out;
    std::int64_t inner, state_size, conv_kernel, count, first, last;
    bool bf16;
};

/// Channels first … last - 1 of one sequence, count steps of a convolution.
struct ConvTask {
    const void* x; ///< [count][channels], element
    const float* weight;
    const float* bias;
    void* history; ///< element
    float* out;    ///< [count][channels]
    std::int64_t channels, conv_kernel, count, first, last;
    bool silu;
    Element element;
};

/// One head of one sequence, count steps; everything points at this head's numbers.
struct Mamba2Task {
    const float* x;  ///< [count] rows of head_width, x_stride apart
    const float* b;  ///< [count] rows of state_size, bc_stride apart
    const float* c;  ///< as b
    const float* dt; ///< [count], dt_stride apart
    float a, d;
    float* state; ///< [head_width][state_size]
    float* out;   ///< [head_width]
    std::int64_t head_width, state_size, count, x_stride, bc_stride, dt_stride;
};

/// One value head of one sequence, count steps; everything points at this head's numbers.
struct DeltaTask {
    const float* q; ///< [count] rows of key_width, `stride` apart
    const float* k;
    const float* v;    ///< [count] rows of value_width, `stride` apart
    const float* gate; ///< [count] rows of gate_width, gate_stride apart
    const float* beta; ///< [count], beta_stride apart, or null
    float* state;      ///< [key_width][value_width]
    float* out;        ///< [value_width]
    std::int64_t key_width, value_width, count, stride, gate_width, gate_stride, beta_stride;
    bool log_gate, normalise;
    float scale;
};

/// Channels first … last - 1 of one sequence, count steps; as the view of the same name has them.
struct RglruTask {
    const float* x;
    const float* gates;
    const float* decay;
    float* state;
    float* out;
    std::int64_t width, count, first, last;
};
struct Rwkv4Task {
    const float* rows;
    const float* decay;
    const float* bonus;
    float* state;
    float* out;
    std::int64_t width, count, first, last;
};

/// One head of one sequence, count steps; rows, bonus, state and out point at this head's numbers.
struct RwkvTask {
    const float* rows;  ///< [count] tokens, token_stride apart, of rows row_stride apart
    const float* bonus; ///< [width], or null
    float* state;       ///< [width][width]
    float* out;         ///< [width]
    std::int64_t width, count, token_stride, row_stride;
};
struct XlstmTask {
    const float* q; ///< [count] rows of key_width, `stride` apart
    const float* k;
    const float* v;     ///< [count] rows of value_width, `stride` apart
    const float* gates; ///< [count] pairs, log f and `heads` further i, 2 · heads apart
    float* state;       ///< [key_width][value_width + 1], then m
    float* out;         ///< [value_width + 1]
    std::int64_t key_width, value_width, count, stride, heads;
    float scale;
};

/// Slots first … last - 1 of one sequence against its index queries.
struct IndexTask {
    const float* q; ///< [heads][keys.width]
    const float* weights;
    StoredRows keys;
    float* scores; ///< from slot 0 on
    std::int64_t heads, first, last;
};

/// Columns first … last - 1 of entry `entry` of one sequence, see PoolView.
struct PoolTask {
    const float* rows;
    float* out; ///< [width]
    std::int64_t slots, width, group, parts, entry, first, last;
};

/// Largest sizes that the state kernels keep on their stack.
inline constexpr std::int64_t max_state_size = 1024;
inline constexpr std::int64_t max_key_width = 384;
inline constexpr std::int64_t max_conv_kernel = 16;
inline constexpr std::int64_t max_index_width = 128;

struct VectorKernels {
    const char* name;
    void (*attend)(const AttendTask& task);
    void (*mamba1)(const Mamba1Task& task);
    void (*conv)(const ConvTask& task);
    void (*mamba2)(const Mamba2Task& task);
    void (*delta)(const DeltaTask& task);
    void (*rglru)(const RglruTask& task);
    void (*rwkv4)(const Rwkv4Task& task);
    void (*rwkv)(const RwkvTask& task);
    void (*xlstm)(const XlstmTask& task);
    void (*index)(const IndexTask& task);
    void (*pool)(const PoolTask& task);
    void (*encode)(const EncodeTask& task);
    void (*pack)(const PackTask& task);
    /// Rows first … first + count - 1 as floats, each padded to scratch_padding.
    void (*decode)(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out);
    /// exp of count values, for tests.
    void (*exponential)(const float* x, float* y, std::int64_t count);
    /// Reads everything once; the result only keeps the loads alive.
    std::uint64_t (*checksum)(const void* memory, std::int64_t bytes);
    /// generator.h's normal_halves; the key in two parts.
    void (*normal_halves)(std::uint32_t low, std::uint32_t high, std::int64_t first,
                          std::int64_t count, bool bf16, std::uint16_t* out);
};

namespace baseline {
extern const VectorKernels vector_kernels;
}
#if defined(KVCALIPER_CPU_X86_VARIANTS)
namespace x86_64_v3 {
extern const VectorKernels vector_kernels;
}
namespace x86_64_v4 {
extern const VectorKernels vector_kernels;
}
#endif

} // namespace kvcaliper::kernels
