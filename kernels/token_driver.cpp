// SPDX-License-Identifier: Apache-2.0
#include "kernels/token_driver.h"

#include "kernels/parallel.h"
#include "kernels/reference_formats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kvcaliper::kernels {

TokenDriver::TokenDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                         const std::atomic<bool>* cancel)
    : LayerDriver(backend, request, group, cancel) {
    if (const auto shape = index_shape(group.plan))
        indexer_.emplace(backend, *shape, elements_,
                         stream(representative(), 0, Purpose::index_query), sequences());
}

void TokenDriver::allocate(CountingAllocator& allocator) {
    LayerDriver::allocate(allocator);
    if (io_plan_.append > 0)
        source_ = allocator.allocate("io", io_plan_.append);
    query_ = allocator.allocate("io", io_plan_.query);
    if (io_plan_.query_rope > 0)
        query_rope_ = allocator.allocate("io", io_plan_.query_rope);
    if (indexer_)
        indexer_->allocate(allocator);
    if (const std::int64_t bytes = workspace_bytes(); bytes > 0)
        workspace_ = allocator.allocate("workspace", bytes);
    if (paged()) {
        const std::int64_t slots =
            layer_planes(group_.plan, request_.contexts.back(), elements_).front().slots;
        table_memory_ = allocator.allocate("io", sequences() * slots / elements_.page * 4);
    }
    host_.resize(
        static_cast<std::size_t>(std::max({io_plan_.append, io_plan_.query, io_plan_.query_rope})) /
        2);
}

std::int64_t TokenDriver::workspace_bytes() const {
    std::int64_t most = 0;
    for (const std::int64_t context : request_.contexts)
        for (std::int64_t s = 0; s < request_.steps; ++s)
            most = std::max(most, workspace_at(context, context - s));
    return most;
}

void TokenDriver::fill(const LayerMemory& memory, std::int64_t tokens, bool) {
    for (std::size_t i = 0; i < memory.planes.size(); ++i)
        fill_plane(memory, i, tokens);
}

void TokenDriver::fill_plane(const LayerMemory& memory, std::size_t plane, std::int64_t tokens) {
    // Older tokens of a ring would be overwritten anyway: wrapping it twice is enough.
    const std::int64_t slots = memory.shapes[plane].slots;
    std::int64_t first = std::max<std::int64_t>(0, tokens - 2 * slots);
    for (; first < tokens; first += io_plan_.append_tokens) {
        check_cancelled();
        append_plane(memory, plane, first, std::min(io_plan_.append_tokens, tokens - first));
    }
}

std::vector<float> TokenDriver::sink_logits(std::int64_t heads) const {
    std::vector<float> logits(static_cast<std::size_t>(heads));
    normal_floats(token_key(stream(representative(), 0, Purpose::sink), 0), 0, heads, 4,
                  logits.data());
    return logits;
}

void TokenDriver::append(const LayerMemory& memory, std::int64_t position) {
    for (std::size_t i = 0; i < memory.planes.size(); ++i)
        append_plane(memory, i, position, 1);
}

void TokenDriver::keep_rows(CountingAllocator& allocator, std::int64_t tokens) {
    const std::vector<Plane> planes = layer_planes(group_.plan, tokens, elements_);
    for (std::size_t i = 0; i < planes.size(); ++i) {
        const std::int64_t row = planes[i].rows * planes[i].width;
        std::vector<std::uint16_t> rows(static_cast<std::size_t>(tokens * row));
        parallel_for(tokens, [&](std::int64_t t) {
            normal_halves(row_key(0, purpose(i), t), 0, row, planes[i].element,
                          rows.data() + t * row);
        });
        kept_.push_back(allocator.allocate("io", tokens * row * 2));
        send(kept_.back(), rows.data(), tokens * row * 2);
    }
}

