// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/quality_chart.h"

#include "app/gui/text.h"
#include "core/error.h"
#include "core/numeric_format.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <iostream>

namespace kvcaliper::gui {

namespace {

struct Pair {
    QString k, v;
    Ratio bytes; ///< per token
    double error = 0;
    bool best = false;
    int series = 0; ///< 0: K takes more than V, 1: V more than K, 2: as much
};

double number(const JsonValue& value) {
    if (value.if_double() != nullptr) {
        return *value.if_double();
    }
    if (value.if_integer() == nullptr) {
        throw Error("quality: expected a number, found " + describe(value));
    }
    return static_cast<double>(*value.if_integer());
}

/// Bytes per token as an answer writes them: "53248", or "45/2" where tokens share a group.
Ratio read_ratio(const std::string& text) {
    const auto slash = text.find('/');
    const Ratio whole = parse_written_number(text.substr(0, slash)).value;
    return slash == std::string::npos ? whole
                                      : whole / parse_written_number(text.substr(slash + 1)).value;
}

/// By the bytes of 640 numbers, which blocks of every size divide.
int series_of(const std::string& k, const std::string& v) {
    const Bytes keys = row_bytes(numeric_format(k), 640),
                values = row_bytes(numeric_format(v), 640);
    return keys == values ? 2 : keys < values ? 1 : 0;
}

Pair read_pair(const JsonValue& json) {
    const std::string k = json.string_at("k"), v = json.string_at("v");
    const JsonValue::Array& errors = json.array_at("errors");
    if (errors.empty()) {
        throw Error("quality: /errors: expected numbers, found none");
    }
    const double error = number(errors.front());
    if (error <= 0) { // a logarithm has no zero
        throw Error("quality: /errors: expected more than 0, found " + describe(errors.front()));
    }
    const JsonValue& best = json.at("best");
    return {text(k),
            text(v),
            read_ratio(json.string_at("bytes_per_token")),
            error,
            best.if_bool() != nullptr && *best.if_bool(),
            series_of(k, v)};
}

std::vector<Pair> read_pairs(const JsonValue& answer) {
    std::vector<Pair> pairs;
    for (const JsonValue& json : answer.array_at("pairs")) {
        if (json.string_at("k") != "f32" && json.string_at("v") != "f32") {
            pairs.push_back(read_pair(json));
        }
    }
    if (pairs.empty()) {
        throw Error("quality: /pairs: expected pairs of formats, found none");
    }
    return pairs;
}

QString pair_name(const Pair& pair) {
    return pair.k == pair.v ? pair.k : tr("%1 / %2").arg(pair.k, pair.v);
}

ScatterPoint point_of(const Pair& pair, bool named) {
    return {pair.bytes.to_double(), pair.error, named ? pair_name(pair) : QString()};
}

/// Each format alone is a place to start from: named where there is room.
std::vector<ScatterSeries> series_from(const std::vector<Pair>& pairs) {
    std::vector<ScatterSeries> series{{tr("K finer than V"), 0, {}},
                                      {tr("V finer than K"), 1, {}},
                                      {tr("K and V take as much"), 2, {}}};
    for (const Pair& pair : pairs) {
        series[static_cast<std::size_t>(pair.series)].points.push_back(
            point_of(pair, pair.k == pair.v));
    }
    return series;
}

/// Named where it gains enough on the last one named.
std::vector<ScatterPoint> front_of(const std::vector<Pair>& pairs) {
    constexpr double enough = 0.85;
    std::vector<ScatterPoint> front;
    double named = 1e30;
    for (const Pair& pair : pairs) {
        const bool follows = front.empty() || pair.error < front.back().error;
        if (pair.best && follows) {
            const bool gains = pair.error < enough * named;
            named = gains ? pair.error : named;
            front.push_back(point_of(pair, gains));
        }
    }
    return front;
}

const Pair* find_pair(const std::vector<Pair>& pairs, const char* k, const char* v) {
    const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        return pair.k == QLatin1String(k) && pair.v == QLatin1String(v);
    });
    return found == pairs.end() ? nullptr : &*found;
}

QString percent(double error) {
    return tr("%1 %").arg(100 * error, 0, 'g', 3);
}

/// 8 and 4 bits, spent on K or on V.
std::optional<ScatterSpan> span_of(const std::vector<Pair>& pairs) {
    const Pair* keys = find_pair(pairs, "q8_0", "q4_0");
    const Pair* values = find_pair(pairs, "q4_0", "q8_0");
    if (keys == nullptr || values == nullptr || keys->bytes != values->bytes) {
        return std::nullopt;
    }
    const auto end = [](const Pair& pair) {
        return ScatterPoint{pair.bytes.to_double(), pair.error,
                            tr("%1: %2").arg(pair_name(pair), percent(pair.error))};
    };
    return ScatterSpan{end(*keys), end(*values), tr("%1 per token").arg(exact_text(keys->bytes))};
}

QString description_of(const QString& model, const std::vector<Pair>& pairs) {
    QStringList parts;
    for (const Pair& pair : pairs) {
        parts << QStringLiteral("%1 %2 %3")
                     .arg(pair_name(pair), exact_text(pair.bytes), percent(pair.error));
    }
    return tr("%1, bytes per token and error of outputs: %2").arg(model, parts.join(tr("; ")));
}

} // namespace

ChartData quality_chart(const JsonValue& answer) {
    std::vector<Pair> pairs = read_pairs(answer);
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.error < b.error;
    });
    const QString model = text(answer.string_at("model"));
    ScatterChart chart;
    chart.series = series_from(pairs);
    chart.front = front_of(pairs);
    chart.span = span_of(pairs);
    chart.x_axis = tr("KV cache of %1, per token").arg(model);
    chart.y_axis = tr("error of attention outputs");
    ChartData data;
    data.title = tr("What K and V formats cost in outputs");
    data.subtitle =
        tr("measured on the CPU: %1 heads over %2 tokens, seed %3; one key channel in %4 is %5 "
           "times as large, as in real caches (KIVI), and scores are peaky; dashed: what nothing "
           "undercuts; names: K / V")
            .arg(integer_text(answer.integer_at("heads")),
                 integer_text(answer.integer_at("tokens")), integer_text(answer.integer_at("seed")),
                 integer_text(answer.integer_at("outlier_period")),
                 QString::number(number(answer.at("outlier_factor"))));
    data.description = description_of(model, pairs);
    for (const ScatterSeries& series : chart.series) {
        data.legend.push_back(
            {series.name, {Ink::Group::series, series.series, Hatch::none}, series.series});
    }
    data.body = std::move(chart);
    return data;
}

JsonValue read_quality_answer() {
    std::string line;
    if (!std::getline(std::cin, line) || line.empty()) {
        throw Error("--kind quality: expected figures on standard input, found none; `kvcaliper "
                    "chart MODEL --kind quality` measures them");
    }
    return parse_json(line, "standard input").value;
}

} // namespace kvcaliper::gui
