// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/context_extras.h"

#include "app/gui/chart_layout.h"
#include "app/gui/text.h"
#include "core/device.h"
#include "core/error.h"
#include "core/token_curve.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace kvcaliper::gui {

namespace {

/// More of them are a thicket: then only those of the baseline stay, and of these so many.
constexpr int most_meetings = 24;
constexpr int reads_points = 256;

// --- devices

QString capacity_label(const Device& device) {
    return device.usable < device.memory
               ? tr("%1: %2 usable of %3")
                     .arg(text(device.display_name), bytes_text(Ratio(device.usable.count())),
                          bytes_text(Ratio(device.memory.count())))
               : tr("%1: %2 device memory")
                     .arg(text(device.display_name), bytes_text(Ratio(device.memory.count())));
}

/// The study's devices; what is wrong with one is told in their place.
std::vector<Device> devices_of(const Study& study, QStringList& problems) {
    std::vector<Device> devices;
    for (const QString& name : study.state().context_view.devices) {
        try {
            devices.push_back(find_device(utf8(name)));
        } catch (const std::exception& exception) {
            problems << text(exception.what());
        }
    }
    return devices;
}

// --- meetings

struct NamedCurve {
    const StudyRow* row;
    TokenCurve curve;
};

/// The curves that can be drawn up to the end; one past 64 bits meets nobody.
std::vector<NamedCurve> named_curves(const Study& study, Tokens end) {
    std::vector<NamedCurve> curves;
    for (const StudyRow& row : study.rows()) {
        if (!row.estimate) {
            continue;
        }
        try {
            NamedCurve named{&row, TokenCurve(row.estimate->model->spec, row.estimate->formats,
                                              study.settings().sequences)};
            named.curve.at(end);
            named.curve.period();
            curves.push_back(std::move(named));
        } catch (const Error&) {
            continue;
        }
    }
    return curves;
}

/// "; beyond the 8,192 tokens of Llama 3 8B", where a meeting is arithmetic only.
QString beyond_text(const NamedCurve& named, Tokens tokens) {
    const auto limit = named.row->model->plan.max_context;
    return limit && tokens > *limit ? tr("; beyond the %1 tokens of %2")
                                          .arg(integer_text(limit->count()), named.row->name)
                                    : QString();
}

void add_capacity_meetings(const std::vector<NamedCurve>& curves,
                           const std::vector<Device>& devices, Tokens end, const QString& only,
                           std::vector<Meeting>& meetings) {
    for (const Device& device : devices) {
        for (const NamedCurve& named : curves) {
            const auto last = last_within(named.curve, device.usable, Tokens(1), end);
            if (!last || (!only.isEmpty() && named.row->id != only)) {
                continue;
            }
            meetings.push_back({*last, device.usable, integer_text(last->count()),
                                tr("%1: at most %2 tokens take no more than the %3 of %4%5")
                                    .arg(named.row->name, integer_text(last->count()),
                                         bytes_text(Ratio(device.usable.count())),
                                         text(device.display_name), beyond_text(named, *last))});
        }
    }
}

Meeting curve_meeting(const NamedCurve& first, const NamedCurve& second, const Crossing& at) {
    const bool first_grows = at.first > at.second;
    const NamedCurve& more = first_grows ? first : second;
    const NamedCurve& less = first_grows ? second : first;
    return {at.tokens, std::max(at.first, at.second), integer_text(at.tokens.count()),
            tr("from %1 tokens on %2 takes more than %3%4%5")
                .arg(integer_text(at.tokens.count()), more.row->name, less.row->name,
                     beyond_text(more, at.tokens), beyond_text(less, at.tokens))};
}

void add_curve_meetings(const std::vector<NamedCurve>& curves, Tokens end, const QString& only,
                        std::vector<Meeting>& meetings) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
        for (std::size_t j = i + 1; j < curves.size(); ++j) {
            if (!only.isEmpty() && curves[i].row->id != only && curves[j].row->id != only) {
                continue;
            }
            for (const Crossing& at : crossings(curves[i].curve, curves[j].curve, Tokens(1), end)) {
                meetings.push_back(curve_meeting(curves[i], curves[j], at));
            }
        }
    }
}

