// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_export.h"

#include "app/gui/chart_layout.h"
#include "app/gui/chart_paint.h"
#include "app/gui/text.h"
#include "core/report.h"

#include <QBuffer>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTemporaryDir>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

QString producer() {
    return QStringLiteral("kvcaliper %1").arg(text(version));
}

QByteArray svg(QCustomPlot& plot, const ChartData& data, QSize size) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(96);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(), size));
    // These two the generator writes as they are.
    generator.setTitle(data.title.toHtmlEscaped());
    generator.setDescription(
        (producer() + QStringLiteral(": ") + data.description).toHtmlEscaped());
    QCPPainter painter;
    painter.begin(&generator);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    plot.toPainter(&painter, size.width(), size.height());
    painter.end();
    return bytes;
}

QByteArray png(QCustomPlot& plot, const ChartData& data, QSize size) {
    QImage image = plot.toPixmap(size.width(), size.height(), 2.0).toImage();
    image.setText(QStringLiteral("Title"), data.title);
    image.setText(QStringLiteral("Description"), data.description);
    image.setText(QStringLiteral("Software"), producer());
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

/// The library writes PDF to a name only: it gets one of its own, in a folder of its own.
QByteArray pdf(QCustomPlot& plot, const ChartData& data, QSize size) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("chart.pdf"));
    const QString title = QStringLiteral("%1 (%2)").arg(data.title, data.description);
    QFile file(path);
    if (!plot.savePdf(path, size.width(), size.height(), QCP::epNoCosmetic, producer(), title) ||
        !file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return file.readAll();
}

void lay_out(QCustomPlot& plot, const ChartData& data, const ChartTheme& theme, QSize size) {
    plot.setGeometry(QRect(QPoint(), size));
    plot.setViewport(QRect(QPoint(), size));
    draw_chart(plot, data, theme);
    fit_chart(plot);
}

} // namespace

QByteArray chart_svg(const ChartData& data, const ChartTheme& theme, QSize size) {
    QCustomPlot plot;
    lay_out(plot, data, theme, size);
    return svg(plot, data, size);
}

QSize export_size(const ChartData& data) {
    constexpr int width = 960, least = 540, frame = 150, bar = 36, strip = 62, shares = 16;
    constexpr int name = 19, reads = 190;
    int needed = least;
    if (const auto* bars = std::get_if<BarChart>(&data.body)) {
        needed = frame + bar * static_cast<int>(bars->bars.size());
    } else if (const auto* layers = std::get_if<LayerChart>(&data.body)) {
        const bool borrow = std::any_of(layers->rows.begin(), layers->rows.end(), borrows);
        needed = frame + (strip + (borrow ? shares : 0)) * static_cast<int>(layers->rows.size());
    } else if (const auto* curves = std::get_if<CurveChart>(&data.body)) {
        const int below = curves->reads ? reads : 0;
        needed = std::max(least, frame + name * static_cast<int>(curves->curves.size())) + below;
    }
    return {width, std::max(needed, least)};
}

std::optional<QString> write_file(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return tr("%1: %2").arg(path, file.errorString());
    }
    return std::nullopt;
}

std::optional<QString> export_chart(const ChartData& data, const ChartTheme& theme, QSize size,
                                    const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    QCustomPlot plot;
    lay_out(plot, data, theme, size);
    QByteArray bytes;
    if (ending == QLatin1String("svg")) {
        bytes = svg(plot, data, size);
    } else if (ending == QLatin1String("png")) {
        bytes = png(plot, data, size);
    } else if (ending == QLatin1String("pdf")) {
        bytes = pdf(plot, data, size);
    } else {
        return tr("%1: expected a name ending in .svg, .pdf or .png").arg(path);
    }
    return bytes.isEmpty() ? std::optional(tr("%1: the chart could not be drawn").arg(path))
                           : write_file(path, bytes);
}

} // namespace kvcaliper::gui
