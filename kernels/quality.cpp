// SPDX-License-Identifier: Apache-2.0
#include "kernels/quality.h"

#include "kernels/generator.h"
#include "kernels/half.h"
#include "kernels/parallel.h"
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace kvcaliper::kernels {
namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Memory of a backend.
class Memory {
  public:
    Memory(Backend& backend, std::int64_t bytes)
        : backend_(&backend), bytes_(std::max<std::int64_t>(bytes, 1)),
          memory_(backend.allocate(bytes_)) {}
    Memory(Backend& backend, const void* host, std::int64_t bytes) : Memory(backend, bytes) {
        backend.write(memory_, host, bytes);
    }
    ~Memory() {
        if (memory_ != nullptr)
            backend_->release(memory_, bytes_);
    }
    Memory(Memory&& other) noexcept
        : backend_(other.backend_), bytes_(other.bytes_),
          memory_(std::exchange(other.memory_, nullptr)) {}
    Memory& operator=(Memory&&) = delete;

    void* get() const { return memory_; }

  private:
    Backend* backend_;
    std::int64_t bytes_;
    void* memory_;
};

/// Keys or values: [tokens][heads][width].
struct Rows {
    std::int64_t tokens, heads, width;
    std::vector<float> numbers;

    const float* at(std::int64_t token, std::int64_t head) const {
        return numbers.data() + (token * heads + head) * width;
    }
};

/// Deviation 1: the generator's is 1.155.
constexpr float unit = 0.866f;

Rows make_rows(const QualityRequest& r, Purpose purpose, std::int64_t width) {
    Rows rows{r.tokens, r.kv_heads, width, {}};
    rows.numbers.resize(index(r.tokens * r.kv_heads * width));
    const StreamId stream{static_cast<std::uint64_t>(r.seed), 0, 0, purpose};
    parallel_for(r.tokens, [&](std::int64_t t) {
        normal_floats(token_key(stream, t), 0, r.kv_heads * width, unit,
                      rows.numbers.data() + t * r.kv_heads * width);
    });
    return rows;
}

void enlarge_channels(Rows& keys, std::int64_t seed) {
    for (std::int64_t head = 0; head < keys.heads; ++head)
        for (const std::int64_t channel : outlier_channels(seed, head, keys.width))
            for (std::int64_t t = 0; t < keys.tokens; ++t)
                keys.numbers[index((t * keys.heads + head) * keys.width + channel)] *=
                    outlier_factor;
}

/// What an append takes for that format: 16-bit numbers of that kind, else the numbers themselves.
std::vector<std::uint16_t> as_halves(const Rows& rows, Format format) {
    std::vector<std::uint16_t> halves(rows.numbers.size());
    std::transform(rows.numbers.begin(), rows.numbers.end(), halves.begin(),
                   format == Format::bf16 ? float_to_bf16 : float_to_f16);
    return halves;
}

/// Rows in a cache: in one plane, or packed in that one with recent ones apart.
struct Stored {
    Memory plane;
    std::optional<Memory> recent{};
    std::int64_t packed = 0;

    const void* recent_rows() const { return recent ? recent->get() : nullptr; }
};

Stored stored_with_residual(Backend& backend, const Rows& rows, Format format, bool keys) {
    const std::vector<std::uint16_t> halves = as_halves(rows, Format::f16);
    const Memory source(backend, halves.data(), std::ssize(halves) * 2);
    const Packing packing = packing_of(format);
    const std::int64_t row = rows.heads * rows.width;
    const std::int64_t packed =
        keys ? packed_keys(format, rows.tokens) : packed_values(format, rows.tokens);
    const std::int64_t left = rows.tokens - packed;
    Stored out{Memory(backend, packed * row / packing.group * packing.group_bytes()),
               Memory(backend, left * row * 2), packed};
    if (packed > 0)
        backend.pack({source.get(), out.plane.get(), 1, rows.heads, rows.width, packed, 0, packed,
                      0, row, rows.width, format, keys});
    if (left > 0) // of keys the first one lies in the first slot
        backend.append({static_cast<const std::uint16_t*>(source.get()) + packed * row,
                        out.recent->get(), 1, rows.heads, rows.width, left, keys ? 0 : packed, left,
                        Element::f16});
    backend.synchronize();
    return out;
}

Stored stored(Backend& backend, const Rows& rows, Format format, bool keys) {
    if (keeps_residual(format))
        return stored_with_residual(backend, rows, format, keys);
    const auto count = static_cast<std::int64_t>(rows.numbers.size());
    const bool halves = format == Format::f16 || format == Format::bf16;
    const std::vector<std::uint16_t> narrow =
        halves ? as_halves(rows, format) : std::vector<std::uint16_t>();
    const Memory source(backend,
                        halves ? static_cast<const void*>(narrow.data()) : rows.numbers.data(),
                        count * (halves ? 2 : 4));
    Memory plane(backend, rows.tokens * rows.heads * stored_row_bytes(format, rows.width));
    const Element element = format == Format::f16    ? Element::f16
                            : format == Format::bf16 ? Element::bf16
                                                     : Element::f32;
    backend.append({source.get(), plane.get(), 1, rows.heads, rows.width, rows.tokens, 0,
                    rows.tokens, element, format});
    backend.synchronize();
    return {std::move(plane)};
}

std::vector<Stored> stored_in_all(Backend& backend, const Rows& rows,
                                  const std::vector<Format>& formats, bool keys) {
    std::vector<Stored> planes;
    for (const Format format : formats)
        planes.push_back(stored(backend, rows, format, keys));
    return planes;
}

/// One query per head, in f16.
std::vector<std::uint16_t> make_queries(const QualityRequest& r) {
    std::vector<std::uint16_t> q(index(r.heads * r.key_width));
    const StreamId stream{static_cast<std::uint64_t>(r.seed), 0, 0, Purpose::query};
    normal_halves(token_key(stream, r.tokens), 0, r.heads * r.key_width, Element::f16, q.data());
    return q;
}

/// Scores of a head before any scale.
std::vector<double> scores_of(const QualityRequest& r, const Rows& keys,
                              const std::vector<double>& q, std::int64_t head) {
    std::vector<double> scores(index(r.tokens));
    const std::int64_t kv_head = head / (r.heads / r.kv_heads);
    for (std::int64_t t = 0; t < r.tokens; ++t) {
        const float* key = keys.at(t, kv_head);
        const double* query = q.data() + head * r.key_width;
        for (std::int64_t i = 0; i < r.key_width; ++i)
            scores[index(t)] += query[i] * static_cast<double>(key[i]);
    }
    return scores;
}

/// 1 / Σ weight² of scores under a scale.
double attended_tokens(const std::vector<double>& scores, double scale) {
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0, squares = 0;
    for (const double score : scores) {
        const double weight = std::exp(scale * (score - top));
        sum += weight;
        squares += weight * weight;
    }
    return sum * sum / squares;
}

/// One condition: its scale, what it attends to and the outputs of the numbers themselves.
struct Truth {
    float scale = 1;
    double attended = 0;
    std::vector<double> out; ///< [heads][value_width]
};

Truth truth_of(const QualityRequest& r, const Rows& keys, const Rows& values,
               const std::vector<double>& q, double spread) {
    std::vector<std::vector<double>> scores(index(r.heads));
    parallel_for(r.heads,
                 [&](std::int64_t head) { scores[index(head)] = scores_of(r, keys, q, head); });
    double squares = 0;
    for (const std::vector<double>& head : scores)
        for (const double score : head)
            squares += score * score;
    Truth truth;
    truth.scale =
        static_cast<float>(spread / std::sqrt(squares / static_cast<double>(r.heads * r.tokens)));
    for (const std::vector<double>& head : scores)
        truth.attended +=
            attended_tokens(head, static_cast<double>(truth.scale)) / static_cast<double>(r.heads);
    AttentionProblem problem;
    problem.heads = r.heads;
    problem.groups = r.kv_heads;
    problem.key_width = r.key_width;
    problem.value_width = r.value_width;
    problem.scale = static_cast<double>(truth.scale);
    problem.rows = [&](std::int64_t token, std::int64_t group, double* key, double* value) {
        std::copy_n(keys.at(token, group), r.key_width, key);
        std::copy_n(values.at(token, group), r.value_width, value);
    };
    const Question question{r.tokens, q};
    truth.out = attend_reference(problem, std::span(&question, 1)).front();
    return truth;
}

double relative_error(const std::vector<float>& got, const std::vector<double>& wanted) {
    double off = 0, size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        off += std::pow(static_cast<double>(got[i]) - wanted[i], 2);
        size += wanted[i] * wanted[i];
    }
    return std::sqrt(off / size);
}

