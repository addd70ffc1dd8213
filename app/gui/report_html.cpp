// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_html.h"

#include "app/gui/chart_export.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "core/table_file.h"

namespace kvcaliper::gui {

namespace {

constexpr auto script_open = "<script type=\"application/json\" id=\"kvcaliper-study\">";
constexpr auto script_close = "</script>";

// Light whatever the desktop is: it is read on paper, too.
constexpr auto style = R"(
:root { color-scheme: light; }
body { font-family: "DejaVu Sans", "Segoe UI", Helvetica, Arial, sans-serif; font-size: 10pt;
  line-height: 1.45; color: #1a1a1c; background: #ffffff; max-width: 760px; margin: 24px auto;
  padding: 0 16px; }
h1 { font-size: 18pt; line-height: 1.2; margin: 0 0 8px 0; }
h2 { font-size: 13pt; margin: 28px 0 8px 0; border-bottom: 1px solid #c8c8cc; }
h3 { font-size: 10.5pt; margin: 16px 0 4px 0; }
p { margin: 6px 0; }
p.answer { font-size: 12pt; }
p.made, p.command { color: #5c5c62; font-size: 8.5pt; }
p.chart { margin: 8px 0; }
p.chart img { max-width: 100%; height: auto; }
code { font-family: "DejaVu Sans Mono", Consolas, Menlo, monospace; color: #1a1a1c;
  font-size: 8.5pt; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 8.5pt; }
th { text-align: left; vertical-align: bottom; background: #efeff2; white-space: nowrap; }
th, td { padding: 3px 6px; border-bottom: 1px solid #d8d8dc; }
td { vertical-align: top; overflow-wrap: break-word; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td:first-child { min-width: 110px; }
td.mark { width: 18px; min-width: 0; }
td.topic { width: 130px; }
td.failed { color: #a63f00; font-weight: bold; }
ul { margin: 4px 0; padding-left: 20px; }
li { font-size: 9pt; overflow-wrap: anywhere; }
@media print {
  body { margin: 0; max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  p.chart, tr, li { break-inside: avoid; }
  thead { display: table-header-group; }
}
@page { size: A4; margin: 15mm; }
)";

QString tagged(const char* tag, const QString& words) {
    return QStringLiteral("<%1>%2</%1>\n").arg(QLatin1String(tag), words.toHtmlEscaped());
}

QString paragraph(const char* kind, const QString& html) {
    return QStringLiteral("<p class=\"%1\">%2</p>\n").arg(QLatin1String(kind), html);
}

/// One block after the other; a chart is asked for where it is found.
struct Writer {
    const ChartSource& source;

    QString operator()(const ReportText& block) const { return tagged("p", block.words); }
    QString operator()(const ReportHeading& block) const { return tagged("h3", block.words); }

    QString operator()(const ReportList& block) const {
        QString html = QStringLiteral("<ul>\n");
        for (const QString& item : block.items) {
            html += tagged("li", item);
        }
        return html + QStringLiteral("</ul>\n");
    }

    QString operator()(const ReportCommand& block) const {
        const QString line =
            block.line.isEmpty()
                ? QString()
                : QStringLiteral(" <code>%1</code>").arg(block.line.toHtmlEscaped());
        return paragraph("command", block.caption.toHtmlEscaped() + line);
    }

    QString operator()(const ReportChart& block) const {
        const QSize size = report_chart_size(block.chart);
        return paragraph("chart",
                         QStringLiteral("<img src=\"%1\" width=\"%2\" height=\"%3\" alt=\"%4\"/>")
                             .arg(source(block.chart))
                             .arg(size.width())
                             .arg(size.height())
                             .arg(block.chart.description.toHtmlEscaped()));
    }

    QString operator()(const ReportTable& block) const {
        QString html = QStringLiteral(
            "<table width=\"100%\" cellspacing=\"0\" cellpadding=\"3\">\n<thead>\n<tr>");
        const auto& columns = block.table.columns;
        for (const Table::Column& column : columns) {
            html += cell("th", column.number, text(column.title));
        }
        html += QStringLiteral("</tr>\n</thead>\n<tbody>\n");
        for (const auto& row : block.table.rows) {
            html += QStringLiteral("<tr>");
            for (std::size_t i = 0; i < row.size(); ++i) {
                html += cell("td", columns[i].number, text(row[i]));
            }
            html += QStringLiteral("</tr>\n");
        }
        return html + QStringLiteral("</tbody>\n</table>\n");
    }

    QString operator()(const ReportChecklist& block) const {
        QString html =
            QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"3\">\n");
        for (const ReportCheck& check : block.checks) {
            html += row(check);
        }
        return html + QStringLiteral("</table>\n");
    }

  private:
    static QString cell(const char* tag, bool number, const QString& words) {
        // The attribute is for Qt's documents, which align no cell by its class.
        const QString attributes =
            number ? QStringLiteral(" class=\"number\" align=\"right\"") : QString();
        return QStringLiteral("<%1%2>%3</%1>")
            .arg(QLatin1String(tag), attributes,
                 words.toHtmlEscaped().replace(u'\n', QLatin1String("<br/>")));
    }

    static QString row(const ReportCheck& check) {
        const auto [mark, kind] =
            check.state == ReportCheck::State::settled ? std::pair(QStringLiteral("☑"), "settled")
            : check.state == ReportCheck::State::failed ? std::pair(QStringLiteral("☒"), "failed")
                                                        : std::pair(QStringLiteral("☐"), "open");
        return QStringLiteral("<tr><td class=\"mark\" width=\"18\">%1</td>"
                              "<td class=\"topic %2\" width=\"130\">%3</td><td>%4</td></tr>\n")
            .arg(mark, QLatin1String(kind), check.topic.toHtmlEscaped(),
                 check.answer.toHtmlEscaped());
    }
};

QString image_source(const ChartData& chart) {
    const QByteArray svg = chart_svg(chart, light_chart_theme(), report_chart_size(chart));
    return QStringLiteral("data:image/svg+xml;base64,") + QString::fromLatin1(svg.toBase64());
}

} // namespace

QSize report_chart_size(const ChartData& chart) {
    constexpr int width = 720, frame = 140, least = 240;
    const QSize usual = export_size(chart);
    if (std::holds_alternative<CurveChart>(chart.body)) {
        return {width, 440};
    }
    if (const auto* bars = std::get_if<BarChart>(&chart.body)) {
        const int count = static_cast<int>(bars->bars.size());
        const int bar = count > 20 ? 30 : 36; // two lines of words, with less room between many
        return {width, std::max(least, frame + bar * count)};
    }
    return {width, usual.height()};
}

QString report_body(const Report& report, const ChartSource& source) {
    QString html =
        tagged("h1", report.title) + paragraph("answer", report.answer.toHtmlEscaped()) +
        paragraph("made", QStringLiteral("%1<br/>%2")
                              .arg(report.view.toHtmlEscaped(), report.made.toHtmlEscaped()));
    for (const ReportSection& section : report.sections) {
        html += tagged("h2", section.title);
        for (const ReportBlock& block : section.blocks) {
            html += std::visit(Writer{source}, block);
        }
    }
    return html;
}

QByteArray report_html(const Report& report) {
    const QString head = QStringLiteral(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"generator\" content=\"kvcaliper %1\"/>\n"
        "<title>%2</title>\n<style>%3</style>\n</head>\n<body>\n");
    const QString page =
        head.arg(text(version), report.title.toHtmlEscaped(), QLatin1String(style)) +
        report_body(report, image_source);
    return page.toUtf8() + script_open + QByteArray::fromStdString(markup_json(report.study)) +
           script_close + "\n</body>\n</html>\n";
}

JsonValue study_of_html(const QByteArray& page, const std::string& source) {
    const auto mark = page.indexOf(script_open);
    if (mark < 0) {
        throw Error(source + ": expected a report of kvcaliper, found no study in it");
    }
    const auto start = mark + qsizetype(qstrlen(script_open));
    const auto end = page.indexOf(script_close, start);
    const QByteArray json = page.mid(start, end < 0 ? -1 : end - start);
    return parse_json({json.constData(), static_cast<std::size_t>(json.size())}, source).value;
}

} // namespace kvcaliper::gui