void TokenDriver::append_kept(const LayerMemory& memory, std::int64_t first, std::int64_t count) {
    for (std::size_t i = 0; i < memory.planes.size(); ++i) {
        const Plane& shape = memory.shapes[i];
        const auto* rows = kept_[i].as<std::uint16_t>() + first * shape.rows * shape.width;
        backend_.append({rows, memory.planes[i], 1, shape.rows, shape.width, shape.slots, first,
                         count, shape.element, shape.format});
    }
}

std::optional<double> TokenDriver::quantisation_error(std::size_t plane) const {
    const Plane shape = layer_planes(group_.plan, 1, elements_)[plane];
    if (shape.format == format_of(shape.element) || shape.format == Format::f32)
        return std::nullopt;
    double lost = 0, size = 0;
    std::vector<double> row(static_cast<std::size_t>(shape.width));
    for (std::int64_t token = 0; token < 64; ++token) {
        const StreamId id = stream(lender(), 0, purpose(plane));
        normal_values(token_key(id, token), 0, shape.width, shape.element, row.data());
        const std::vector<double> stored_from = row;
        store_and_restore(shape.format, shape.width, row.data());
        for (std::size_t i = 0; i < row.size(); ++i) {
            lost += (row[i] - stored_from[i]) * (row[i] - stored_from[i]);
            size += stored_from[i] * stored_from[i];
        }
    }
    return std::sqrt(lost / size);
}

std::vector<float> TokenDriver::output(std::int64_t sequence) {
    std::vector<float> values = LayerDriver::output(sequence);
    if (indexer_) {
        const std::vector<float> scores = indexer_->scores(sequence);
        values.insert(values.end(), scores.begin(), scores.end());
        values.resize(whole_rows(values.size()));
    }
    return values;
}

std::int64_t TokenDriver::indexed_bytes(std::int64_t context, std::int64_t valid,
                                        std::size_t planes) const {
    const std::vector<Plane> shapes = layer_planes(group_.plan, context, elements_);
    std::int64_t bytes = indexer_->scratch_bytes(valid);
    for (std::size_t i = 0; i < planes; ++i)
        bytes += gathered_bytes(shapes[i], indexer_->chosen(valid), sequences());
    return bytes;
}

std::vector<double> TokenDriver::judged(std::int64_t sequence, std::int64_t position,
                                        std::vector<double> attended,
                                        const std::vector<double>& scores) const {
    if (!indexer_->chose_well(sequence, position, scores)) // nothing equals this
        std::fill(attended.begin(), attended.end(), std::numeric_limits<double>::quiet_NaN());
    attended.insert(attended.end(), scores.begin(), scores.end());
    attended.resize(whole_rows(attended.size()));
    return attended;
}

std::vector<double> TokenDriver::expected_choice(const AttentionProblem& problem,
                                                 const Question& question,
                                                 std::int64_t sequence) const {
    const std::int64_t width = index_shape(group_.plan)->width, position = question.tokens - 1;
    const std::vector<double> scores = indexer_->expected_scores(
        sequence, position, question.tokens, [&](std::int64_t token, double* key) {
            check_cancelled();
            normal_values(row_key(sequence, Purpose::index_key, token), 0, width, elements_.index,
                          key);
            store_and_restore(elements_.index_format, width, key);
        });
    const std::vector<std::int32_t>& rows = indexer_->choice(sequence, position);
    AttentionProblem chosen = problem;
    chosen.memory = std::ssize(rows);
    chosen.rows = [&](std::int64_t row, std::int64_t group, double* key, double* value) {
        problem.rows(rows[static_cast<std::size_t>(row)], group, key, value);
    };
    return judged(sequence, position, attend_reference(chosen, {&question, 1}).front(), scores);
}

StreamId TokenDriver::row_stream(std::int64_t layer, std::int64_t sequence, Purpose purpose,
                                 std::int64_t token) const {
    return token < request_.cartridge && !crosses() ? StreamId{~seed(), layer, 0, purpose}
                                                    : stream(layer, sequence, purpose);
}