/// Of all curves, or of one with the others.
std::vector<Meeting> find_meetings(const std::vector<NamedCurve>& curves,
                                   const std::vector<Device>& devices, Tokens end,
                                   const QString& only) {
    std::vector<Meeting> meetings;
    add_capacity_meetings(curves, devices, end, only, meetings);
    add_curve_meetings(curves, end, only, meetings);
    return meetings;
}

/// What was left out, or nothing.
QString add_meetings(const Study& study, const std::vector<Device>& devices, Tokens end,
                     std::vector<Meeting>& meetings) {
    const auto curves = named_curves(study, end);
    meetings = find_meetings(curves, devices, end, QString());
    if (std::ssize(meetings) <= most_meetings) {
        return {};
    }
    const QString baseline = study.effectiveBaseline();
    const StudyRow* row = study.row(baseline);
    meetings = find_meetings(curves, devices, end, baseline);
    QString remark = tr("; meetings of %1 alone").arg(row != nullptr ? row->name : baseline);
    if (std::ssize(meetings) > most_meetings) {
        remark += tr(", %1 of %2")
                      .arg(integer_text(most_meetings),
                           integer_text(static_cast<std::int64_t>(meetings.size())));
        std::stable_sort(meetings.begin(), meetings.end(),
                         [](const Meeting& a, const Meeting& b) { return a.tokens < b.tokens; });
        meetings = thinned(meetings, most_meetings);
    }
    return remark;
}

// --- recomputation

ReadsPanel reads_panel(const Study& study, Tokens end) {
    ReadsPanel panel;
    const double last = std::log2(static_cast<double>(end.count()));
    for (int i = 0; i <= reads_points; ++i) {
        const Tokens tokens(std::llround(std::exp2(last * i / reads_points)));
        if (panel.points.empty() || tokens > panel.points.back().tokens) {
            panel.points.push_back({tokens, recomputed_tokens(tokens)});
        }
    }
    const Tokens context = study.settings().context;
    panel.title = tr("Tokens read to write so many, without a cache and with one");
    panel.caption =
        tr("at %1 tokens: %2 without a cache, every step from the first token on, n(n+1)/2; "
           "%1 with one")
            .arg(integer_text(context.count()), integer_text(recomputed_tokens(context)));
    panel.without_label = tr("no cache");
    panel.with_label = tr("cache");
    return panel;
}

} // namespace

ContextExtras add_context_extras(const Study& study, Tokens end, CurveChart& chart) {
    const ContextView& view = study.state().context_view;
    ContextExtras extras;
    QStringList problems;
    const std::vector<Device> devices = devices_of(study, problems);
    for (const Device& device : devices) {
        chart.capacities.push_back({device.usable, capacity_label(device)});
    }
    chart.linear = view.linear;
    if (!devices.empty()) {
        extras.remark = tr("; lines: all a device gives, weights not taken off");
    }
    if (view.crossings) {
        const QString left_out = add_meetings(study, devices, end, chart.meetings);
        extras.remark +=
            (chart.meetings.empty() ? QString() : tr("; numbers: tokens at which lines meet")) +
            left_out;
    }
    if (view.recompute) {
        chart.reads = reads_panel(study, end);
        extras.description += QStringLiteral("; ") + chart.reads->caption;
    }
    for (const QString& problem : problems) {
        extras.remark += QStringLiteral("; ") + problem;
    }
    for (const Capacity& capacity : chart.capacities) {
        extras.description += QStringLiteral("; ") + capacity.label;
    }
    for (const Meeting& meeting : chart.meetings) {
        extras.description += QStringLiteral("; ") + meeting.meaning;
    }
    return extras;
}

