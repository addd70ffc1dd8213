// SPDX-License-Identifier: GPL-3.0-or-later
// The parts a chart is painted from, on the plot library's layout and items. Internal to the chart
// view and the exports: nothing else includes the plot library.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/chart_layout.h"
#include "app/gui/chart_theme.h"

#include <qcustomplot.h>

namespace kvcaliper::gui {

/// `share` of a over b.
QColor mixed(const QColor& a, const QColor& b, double share);
/// Fills a rectangle in an ink: colour, and a hatch of real lines (vector files keep them).
void paint_fill(QPainter& painter, const QRectF& rect, const QColor& colour, Hatch hatch,
                const QColor& ground);

/// Title and subtitle over the plot, wrapped to its width.
class HeaderElement : public QCPLayoutElement {
  public:
    HeaderElement(QCustomPlot* plot, const ChartData& data, const ChartTheme& theme);
    /// Other words in the same place; false, and nothing is done, where they need another height.
    bool setWords(const ChartData& data);
    QSize minimumOuterSizeHint() const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    int width() const;
    int titleHeight() const;
    QString title_, subtitle_;
    QColor text_, muted_;
    QFont title_font_, font_;
};

/// Swatches with words under the plot, flowing over as many lines as they need.
class LegendElement : public QCPLayoutElement {
  public:
    LegendElement(QCustomPlot* plot, const ChartData& data, const ChartTheme& theme);
    QSize minimumOuterSizeHint() const override;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    std::vector<QRect> boxes(int width) const;
    std::vector<LegendEntry> entries_;
    ChartTheme theme_;
    QFont font_;
};

/// A plot item that covers the axis rect and takes part in no selection.
class CanvasItem : public QCPAbstractItem {
  public:
    explicit CanvasItem(QCustomPlot* plot);
    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

  protected:
    double x(double value) const { return parentPlot()->xAxis->coordToPixel(value); }
    double y(double value) const { return parentPlot()->yAxis->coordToPixel(value); }
};

class BarsItem : public CanvasItem {
  public:
    BarsItem(QCustomPlot* plot, const BarChart& chart, const ChartTheme& theme);
    /// Widens the x range until every label fits beside its bar.
    void fitRange();

  protected:
    void draw(QCPPainter* painter) override;

  private:
    struct LabelWidths {
        int label = 0;
        int detail = 0;
        int widest() const { return label > detail ? label : detail; }
    };
    void drawLabel(QCPPainter* painter, std::size_t index, const QPointF& at) const;
    void drawLimit(QCPPainter* painter, const Limit& limit) const;
    BarChart chart_;
    std::vector<LabelWidths> widths_; ///< of each bar, in pixels
    ChartTheme theme_;
    QFont font_;
};

class LayersItem : public CanvasItem {
  public:
    LayersItem(QCustomPlot* plot, const LayerChart& chart, const ChartTheme& theme);
    int marked_row = -1;
    int marked_layer = -1;

  protected:
    void draw(QCPPainter* painter) override;

  private:
    QRectF cellRect(int row, int layer) const;
    void drawRow(QCPPainter* painter, int row) const;
    void drawShares(QCPPainter* painter, int row) const;
    LayerChart chart_;
    std::vector<ShareLanes> shares_; ///< of each row
    ChartTheme theme_;
    QFont font_;
    int text_height_;
};

/// The lines of curves, without the points that they pass through anyway.
class CurvesItem : public CanvasItem {
  public:
    CurvesItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    void drawLine(QCPPainter* painter, const std::vector<CurvePointData>& points,
                  const QPen& pen) const;
    std::vector<Curve> curves_;
    ChartTheme theme_;
};

/// The names of curves at their right ends, pushed apart where they would overprint.
class EndLabelsItem : public CanvasItem {
  public:
    EndLabelsItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme);
    int widest() const { return widest_; } ///< of the names, in pixels

  protected:
    void draw(QCPPainter* painter) override;

  private:
    struct Label {
        QString text;
        QColor colour;
        double bytes;
        double y;
    };
    void spread(std::vector<Label>& labels) const;
    std::vector<Label> labels_;
    int widest_ = 0;
    QFont font_;
};

/// Lines at token counts and at what devices hold, and marks where curves meet, with labels that
/// touch nothing.
class MarksItem : public CanvasItem {
  public:
    MarksItem(QCustomPlot* plot, const CurveChart& chart, const ChartTheme& theme);
    void setChart(const CurveChart& chart);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    QPointF pixel(Tokens tokens, Bytes bytes) const;
    QRectF guideBox(const Guide& guide) const;
    void drawGuides(QCPPainter* painter) const;
    QRectF freed(const QRectF& box) const;
    std::vector<QRectF> capacityBoxes() const;
    void drawCapacities(QCPPainter* painter, const std::vector<QRectF>& boxes) const;
    void drawMeetings(QCPPainter* painter, std::vector<QRectF> taken) const;
    CurveChart chart_;
    ChartTheme theme_;
    QFont font_;
};

/// Ticks at powers of two, every one or every n-th, at most as many as the tick count says. (The
/// library's own logarithmic ticker takes twice as many where it rounds its step down.)
class PowerTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
};

/// "128 KiB"
class BytesTicker : public PowerTicker {
  protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// "8K"
class TokensTicker : public PowerTicker {
  protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// Steps of a power of two from zero, for bars.
class LinearBytesTicker : public QCPAxisTicker {
  protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// The same for tokens.
class LinearTokensTicker : public QCPAxisTicker {
  protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// Powers of ten, at most as many as the tick count says: "1", "10³".
class DecadeTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// Plain counts from zero, large ones as "2·10⁹".
class LinearCountTicker : public QCPAxisTicker {
  protected:
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// The mark of a series' points, as plots and legends have it.
QCPScatterStyle scatter_style(int series, const ChartTheme& theme, double size);
/// The body of a chart of errors over bytes.
void draw_scatter(QCustomPlot& plot, const ScatterChart& chart, const ChartTheme& theme);

/// Clears the plot and draws a chart on it. Nothing of the chart before is kept.
void draw_chart(QCustomPlot& plot, const ChartData& data, const ChartTheme& theme);
/// Brings a plot on which `drawn` was drawn to `data` where only what moves with the settings
/// differs: the words above curves, guides, lines of devices and meetings, which are on a layer of
/// their own. False, and nothing is done, where more does.
bool move_marks(QCustomPlot& plot, const ChartData& drawn, const ChartData& data);
/// Runs the layout and whatever depends on its pixels; before each replot and each export.
void fit_chart(QCustomPlot& plot);
LayersItem* layers_item(QCustomPlot& plot);

} // namespace kvcaliper::gui
