// SPDX-License-Identifier: Apache-2.0
// What each pair of formats costs in the outputs of attention, beside what it takes in memory: the
// verifier measures the first, core counts the second.
#include "app/cli/commands.h"
#include "app/cli/verifier.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/stored_components.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <set>

namespace kvcaliper::cli {

namespace {

constexpr std::int64_t usual_tokens = 1024;

/// The attention whose widths and heads are measured: the first layer that keeps K and V.
const AttentionDims& attention_of(const Model& model) {
    for (const LayerPlan& layer : model.plan.layers) {
        for (const LayerPart& part : layer.parts) {
            const auto* dims = std::get_if<AttentionDims>(&part.dims);
            if (dims != nullptr && part.kind != LayerKind::cross_attention) {
                return *dims;
            }
        }
    }
    throw Error(model.plan.name + ": expected a model that keeps K and V, found none");
}

/// One format, or none: all that the verifier has.
JsonValue asked_formats(const std::string& format) {
    JsonValue::Array formats;
    if (format != "auto") {
        formats.emplace_back(numeric_format(format).name);
    }
    return formats;
}

JsonValue quality_request(const AttentionDims& dims, const Options& options) {
    JsonValue quality;
    quality.set("tokens", options.context_given ? options.settings.context.count() : usual_tokens);
    quality.set("heads", dims.heads);
    quality.set("kv_heads", dims.kv_heads);
    quality.set("key_width", dims.key_width);
    quality.set("value_width", dims.value_width);
    quality.set("seed", options.verify.seed);
    quality.set("k_formats", asked_formats(options.settings.k_format));
    quality.set("v_formats", asked_formats(options.settings.v_format));
    JsonValue request;
    request.set("schema", 1);
    request.set("quality", std::move(quality));
    return request;
}

/// An error that is no finite number comes as null: nothing to compare.
double number(const JsonValue& value) {
    if (value.if_double()) {
        return *value.if_double();
    }
    if (!value.if_integer()) {
        throw Error("kvcaliper-verify: expected a number, found " + describe(value),
                    ErrorKind::impossible_here);
    }
    return static_cast<double>(*value.if_integer());
}

/// A pair of formats: what was measured, and its bytes.
struct Pair {
    std::string k, v;
    Ratio bytes_per_token, bytes_per_element;
    JsonValue::Array errors;
    bool best = false;

    double error(std::size_t condition = 0) const { return number(errors.at(condition)); }
};

Pair counted(const ModelPtr& model, const AttentionDims& dims, const JsonValue& measured) {
    Settings settings;
    settings.k_format = measured.string_at("k");
    settings.v_format = measured.string_at("v");
    const Ratio row = pair_bytes_per_token(numeric_format(settings.k_format), dims.key_width,
                                           numeric_format(settings.v_format), dims.value_width);
    return {settings.k_format,
            settings.v_format,
            estimate(model, settings).uncapped.value(),
            row / Ratio(dims.key_width + dims.value_width),
            measured.array_at("errors"),
            false};
}

/// Of a format that keeps recent tokens as they are: true where so many tokens fill a group of K
/// and leave a V behind, so that the error belongs to the bytes.
bool is_packed(const Pair& pair, std::int64_t tokens) {
    const std::int64_t k = numeric_format(pair.k).residual_length;
    const std::int64_t v = numeric_format(pair.v).residual_length;
    return (k == 0 || tokens >= k) && (v == 0 || tokens > v);
}

/// No other pair takes as little and loses less under the first condition.
void mark_best(std::vector<Pair>& pairs, std::int64_t tokens) {
    for (Pair& pair : pairs) {
        pair.best = is_packed(pair, tokens) &&
                    std::none_of(pairs.begin(), pairs.end(), [&](const Pair& other) {
                        return is_packed(other, tokens) &&
                               other.bytes_per_token <= pair.bytes_per_token &&
                               other.error() < pair.error();
                    });
    }
}

/// By bytes, then by error. Pairs that another layer of the model can not store are left out.
std::vector<Pair> counted_pairs(const ModelPtr& model, const AttentionDims& dims,
                                const JsonValue& result) {
    std::vector<Pair> pairs;
    std::string problem;
    for (const JsonValue& measured : result.array_at("pairs")) {
        try {
            pairs.push_back(counted(model, dims, measured));
        } catch (const Error& error) {
            problem = error.what();
        }
    }
    if (pairs.empty()) {
        throw Error(problem);
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.bytes_per_token != b.bytes_per_token ? a.bytes_per_token < b.bytes_per_token
                                                      : a.error() < b.error();
    });
    mark_best(pairs, result.integer_at("tokens"));
    return pairs;
}

JsonValue pair_json(const Pair& pair) {
    JsonValue json;
    json.set("k", pair.k);
    json.set("v", pair.v);
    json.set("bytes_per_element", pair.bytes_per_element.to_string());
    json.set("bytes_per_token", pair.bytes_per_token.to_string());
    json.set("errors", pair.errors);
    json.set("best", pair.best);
    return json;
}

struct Quality {
    JsonValue result; ///< the verifier's
    std::string model;
    std::vector<Pair> pairs;
};

Quality measured_quality(const Options& options, Io& io) {
    const ModelPtr model = load_model(options.models.empty() ? "llama-3-8b" : options.models[0]);
    const AttentionDims& dims = attention_of(*model);
    const VerifierAnswer answer =
        run_verifier(quality_request(dims, options), "measuring " + model->plan.name, "", io);
    if (answer.result.string_at("verdict") != "measured") {
        throw Error(answer.result.string_at("verdict"), ErrorKind::impossible_here);
    }
    return {answer.result, model->plan.name, counted_pairs(model, dims, answer.result)};
}

JsonValue to_json(const Quality& quality) {
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "quality");
    json.set("model", quality.model);
    for (const char* key :
         {"backend", "device", "tokens", "heads", "kv_heads", "key_width", "value_width", "seed",
          "outlier_period", "outlier_factor", "conditions"}) {
        json.set(key, quality.result.at(key));
    }
    JsonValue::Array pairs;
    for (const Pair& pair : quality.pairs) {
        pairs.push_back(pair_json(pair));
    }
    json.set("pairs", std::move(pairs));
    return json;
}

