// SPDX-License-Identifier: Apache-2.0
// Lines of vLLM. Tokens and requests are derived from blocks, blocks from the memory that one GPU
// has for them: v0.5 to v0.8 worker/worker.py (V0), v1/core/kv_cache_utils.py of v0.8 to v0.22 (V1;
// get_max_concurrency_for_kv_cache_config, _report_kv_cache_config).
#include "core/logs/log_check.h"

#include "core/engines/engine.h"
#include "core/error.h"

#include <algorithm>

namespace kvcaliper::logs {

namespace {

/// What one block number stands for, read off the terms of the profile's reservation.
struct BlockPlan {
    std::int64_t block_bytes = 0;
    std::int64_t groups = 0;
    std::int64_t blocks_per_request = 0;
    std::int64_t tokens = 0; ///< of the smallest block
    std::string note{};      ///< what was assumed
};

/// The factor whose name begins like that; 0 where there is none.
std::int64_t factor(const Term& term, std::string_view name) {
    for (const Factor& one : term.factors) {
        if (one.name.starts_with(name)) {
            return one.value.to_integer();
        }
    }
    return 0;
}

/// The tokens in "bytes per page of 16 tokens"; 0 for the page of a state.
std::int64_t page_tokens(const Term& term) {
    constexpr std::string_view name = "bytes per page of ";
    for (const Factor& one : term.factors) {
        if (one.name.starts_with(name)) {
            const std::string digits = one.name.substr(name.size());
            return parse_written_number(digits.substr(0, digits.find(' '))).value.to_integer();
        }
    }
    return 0;
}

/// One group of all layers: a block number stands for a block of each of them.
void add_layers(BlockPlan& plan, const Term& term) {
    plan.block_bytes = checked_add(
        plan.block_bytes, checked_multiply(factor(term, "layers"), factor(term, "bytes per page")));
    plan.blocks_per_request = factor(term, "blocks");
}

/// Several groups that share the block numbers: each stands for the slots of one of them.
void add_groups(BlockPlan& plan, const Term& term) {
    const std::int64_t groups = std::max<std::int64_t>(1, factor(term, "groups"));
    const std::int64_t slots = factor(term, "layer slots") + factor(term, "tuple slots");
    const std::int64_t page = factor(term, "bytes per page") + factor(term, "bytes per tuple");
    plan.groups += groups;
    plan.block_bytes = checked_multiply(slots, page);
    plan.blocks_per_request =
        checked_add(plan.blocks_per_request, checked_multiply(groups, factor(term, "blocks")));
}

BlockPlan block_plan(const Figure& figure) {
    BlockPlan plan;
    for (const Term& term : figure.terms) {
        factor(term, "layers") > 0 ? add_layers(plan, term) : add_groups(plan, term);
        const std::int64_t tokens = page_tokens(term);
        if (tokens > 0 && (plan.tokens == 0 || tokens < plan.tokens)) {
            plan.tokens = tokens;
        }
    }
    plan.groups = std::max<std::int64_t>(plan.groups, 1);
    plan.tokens = std::max<std::int64_t>(plan.tokens, 1);
    return plan;
}

// ---- what may have been set --------------------------------------------------------------------

struct Variant {
    Settings settings;
    std::string note;
};

void set_unless_asked(Settings& settings, const char* name, const std::string& value) {
    auto& options = settings.engine_options;
    const bool asked = std::any_of(options.begin(), options.end(),
                                   [name](const EngineSetting& one) { return one.name == name; });
    if (!asked) {
        options.push_back({name, value});
    }
}

Settings as_logged(const Question& question) {
    Settings settings = question.asked.settings;
    settings.engine = "vllm";
    settings.sequences = 1;
    settings.parallel = {};
    settings.context = Tokens(question.count("max_len").value_or(settings.context.count()));
    settings.k_format = question.format("kv_dtype", settings.k_format, "bf16").name;
    settings.v_format = settings.k_format;
    if (const auto batched = question.count("batched_tokens")) {
        set_unless_asked(settings, "max-num-batched-tokens", std::to_string(*batched));
    }
    if (const auto mode = question.word("mamba_mode"); mode == "align" || mode == "none") {
        set_unless_asked(settings, "mamba-cache-mode", *mode);
    }
    return settings;
}

/// The settings that the log shows, then others that it does not rule out.
std::vector<Variant> variants(const Question& question) {
    const Settings settings = as_logged(question);
    std::vector<Variant> all{{settings, ""}};
    const auto add = [&](const char* option, const char* value) {
        Settings other = settings;
        set_unless_asked(other, option, value);
        all.push_back({std::move(other), std::string("with ") + option + " " + value +
                                             ", which the log does not say"});
    };
    if (!question.word("kv_dtype") && question.asked.settings.k_format == "auto") {
        Settings other = settings;
        other.k_format = "fp8_e4m3";
        other.v_format = other.k_format;
        all.push_back({std::move(other), "with K and V in fp8, which the log does not say"});
    }
    if (!question.word("batched_tokens") && window_pool(question.model->spec).layers > 0) {
        add("max-num-batched-tokens", "2048");
        add("max-num-batched-tokens", "16384");
    }
    if (!question.word("mamba_mode") && state_pool(question.model->spec).layers > 0) {
        add("mamba-cache-mode", "align");
    }
    return all;
}

/// What the profile makes of them; `refusal` is why there may be none.
std::vector<BlockPlan> block_plans(const Question& question, std::string& refusal) {
    const Model rank = question.rank_model();
    std::vector<BlockPlan> plans;
    for (const Variant& variant : variants(question)) {
        try {
            plans.push_back(block_plan(reserve(rank, variant.settings)->figure));
            plans.back().note = variant.note;
        } catch (const Error& error) {
            refusal = error.what();
        }
    }
    std::erase_if(plans, [](const BlockPlan& plan) { return plan.block_bytes == 0; });
    return plans;
}

// ---- blocks, tokens and requests ---------------------------------------------------------------

/// A number of blocks that a line allows, and why.
struct Blocks {
    Ratio low;
    Ratio high; ///< the first number that is too many
    std::string why{};
};

std::vector<Blocks> blocks_of_tokens(const BlockPlan& plan, const Question& question) {
    const Ratio tokens(question.count("tokens").value_or(0));
    const Ratio low = tokens / Ratio(plan.tokens) * Ratio(plan.groups);
    std::vector<Blocks> all{{low, low + Ratio(plan.groups),
                             plan.groups == 1
                                 ? ""
                                 : "tokens = blocks // " + format_integer(plan.groups) +
                                       " groups of layers × " + format_integer(plan.tokens) +
                                       ": no measure of what one sequence can hold"}};
    if (const auto longest = question.count("max_len"); longest && *longest > 0) {
        const Ratio request = Ratio(plan.blocks_per_request) / Ratio(*longest);
        all.push_back(
            {Ratio((tokens * request).floor()), (tokens + Ratio(1)) * request + Ratio(1),
             "tokens = requests of " + format_integer(*longest) + " tokens × their length"});
    }
    return all;
}

std::vector<Blocks> blocks_of_requests(const BlockPlan& plan, const Question& question) {
    const WrittenNumber requests = parse_written_number(*question.word("size"));
    const Ratio half = requests.step * Ratio(1, 2);
    const Ratio longest(question.count("max_len").value_or(1));
    const auto range = [&](const Ratio& per_request, const std::string& why) {
        return Blocks{Ratio(((requests.value - half) * per_request).floor()),
                      (requests.value + half) * per_request + Ratio(1), why};
    };
    std::vector<Blocks> all{range(Ratio(plan.blocks_per_request), "")};
    if (plan.groups == 1) {
        all.push_back(range(longest / Ratio(plan.tokens), ""));
    }
    return all;
}

std::vector<Blocks> blocks_of_line(const BlockPlan& plan, const Question& question) {
    switch (question.line.kind) {
    case LogLineKind::gpu_blocks: {
        const Ratio blocks(question.count("blocks").value_or(0));
        return {{blocks, blocks + Ratio(1)}};
    }
    case LogLineKind::concurrency:
        return blocks_of_requests(plan, question);
    default:
        return blocks_of_tokens(plan, question);
    }
}

std::string line_text(const Question& question) {
    switch (question.line.kind) {
    case LogLineKind::gpu_blocks:
        return format_integer(question.count("blocks").value_or(0)) + " blocks";
    case LogLineKind::concurrency:
        return question.line.values.at("size") + " requests of " +
               format_integer(question.count("max_len").value_or(0)) + " tokens";
    default:
        return format_integer(question.count("tokens").value_or(0)) + " tokens";
    }
}

/// What there is to compare with: the memory for the cache, else the tokens of an earlier line.
std::optional<ByteRange> available(const Question& question, const BlockPlan& plan) {
    if (const auto memory = question.word("memory")) {
        return written_bytes(*memory, "GiB");
    }
    if (question.line.kind == LogLineKind::concurrency && question.count("cache_tokens")) {
        const Ratio blocks =
            Ratio(*question.count("cache_tokens")) / Ratio(plan.tokens) * Ratio(plan.groups);
        const Ratio bytes(plan.block_bytes);
        return ByteRange{blocks * bytes, (blocks + Ratio(plan.groups)) * bytes};
    }
    return std::nullopt;
}

bool agrees(const Blocks& blocks, const BlockPlan& plan, const ByteRange& memory) {
    const Ratio bytes(plan.block_bytes);
    return blocks.low * bytes <= memory.high && memory.low < blocks.high * bytes;
}

void explain_match(LogResult& result, const Question& question, const BlockPlan& plan,
                   const Blocks& blocks) {
    set_computed(result, blocks.low * Ratio(plan.block_bytes));
    result.explanation = question.rank_text();
    for (const std::string& text : {blocks.why, plan.note}) {
        if (!text.empty()) {
            result.explanation.push_back(text);
        }
    }
    result.verdict = result.explanation.empty() ? LogVerdict::equal : LogVerdict::explained;
}

} // namespace

LogResult check_vllm_line(const Question& question) {
    std::string refusal = "no rule for what one block of this model is";
    const std::vector<BlockPlan> plans = block_plans(question, refusal);
    const std::string text = line_text(question);
    LogResult result = blank(question);
    result.quantity = text;
    if (plans.empty()) {
        return unchecked(question, text, refusal);
    }
    const Blocks first = blocks_of_line(plans.front(), question).front();
    const Ratio expected = first.low * Ratio(plans.front().block_bytes);
    if (!available(question, plans.front())) {
        result =
            unchecked(question, text, "the log does not say how much memory there is for them");
        set_computed(result, expected);
        return result;
    }
    set_computed(result, expected);
    const auto memory = question.word("memory");
    result.logged =
        memory ? *memory + " GiB" : format_integer(*question.count("cache_tokens")) + " tokens";
    for (const BlockPlan& plan : plans) {
        for (const Blocks& blocks : blocks_of_line(plan, question)) {
            if (agrees(blocks, plan, *available(question, plan))) {
                explain_match(result, question, plan, blocks);
                return result;
            }
        }
    }
    const ByteRange range = *available(question, plans.front());
    result.difference = difference_text((range.low + range.high) * Ratio(1, 2), expected);
    return result;
}

} // namespace kvcaliper::logs
