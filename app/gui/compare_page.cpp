// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/compare_model.h"
#include "app/gui/pages.h"
#include "app/gui/table_text.h"

#include <QHeaderView>
#include <QMenu>
#include <QScrollArea>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace kvcaliper::gui {

namespace {

constexpr int widest_column = 260;

} // namespace

ComparePage::ComparePage(Study& study, QWidget* parent)
    : LazyPage(study, parent), chart_(new ChartView(this)), view_(new QTableView(this)),
      sorted_(new QSortFilterProxyModel(this)) {
    buildTable();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(chart_);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(scroll);
    split->addWidget(view_);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
    follow_bars(*chart_, study_);
    connect(&study_, &Study::currentChanged, this, &ComparePage::selectCurrent);
    selectCurrent();
}

void ComparePage::buildTable() {
    sorted_->setSourceModel(new CompareModel(study_, this));
    sorted_->setSortRole(sort_role);
    view_->setObjectName(QStringLiteral("compareTable"));
    view_->setAccessibleName(tr("Figures of the ticked models"));
    view_->setModel(sorted_);
    style_table(*view_);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &ComparePage::onSelected);
    auto* copy = new QShortcut(QKeySequence::Copy, view_);
    copy->setContext(Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, &ComparePage::copyWanted);
    connect(view_, &QTableView::customContextMenuRequested, this, &ComparePage::showMenu);
}

const QAbstractItemModel& ComparePage::table() const {
    return *sorted_;
}

/// The header's own size hint leaves room for an arrow beside every line; this one is tighter.
void ComparePage::fitColumns() {
    const QAbstractItemView& cells = *view_;
    const QFontMetrics metrics = view_->fontMetrics();
    for (int column = 0; column < sorted_->columnCount(); ++column) {
        const QString title = sorted_->headerData(column, Qt::Horizontal).toString();
        const int words = metrics.size(0, title).width() + 24;
        // A reason in place of an answer is long: its cell is cut and its tool tip has it all.
        const int width = std::min(cells.sizeHintForColumn(column) + 6, widest_column);
        view_->setColumnWidth(column, std::max(width, words));
    }
}

void ComparePage::refresh() {
    fitColumns();
    chart_->setMinimumHeight(bars_height(study_.rows().size()));
    chart_->setData(per_token_chart(study_));
}

void ComparePage::selectCurrent() {
    const QModelIndex now = view_->currentIndex();
    if (now.data(id_role).toString() == study_.current()) {
        return;
    }
    for (int row = 0; row < sorted_->rowCount(); ++row) {
        const QModelIndex index =
            sorted_->index(row, now.isValid() ? now.column() : int{CompareModel::Uncapped});
        if (index.data(id_role).toString() == study_.current()) {
            view_->setCurrentIndex(index);
            return;
        }
    }
}

void ComparePage::onSelected(const QModelIndex& index) {
    if (!index.isValid()) {
        return;
    }
    study_.setCurrent(index.data(id_role).toString());
    const int column = index.column();
    if (column >= CompareModel::Uncapped && column <= CompareModel::Total) {
        Q_EMIT figureChosen(column - CompareModel::Uncapped);
    }
}

void ComparePage::showMenu(const QPoint& position) {
    const QString id = view_->indexAt(position).data(id_role).toString();
    QMenu menu(this);
    if (!id.isEmpty()) {
        menu.addAction(tr("Use as &baseline"), this, [this, id] { study_.setBaseline(id); });
        menu.addAction(tr("&Remove from the comparison"), this,
                       [this, id] { study_.setTicked(id, false); });
    }
    menu.addActions(view_->actions()); // copying and exporting, as everywhere
    menu.exec(view_->viewport()->mapToGlobal(position));
}

} // namespace kvcaliper::gui
