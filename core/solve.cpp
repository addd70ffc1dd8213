// SPDX-License-Identifier: Apache-2.0
#include "core/solve.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// The largest n from 1 to `most` that leaves headroom(n) >= 0, or 0, with few questions: headroom
/// falls with n along straight stretches, so the next count tried is where a line through two tried
/// ones ends. That line is a guess and may be rounded; what is returned was tried:
/// headroom(answer) >= 0 > headroom(answer + 1), whatever lies between.
template <class Headroom> class LastFit {
  public:
    LastFit(std::int64_t most, Headroom headroom) : most_(most), headroom_(std::move(headroom)) {}

    std::int64_t find() {
        if (!fits(1)) {
            return 0;
        }
        while (!misses_ && fits_.n < most_) {
            grow();
        }
        while (misses_ && misses_->n - fits_.n > 1) {
            narrow();
        }
        return fits_.n;
    }

  private:
    struct Tried {
        std::int64_t n = 0;
        std::int64_t headroom = 0;
    };

    bool fits(std::int64_t n) {
        const Tried tried{n, headroom_(n)};
        if (tried.headroom < 0) {
            misses_ = tried;
            return false;
        }
        before_ = fits_;
        fits_ = tried;
        return true;
    }

    /// Where the line from a through b crosses zero, `limit` where it does not before.
    static std::int64_t line_end(const Tried& a, const Tried& b, std::int64_t limit) {
        const double fall = static_cast<double>(a.headroom) - static_cast<double>(b.headroom);
        const double end = static_cast<double>(a.n) +
                           static_cast<double>(b.n - a.n) * static_cast<double>(a.headroom) / fall;
        return fall > 0 && end < static_cast<double>(limit) ? static_cast<std::int64_t>(end)
                                                            : limit;
    }

    /// Further up: at least to twice the count, at most to 64 times.
    void grow() {
        const std::int64_t limit = std::min(most_, fits_.n * 64);
        const std::int64_t end = before_.n > 0 ? line_end(before_, fits_, limit) : limit;
        fits(std::max(end, std::min(fits_.n * 2, limit)));
    }

    /// A try at the line's end, then back across the edge in growing steps: it is near.
    void narrow() {
        const std::int64_t end = line_end(fits_, *misses_, misses_->n - 1);
        const bool below = fits(std::max(end, fits_.n + 1));
        for (std::int64_t step = 1; misses_->n - fits_.n > step; step *= 2) {
            if (fits(below ? fits_.n + step : misses_->n - step) != below) {
                return;
            }
        }
    }

    std::int64_t most_;
    Headroom headroom_;
    Tried before_; ///< the one that fitted before; none at n = 0
    Tried fits_;
    std::optional<Tried> misses_;
};

/// The headroom of a deployment at any context and with any sequences: only its cache depends on
/// them.
class HeadroomOf {
  public:
    HeadroomOf(const Deployment& deployment, std::int64_t left_for_cache)
        : deployment_(deployment), left_for_cache_(left_for_cache) {}

    std::int64_t at(Tokens context, std::int64_t sequences) const {
        Deployment asked = deployment_;
        asked.settings.context = context;
        asked.settings.sequences = sequences;
        asked.shared_prefix = std::min(asked.shared_prefix, context);
        return checked_add(left_for_cache_, -cache_on_device(asked).value().ceiling());
    }

  private:
    const Deployment& deployment_;
    std::int64_t left_for_cache_;
};

std::string pair_text(const FormatPair& pair) {
    return pair.k == pair.v ? "K and V as " + pair.k : "K as " + pair.k + " with V as " + pair.v;
}

std::string pair_option(const FormatPair& pair) {
    return pair.k == pair.v ? "--kv " + pair.k : "--k " + pair.k + " --v " + pair.v;
}

Suggestion suggestion_of(const Budget& budget, std::string change, std::string option) {
    return {std::move(change), std::move(option), budget.headroom(),
            Bytes(budget.cache.value().ceiling())};
}

/// True when the change makes it fit; false too where the engine refuses it.
bool add_if_fits(std::vector<Suggestion>& list, const Deployment& changed, std::string change,
                 std::string option) {
    try {
        const Budget budget = make_budget(changed);
        if (budget.fits()) {
            list.push_back(suggestion_of(budget, std::move(change), std::move(option)));
        }
        return budget.fits();
    } catch (const Error&) {
        return false; // not a way out
    }
}

void add_formats(std::vector<Suggestion>& list, const Deployment& deployment) {
    for (const FormatPair& pair : usual_formats(deployment.settings.engine)) {
        Deployment changed = deployment;
        changed.settings.k_format = pair.k;
        changed.settings.v_format = pair.v;
        const bool off_path = pair.k != pair.v && deployment.device.vendor == "Apple";
        if (pair.k != "auto" && !off_path) {
            add_if_fits(list, changed, pair_text(pair), pair_option(pair));
        }
    }
}

void add_smaller_questions(std::vector<Suggestion>& list, const Deployment& deployment) {
    Deployment changed = deployment;
    if (const std::int64_t fewer = most_sequences(deployment); fewer > 0) {
        changed.settings.sequences = fewer;
        add_if_fits(list, changed,
                    format_integer(fewer) + (fewer == 1 ? " sequence" : " sequences"),
                    "-n " + std::to_string(fewer));
    }
    changed = deployment;
    if (const Tokens shorter = longest_context(deployment); shorter > Tokens(0)) {
        changed.settings.context = shorter;
        changed.shared_prefix = std::min(changed.shared_prefix, shorter);
        add_if_fits(list, changed, "a context of " + format_integer(shorter.count()) + " tokens",
                    "-c " + std::to_string(shorter.count()));
    }
}

