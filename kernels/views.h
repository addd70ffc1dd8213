// SPDX-License-Identifier: Apache-2.0
// What a kernel reads and writes. Plain structs, C++17, no dependency: nvcc, the emulator and the
// native CPU backend all take them. Every offset computed from them is 64-bit.
#pragma once

#include "kernels/formats.h"

#include <cstdint>

namespace kvcaliper::kernels {

/// Writes tokens first … first + count - 1 into one plane; position p goes to slot p mod slots, so
/// a plane with slots >= tokens is contiguous and a smaller one is a sliding-window ring. Each row
/// is stored in the plane's format on its own.
struct AppendView {
    const void* source; ///< [sequences][count][rows][width]
    void* plane;        ///< [sequences][rows][slots][width]
    std::int64_t sequences, rows, width, slots, first, count;
    Element element;                    ///< of the source
    Format format = format_of(element); ///< of the plane
};

/// One decode step of attention for one layer: softmax(scale · q Kᵀ) V over `valid` slots. The
/// order of slots does not matter. heads is a multiple of kv_heads; query head h reads kv head h /
/// (heads / kv_heads). The scale multiplies the f32 score, never q.
struct AttentionView {
    const void* q; ///< [sequences][heads][key_width]
    const void* k; ///< [sequences][kv_heads][slots][key_width]
    const void* v; ///< [sequences][kv_heads][slots][value_width]
    float* out;    ///< [sequences][heads][value_width]
    std::int64_t sequences, heads, kv_heads, key_width, value_width, slots, valid;
    float scale;
    Element element; ///< f16 or bf16, of q
    Format key_format = format_of(element);
    Format value_format = format_of(element);
    /// [heads] or null: a logit of every head that takes part in the softmax and adds no value.
    const float* sinks = nullptr;
};

/// The same over pages: slot t of a sequence lies at place t mod page of page table[t / page]. The
/// table may be longer than the sequence and name pages in any order; what it names behind `valid`
/// is not looked at. k is [pages][kv_heads][page][key_width], v likewise; step.slots is table_pages
/// · page.
struct PagedAttentionView {
    AttentionView step;
    const std::int32_t* table; ///< [sequences][table_pages]
    std::int64_t table_pages;  ///< per sequence
    std::int64_t page;         ///< tokens; a multiple of 4
};

/// Packs f16 rows of tokens first … first + count - 1 in a format with a residual, wherever they
/// lie: channel c of row r of token first + i of sequence s is source[s · sequence_step + i ·
/// token_step + r · row_step + c]. Per channel (keys), first and count are multiples of the group,
/// and the plane is [sequences][rows][slots / group] of: f16 d[width], f16 m[width],
/// words[words][width]. Per token (values), the width is one, and it is
/// [sequences][rows][slots][width / group] of: f16 d, f16 m, words[words].
struct PackView {
    const void* source;
    void* plane;
    std::int64_t sequences, rows, width, slots, first, count;
    std::int64_t sequence_step, token_step, row_step;
    Format format;
    bool per_channel;
};

/// Attention over planes that keep recent tokens apart, as packed_keys() and packed_values() have
/// them at step.valid tokens: step.k and step.v are packed planes of key_slots and value_slots;
/// token t that is not packed lies in slot t mod residual of the f16 planes recent_k and recent_v.
/// A side whose format has no residual is one plane of step.slots as in AttentionView.
struct ResidualAttentionView {
    AttentionView step;
    const void* recent_k; ///< [sequences][kv_heads][recent_key_slots][key_width]
    const void* recent_v; ///< [sequences][kv_heads][recent_value_slots][value_width]
    std::int64_t key_slots, recent_key_slots, value_slots, recent_value_slots;
};

/// One decode step of multi-head latent attention on the latent itself (absorbed form):
/// score = scale · (q_latent · latent + q_rope · rope), out = softmax(score) · latent.
struct LatentView {
    const void* q_latent; ///< [sequences][heads][rank]
    const void* q_rope;   ///< [sequences][heads][rope_width]
    const void* latent;   ///< [sequences][slots][rank]
    const void* rope;     ///< [sequences][slots][rope_width]
    float* out;           ///< [sequences][heads][rank]
    std::int64_t sequences, heads, rank, rope_width, slots, valid;
    float scale;
    Element element;                    ///< f16 or bf16, of the queries
    Format format = format_of(element); ///< of latent and rope
    /// [heads] or null, as in AttentionView.
    const float* sinks = nullptr;
};

/// Scores of an indexer, one per slot: Σ_h weights[h] · max(0, q_h · key). Scales that all heads
/// share belong to the weights.
struct IndexScoreView {
    const void* q;        ///< [sequences][heads][width]
    const float* weights; ///< [sequences][heads]
    const void* keys;     ///< [sequences][slots][width]
    float* scores;        ///< [sequences][stride], `valid` of which are written
    std::int64_t sequences, heads, width, slots, valid, stride;
    Element element;                    ///< f16 or bf16, of the queries
    Format format = format_of(element); ///< of the keys
};

/// The slots of the `count` greatest of `valid` scores, in ascending order; of equal scores those
/// of the lowest slots.
struct SelectView {
    const float* scores; ///< [sequences][stride]
    std::int32_t* table; ///< [sequences][count]
    std::int64_t sequences, valid, stride, count;
};

/// Copies `count` rows of every plane, stored as they are, to slots out_first … of other planes:
/// those that the table names, or without one those of slots 0 … count - 1.
struct GatherView {
    const void* planes;        ///< [sequences][rows][slots], row_bytes each
    const std::int32_t* table; ///< [sequences][count] or null
    void* out;                 ///< [sequences][rows][out_slots], row_bytes each
    std::int64_t sequences, rows, slots, row_bytes, count, out_slots, out_first;
};

/// Compressed entries first … first + count - 1. Entry g is a sum over tokens per column, weighted
/// by the softmax of their gates in that column: with one part over the tokens of group g; with two
/// over those of group g - 1, by their first part, and of group g, by their second.
struct PoolView {
    const float* rows; ///< [sequences][slots][2][parts][width]: values, then gates; a ring
    void* out;         ///< [sequences][count][width], element, rounded to nearest
    std::int64_t sequences, slots, width, group, parts, first, count;
    Element element; ///< f16 or bf16
};

/// `count` decode steps of Mamba-1 for one layer, in order:
///   u = silu(bias + Σ_{j<K-1} w[j]·history[j] + w[K-1]·x);  history shifts left, x enters last
///   state = exp(dt · a) · state + dt · u · b;  y = Σ_n state · c + d · u
struct Mamba1View {
    const void* x;       ///< [sequences][count][inner], element
    const float* dt;     ///< [sequences][count][inner], positive (softplus already applied)
    const float* b;      ///< [sequences][count][state_size]
    const float* c;      ///< [sequences][count][state_size]
    const float* a;      ///< [inner][state_size], negative
    const float* d;      ///< [inner]
    const float* weight; ///< [inner][conv_kernel]
    const float* bias;   ///< [inner]
    void* history;       ///< [sequences][inner][conv_kernel - 1], element, oldest first
    float* state;        ///< [sequences][inner][state_size]
    float* out;          ///< [sequences][inner]: y of the last of the count steps
    std::int64_t sequences, inner, state_size, conv_kernel, count;
    Element element; ///< f16 or bf16, of x and history
};

/// `count` steps of a causal convolution per channel:
///   out = g(bias + Σ_{j<K-1} w[j]·history[j] + w[K-1]·x);  history shifts left, x enters last
/// where g is silu or nothing. A kernel of one column has no history.
struct ConvView {
    const void* x;       ///< [sequences][count][channels], element
    const float* weight; ///< [channels][conv_kernel]
    const float* bias;   ///< [channels]
    void* history;       ///< [sequences][channels][conv_kernel - 1], element, oldest first
    float* out;          ///< [sequences][count][channels]
    std::int64_t sequences, channels, conv_kernel, count;
    bool silu;
    Element element; ///< of x and history
};

/// `count` steps of Mamba-2 for one layer behind its convolution; head h reads B and C of group
/// h / (heads / groups):
///   state = exp(dt · a) · state + dt · x · b;  y = Σ_n state · c + d · x
/// The rows of a step lie x_stride and bc_stride floats apart.
struct Mamba2View {
    const float* x;  ///< [sequences][count][heads][head_width]
    const float* b;  ///< [sequences][count][groups][state_size]
    const float* c;  ///< [sequences][count][groups][state_size]
    const float* dt; ///< [sequences][count][heads], positive (softplus already applied)
    const float* a;  ///< [heads], negative
    const float* d;  ///< [heads]
    float* state;    ///< [sequences][heads][head_width][state_size]
    float* out;      ///< [sequences][heads][head_width]: y of the last of the count steps
    std::int64_t sequences, heads, head_width, groups, state_size, count;
    std::int64_t x_stride, bc_stride;
};

/// `count` steps of linear attention with a matrix state for one layer behind its convolution;
/// value head h reads q and k of key head h / (value_heads / key_heads):
///   S = decay · S;  u = beta · (v - Sᵀk), or v without beta;  S = S + k uᵀ;  y = scale · Sᵀq
/// The rows of a step lie `stride` floats apart in q, k and v.
struct DeltaView {
    const float* q;    ///< [sequences][count][key_heads][key_width]
    const float* k;    ///< [sequences][count][key_heads][key_width]
    const float* v;    ///< [sequences][count][value_heads][value_width]
    const float* gate; ///< [sequences][count][value_heads][gate_width]
    const float* beta; ///< [sequences][count][value_heads], or null: no delta rule
    float* state;      ///< [sequences][value_heads][key_width][value_width]
    float* out;        ///< [sequences][value_heads][value_width]: y of the last step
    std::int64_t sequences, key_heads, value_heads, key_width, value_width, count, stride;
    std::int64_t gate_width; ///< 1, or key_width: a decay of its own for every row of S
    bool log_gate;           ///< the decay is exp(gate), else the gate itself
    bool normalise;          ///< q and k are divided by their length
    float scale;
};

/// Under the root of that length, so that a zero vector stays one.
inline constexpr float length_epsilon = 1e-6f;

} // namespace kvcaliper::kernels
