// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_cpu_steps.h"

#include "core/error.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace kvcaliper::kernels {
namespace {

void require(bool condition, const char* message) {
    if (!condition)
        throw Error(std::string("cpu backend: ") + message);
}

std::int64_t padded(std::int64_t width) {
    return (width + scratch_padding - 1) / scratch_padding * scratch_padding;
}

/// One attention step in the terms both caches share: which queries read which keys.
struct Step {
    std::int64_t sequences, groups, heads; ///< groups of heads that share their keys
    std::int64_t key_width, rope_width, value_width, slots, valid;
    float scale;
    Element element; ///< of the queries
    Format key_format, value_format;
    const float* sinks = nullptr; ///< of the query heads of a sequence, or null
    bool paged = false;

    bool decoded() const {
        return paged || keeps_residual(key_format) || keeps_residual(value_format) ||
               key_format != format_of(element) || value_format != format_of(element);
    }
};

void require_stored(Format format, std::int64_t width) {
    if (keeps_residual(format))
        throw Error("cpu backend: one plane has no place for the recent rows of " +
                    std::string(name_of(format)));
    if (!divides(format, width))
        throw Error("cpu backend: " + std::string(name_of(format)) + " can not store rows of " +
                    std::to_string(width));
}

Step step_of(const AttentionView& v) {
    require(v.kv_heads > 0 && v.heads > 0 && v.heads % v.kv_heads == 0,
            "heads must be a multiple of kv_heads");
    require(v.key_width > 0 && v.value_width > 0, "widths must be positive");
    require(v.valid > 0 && v.valid <= v.slots, "valid must be between 1 and slots");
    require(v.element != Element::f32, "no attention kernel for queries in f32");
    require_stored(v.key_format, v.key_width);
    require_stored(v.value_format, v.value_width);
    return {v.sequences,
            v.kv_heads,
            v.heads / v.kv_heads,
            v.key_width,
            0,
            v.value_width,
            v.slots,
            v.valid,
            v.scale,
            v.element,
            v.key_format,
            v.value_format,
            v.sinks};
}

Step step_of(const LatentView& v) {
    require(v.heads > 0 && v.rank > 0 && v.rope_width >= 0, "widths must be positive");
    require(v.valid > 0 && v.valid <= v.slots, "valid must be between 1 and slots");
    require(v.element != Element::f32, "no attention kernel for queries in f32");
    require_stored(v.format, v.rank);
    require_stored(rope_format(v.format), v.rope_width);
    return {v.sequences, 1,       v.heads,   v.rank,   v.rope_width, v.rank, v.slots,
            v.valid,     v.scale, v.element, v.format, v.format,     v.sinks};
}

Step step_of(const PagedAttentionView& v) {
    require(v.page > 0 && v.table_pages * v.page >= v.step.valid,
            "the table must name a page for every valid slot");
    Step step = step_of(v.step);
    step.paged = true;
    return step;
}

void require_side(Format format, bool per_channel, std::int64_t packed, std::int64_t slots,
                  std::int64_t recent, std::int64_t recent_slots) {
    if (!keeps_residual(format))
        return;
    require(packed <= slots && (!per_channel || slots % packing_of(format).group == 0),
            "packed slots must hold what is packed, in whole groups");
    require(recent <= recent_slots, "recent slots must hold what is not packed");
}

Step step_of(const ResidualAttentionView& v) {
    AttentionView plain = v.step;
    for (Format* format : {&plain.key_format, &plain.value_format})
        if (keeps_residual(*format))
            *format = Format::f16;
    Step step = step_of(plain);
    step.key_format = v.step.key_format;
    step.value_format = v.step.value_format;
    require(divides(step.value_format, step.value_width),
            "values are packed in whole groups of a row");
    const std::int64_t keys = packed_keys(step.key_format, step.valid);
    const std::int64_t values = packed_values(step.value_format, step.valid);
    require_side(step.key_format, true, keys, v.key_slots, step.valid - keys, v.recent_key_slots);
    require_side(step.value_format, false, values, v.value_slots, step.valid - values,
                 v.recent_value_slots);
    return step;
}

/// How a step is cut into tasks and where each keeps its floats in the workspace.
struct Cut {
    std::int64_t splits, tokens, task_floats, scratch_floats;
};

Cut cut_of(const Step& step) {
    const std::int64_t pieces = step.sequences * step.groups;
    const std::int64_t wanted =
        std::max<std::int64_t>(1, (4 * thread_count() + pieces - 1) / pieces);
    const std::int64_t most = (step.valid + 127) / 128; // shorter pieces cost more than they share
    const std::int64_t splits = std::clamp<std::int64_t>(wanted, 1, most);
    const std::int64_t tokens = (step.valid + splits - 1) / splits;
    const std::int64_t key = padded(step.key_width) + padded(step.rope_width);
    const std::int64_t rows = step.decoded() ? key + padded(step.value_width) : 0;
    const std::int64_t scratch = step.heads * key + (4 + rows) * token_block;
    const std::int64_t partial = step.heads * (padded(step.value_width) + 2);
    return {(step.valid + tokens - 1) / tokens, tokens, padded(scratch + partial), scratch};
}

std::int64_t workspace_of(const Step& step) {
    const Cut cut = cut_of(step);
    return step.sequences * step.groups * cut.splits * cut.task_floats * 4;
}

/// The pieces of one (sequence, group), merged: out = Σ e^(m_i - m) o_i / Σ e^(m_i - m) l_i. A sink
/// is a piece without an o, of weight e^(sink - m).
void merge(const Step& step, const Cut& cut, const float* tasks, const float* sinks, float* out) {
    const std::int64_t stride = padded(step.value_width);
    for (std::int64_t h = 0; h < step.heads; ++h) {
        const auto maximum = [&](std::int64_t s) {
            return tasks[s * cut.task_floats + cut.scratch_floats + step.heads * stride + h];
        };
        float top = sinks ? sinks[h] : -std::numeric_limits<float>::infinity();
        for (std::int64_t s = 0; s < cut.splits; ++s)
            top = std::max(top, maximum(s));
        float sum = sinks ? std::exp(sinks[h] - top) : 0;
        std::fill_n(out + h * step.value_width, step.value_width, 0.0f);
        for (std::int64_t s = 0; s < cut.splits; ++s) {
            const float* partial = tasks + s * cut.task_floats + cut.scratch_floats;
            const float factor = std::exp(maximum(s) - top);
            sum += factor * partial[step.heads * stride + step.heads + h];
            for (std::int64_t i = 0; i < step.value_width; ++i)
                out[h * step.value_width + i] += factor * partial[h * stride + i];
        }
        for (std::int64_t i = 0; i < step.value_width; ++i)
            out[h * step.value_width + i] /= sum;
    }
}

/// The task of one split, given the rows of its (sequence, group).
AttendTask task_of(const Step& step, const Cut& cut, float* memory, std::int64_t split) {
    AttendTask task{};
    task.heads = step.heads;
    task.first = split * cut.tokens;
    task.last = std::min(step.valid, task.first + cut.tokens);
    task.scale = step.scale;
    task.bf16 = step.element == Element::bf16;
    task.decoded = step.decoded();
    task.scratch = memory;
    task.partial = memory + cut.scratch_floats;
    task.maxima = task.partial + step.heads * padded(step.value_width);
    task.sums = task.maxima + step.heads;
    return task;
}

/// The rows of plane number `index`, planes of so many slots lying one after another.
StoredRows rows_of(const void* planes, std::int64_t index, std::int64_t slots, std::int64_t width,
                   Format format) {
    const std::int64_t bytes = stored_row_bytes(format, width);
    return {static_cast<const unsigned char*>(planes) + index * slots * bytes, width, bytes,
            format};
}

/// The rows of one head in pages [pages][kv_heads][page][width], a sequence's pages in its part of
/// the table.
StoredRows paged_rows_of(const void* planes, const PagedAttentionView& v, std::int64_t piece,
                         std::int64_t width, Format format) {
    StoredRows rows = rows_of(planes, piece % v.step.kv_heads, v.page, width, format);
    rows.pages = v.table + piece / v.step.kv_heads * v.table_pages;
    rows.page_slots = v.page;
    rows.page_bytes = v.step.kv_heads * v.page * rows.bytes;
    return rows;
}

/// The rows of one head: packed ones in front, recent ones behind.
StoredRows split_rows_of(const void* planes, const void* recent, std::int64_t piece,
                         std::int64_t slots, std::int64_t recent_slots, std::int64_t width,
                         Format format, std::int64_t packed, bool per_channel) {
    const Packing packing = packing_of(format);
    StoredRows rows{static_cast<const unsigned char*>(planes) +
                        piece * (slots * width / packing.group) * packing.group_bytes(),
                    width, per_channel ? 0 : stored_row_bytes(format, width), format};
    rows.packed = packed;
    rows.per_channel = per_channel;
    rows.recent = static_cast<const std::uint16_t*>(recent) + piece * recent_slots * width;
    rows.ring = packing.residual;
    return rows;
}

template <typename Rows>
void run_step(const VectorKernels& kernels, const Step& step, void* workspace, float* out,
              const Rows& rows) {
    const Cut cut = cut_of(step);
    float* memory = static_cast<float*>(workspace);
    const std::int64_t pieces = step.sequences * step.groups;
    parallel_for(pieces * cut.splits, [&](std::int64_t i) {
        AttendTask task = task_of(step, cut, memory + i * cut.task_floats, i % cut.splits);
        rows(i / cut.splits, task);
        kernels.attend(task);
    });
    const auto merge_piece = [&](std::int64_t piece) {
        const float* sinks = step.sinks ? step.sinks + piece % step.groups * step.heads : nullptr;
        merge(step, cut, memory + piece * cut.splits * cut.task_floats, sinks,
              out + piece * step.heads * step.value_width);
    };
    parallel_for(pieces, merge_piece);
}

} // namespace