// ---- for people -------------------------------------------------------------------------------

std::string formatted(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string error_cell(double error, TableStyle style) {
    return style == TableStyle::csv ? formatted("%.6g", error) : formatted("%.3g %%", 100 * error);
}

Table quality_table(const Quality& quality, TableStyle style) {
    Table table{{{"K"},
                 {"V"},
                 {"B/element", true},
                 {"B/token", true},
                 {"large channels, peaky", true},
                 {"large channels, flat", true},
                 {"plain keys, peaky", true},
                 {"plain keys, flat", true},
                 {"best"}},
                {}};
    for (const Pair& pair : quality.pairs) {
        const Ratio element = pair.bytes_per_element;
        std::vector<std::string> row{
            pair.k, pair.v,
            formatted("%.6g", static_cast<double>(element.numerator()) /
                                  static_cast<double>(element.denominator())),
            exact_cell(pair.bytes_per_token, style)};
        for (std::size_t i = 0; i < pair.errors.size(); ++i) {
            row.push_back(error_cell(pair.error(i), style));
        }
        row.push_back(pair.best ? "yes" : "");
        table.rows.push_back(std::move(row));
    }
    return table;
}

const Pair* find_pair(const Quality& quality, const char* k, const char* v) {
    const auto found = std::find_if(quality.pairs.begin(), quality.pairs.end(),
                                    [&](const Pair& pair) { return pair.k == k && pair.v == v; });
    return found == quality.pairs.end() ? nullptr : &*found;
}

/// The same bytes spent on K or on V.
void write_comparison(const Quality& quality, Io& io) {
    const Pair* keys = find_pair(quality, "q8_0", "q4_0");
    const Pair* values = find_pair(quality, "q4_0", "q8_0");
    if (keys == nullptr || values == nullptr || keys->bytes_per_token != values->bytes_per_token) {
        return;
    }
    io.out << "at the same " << exact_cell(keys->bytes_per_token, TableStyle::text)
           << " B/token: q8_0 K with q4_0 V is off by "
           << error_cell(keys->error(), TableStyle::text) << ", q4_0 K with q8_0 V by "
           << error_cell(values->error(), TableStyle::text)
           << " (keys with large channels, peaky scores)\n";
}

std::string attended_text(const Quality& quality, std::size_t condition) {
    const JsonValue& entry = quality.result.array_at("conditions").at(condition);
    return formatted("%.3g", number(entry.at("attended_tokens")));
}

/// How many recent tokens formats keep as they are, in ascending order.
std::set<std::int64_t> residual_lengths(const std::vector<Pair>& pairs) {
    std::set<std::int64_t> lengths;
    for (const Pair& pair : pairs) {
        lengths.insert(numeric_format(pair.k).residual_length);
        lengths.insert(numeric_format(pair.v).residual_length);
    }
    lengths.erase(0);
    return lengths;
}

/// Of what the bytes are and of what the errors, where the two differ.
void write_residuals(const Quality& quality, Io& io) {
    const std::int64_t tokens = quality.result.integer_at("tokens");
    std::string kept;
    for (const std::int64_t length : residual_lengths(quality.pairs)) {
        kept += (kept.empty() ? "" : ", or ") + format_integer(tokens % length) + " of K and " +
                format_integer(std::min(tokens, length)) + " of V (residual of " +
                format_integer(length) + ")";
    }
    if (!kept.empty()) {
        io.out << "KIVI: bytes are those a token adds once it is packed; errors are of all tokens, "
               << kept << " of which are still in f16; none is best where nothing is packed\n";
    }
}

void write_notes(const Quality& quality, Io& io) {
    const JsonValue& result = quality.result;
    io.out << "\n"
           << quality.model << ": outputs of " << format_integer(result.integer_at("heads"))
           << " heads over " << format_integer(result.integer_at("tokens"))
           << " tokens, relative to those of the numbers themselves; seed "
           << result.integer_at("seed") << "; " << result.string_at("backend") << ": "
           << result.string_at("device") << "\n"
           << "numbers are normal; with large channels, one channel of the keys in "
           << result.integer_at("outlier_period") << " is "
           << formatted("%g", number(result.at("outlier_factor")))
           << " times as large (fixed channels: KIVI, arXiv 2402.02750)\n"
           << "peaky scores attend to " << attended_text(quality, 0)
           << " of the tokens, flat ones to " << attended_text(quality, 1)
           << "; best: no pair takes as little and loses less under "
           << "the first condition\n";
    write_residuals(quality, io);
    write_comparison(quality, io);
}

} // namespace

JsonValue quality_answer(const Options& options, Io& io) {
    return to_json(measured_quality(options, io));
}

int quality_command(const Options& options, Io& io) {
    const TableStyle style = options.output.style();
    const Quality quality = measured_quality(options, io);
    if (options.output.json) {
        io.out << dump_json(to_json(quality)) << "\n";
        return answered;
    }
    io.out << format_table(quality_table(quality, style), style);
    if (style != TableStyle::csv) {
        write_notes(quality, io);
    }
    return answered;
}

} // namespace kvcaliper::cli