// --- the pointer

namespace {

constexpr std::size_t most_others = 12;

struct Reading {
    const StudyRow* row;
    Bytes bytes;
    QString problem;
    double distance = 0;
};

/// Every model at that count, the nearest to a height first; in their order where there is none.
std::vector<Reading> readings_at(const Study& study, Tokens tokens, double height) {
    std::vector<Reading> readings;
    for (const StudyRow& row : study.rows()) {
        if (!row.estimate) {
            continue;
        }
        Reading reading{&row, Bytes(0), {}};
        try {
            reading.bytes = times_sequences(cache_bytes(row.estimate->model->spec,
                                                        row.estimate->formats, tokens),
                                            study.settings().sequences)
                                .bytes();
        } catch (const Error& error) {
            reading.problem = text(error.what());
        }
        const double bytes = static_cast<double>(std::max(reading.bytes, Bytes(1)).count());
        reading.distance = height > 0 ? std::abs(std::log2(bytes / height)) : 0;
        readings.push_back(std::move(reading));
    }
    std::stable_sort(readings.begin(), readings.end(),
                     [](const Reading& a, const Reading& b) { return a.distance < b.distance; });
    return readings;
}

QString line(const QString& html) {
    return QStringLiteral("<br>") + html;
}

QString reading_html(const Reading& reading) {
    return QStringLiteral("%1: %2").arg(reading.row->name.toHtmlEscaped(),
                                        reading.problem.isEmpty()
                                            ? text(format_bytes_exact(reading.bytes))
                                            : reading.problem.toHtmlEscaped());
}

QString terms_html(const Study& study, const Reading& reading, Tokens tokens) {
    QString html;
    const Figure figure = times_sequences(
        cache_bytes(reading.row->estimate->model->spec, reading.row->estimate->formats, tokens),
        study.settings().sequences);
    for (const Term& term : figure.terms) {
        html += line(QStringLiteral("&nbsp;&nbsp;%1: %2 = %3")
                         .arg(text(term.label).toHtmlEscaped(), text(explain(term)).toHtmlEscaped(),
                              exact_text(term.value())));
    }
    return html;
}

/// The nearest with its terms, the others in a line each.
QString readings_html(const Study& study, Tokens tokens, double bytes) {
    QString html;
    const auto readings = readings_at(study, tokens, bytes);
    for (std::size_t i = 0; i < readings.size() && i <= most_others; ++i) {
        const bool nearest = i == 0 && bytes > 0;
        const QString words = reading_html(readings[i]);
        html += line(nearest ? QStringLiteral("<b>%1</b>").arg(words) : words);
        if (nearest && readings[i].problem.isEmpty()) {
            html += terms_html(study, readings[i], tokens);
        }
    }
    return readings.size() > most_others + 1
               ? html + line(tr("and %1 more").arg(readings.size() - most_others - 1))
               : html;
}

} // namespace

QString context_tip(const Study& study, const CurveChart& chart, Tokens tokens, double bytes,
                    int meeting) {
    QString words;
    if (meeting >= 0 && meeting < static_cast<int>(chart.meetings.size())) {
        const Meeting& met = chart.meetings[static_cast<std::size_t>(meeting)];
        tokens = met.tokens;
        bytes = static_cast<double>(met.bytes.count());
        words = line(met.meaning.toHtmlEscaped());
    }
    QString html =
        QStringLiteral("<b>%1</b>").arg(tr("%1 tokens").arg(integer_text(tokens.count()))) + words +
        readings_html(study, tokens, bytes);
    for (const Capacity& capacity : chart.capacities) {
        html += line(capacity.label.toHtmlEscaped());
    }
    if (chart.reads) {
        html +=
            line(tr("without a cache: %1 tokens read, with one %2")
                     .arg(integer_text(recomputed_tokens(tokens)), integer_text(tokens.count())));
    }
    return html;
}

} // namespace kvcaliper::gui
