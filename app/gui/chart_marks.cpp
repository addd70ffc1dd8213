// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_paint.h"
#include "app/gui/text.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::gui {

namespace {

constexpr double mark_radius = 3.5;

QRectF around(const QPointF& at, double radius) {
    return {at.x() - radius, at.y() - radius, 2 * radius, 2 * radius};
}

} // namespace

MarksItem::MarksItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme)
    : CanvasItem(plot), theme_(theme), font_(plot->font()) {
    setChart(chart);
}

void MarksItem::setChart(const CurveChart& chart) {
    chart_ = chart;
    std::sort(chart_.capacities.begin(), chart_.capacities.end(),
              [](const Capacity& a, const Capacity& b) { return a.bytes > b.bytes; });
}

QPointF MarksItem::pixel(Tokens tokens, Bytes bytes) const {
    return {x(static_cast<double>(tokens.count())), y(static_cast<double>(bytes.count()))};
}

/// Beside its line, at the foot of a logarithmic axis: there is room. On a linear one all curves
/// begin there.
QRectF MarksItem::guideBox(const Guide& guide) const {
    const QRectF area = parentPlot()->axisRect()->rect();
    const QFontMetrics metrics(font_, parentPlot());
    const QSizeF size(metrics.horizontalAdvance(guide.label) + 10, metrics.height() + 2);
    const double at = x(static_cast<double>(guide.tokens.count()));
    const bool left = at > area.center().x();
    return {QPointF(left ? at - size.width() : at,
                    chart_.linear ? area.top() : area.bottom() - size.height()),
            size};
}

void MarksItem::drawGuides(QCPPainter* painter) const {
    const QRectF area = parentPlot()->axisRect()->rect();
    painter->setFont(font_);
    for (const Guide& guide : chart_.guides) {
        const double at = std::round(x(static_cast<double>(guide.tokens.count())));
        painter->setPen(QPen(theme_.muted, 1, Qt::DashLine));
        painter->drawLine(QLineF(at, area.top(), at, area.bottom()));
        painter->setPen(theme_.muted);
        painter->drawText(guideBox(guide), Qt::AlignCenter, guide.label);
    }
}

/// The box moved along its line to where it hides no mark, from the left on; or above the line
/// where there is no such place.
QRectF MarksItem::freed(const QRectF& box) const {
    constexpr int steps = 12;
    const QRectF area = parentPlot()->axisRect()->rect();
    const double way = std::max(area.right() - 4 - box.right(), 0.0);
    for (int step = 0; step <= steps; ++step) {
        const QRectF there = box.translated(way * step / steps, 0);
        const QRectF wide = there.adjusted(-8, -4, 8, 4);
        const bool hides =
            std::any_of(chart_.meetings.begin(), chart_.meetings.end(), [&](const Meeting& met) {
                return wide.contains(pixel(met.tokens, met.bytes));
            });
        if (!hides) {
            return there;
        }
    }
    return box.translated(0, -std::min(box.height() / 2 + 6, box.top() - area.top()));
}

/// Where the names of the lines stand: in their line, or above one another where lines are close.
std::vector<QRectF> MarksItem::capacityBoxes() const {
    const QRectF area = parentPlot()->axisRect()->rect();
    const QFontMetrics metrics(font_, parentPlot());
    const double height = metrics.height();
    std::vector<double> bottoms;
    for (const Capacity& capacity : chart_.capacities) {
        bottoms.push_back(y(static_cast<double>(capacity.bytes.count())) + height / 2);
    }
    bottoms = stack_bottoms(std::move(bottoms), height, area.top());
    std::vector<QRectF> boxes;
    for (std::size_t i = 0; i < bottoms.size(); ++i) {
        const double width = std::min<double>(
            metrics.horizontalAdvance(chart_.capacities[i].label) + 6, area.width() - 8);
        const QRectF box(area.left() + 4, bottoms[i] - height, width, height);
        const QRectF there = freed(box);
        const bool clear = std::none_of(boxes.begin(), boxes.end(), [&](const QRectF& other) {
            return other.intersects(there);
        });
        boxes.push_back(clear ? there : box);
    }
    return boxes;
}