void add_ranks(std::vector<Suggestion>& list, const Deployment& deployment) {
    constexpr std::int64_t most_ranks = 16;
    Deployment changed = deployment;
    for (std::int64_t ranks = deployment.settings.parallel.tensor * 2; ranks <= most_ranks;
         ranks *= 2) {
        changed.settings.parallel.tensor = ranks;
        if (add_if_fits(list, changed,
                        format_integer(changed.settings.parallel.ranks()) + " × " +
                            deployment.device.display_name + ", tensor parallel",
                        "--tp " + std::to_string(ranks))) {
            return;
        }
    }
}

/// The smallest device of the same kind and vendor that holds it.
void add_device(std::vector<Suggestion>& list, const Deployment& deployment) {
    std::vector<Device> devices = known_devices();
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.memory < b.memory; });
    for (const Device& device : devices) {
        if (device.vendor != deployment.device.vendor || device.kind != deployment.device.kind ||
            device.memory <= deployment.device.memory) {
            continue;
        }
        Deployment changed = deployment;
        changed.device = device;
        if (add_if_fits(list, changed,
                        device.display_name + " (" + format_bytes(device.memory) + ")",
                        "--gpu " + device.name)) {
            return;
        }
    }
}

} // namespace

std::int64_t most_sequences(const Deployment& deployment) {
    return most_sequences(deployment, left_for_cache(deployment));
}

std::int64_t most_sequences(const Deployment& deployment, std::int64_t left_for_cache) {
    const HeadroomOf headroom(deployment, left_for_cache);
    return LastFit(any_sequences,
                   [&](std::int64_t sequences) {
                       return headroom.at(deployment.settings.context, sequences);
                   })
        .find();
}

Tokens longest_context(const Deployment& deployment) {
    return longest_context(deployment, left_for_cache(deployment));
}

Tokens longest_context(const Deployment& deployment, std::int64_t left_for_cache) {
    const HeadroomOf headroom(deployment, left_for_cache);
    return Tokens(LastFit(any_context.count(), [&](std::int64_t tokens) {
                      return headroom.at(Tokens(tokens), deployment.settings.sequences);
                  }).find());
}

std::vector<Suggestion> suggestions(const Deployment& deployment) {
    std::vector<Suggestion> list;
    if (make_budget(deployment).fits()) {
        return list;
    }
    add_formats(list, deployment);
    add_smaller_questions(list, deployment);
    add_ranks(list, deployment);
    add_device(list, deployment);
    return list;
}

std::optional<Suggestion> equal_types_on_metal(const Deployment& deployment) {
    const Budget budget = make_budget(deployment);
    if (!leaves_fast_path(deployment.device, budget.estimate.reserved_formats)) {
        return std::nullopt;
    }
    const std::string k(budget.estimate.reserved_formats.k->name);
    Deployment changed = deployment;
    changed.settings.k_format = k;
    changed.settings.v_format = k;
    return suggestion_of(make_budget(changed), pair_text({k, k}), pair_option({k, k}));
}

std::vector<FormatPair> usual_formats(std::string_view engine) {
    if (engine == "llama_cpp" || engine == "ik_llama") {
        return {{"auto", "auto"}, {"q8_0", "q8_0"}, {"q8_0", "q4_0"}, {"q4_0", "q4_0"}};
    }
    if (engine == "ideal") {
        return {{"auto", "auto"},
                {"fp8_e4m3", "fp8_e4m3"},
                {"q8_0", "q8_0"},
                {"q8_0", "q4_0"},
                {"q4_0", "q4_0"}};
    }
    if (engine == "mlx") {
        return {{"auto", "auto"}, {"mlx_8bit", "mlx_8bit"}, {"mlx_4bit", "mlx_4bit"}};
    }
    return {{"auto", "auto"}, {"fp8_e4m3", "fp8_e4m3"}};
}

namespace {

/// Query heads and the width of a head, as a calculator would read them off the config.
struct PlainShape {
    std::int64_t heads = 0;
    std::int64_t width = 0;
};

std::optional<PlainShape> plain_shape(const ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* attention = std::get_if<AttentionDims>(&part.dims)) {
                return PlainShape{attention->heads, attention->key_width};
            }
            if (const auto* latent = std::get_if<LatentDims>(&part.dims)) {
                return PlainShape{latent->heads, latent->nope_width + latent->rope_width};
            }
            if (const auto* compressed = std::get_if<CompressedDims>(&part.dims)) {
                return PlainShape{compressed->heads, compressed->width};
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Figure> naive_bytes_per_token(const ModelPlan& plan) {
    const auto shape = plain_shape(plan);
    if (!shape) {
        return std::nullopt;
    }
    return Figure{"naive bytes per token",
                  {{"K and V of all heads in all layers",
                    {{"layers", static_cast<std::int64_t>(plan.layers.size())},
                     {"K and V", 2},
                     {"num_attention_heads", shape->heads},
                     {"head_dim", shape->width},
                     {"bytes", 2}}}}};
}

} // namespace kvcaliper
