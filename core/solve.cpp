// SPDX-License-Identifier: Apache-2.0
#include "core/solve.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// The largest n from 1 to `most` for which fits(n) holds, or 0: doubled until it fails, then
/// halved. fits(answer) and not fits(answer + 1), whatever lies between.
template <class Fits> std::int64_t largest(std::int64_t most, const Fits& fits) {
    std::int64_t good = 0;
    std::int64_t bad = 1;
    while (bad <= most && fits(bad)) {
        good = bad;
        bad = bad < most ? std::min(most, bad * 2) : most + 1;
    }
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good;
}

bool fits_with(Deployment deployment, Tokens context, std::int64_t sequences) {
    deployment.settings.context = context;
    deployment.settings.sequences = sequences;
    deployment.shared_prefix = std::min(deployment.shared_prefix, context);
    return make_budget(deployment).fits();
}

std::string pair_text(const FormatPair& pair) {
    return pair.k == pair.v ? "K and V as " + pair.k : "K as " + pair.k + " with V as " + pair.v;
}

std::string pair_option(const FormatPair& pair) {
    return pair.k == pair.v ? "--kv " + pair.k : "--k " + pair.k + " --v " + pair.v;
}

/// The headroom of a changed deployment; nothing where it does not fit or its engine refuses it.
std::optional<std::int64_t> fitting_headroom(const Deployment& changed) {
    try {
        const Budget budget = make_budget(changed);
        return budget.fits() ? std::optional(budget.headroom()) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt; // not a way out
    }
}

void add_if_fits(std::vector<Suggestion>& list, const Deployment& changed, std::string change,
                 std::string option) {
    if (const auto headroom = fitting_headroom(changed)) {
        list.push_back({std::move(change), std::move(option), *headroom});
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
        if (const auto headroom = fitting_headroom(changed)) {
            list.push_back({format_integer(changed.settings.parallel.ranks()) + " × " +
                                deployment.device.display_name + ", tensor parallel",
                            "--tp " + std::to_string(ranks), *headroom});
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
        if (const auto headroom = fitting_headroom(changed)) {
            list.push_back({device.display_name + " (" + format_bytes(device.memory) + ")",
                            "--gpu " + device.name, *headroom});
            return;
        }
    }
}

} // namespace

std::int64_t most_sequences(const Deployment& deployment) {
    return largest(any_sequences, [&](std::int64_t sequences) {
        return fits_with(deployment, deployment.settings.context, sequences);
    });
}

Tokens longest_context(const Deployment& deployment) {
    return Tokens(largest(any_context.count(), [&](std::int64_t tokens) {
        return fits_with(deployment, Tokens(tokens), deployment.settings.sequences);
    }));
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
    return Suggestion{pair_text({k, k}), pair_option({k, k}), make_budget(changed).headroom()};
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
