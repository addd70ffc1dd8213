// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of numbers with a bar under the number, as long as its share of the column's largest one,
// and the number's distance from the baseline behind it.
#pragma once

#include <QStyledItemDelegate>

namespace kvcaliper::gui {

/// The bar of a cell, 0 to 1; no bar where it is invalid.
inline constexpr int bar_role = Qt::UserRole + 16;
/// "−73.3%": against the baseline; empty where there is nothing to compare.
inline constexpr int delta_role = Qt::UserRole + 17;

class BarDelegate : public QStyledItemDelegate {
    Q_OBJECT

  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    /// Whether numbers are followed by their distance from the baseline.
    void showDeltas(bool shown) { deltas_ = shown; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    /// Where the bar of a cell is drawn: below its number, never over it.
    static QRect barOf(const QRect& cell, double share);

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

  private:
    bool deltas_ = false;
};

} // namespace kvcaliper::gui
