// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_paint.h"

#include "app/gui/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvcaliper::gui {

namespace {

QFont sized(QFont font, double factor, bool bold = false) {
    font.setPointSizeF(font.pointSizeF() * factor);
    font.setBold(bold);
    return font;
}

/// Diagonals x + y = k (or x - y = k) through a rectangle, cut at its edges.
void add_diagonals(QVector<QLineF>& lines, const QRectF& rect, double step, bool rising) {
    const double reach = rect.width() + rect.height();
    for (double k = step; k < reach; k += step) {
        const double x0 = std::min(k, rect.width());
        const double y0 = k - x0;
        const double y1 = std::min(k, rect.height());
        const double x1 = k - y1;
        const auto at = [&](double dx, double dy) {
            return QPointF(rect.left() + dx, rising ? rect.top() + dy : rect.bottom() - dy);
        };
        lines << QLineF(at(x0, y0), at(x1, y1));
    }
}

QVector<QLineF> hatch_lines(const QRectF& rect, Hatch hatch) {
    constexpr double step = 6;
    QVector<QLineF> lines;
    if (hatch == Hatch::diagonal || hatch == Hatch::cross) {
        add_diagonals(lines, rect, step, true);
    }
    if (hatch == Hatch::back_diagonal || hatch == Hatch::cross) {
        add_diagonals(lines, rect, step, false);
    }
    if (hatch == Hatch::horizontal) {
        for (double y = rect.bottom() - 3; y > rect.top(); y -= 5) {
            lines << QLineF(rect.left(), y, rect.right(), y);
        }
    }
    if (hatch == Hatch::vertical) {
        for (double x = rect.left() + 3; x < rect.right(); x += 5) {
            lines << QLineF(x, rect.top(), x, rect.bottom());
        }
    }
    return lines;
}

double power_of_two_step(double span, int parts) {
    return std::exp2(std::ceil(std::log2(std::max(span, 1.0) / parts)));
}

} // namespace

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto mix = [&](int x, int y) {
        return static_cast<int>(std::lround(x * share + y * (1 - share)));
    };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

void paint_fill(QPainter& painter, const QRectF& rect, const QColor& colour, Hatch hatch,
                const QColor& ground) {
    if (hatch == Hatch::none) {
        painter.fillRect(rect, colour);
        return;
    }
    painter.fillRect(rect, mixed(colour, ground, 0.3));
    painter.setPen(QPen(colour, 1));
    painter.drawLines(hatch_lines(rect, hatch));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect);
}

// --- header

HeaderElement::HeaderElement(QCustomPlot* plot, const ChartData& data, const ChartTheme& theme)
    : QCPLayoutElement(plot), title_(data.title), subtitle_(data.subtitle), text_(theme.text),
      muted_(theme.muted), title_font_(sized(plot->font(), 1.3, true)), font_(plot->font()) {
    setMargins(QMargins(10, 8, 10, 6));
}

bool HeaderElement::setWords(const ChartData& data) {
    const int height = minimumOuterSizeHint().height();
    const QString title = std::exchange(title_, data.title);
    const QString subtitle = std::exchange(subtitle_, data.subtitle);
    if (minimumOuterSizeHint().height() == height) {
        return true;
    }
    title_ = title;
    subtitle_ = subtitle;
    return false;
}

int HeaderElement::width() const {
    return std::max(80, parentPlot()->viewport().width() - margins().left() - margins().right());
}

int HeaderElement::titleHeight() const {
    const QRect bounds = QFontMetrics(title_font_, parentPlot())
                             .boundingRect(0, 0, width(), 0, Qt::TextWordWrap, title_);
    return bounds.height();
}

QSize HeaderElement::minimumOuterSizeHint() const {
    const QRect bounds = QFontMetrics(font_, parentPlot())
                             .boundingRect(0, 0, width(), 0, Qt::TextWordWrap, subtitle_);
    return {100, titleHeight() + 2 + bounds.height() + margins().top() + margins().bottom()};
}