std::int64_t attention_workspace(const AttentionView& view) {
    return workspace_of(step_of(view));
}

std::int64_t attention_workspace(const LatentView& view) {
    return workspace_of(step_of(view));
}

std::int64_t attention_workspace(const PagedAttentionView& view) {
    return workspace_of(step_of(view));
}

std::int64_t attention_workspace(const ResidualAttentionView& view) {
    return workspace_of(step_of(view));
}

void run_attention(const VectorKernels& kernels, const AttentionView& v, void* workspace) {
    const Step step = step_of(v);
    const auto* q = static_cast<const std::uint16_t*>(v.q);
    run_step(kernels, step, workspace, v.out, [&](std::int64_t piece, AttendTask& task) {
        task.parts[0] = {q + piece * step.heads * v.key_width,
                         rows_of(v.k, piece, v.slots, v.key_width, v.key_format)};
        task.values = rows_of(v.v, piece, v.slots, v.value_width, v.value_format);
    });
}

void run_attention(const VectorKernels& kernels, const LatentView& v, void* workspace) {
    const Step step = step_of(v);
    const auto* q_latent = static_cast<const std::uint16_t*>(v.q_latent);
    const auto* q_rope = static_cast<const std::uint16_t*>(v.q_rope);
    run_step(kernels, step, workspace, v.out, [&](std::int64_t sequence, AttendTask& task) {
        task.parts[0] = {q_latent + sequence * v.heads * v.rank,
                         rows_of(v.latent, sequence, v.slots, v.rank, v.format)};
        task.parts[1] = {q_rope + sequence * v.heads * v.rope_width,
                         rows_of(v.rope, sequence, v.slots, v.rope_width, rope_format(v.format))};
        task.values = task.parts[0].keys;
    });
}