std::uint64_t TokenDriver::row_key(std::int64_t sequence, Purpose purpose,
                                   std::int64_t token) const {
    return token_key(row_stream(lender(), sequence, purpose, token), token);
}

void TokenDriver::send_query(const GuardedBuffer& to, Purpose purpose, std::int64_t per_sequence,
                             std::int64_t position) {
    for (std::int64_t s = 0; s < sequences(); ++s)
        normal_halves(token_key(stream(representative(), s, purpose), position), 0, per_sequence,
                      elements_.key, host_.data() + s * per_sequence);
    send(to, host_.data(), sequences() * per_sequence * 2);
}

std::vector<double> TokenDriver::query_values(std::int64_t sequence, Purpose purpose,
                                              std::int64_t count, std::int64_t position) const {
    std::vector<double> values(static_cast<std::size_t>(count));
    normal_values(token_key(stream(representative(), sequence, purpose), position), 0, count,
                  elements_.key, values.data());
    return values;
}

const std::int32_t* TokenDriver::table_for(std::int64_t slots) {
    const std::int64_t pages = sequences() * slots / elements_.page;
    if (std::ssize(table_) != pages) {
        table_.resize(static_cast<std::size_t>(pages));
        std::iota(table_.begin(), table_.end(), 0);
        for (std::int64_t i = pages - 1; i > 0; --i) { // the same shuffle with every library
            const std::uint64_t key = token_key(stream(0, 0, Purpose::page), i);
            std::swap(table_[static_cast<std::size_t>(i)],
                      table_[key % static_cast<std::uint64_t>(i + 1)]);
        }
        send(table_memory_, table_.data(), pages * 4);
    }
    return table_memory_.as<std::int32_t>();
}

void TokenDriver::make_source(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                              std::int64_t count) {
    const Plane& shape = memory.shapes[plane];
    const std::int64_t row = shape.rows * shape.width;
    const auto generate = [&](std::int64_t i) {
        const std::int64_t token = first + i % count;
        const StreamId id = row_stream(memory.layer, i / count, purpose(plane), token);
        normal_halves(token_key(id, token), 0, row, shape.element, host_.data() + i * row);
    };
    if (count == 1)
        for (std::int64_t s = 0; s < sequences(); ++s)
            generate(s);
    else
        parallel_for(sequences() * count, generate);
    send(source_, host_.data(), sequences() * count * row * 2);
}

void TokenDriver::append_plane(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                               std::int64_t count) {
    const Plane& shape = memory.shapes[plane];
    make_source(memory, plane, first, count);
    if (paged())
        append_pages(memory, plane, first, count);
    else
        backend_.append({source_.data(), memory.planes[plane], sequences(), shape.rows, shape.width,
                         shape.slots, first, count, shape.element, shape.format});
    backend_.synchronize(); // the source is used again at once
}

/// The source's tokens, page by page: each page is a small cache of its own.
void TokenDriver::append_pages(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                               std::int64_t count) {
    const Plane& shape = memory.shapes[plane];
    const std::int64_t page = elements_.page, row = shape.rows * shape.width;
    const std::int64_t page_bytes = page * shape.rows * stored_row_bytes(shape.format, shape.width);
    table_for(shape.slots);
    for (std::int64_t s = 0; s < sequences(); ++s)
        for (std::int64_t done = 0; done < count;) {
            const std::int64_t slot = first + done;
            const std::int64_t run = std::min(count - done, page - slot % page);
            const std::int32_t number =
                table_[static_cast<std::size_t>(s * (shape.slots / page) + slot / page)];
            backend_.append(
                {source_.as<std::uint16_t>() + (s * count + done) * row,
                 static_cast<unsigned char*>(memory.planes[plane]) + number * page_bytes, 1,
                 shape.rows, shape.width, page, slot % page, run, shape.element, shape.format});
            done += run;
        }
}

} // namespace kvcaliper::kernels