void HeaderElement::draw(QCPPainter* painter) {
    QRect area = rect();
    painter->setPen(text_);
    painter->setFont(title_font_);
    painter->drawText(area, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, title_);
    area.setTop(area.top() + titleHeight() + 2);
    painter->setPen(muted_);
    painter->setFont(font_);
    painter->drawText(area, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, subtitle_);
}

// --- legend

LegendElement::LegendElement(QCustomPlot* plot, const ChartData& data, const ChartTheme& theme)
    : QCPLayoutElement(plot), entries_(data.legend), theme_(theme), font_(plot->font()) {
    setMargins(QMargins(10, 2, 10, 8));
}

std::vector<QRect> LegendElement::boxes(int width) const {
    constexpr int swatch = 18, gap = 6, between = 18;
    const QFontMetrics metrics(font_, parentPlot());
    std::vector<QRect> result;
    int x = 0, y = 0;
    for (const LegendEntry& entry : entries_) {
        const int needed = swatch + gap + metrics.horizontalAdvance(entry.text);
        if (x > 0 && x + needed > width) {
            x = 0;
            y += metrics.height() + 4;
        }
        result.emplace_back(x, y, needed, metrics.height());
        x += needed + between;
    }
    return result;
}

QSize LegendElement::minimumOuterSizeHint() const {
    const int width = parentPlot()->viewport().width() - margins().left() - margins().right();
    const auto all = boxes(std::max(80, width));
    const int height = all.empty() ? 0 : all.back().bottom() + 1;
    return {100, height + margins().top() + margins().bottom()};
}

void LegendElement::draw(QCPPainter* painter) {
    const auto all = boxes(rect().width());
    painter->setFont(font_);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const QRect box = all[i].translated(rect().topLeft());
        const QRectF swatch(box.left() + 0.5, box.top() + box.height() / 2 - 5.5, 18, 12);
        const Ink& ink = entries_[i].ink;
        if (entries_[i].marker) {
            const QCPScatterStyle style = scatter_style(*entries_[i].marker, theme_, 9);
            style.applyTo(painter, Qt::NoPen);
            style.drawShape(painter, swatch.center());
        } else {
            paint_fill(*painter, swatch, theme_.ink(ink), ink.hatch, theme_.ground);
        }
        painter->setPen(theme_.text);
        painter->drawText(box.adjusted(24, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                          entries_[i].text);
    }
}

// --- items

CanvasItem::CanvasItem(QCustomPlot* plot) : QCPAbstractItem(plot) {
    setClipToAxisRect(false);
}

BarsItem::BarsItem(QCustomPlot* plot, const BarChart& chart, const ChartTheme& theme)
    : CanvasItem(plot), chart_(chart), theme_(theme), font_(plot->font()) {
    const QFontMetrics metrics(font_, plot);
    for (const Bar& bar : chart_.bars) { // once: words are measured as slowly as they are drawn
        widths_.push_back(
            {metrics.horizontalAdvance(bar.label), metrics.horizontalAdvance(bar.detail)});
    }
}

void BarsItem::fitRange() {
    const double width = std::max(60, parentPlot()->axisRect()->width());
    double upper = 1024;
    for (std::size_t i = 0; i < chart_.bars.size(); ++i) {
        const double bytes = (chart_.bars[i].solid + chart_.bars[i].hatched).to_double();
        const double label = 14 + widths_[i].widest();
        // A label takes at most 7 tenths: bars keep a length that can be compared.
        const double left = std::max(width - label, width * 0.3);
        upper = std::max(upper, bytes * width / left);
    }
    if (chart_.limit) {
        upper = std::max(upper, chart_.limit->bytes.to_double() * 1.1);
    }
    parentPlot()->xAxis->setRange(0, upper);
}

