// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/bar_delegate.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/compare_model.h"
#include "app/gui/pages.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/words_filter.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace kvcaliper::gui {

namespace {

constexpr int widest_column = 260;

} // namespace

ComparePage::ComparePage(Study& study, QWidget* parent)
    : LazyPage(study, parent), chart_(new ChartView(this)), view_(new QTableView(this)),
      model_(new CompareModel(study, this)), sorted_(new WordsFilter(search_role, this)),
      bars_(new BarDelegate(this)), filter_(new QLineEdit(this)), count_(new QLabel(this)),
      deltas_(new QCheckBox(tr("&Difference from the baseline"), this)) {
    buildTable();
    buildFilter();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(chart_);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(scroll);
    split->addWidget(makeTablePart());
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
    follow_bars(*chart_, study_);
    connect(&study_, &Study::currentChanged, this, &ComparePage::selectCurrent);
    connect(&study_, &Study::recordsChanged, this, &ComparePage::refreshSeen); // marks need room
    selectCurrent();
}

void ComparePage::buildTable() {
    sorted_->setSourceModel(model_);
    sorted_->setSortRole(sort_role);
    view_->setObjectName(QStringLiteral("compareTable"));
    view_->setAccessibleName(tr("Figures of the ticked models"));
    view_->setModel(sorted_);
    style_table(*view_);
    view_->setItemDelegate(bars_);
    view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &ComparePage::onSelected);
    auto* copy = new QShortcut(QKeySequence::Copy, view_);
    copy->setContext(Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, &ComparePage::copyWanted);
    connect(view_, &QTableView::customContextMenuRequested, this, &ComparePage::showMenu);
}

QWidget* ComparePage::makeTablePart() {
    auto* part = new QWidget(this);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(6, 4, 6, 0);
    line->addWidget(filter_, 1);
    line->addWidget(count_);
    line->addWidget(deltas_);
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(line);
    layout->addWidget(view_, 1);
    return part;
}

void ComparePage::buildFilter() {
    filter_->setObjectName(QStringLiteral("compareFilter"));
    filter_->setPlaceholderText(tr("Filter by name, vendor, kind or model_type"));
    filter_->setAccessibleName(tr("Filter the table"));
    filter_->setClearButtonEnabled(true);
    filter_->setAcceptDrops(false); // a file dropped here is a model, not a filter
    count_->setObjectName(QStringLiteral("compareCount"));
    deltas_->setObjectName(QStringLiteral("showDeltas"));
    deltas_->setToolTip(tr("Behind each number, how much more or less than the baseline it is"));
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& words) {
        sorted_->setWords(words);
        countRows();
    });
    connect(filter_, &QLineEdit::returnPressed, view_, qOverload<>(&QWidget::setFocus));
    connect(deltas_, &QCheckBox::toggled, this, [this](bool shown) {
        bars_->showDeltas(shown);
        fitColumns();
        view_->viewport()->update();
    });
    for (QWidget* place : {static_cast<QWidget*>(filter_), static_cast<QWidget*>(view_)}) {
        auto* escape = new QShortcut(QKeySequence(Qt::Key_Escape), place);
        escape->setContext(Qt::WidgetShortcut);
        connect(escape, &QShortcut::activated, this, [this] {
            filter_->clear();
            view_->setFocus();
        });
    }
    connect(model_, &CompareModel::sequencesKnown, this,
            [this] { fitColumn(CompareModel::Sequences); });
}

void ComparePage::focusFilter() {
    filter_->setFocus(Qt::ShortcutFocusReason);
    filter_->selectAll();
}

void ComparePage::finish() {
    model_->finishSequences();
}

void ComparePage::countRows() {
    const int shown = sorted_->rowCount();
    const int all = model_->rowCount();
    const QString total = all == 1 ? tr("1 model") : tr("%1 models").arg(all);
    count_->setText(shown == all ? total : tr("%1 of %2").arg(shown).arg(total));
}

const QAbstractItemModel& ComparePage::table() const {
    return *sorted_;
}

/// The header's own size hint leaves room for an arrow beside every line; this one is tighter.
void ComparePage::fitColumn(int column) {
    const QAbstractItemView& cells = *view_;
    const QString title = sorted_->headerData(column, Qt::Horizontal).toString();
    const int words = view_->fontMetrics().size(0, title).width() + 24;
    // A reason in place of an answer is long: its cell is cut and its tool tip has it all.
    const int width = std::min(cells.sizeHintForColumn(column) + 6, widest_column);
    view_->setColumnWidth(column, std::max(width, words));
}

void ComparePage::fitColumns() {
    for (int column = 0; column < sorted_->columnCount(); ++column) {
        fitColumn(column);
    }
}

void ComparePage::refresh() {
    fitColumns();
    countRows();
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