/// Steps over one set of keys in all pairs of formats.
class Steps {
  public:
    Steps(const QualityRequest& request, Backend& backend, const void* q,
          const std::vector<Stored>& keys, const std::vector<Stored>& values)
        : r_(request), backend_(backend), q_(q), keys_(keys), values_(values),
          out_(backend, request.heads * request.value_width * 4) {}

    double error(std::size_t k, std::size_t v, const Truth& truth) {
        AttentionView view{q_,
                           keys_[k].plane.get(),
                           values_[v].plane.get(),
                           static_cast<float*>(out_.get()),
                           1,
                           r_.heads,
                           r_.kv_heads,
                           r_.key_width,
                           r_.value_width,
                           r_.tokens,
                           r_.tokens,
                           truth.scale,
                           Element::f16,
                           r_.k_formats[k],
                           r_.v_formats[v]};
        if (keeps_residual(view.key_format) || keeps_residual(view.value_format))
            attend(ResidualAttentionView{view, keys_[k].recent_rows(), values_[v].recent_rows(),
                                         keys_[k].packed, r_.tokens - keys_[k].packed,
                                         values_[v].packed, r_.tokens - values_[v].packed});
        else
            attend(view);
        std::vector<float> got(truth.out.size());
        backend_.synchronize();
        backend_.read(got.data(), out_.get(), std::ssize(got) * 4);
        backend_.synchronize();
        return relative_error(got, truth.out);
    }