/// A dashed line with its name at the upper end.
void BarsItem::drawLimit(QCPPainter* painter, const Limit& limit) const {
    const QRect area = parentPlot()->axisRect()->rect();
    const double at = std::round(x(limit.bytes.to_double())) + 0.5;
    painter->setPen(QPen(theme_.text, 1.5, Qt::DashLine));
    painter->drawLine(QLineF(at, area.top(), at, area.bottom()));
    const QFontMetrics metrics(font_, parentPlot());
    const int width = metrics.horizontalAdvance(limit.label) + 8;
    const bool left = at + width > area.right();
    const QRectF box(left ? at - width : at + 2, area.top() - metrics.height() / 2, width,
                     metrics.height());
    painter->setFont(font_);
    painter->fillRect(box, theme_.ground);
    painter->setPen(theme_.text);
    painter->drawText(box, Qt::AlignCenter, limit.label);
}

void BarsItem::drawLabel(QCPPainter* painter, std::size_t index, const QPointF& at) const {
    const Bar& bar = chart_.bars[index];
    const LabelWidths& widths = widths_[index];
    const QFontMetrics metrics(font_, parentPlot());
    const int width = parentPlot()->axisRect()->right() + 16 - static_cast<int>(at.x());
    const int lines = bar.detail.isEmpty() ? 1 : 2;
    const int top = static_cast<int>(std::lround(at.y())) - lines * metrics.height() / 2;
    const QRect first(static_cast<int>(at.x()), top, width, metrics.height());
    const int align = static_cast<int>(Qt::AlignLeft) | static_cast<int>(Qt::AlignVCenter);
    const auto fitted = [&](const QString& words, int needed) {
        return needed <= width ? words : metrics.elidedText(words, Qt::ElideRight, width);
    };
    painter->setFont(font_);
    if (chart_.limit) { // its line passes behind the words
        painter->fillRect(QRect(first.left() - 2, top, std::min(widths.widest(), width) + 4,
                                lines * metrics.height()),
                          theme_.ground);
    }
    painter->setPen(theme_.text);
    painter->drawText(first, align, fitted(bar.label, widths.label));
    painter->setPen(theme_.muted);
    painter->drawText(first.translated(0, metrics.height()), align,
                      fitted(bar.detail, widths.detail));
}

void BarsItem::draw(QCPPainter* painter) {
    if (chart_.limit) {
        drawLimit(painter, *chart_.limit);
    }
    for (std::size_t i = 0; i < chart_.bars.size(); ++i) {
        const Bar& bar = chart_.bars[i];
        const double at = static_cast<double>(i);
        const double top = std::round(y(at - 0.32)) + 0.5;
        const double height = std::max(std::round(y(at + 0.32)) + 0.5 - top, 2.0);
        const double zero = x(0);
        const double split = x(bar.solid.to_double());
        const double end = x((bar.solid + bar.hatched).to_double());
        const QColor colour = theme_.ink({Ink::Group::series, bar.series, Hatch::none});
        paint_fill(*painter, QRectF(zero, top, split - zero, height), colour, Hatch::none,
                   theme_.ground);
        if (end > split) {
            paint_fill(*painter, QRectF(split, top, end - split, height), colour, Hatch::diagonal,
                       theme_.ground);
        }
        drawLabel(painter, i, {end + 6, y(at)});
    }
}

// --- curves

CurvesItem::CurvesItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme)
    : CanvasItem(plot), curves_(chart.curves), theme_(theme) {}

void CurvesItem::drawLine(QCPPainter* painter, const std::vector<CurvePointData>& points,
                          const QPen& pen) const {
    constexpr double tolerance = 0.1; // pixels
    std::vector<QPointF> line;
    for (const CurvePointData& point : points) {
        if (point.bytes.count() > 0) { // a logarithm has no zero
            line.emplace_back(x(static_cast<double>(point.tokens.count())),
                              y(static_cast<double>(point.bytes.count())));
        }
    }
    QPolygonF drawn;
    for (const std::size_t corner : corners(line, tolerance)) {
        drawn << line[corner];
    }
    painter->setPen(pen);
    // Pixels are painted faster from single lines than from the outline of several. But a file is
    // to have one line, and dashes go on around corners.
    const bool whole = painter->modes().testFlag(QCPPainter::pmVectorized) ||
                       (pen.style() != Qt::SolidLine && drawn.size() > 2);
    if (whole) {
        painter->drawPolyline(drawn);
        return;
    }
    QList<QLineF> lines;
    for (qsizetype i = 1; i < drawn.size(); ++i) {
        lines << QLineF(drawn[i - 1], drawn[i]);
    }
    painter->drawLines(lines);
}