void MarksItem::drawCapacities(QCPPainter* painter, const std::vector<QRectF>& boxes) const {
    const QRectF area = parentPlot()->axisRect()->rect();
    const QFontMetrics metrics(font_, parentPlot());
    painter->setPen(QPen(theme_.text, 1.2, Qt::DashLine));
    for (const Capacity& capacity : chart_.capacities) {
        const double at = std::round(y(static_cast<double>(capacity.bytes.count()))) + 0.5;
        painter->drawLine(QLineF(area.left(), at, area.right(), at));
    }
    painter->setFont(font_);
    painter->setPen(theme_.text);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        painter->fillRect(boxes[i], theme_.ground);
        painter->drawText(boxes[i].adjusted(3, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(chart_.capacities[i].label, Qt::ElideRight,
                                             static_cast<int>(boxes[i].width()) - 4));
    }
}

void MarksItem::drawMeetings(QCPPainter* painter, std::vector<QRectF> taken) const {
    const QFontMetrics metrics(font_, parentPlot());
    std::vector<LabelWish> wishes;
    for (const Meeting& meeting : chart_.meetings) {
        const QPointF at = pixel(meeting.tokens, meeting.bytes);
        wishes.push_back(
            {at, QSizeF(metrics.horizontalAdvance(meeting.label) + 4, metrics.height() - 2)});
        taken.push_back(around(at, mark_radius + 1));
    }
    const QRectF area = parentPlot()->axisRect()->rect();
    const auto places = place_labels(wishes, area, std::move(taken));
    QColor veil = theme_.ground;
    veil.setAlpha(215);
    painter->setFont(font_);
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (places[i]) { // on a veil, as a curve may pass below
            painter->fillRect(*places[i], veil);
            painter->setPen(theme_.text);
            painter->drawText(*places[i], Qt::AlignCenter, chart_.meetings[i].label);
        }
        painter->setPen(QPen(theme_.text, 1.5));
        painter->setBrush(theme_.ground);
        painter->drawEllipse(around(wishes[i].at, mark_radius));
    }
}

void MarksItem::draw(QCPPainter* painter) {
    drawGuides(painter);
    std::vector<QRectF> taken = capacityBoxes();
    drawCapacities(painter, taken);
    for (const Curve& curve : chart_.curves) {
        for (const CurvePointData& knee : curve.knees) {
            taken.push_back(around(pixel(knee.tokens, knee.bytes), 6));
        }
        if (!curve.beyond.empty()) { // the circle where the model ends
            taken.push_back(
                around(pixel(curve.points.back().tokens, curve.points.back().bytes), 5));
        }
    }
    for (const Guide& guide : chart_.guides) {
        taken.push_back(guideBox(guide));
    }
    drawMeetings(painter, std::move(taken));
}

// --- tickers

namespace {

QString superscript(int number) {
    static const char16_t digits[] = u"⁰¹²³⁴⁵⁶⁷⁸⁹";
    QString result;
    for (const QChar digit : QString::number(number)) {
        result += QChar(digits[digit.digitValue()]);
    }
    return result;
}

} // namespace

QVector<double> DecadeTicker::createTickVector(double, const QCPRange& range) {
    QVector<double> ticks;
    const int first = static_cast<int>(std::ceil(std::log10(range.lower)));
    const int last = static_cast<int>(std::floor(std::log10(range.upper)));
    const int every = std::max(1, (last - first + tickCount() - 1) / tickCount());
    for (int power = first; power <= last; power += every) {
        ticks << std::pow(10.0, power);
    }
    return ticks;
}

QString DecadeTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const int power = static_cast<int>(std::lround(std::log10(tick)));
    return power == 0 ? QStringLiteral("1") : QStringLiteral("10") + superscript(power);
}

QString LinearCountTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    if (tick < 1e6) {
        return integer_text(std::llround(tick));
    }
    const int power = static_cast<int>(std::floor(std::log10(tick) + 1e-9));
    return QStringLiteral("%1·10%2")
        .arg(tick / std::pow(10.0, power), 0, 'g', 3)
        .arg(superscript(power));
}

} // namespace kvcaliper::gui