  private:
    template <class View> void attend(const View& view) {
        const Memory workspace(backend_, backend_.workspace_bytes(view));
        backend_.attend(view, workspace.get());
        backend_.synchronize();
    }

    const QualityRequest& r_;
    Backend& backend_;
    const void* q_;
    const std::vector<Stored>&keys_, &values_;
    Memory out_;
};

/// Those asked for, or all whose blocks divide the width; of KIVI the two of its paper's setting.
std::vector<Format> or_all(const std::vector<Format>& asked, std::int64_t width, bool keys) {
    std::vector<Format> formats = asked;
    if (!formats.empty())
        return formats;
    std::copy_if(std::begin(cache_formats), std::end(cache_formats), std::back_inserter(formats),
                 [width](Format format) { return divides(format, width); });
    for (const Format format : {Format::kivi_4bit, Format::kivi_2bit})
        if (keys || divides(format, width)) // keys are packed per channel
            formats.push_back(format);
    return formats;
}

/// Both conditions of one set of keys; false when it was cancelled.
class Measurement {
  public:
    Measurement(QualityResult& result, Backend& backend,
                const std::function<void(std::int64_t, std::int64_t)>& progress,
                const std::atomic<bool>* cancel)
        : result_(result), r_(result.request), backend_(backend), progress_(progress),
          cancel_(cancel), halves_(make_queries(r_)),
          q_(backend, halves_.data(), std::ssize(halves_) * 2),
          values_(make_rows(r_, Purpose::value, r_.value_width)),
          value_planes_(stored_in_all(backend, values_, r_.v_formats, false)) {}

    void run(bool outliers) {
        Rows keys = make_rows(r_, Purpose::key, r_.key_width);
        if (outliers)
            enlarge_channels(keys, r_.seed);
        const std::vector<Stored> key_planes = stored_in_all(backend_, keys, r_.k_formats, true);
        std::vector<double> q(halves_.size());
        std::transform(halves_.begin(), halves_.end(), q.begin(), f16_to_float);
        Steps steps(r_, backend_, q_.get(), key_planes, value_planes_);
        for (std::size_t c = 0; c < quality_conditions.size(); ++c)
            if (quality_conditions[c].outliers == outliers) {
                const Truth truth = truth_of(r_, keys, values_, q, quality_conditions[c].spread);
                result_.attended[c] = truth.attended;
                run_pairs(steps, truth, c);
            }
    }

  private:
    void run_pairs(Steps& steps, const Truth& truth, std::size_t condition) {
        for (std::size_t i = 0; i < result_.pairs.size(); ++i) {
            result_.cancelled = result_.cancelled || (cancel_ != nullptr && *cancel_);
            if (result_.cancelled)
                return;
            result_.pairs[i].errors[condition] =
                steps.error(i / r_.v_formats.size(), i % r_.v_formats.size(), truth);
            if (progress_)
                progress_(++done_, std::ssize(result_.pairs) * std::ssize(quality_conditions));
        }
    }

    QualityResult& result_;
    const QualityRequest& r_;
    Backend& backend_;
    const std::function<void(std::int64_t, std::int64_t)>& progress_;
    const std::atomic<bool>* cancel_;
    std::int64_t done_ = 0;
    std::vector<std::uint16_t> halves_;
    Memory q_;
    Rows values_;
    std::vector<Stored> value_planes_;
};

} // namespace

std::vector<std::int64_t> outlier_channels(std::int64_t seed, std::int64_t head,
                                           std::int64_t width) {
    std::vector<std::int64_t> channels;
    const StreamId stream{static_cast<std::uint64_t>(seed), 1, head, Purpose::key};
    for (std::int64_t first = 0; first + outlier_period <= width; first += outlier_period)
        channels.push_back(first + static_cast<std::int64_t>(token_key(stream, first) %
                                                             std::uint64_t{outlier_period}));
    return channels;
}

QualityResult
measure_quality(const QualityRequest& request, Backend& backend,
                const std::function<void(std::int64_t done, std::int64_t total)>& progress,
                const std::atomic<bool>* cancel) {
    QualityResult result{request, backend.info(), {}, {}, false};
    result.request.k_formats = or_all(request.k_formats, request.key_width, true);
    result.request.v_formats = or_all(request.v_formats, request.value_width, false);
    for (const Format k : result.request.k_formats)
        for (const Format v : result.request.v_formats)
            result.pairs.push_back({k, v, {}});
    Measurement measurement(result, backend, progress, cancel);
    measurement.run(true);
    measurement.run(false);
    return result;
}

} // namespace kvcaliper::kernels
