// SPDX-License-Identifier: Apache-2.0
#include "core/verify_request.h"

#include "core/error.h"
#include "core/stored_components.h"

#include <functional>
#include <set>

namespace kvcaliper {

namespace {

/// Counts around which a format with a residual packs tokens, early and right before the context.
void add_residual_contexts(const NumericFormat& format, Tokens context,
                           const std::function<void(std::int64_t)>& add) {
    if (const std::int64_t n = format.residual_length; n > 0) {
        add(n - 1);
        add(n);
        add(n + 2);
        add(2 * n + n / 2);
        add(context.count() / n * n - 1);
        add(context.count() / n * n);
        add(context.count() / 2 / n * n); // with the one before it the ends of a line
    }
}

} // namespace

std::vector<std::int64_t> verify_contexts(const Model& model, const CacheFormats& formats,
                                          Tokens context) {
    const std::int64_t tokens = context.count();
    std::set<std::int64_t> contexts{tokens};
    const auto add = [&](std::int64_t count) {
        if (count >= 8 && count < tokens) {
            contexts.insert(count);
        }
    };
    add(tokens / 4);
    add(tokens / 2);
    if (packs(model.spec, formats, Role::key)) {
        add_residual_contexts(*formats.k, context, add);
    }
    if (packs(model.spec, formats, Role::value)) {
        add_residual_contexts(*formats.v, context, add);
    }
    for (const LayerPlan& layer : model.plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<AttentionDims>(&part.dims); dims && dims->window) {
                add(*dims->window / 2);
                add(*dims->window);
                if (part.kind == LayerKind::chunked_attention) {
                    add(*dims->window + 2); // steps on both sides of the boundary
                }
            }
            if (const auto* dims = std::get_if<CompressedDims>(&part.dims)) {
                add(dims->window);
                add(dims->group + 1); // the first entry is pooled in the step before the last
            }
        }
    }
    return {contexts.begin(), contexts.end()};
}

JsonValue verify_request(const Model& model, const Settings& settings,
                         const VerifyOptions& options) {
    if (options.steps < 1 || options.steps > 1000) {
        throw Error("--steps: expected 1 to 1000, found " + std::to_string(options.steps));
    }
    if (options.repeats < 1 || options.repeats > 1000) {
        throw Error("--repeats: expected 1 to 1000, found " + std::to_string(options.repeats));
    }
    if (options.page < 0 || options.page % 4 != 0 || options.page > (1 << 20)) {
        throw Error("--paged: expected a multiple of 4, found " + std::to_string(options.page));
    }
    if (settings.context.count() <= options.steps) {
        throw Error("--context: expected more tokens than decode steps (" +
                    std::to_string(options.steps) + "), found " +
                    std::to_string(settings.context.count()));
    }
    std::vector<std::int64_t> contexts =
        verify_contexts(model, resolve_formats(settings, model.plan), settings.context);
    std::erase_if(contexts, [&](std::int64_t context) { return context <= options.steps; });
    return verify_request(model, settings, options, contexts);
}

JsonValue verify_request(const Model& model, const Settings& settings, const VerifyOptions& options,
                         const std::vector<std::int64_t>& contexts) {
    const CacheFormats formats = resolve_formats(settings, model.plan);
    check_storable(model.spec, formats);
    JsonValue::Array with_cartridge;
    for (const std::int64_t context : contexts) {
        with_cartridge.push_back(checked_add(context, options.cartridge.count()));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("config", to_json(model.plan));
    CacheSpec spec = model.spec;
    add_compressor_buffers(spec, model.plan);
    json.set("spec", to_json(stored_spec(spec, formats)));
    json.set("contexts", std::move(with_cartridge));
    json.set("sequences", settings.sequences);
    json.set("formats", to_json(formats));
    json.set("steps", options.steps);
    json.set("seed", options.seed);
    json.set("repeats", options.repeats);
    json.set("depth", options.depth);
    if (options.cartridge > Tokens(0)) {
        json.set("cartridge", options.cartridge.count());
    }
    if (options.page > 0) {
        json.set("page", options.page);
    }
    if (options.baseline > Tokens(0)) {
        json.set("baseline", options.baseline.count());
    }
    json.set("backend", options.backend);
    return json;
}

} // namespace kvcaliper