void CurvesItem::draw(QCPPainter* painter) {
    constexpr Qt::PenStyle dashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DashDotLine,
                                       Qt::DashDotDotLine};
    for (const Curve& curve : curves_) {
        const QColor colour = theme_.ink({Ink::Group::series, curve.series, Hatch::none});
        const auto dash = dashes[static_cast<std::size_t>(theme_.round_of(curve.series)) % 4];
        drawLine(painter, curve.points, QPen(colour, 2, dash));
        drawLine(painter, curve.beyond, QPen(colour, 1.5, Qt::DotLine));
    }
}

EndLabelsItem::EndLabelsItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme)
    : CanvasItem(plot), font_(plot->font()) {
    const QFontMetrics metrics(font_, plot);
    for (const Curve& curve : chart.curves) {
        const auto& last = curve.beyond.empty() ? curve.points : curve.beyond;
        if (!last.empty() && last.back().bytes.count() > 0) {
            labels_.push_back({curve.name,
                               theme.ink({Ink::Group::series, curve.series, Hatch::none}),
                               static_cast<double>(last.back().bytes.count()), 0});
            widest_ = std::max(widest_, metrics.horizontalAdvance(curve.name));
        }
    }
}

void EndLabelsItem::spread(std::vector<Label>& labels) const {
    const double height = QFontMetrics(font_, parentPlot()).height();
    for (std::size_t i = 1; i < labels.size(); ++i) {
        labels[i].y = std::max(labels[i].y, labels[i - 1].y + height);
    }
    // What was pushed past the bottom comes back up, and pushes the others.
    double limit = parentPlot()->axisRect()->bottom();
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
        label->y = std::min(label->y, limit);
        limit = label->y - height;
    }
}

void EndLabelsItem::draw(QCPPainter* painter) {
    std::vector<Label> labels = labels_;
    for (Label& label : labels) {
        label.y = y(label.bytes);
    }
    std::sort(labels.begin(), labels.end(),
              [](const Label& a, const Label& b) { return a.y < b.y; });
    const int room =
        parentPlot()->axisRect()->height() / QFontMetrics(font_, parentPlot()).height();
    labels = thinned(labels, static_cast<std::size_t>(std::max(room, 1)));
    spread(labels);
    const QRect area = parentPlot()->axisRect()->rect();
    painter->setFont(font_);
    for (const Label& label : labels) {
        painter->setPen(label.colour);
        painter->drawText(QRectF(area.right() + 8, label.y - 20, widest_ + 12, 40),
                          Qt::AlignLeft | Qt::AlignVCenter, label.text);
    }
}

// --- tickers

QVector<double> PowerTicker::createTickVector(double, const QCPRange& range) {
    QVector<double> ticks;
    const int first = static_cast<int>(std::ceil(std::log2(range.lower)));
    const int last = static_cast<int>(std::floor(std::log2(range.upper)));
    const int every = std::max(1, (last - first + tickCount() - 1) / tickCount());
    for (int power = first; power <= last; power += every) {
        ticks << std::exp2(power);
    }
    return ticks;
}

QString BytesTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return tick < 0.5 ? QString() : bytes_text(Ratio(std::llround(tick)));
}

QString TokensTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return tick < 0.5 ? QString() : text(format_tokens(Tokens(std::llround(tick))));
}

double LinearBytesTicker::getTickStep(const QCPRange& range) {
    return power_of_two_step(range.size(), tickCount());
}

QString LinearBytesTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return bytes_text(Ratio(std::llround(tick)));
}

double LinearTokensTicker::getTickStep(const QCPRange& range) {
    return power_of_two_step(range.size(), tickCount());
}

QString LinearTokensTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return text(format_tokens(Tokens(std::llround(tick))));
}

} // namespace kvcaliper::gui
