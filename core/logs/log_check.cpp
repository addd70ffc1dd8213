// SPDX-License-Identifier: Apache-2.0
#include "core/logs/log_check.h"

#include "core/error.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace kvcaliper {

namespace logs {

namespace {

std::string strip(std::string text, std::string_view characters) {
    std::erase_if(text, [&](char c) { return characters.find(c) != std::string_view::npos; });
    return text;
}

/// "2160,00" with two decimals behind a comma is what a German locale makes of 2160.00; "12,160" is
/// twelve thousand.
std::string with_point(std::string figure) {
    const std::size_t comma = figure.find(',');
    const bool decimal = comma != std::string::npos && figure.find('.') == std::string::npos &&
                         figure.find(',', comma + 1) == std::string::npos &&
                         figure.size() - comma - 1 != 3;
    if (decimal) {
        figure[comma] = '.';
    }
    return figure;
}

std::vector<std::string> summands(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(" + ", begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 3;
    }
    return parts;
}

/// What PyTorch and the engines call the formats that the table knows under other names.
std::string table_name(std::string name) {
    name = strip(std::move(name), "'\"");
    if (name.starts_with("torch.")) {
        name = name.substr(6);
    }
    if (name == "float8_e4m3fn" || name == "float8_e4m3fnuz" || name == "fp8_ds_mla") {
        return "fp8_e4m3";
    }
    return name == "float8_e5m2" ? "fp8_e5m2" : name;
}

bool holds(const Question& question, const std::string& unit, const Reading& reading) {
    const auto figure_holds = [&](const char* name, const Ratio& bytes) {
        const auto written = question.line.values.find(name);
        return written == question.line.values.end() ||
               written_bytes(written->second, unit).holds(bytes);
    };
    return figure_holds("size", reading.bytes.total()) && figure_holds("k_size", reading.bytes.k) &&
           figure_holds("v_size", reading.bytes.v);
}

} // namespace

std::optional<std::string> Question::word(std::string_view name) const {
    for (const LogFacts* facts : {&line.values, &line.known, &load}) {
        if (const auto found = facts->find(name); found != facts->end()) {
            return found->second;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> Question::count(std::string_view name) const {
    const auto written = word(name);
    if (!written) {
        return std::nullopt;
    }
    const std::string digits = strip(*written, ",.");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    return whole ? std::optional(value) : std::nullopt;
}

/// SGLang's attention is divided among the ranks of one data-parallel group alone.
std::int64_t Question::ranks() const {
    const std::int64_t ranks = count("tp").value_or(asked.settings.parallel.tensor);
    const std::int64_t groups = word("dp_attention") ? count("dp").value_or(1) : 1;
    return std::max<std::int64_t>(1, ranks / std::max<std::int64_t>(1, groups));
}

Model Question::rank_model() const {
    if (ranks() == 1) {
        return *model;
    }
    Model divided{divide_heads(model->plan, ranks()), {}};
    divided.spec = build_cache_spec(divided.plan, asked.settings.encoder_tokens);
    return divided;
}

std::vector<std::string> Question::rank_text() const {
    if (ranks() == 1) {
        return {};
    }
    const auto row = [](const Model& one) {
        return pool_bytes(every_pool(one.spec), ideal_formats(), 1).total();
    };
    const bool replicated = row(rank_model()) * Ratio(ranks()) > row(*model);
    return {"per GPU: one of " + format_integer(ranks()) + " ranks" +
            (replicated ? ", KV heads replicated" : "")};
}

const NumericFormat& Question::format(std::string_view name, const std::string& setting,
                                      const char* otherwise) const {
    const auto written = word(name);
    const std::string known = written ? table_name(*written) : "auto";
    if (known != "auto") {
        return numeric_format(known);
    }
    return numeric_format(setting == "auto" ? otherwise : setting);
}

CacheFormats Question::formats(std::string_view k_name, std::string_view v_name,
                               const char* otherwise) const {
    CacheFormats formats = ideal_formats();
    formats.k = &format(k_name, asked.settings.k_format, otherwise);
    formats.v = &format(v_name, asked.settings.v_format, otherwise);
    formats.index = formats.k;
    formats.conv = formats.state;
    return formats;
}

ByteRange written_bytes(const std::string& figures, const std::string& units) {
    ByteRange range;
    const auto unit_names = summands(units);
    const auto parts = summands(figures);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const WrittenNumber number = parse_written_number(with_point(parts[i]));
        const Ratio unit(bytes_of_unit(unit_names[std::min(i, unit_names.size() - 1)]));
        const Ratio half = number.step * Ratio(1, 2);
        range.low = range.low + (number.value - half) * unit;
        range.high = range.high + (number.value + half) * unit;
    }
    return range;
}

void set_computed(LogResult& result, const Ratio& bytes) {
    result.computed_bytes = Bytes(bytes.floor());
    result.computed = format_bytes_exact(*result.computed_bytes);
}

std::string difference_text(const Ratio& logged, const Ratio& computed) {
    const bool less = logged < computed;
    const Ratio difference = less ? computed - logged : logged - computed;
    std::string text = format_bytes(difference) + (less ? " less" : " more") + " than computed";
    if (computed > Ratio(0)) {
        text += " (" + format_decimal(difference * Ratio(100) / computed, 2) + " %)";
    }
    return text;
}

LogResult blank(const Question& question) {
    LogResult result;
    result.line = question.line.number;
    result.times = question.line.times;
    result.engine = question.line.engine;
    result.text = question.line.text;
    result.model = question.model;
    return result;
}

LogResult unchecked(const Question& question, std::string quantity, std::string why) {
    LogResult result = blank(question);
    result.quantity = std::move(quantity);
    result.verdict = LogVerdict::unchecked;
    result.explanation.push_back(std::move(why));
    return result;
}

namespace {

void apply(LogResult& result, const Reading& reading) {
    set_computed(result, reading.bytes.total());
    result.explanation = reading.explanation;
    if (!reading.quantity.empty()) {
        result.quantity = reading.quantity;
    }
}

} // namespace

LogResult judge(const Question& question, std::string quantity, const std::string& unit,
                const std::vector<Reading>& readings) {
    LogResult result = blank(question);
    result.quantity = std::move(quantity);
    const auto size = question.line.values.find("size");
    const std::string logged =
        size != question.line.values.end()
            ? size->second
            : question.line.values.at("k_size") + " + " + question.line.values.at("v_size");
    result.logged = logged + " " + unit;
    const auto found = std::find_if(readings.begin(), readings.end(), [&](const Reading& reading) {
        return holds(question, unit, reading);
    });
    if (found != readings.end()) {
        apply(result, *found);
        result.verdict = found->explanation.empty() ? LogVerdict::equal : LogVerdict::explained;
        return result;
    }
    const ByteRange range = written_bytes(logged, unit);
    if (!readings.empty()) {
        set_computed(result, readings.front().bytes.total());
        result.difference =
            difference_text((range.low + range.high) * Ratio(1, 2), readings.front().bytes.total());
    }
    return result;
}

LogResult judge_whole(const Question& question, std::string quantity, const std::string& figures,
                      const std::string& unit, const std::vector<Reading>& readings) {
    MemoryLine line = question.line;
    line.values.insert_or_assign("size", figures);
    return judge({line, question.load, question.model, question.asked}, std::move(quantity), unit,
                 readings);
}

} // namespace logs

namespace {

using namespace logs;

/// Finds the model of each load once.
class Models {
  public:
    Models(const EngineLog& log, const LogQuestion& question) : log_(log), question_(question) {}

    const ModelPtr& of(const MemoryLine& line) {
        const std::string name = question_.model.empty() ? name_of(line) : question_.model;
        const auto known = models_.find(name);
        if (known != models_.end()) {
            return known->second;
        }
        return models_.emplace(name, load_model(name)).first->second;
    }

  private:
    /// What the load calls its model; Ollama's own lines may stand before the program's that does.
    std::vector<std::string> names_in_log(const MemoryLine& line) const {
        std::vector<std::string> names;
        for (std::size_t i = line.load; i < log_.loads.size() && names.empty(); ++i) {
            for (const char* key : {"model", "model_file", "general_name"}) {
                if (const auto found = log_.loads[i].find(key); found != log_.loads[i].end()) {
                    names.push_back(found->second);
                }
            }
            if (line.engine != "Ollama") {
                break;
            }
        }
        return names;
    }

    std::string name_of(const MemoryLine& line) {
        const std::vector<std::string> names = names_in_log(line);
        if (catalog_.empty()) {
            catalog_ = bundled_models();
        }
        std::string said;
        for (const std::string& name : names) {
            if (const std::string bundled = bundled_model_for(name, catalog_); !bundled.empty()) {
                return bundled;
            }
            said += (said.empty() ? "\"" : ", \"") + shown(name) + "\"";
        }
        throw Error(log_.source + ": line " + std::to_string(line.number) +
                    ": expected --model, or a log that names a bundled model, found " +
                    (said.empty() ? "no model in the log" : said));
    }

    static std::string shown(const std::string& name) {
        std::string text = name.substr(0, 120);
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    const EngineLog& log_;
    const LogQuestion& question_;
    std::vector<CatalogEntry> catalog_{};
    std::map<std::string, ModelPtr> models_{};
};

LogResult check_kind(const Question& question) {
    if (const auto stages = question.count("pp"); stages && *stages > 1) {
        return unchecked(question, "KV cache",
                         "a part of the layers, of one of " + format_integer(*stages) +
                             " pipeline stages: which one the line does not say");
    }
    switch (question.line.kind) {
    case LogLineKind::pool:
    case LogLineKind::context:
    case LogLineKind::latent:
    case LogLineKind::latent_split:
    case LogLineKind::buffers:
    case LogLineKind::states:
    case LogLineKind::server_cache:
        return check_llama_line(question);
    case LogLineKind::gpu_blocks:
    case LogLineKind::cache_tokens:
    case LogLineKind::concurrency:
        return check_vllm_line(question);
    case LogLineKind::token_pool:
    case LogLineKind::latent_pool:
    case LogLineKind::window_pools:
    case LogLineKind::state_pool:
        return check_sglang_line(question);
    case LogLineKind::paged_cache:
        return check_tensorrt_llm_line(question);
    }
    return blank(question);
}

/// A line whose numbers lead nowhere (an unknown format, a figure beyond 64 bits) is unexplained.
LogResult check_line(const Question& question) {
    try {
        return check_kind(question);
    } catch (const Error& error) {
        LogResult result = blank(question);
        result.quantity = "cache";
        result.explanation = {error.what()};
        result.difference = "nothing to compare with";
        return result;
    }
}

} // namespace

std::vector<LogResult> check_engine_log(const EngineLog& log, const LogQuestion& question) {
    Models models(log, question);
    std::vector<LogResult> results;
    for (std::size_t begin = 0; begin < log.lines.size();) {
        std::vector<Question> context;
        std::vector<LogResult> checked;
        const MemoryLine& first = log.lines[begin];
        for (; begin < log.lines.size() && log.lines[begin].load == first.load &&
               log.lines[begin].context == first.context;
             ++begin) {
            const MemoryLine& line = log.lines[begin];
            context.push_back({line, log.loads[line.load], models.of(line), question});
            checked.push_back(check_line(context.back()));
        }
        auto whole = check_llama_context(context, checked);
        std::move(checked.begin(), checked.end(), std::back_inserter(results));
        if (whole) {
            results.push_back(std::move(*whole));
        }
    }
    return results;
}

JsonValue log_json(const EngineLog& log, const std::vector<LogResult>& results) {
    JsonValue::Array lines;
    for (const LogResult& result : results) {
        JsonValue line;
        line.set("line", static_cast<std::int64_t>(result.line));
        line.set("times", result.times);
        line.set("engine", result.engine);
        line.set("model", result.model->plan.name);
        line.set("text", result.text);
        line.set("quantity", result.quantity);
        line.set("logged", result.logged);
        line.set("computed", result.computed);
        line.set("computed_bytes",
                 result.computed_bytes ? JsonValue(result.computed_bytes->count()) : JsonValue());
        line.set("verdict", to_string(result.verdict));
        JsonValue::Array explanation(result.explanation.begin(), result.explanation.end());
        line.set("explanation", std::move(explanation));
        line.set("difference",
                 result.difference.empty() ? JsonValue() : JsonValue(result.difference));
        lines.push_back(std::move(line));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "log");
    json.set("source", log.source);
    json.set("lines", std::move(lines));
    return json;
}

} // namespace kvcaliper