void run_attention(const VectorKernels& kernels, const PagedAttentionView& v, void* workspace) {
    const AttentionView& a = v.step;
    const Step step = step_of(v);
    const auto* q = static_cast<const std::uint16_t*>(a.q);
    run_step(kernels, step, workspace, a.out, [&](std::int64_t piece, AttendTask& task) {
        task.parts[0] = {q + piece * step.heads * a.key_width,
                         paged_rows_of(a.k, v, piece, a.key_width, a.key_format)};
        task.values = paged_rows_of(a.v, v, piece, a.value_width, a.value_format);
    });
}

void run_attention(const VectorKernels& kernels, const ResidualAttentionView& v, void* workspace) {
    const AttentionView& a = v.step;
    const Step step = step_of(v);
    const auto* q = static_cast<const std::uint16_t*>(a.q);
    run_step(kernels, step, workspace, a.out, [&](std::int64_t piece, AttendTask& task) {
        task.parts[0].q = q + piece * step.heads * a.key_width;
        task.parts[0].keys =
            keeps_residual(a.key_format)
                ? split_rows_of(a.k, v.recent_k, piece, v.key_slots, v.recent_key_slots,
                                a.key_width, a.key_format, packed_keys(a.key_format, a.valid), true)
                : rows_of(a.k, piece, a.slots, a.key_width, a.key_format);
        task.values = keeps_residual(a.value_format)
                          ? split_rows_of(a.v, v.recent_v, piece, v.value_slots,
                                          v.recent_value_slots, a.value_width, a.value_format,
                                          packed_values(a.value_format, a.valid), false)
                          : rows_of(a.v, piece, a.slots, a.value_width, a.value_format);
    });
}

} // namespace kvcaliper::kernels
