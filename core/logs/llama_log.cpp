// SPDX-License-Identifier: Apache-2.0
// Lines of llama.cpp, of ik_llama.cpp and of Ollama, which starts the former. Wording and meaning
// read in llama.cpp of 2023 to 2026 (src/llama-kv-cache.cpp, llama-kv-cache-iswa.cpp,
// llama-memory-recurrent.cpp, llama-context.cpp), ik_llama.cpp of 2025 (src/llama.cpp).
#include "core/logs/llama_log.h"

#include "core/engines/llama_cpp_types.h"
#include "core/engines/profile.h"

#include <algorithm>

namespace kvcaliper::logs {

namespace {

constexpr std::int64_t most_draft_layers = 4;

/// Where and in which types a line's cells are.
struct Cells {
    std::int64_t count = 0; ///< of all streams
    std::optional<std::int64_t> layers{};
    CacheFormats formats{};
    std::string note{}; ///< about the formats
};

std::string cells_text(const Pool& pool, std::int64_t layers, std::int64_t cells) {
    return pool.name + ": " + format_integer(layers) + (layers == 1 ? " layer" : " layers") +
           " × " + format_integer(cells) + " cells";
}

/// A reading of a pool, unless the line counts other layers.
void add_reading(std::vector<Reading>& readings, const Pool& pool, const Cells& cells,
                 std::vector<std::string> explanation) {
    if (pool.layers == 0 || (cells.layers && *cells.layers != pool.layers)) {
        return;
    }
    if (!cells.note.empty()) {
        explanation.push_back(cells.note);
    }
    try {
        readings.push_back({pool_bytes(pool, cells.formats, cells.count), std::move(explanation),
                            cells_text(pool, pool.layers, cells.count)});
    } catch (const Error&) {
        return; // a type that can not store these rows is no reading
    }
}

/// Layers of a draft beside the model's, or alone: of the shape of its full attention or latent.
void add_draft_readings(std::vector<Reading>& readings, const Pool& pool, const Cells& cells) {
    const std::int64_t counted = cells.layers.value_or(0);
    const std::int64_t more = counted - pool.layers;
    const bool beside = more >= 1 && more <= most_draft_layers;
    const bool alone = counted >= 1 && counted <= most_draft_layers && counted < pool.layers;
    if (pool.layers == 0 || !(beside || alone)) {
        return;
    }
    Pool draft = pool;
    draft.layers = counted;
    for (ComponentGroup& group : draft.groups) {
        if (group.layers != pool.layers) {
            return; // layers of several shapes: nobody knows which one a draft has
        }
        group.layers = counted;
    }
    const std::string layers = beside ? std::to_string(more) : std::to_string(counted);
    add_reading(readings, draft, cells,
                {layers + (layers == "1" ? " layer" : " layers") + " of multi-token prediction" +
                 (beside ? " counted too"
                         : ""
                           " alone")});
}

std::string type_text(const Question& question) {
    return "model_type " + std::string(canonical_type(question.model->plan));
}

/// Why sliding layers have cells for everything, where the rules of llama.cpp know.
std::vector<std::string> ignored_window(const Question& question) {
    const LlamaCppType* type = find_llama_cpp_type(canonical_type(question.model->plan));
    if (type != nullptr && type->windows == LlamaCppType::Windows::ignored) {
        return {"llama.cpp does not use the window of " + type_text(question)};
    }
    return {};
}

std::vector<std::string> padding(const Question& question, const Cells& cells) {
    const std::int64_t context = question.asked.settings.context.count();
    const std::int64_t padded = round_up(context, 256);
    if (!question.asked.context_given || cells.count == context || cells.count != padded) {
        return {};
    }
    return {"the context of " + format_integer(context) + " is padded to " +
            format_integer(padded) + " cells"};
}

/// Every way in which K and V may lie in so many cells, the usual ones first.
void add_pool_readings(std::vector<Reading>& readings, const Question& question,
                       const Cells& cells) {
    const Model& model = *question.model;
    const Pool full = full_pool(model.spec);
    const Pool window = window_pool(model.spec);
    const Pool latent = latent_pool(model.spec, false);
    if (question.word("pool") != "window") {
        add_reading(readings, full, cells, padding(question, cells));
    }
    add_reading(readings, window, cells,
                full.layers == 0 ? ignored_window(question) : std::vector<std::string>{});
    if (full.layers > 0 && window.layers > 0) {
        add_reading(readings, every_pool(model.spec), cells,
                    {"every layer keeps the whole context: windows are not shortened"});
    }
    add_reading(readings, latent, cells, padding(question, cells));
    add_reading(readings, latent_pool(model.spec, true), cells, {"index keys counted too"});
    add_reading(readings, expanded_pool(model), cells,
                {"K and V of every head, not the latent (MLA off, or a file from before it)"});
    add_reading(readings, doubled_latent_pool(model), cells,
                {"V of the latent's width is kept again beside it"});
    add_draft_readings(readings, full, cells);
    add_draft_readings(readings, latent, cells);
}

// ---- what a line says about its cells ----------------------------------------------------------

/// Cells of all sequences: of the pool that was announced, of the context, or as asked.
std::optional<std::int64_t> context_cells(const Question& question) {
    if (const auto pool = question.line.known.find("pool_cells");
        pool != question.line.known.end()) {
        const bool unified = question.word("kv_unified") == "true";
        return checked_multiply(question.count("pool_cells").value_or(0),
                                unified ? 1 : sequences_of(question));
    }
    if (const auto context = question.count("n_ctx")) {
        return context;
    }
    const Settings& settings = question.asked.settings;
    return question.asked.context_given
               ? std::optional(checked_multiply(settings.context.count(), settings.sequences))
               : std::nullopt;
}

/// The types a line was written with; where it does not say, those that people use.
std::vector<Cells> with_formats(const Question& question, Cells cells) {
    cells.formats = question.formats("k", "v", "f16");
    std::vector<Cells> all{cells};
    const Settings& settings = question.asked.settings;
    const bool open =
        !question.word("k") && settings.k_format == "auto" && settings.v_format == "auto";
    for (const char* name : {"q8_0", "q4_0", "bf16"}) {
        if (open) {
            cells.formats.k = &numeric_format(name);
            cells.formats.v = cells.formats.k;
            cells.note = std::string("with K and V in ") + name + ", which the log does not say";
            all.push_back(cells);
        }
    }
    return all;
}

LogResult no_context(const Question& question) {
    return unchecked(question, "KV cache",
                     "the log does not say the context (n_ctx): give it with --context");
}

LogResult judge_cells(const Question& question, const Cells& cells) {
    std::vector<Reading> readings;
    for (const Cells& one : with_formats(question, cells)) {
        add_pool_readings(readings, question, one);
    }
    if (readings.empty() && !cells.layers) {
        return unchecked(question, "KV cache", "no rule for the pools of " + type_text(question));
    }
    const std::string unit = question.word("unit").value_or("MiB");
    LogResult result = judge(question, "KV cache", unit, readings);
    if (result.verdict == LogVerdict::unexplained && cells.layers) {
        result.explanation.push_back(
            "the log counts " + format_integer(*cells.layers) + " layers, the model keeps " +
            format_integer(every_pool(question.model->spec).layers +
                           latent_pool(question.model->spec, false).layers) +
            " with attention");
    }
    return result;
}

LogResult check_pool(const Question& question) {
    const std::int64_t streams =
        question.line.values.contains("streams") ? question.count("streams").value_or(1) : 1;
    return judge_cells(question, {checked_multiply(question.count("cells").value_or(0), streams),
                                  question.count("layers")});
}

LogResult check_context(const Question& question) {
    const auto cells = context_cells(question);
    return cells ? judge_cells(question, {*cells}) : no_context(question);
}

// ---- latents of ik_llama.cpp -------------------------------------------------------------------

/// c^KV is latent and rotary key; with -mla 1 a transposed copy of the latent stands beside it.
LogResult check_latent(const Question& question) {
    const auto cells = context_cells(question);
    if (!cells) {
        return no_context(question);
    }
    const bool copied = question.line.values.contains("v");
    const CacheFormats formats = question.formats("k", "v", "f16");
    const Pool pool =
        copied ? doubled_latent_pool(*question.model) : latent_pool(question.model->spec, false);
    std::vector<Reading> readings;
    add_reading(readings, pool, {*cells, {}, formats},
                copied ? std::vector<std::string>{"the latent is kept again, transposed, as V "
                                                  "(mla=1)"}
                       : padding(question, {*cells}));
    if (pool.layers == 0) {
        LogResult result = judge(question, "latent", "MiB", {});
        result.explanation = {type_text(question) +
                              " has no latent attention: the switch was set in vain"};
        result.difference = "nothing to compare with";
        return result;
    }
    return judge(question, "latent", "MiB", readings);
}

/// K^R is the rotary key, c^KV the latent alone.
LogResult check_latent_split(const Question& question) {
    const auto cells = context_cells(question);
    if (!cells) {
        return no_context(question);
    }
    const CacheFormats formats = question.formats("k", "k", "f16");
    const auto part = [&](Role role) {
        return pool_bytes(pool_of(question.model->spec, "latent attention",
                                  [role](const Component& one) { return one.role == role; }),
                          formats, *cells)
            .total();
    };
    return judge(question, "latent and rotary key × " + format_integer(*cells) + " cells", "MiB",
                 {{{part(Role::latent), part(Role::rope_key)}, {}}});
}

// ---- states ------------------------------------------------------------------------------------

LogResult check_states(const Question& question) {
    const std::int64_t cells = question.count("cells").value_or(0);
    const std::int64_t earlier = question.count("rs_seq").value_or(0);
    CacheFormats formats = ideal_formats();
    formats.conv = &question.format("r", "auto", "f32");
    formats.state = &question.format("s", "auto", "f32");
    Reading reading{pool_bytes(state_pool(question.model->spec), formats,
                               checked_multiply(cells, checked_add(1, earlier))),
                    {}};
    if (earlier > 0) {
        reading.explanation.push_back(std::to_string(earlier) +
                                      " earlier states per sequence, to go back to (rs_seq)");
    }
    return judge(question, "states × " + format_integer(cells) + " sequences", "MiB", {reading});
}

// ---- Ollama -----------------------------------------------------------------------------------

/// Ollama's line is of the whole context, or of K and V of all layers.
LogResult check_server_cache(const Question& question) {
    const auto cells = context_cells(question);
    if (!cells) {
        return no_context(question);
    }
    std::vector<Reading> readings;
    const Model& model = *question.model;
    for (const Cells& one : with_formats(question, {*cells})) {
        for (const Pool& pool : {every_pool(model.spec), latent_pool(model.spec, false)}) {
            const bool short_windows = window_pool(model.spec).layers > 0;
            add_reading(readings, pool, one,
                        short_windows ? std::vector<std::string>{"every layer is counted with the "
                                                                 "whole context"}
                                      : std::vector<std::string>{});
        }
    }
    if (const auto total = profile_total(question)) {
        readings.push_back({{total->bytes, {}},
                            {},
                            "all pools: llama_cpp at " + format_integer(*cells) + " cells"});
    }
    return judge(question, "KV cache", question.line.values.at("unit"), readings);
}

} // namespace

LogResult check_llama_line(const Question& question) {
    switch (question.line.kind) {
    case LogLineKind::latent:
        return check_latent(question);
    case LogLineKind::latent_split:
        return check_latent_split(question);
    case LogLineKind::states:
        return check_states(question);
    case LogLineKind::server_cache:
        return check_server_cache(question);
    case LogLineKind::pool:
        return check_pool(question);
    default:
        return check_context(question);
    }
}

} // namespace kvcaliper::logs
