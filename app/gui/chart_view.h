// SPDX-License-Identifier: GPL-3.0-or-later
// The one widget that draws charts. The plot library stays behind it.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/chart_theme.h"

#include <QWidget>

class QCustomPlot;

namespace kvcaliper::gui {

/// Where the pointer is: a bar, a token count or a layer. -1 and 0 where there is none.
struct ChartSpot {
    int row = -1;   ///< bar or model
    int layer = -1; ///< of that model
    double tokens = 0;
    double bytes = 0; ///< of a chart over tokens
    int meeting = -1; ///< a mark of such a chart
};

class ChartView : public QWidget {
    Q_OBJECT

  public:
    explicit ChartView(QWidget* parent = nullptr);

    void setData(const ChartData& data);
    const ChartData& data() const { return data_; }
    /// Marks one layer of a layer chart.
    void setMarkedLayer(int row, int layer);
    QSize sizeHint() const override { return {640, 400}; }
    QSize minimumSizeHint() const override { return {320, 180}; }

  Q_SIGNALS:
    void hovered(const kvcaliper::gui::ChartSpot& spot, const QPoint& global);
    void clicked(const kvcaliper::gui::ChartSpot& spot);

  protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    void redraw();
    void markLayer();
    ChartSpot spotAt(const QPointF& position) const;
    ChartSpot spotOverTokens(const CurveChart& chart, const QPointF& position) const;

    QCustomPlot* plot_;
    ChartData data_;
    bool stale_ = true;
    int marked_row_ = -1;
    int marked_layer_ = -1;
};

} // namespace kvcaliper::gui
