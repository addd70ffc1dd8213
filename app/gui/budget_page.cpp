// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/budget_page.h"

#include "app/gui/chart_view.h"
#include "app/gui/engine_options_panel.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"
#include "core/engines/engine.h"
#include "core/error.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

TextCell bytes_cell(const Ratio& bytes) {
    return {bytes_text(bytes), text(bytes.to_string()), bytes.to_double(), {}, true};
}

TextCell number_cell(std::int64_t number, bool unbounded) {
    return {unbounded ? BudgetPage::tr("any") : integer_text(number),
            QString::number(number),
            QVariant::fromValue(static_cast<qlonglong>(number)),
            {},
            true};
}

TextCell headroom_cell(std::int64_t bytes) {
    const QString size = bytes_text(Ratio(bytes < 0 ? -bytes : bytes));
    return {bytes < 0 ? QStringLiteral("−") + size : size,
            QString::number(bytes),
            QVariant::fromValue(static_cast<qlonglong>(bytes)),
            {},
            true};
}

TextRow table_row(const BudgetRow& row) {
    if (!row.budget) {
        return {row.id,
                {{row.name, {}, {}, {}, false},
                 {row.error, {}, {}, row.error, false},
                 {},
                 {},
                 {},
                 {},
                 {},
                 {}}};
    }
    const Budget& budget = *row.budget;
    return {row.id,
            {{row.name, {}, {}, {}, false},
             {budget.fits() ? BudgetPage::tr("✓ fits") : BudgetPage::tr("✗ does not"),
              {},
              {},
              {},
              false},
             bytes_cell(budget.weights.value()),
             bytes_cell(budget.workspace.value()),
             bytes_cell(budget.cache.value()),
             headroom_cell(budget.headroom()),
             number_cell(row.most_sequences, row.most_sequences >= any_sequences),
             number_cell(row.longest_context.count(), row.longest_context >= any_context)}};
}

} // namespace

TextTable* make_budget_table(QObject* parent) {
    return new TextTable(
        {BudgetPage::tr("Model"), BudgetPage::tr("Verdict"), BudgetPage::tr("Weights"),
         BudgetPage::tr("Workspace"), BudgetPage::tr("Cache"), BudgetPage::tr("Headroom"),
         BudgetPage::tr("Most sequences"), BudgetPage::tr("Longest context")},
        parent,
        {BudgetPage::tr("Model"), BudgetPage::tr("Verdict"), BudgetPage::tr("Weights (B)"),
         BudgetPage::tr("Workspace (B)"), BudgetPage::tr("Cache (B)"),
         BudgetPage::tr("Headroom (B)"), BudgetPage::tr("Most sequences"),
         BudgetPage::tr("Longest context (tokens)")});
}

std::vector<TextRow> budget_table_rows(const std::vector<BudgetRow>& budgets) {
    std::vector<TextRow> rows;
    for (const BudgetRow& row : budgets) {
        rows.push_back(table_row(row));
    }
    return rows;
}

BudgetPage::BudgetPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), device_(new QComboBox(this)),
      engine_(new QComboBox(this)), ranks_{new QSpinBox(this), new QSpinBox(this),
                                           new QSpinBox(this), new QSpinBox(this)},
      options_(new QToolButton(this)), options_panel_(new EngineOptionsPanel(study, this)),
      weights_label_(new QLabel(this)), weights_(new QLineEdit(this)), chart_(new ChartView(this)),
      rows_(make_budget_table(this)), sorted_(new QSortFilterProxyModel(this)),
      view_(new QTableView(this)), detail_(new QTextBrowser(this)) {
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(chart_);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(scroll);
    split->addWidget(makeTablePart());
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 3);
    split->setSizes({330, 300}); // the chart of five models, whole
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makePlacePart());
    layout->addWidget(options_panel_);
    layout->addWidget(split, 1);
    follow_bars(*chart_, study_);
    connect(&study_, &Study::currentChanged, this, [this] {
        showPlace();
        showDetail();
    });
}

void BudgetPage::addLabelled(QBoxLayout& line, const QString& words, QWidget* field) {
    auto* label = new QLabel(words, this);
    label->setBuddy(field);
    line.addWidget(label);
    line.addWidget(field);
}

void BudgetPage::addDevice(QBoxLayout& line) {
    device_->setObjectName(QStringLiteral("device"));
    device_->setAccessibleName(tr("Device"));
    device_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    device_->setMinimumContentsLength(16);
    engine_->setObjectName(QStringLiteral("engine"));
    engine_->setAccessibleName(tr("Engine"));
    options_->setObjectName(QStringLiteral("showOptions"));
    options_->setCheckable(true);
    options_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    options_panel_->hide();
    connect(options_panel_, &EngineOptionsPanel::changed, this, &BudgetPage::showOptions);
    showOptions();
    connect(device_, &QComboBox::activated, this,
            [this] { study_.setDevice(device_->currentData().toString()); });
    connect(engine_, &QComboBox::activated, this,
            [this] { study_.setEngine(engine_->currentData().toString()); });
    connect(options_, &QToolButton::toggled, options_panel_, &QWidget::setVisible);
    addLabelled(line, tr("&Device"), device_);
    addLabelled(line, tr("En&gine"), engine_);
    line.addWidget(options_);
}

void BudgetPage::addRanks(QBoxLayout& line) {
    const struct {
        const char* name;
        QString label;
        QString spoken;
    } ways[] = {{"tensor", tr("&TP"), tr("Tensor ranks: they divide the heads")},
                {"pipeline", tr("&PP"), tr("Pipeline stages: they divide the layers")},
                {"contextRanks", tr("CP"), tr("Context ranks: they divide the tokens")},
                {"dataRanks", tr("DP"), tr("Data ranks: they divide the sequences")}};
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        QSpinBox& box = *ranks_[i];
        box.setObjectName(QLatin1String(ways[i].name));
        box.setAccessibleName(ways[i].spoken);
        box.setRange(1, 1 << 20);
        box.setFixedWidth(box.fontMetrics().horizontalAdvance(QStringLiteral("0000")) + 36);
        box.setKeyboardTracking(false);
        connect(&box, &QSpinBox::valueChanged, this, &BudgetPage::onRanks);
        addLabelled(line, ways[i].label, &box);
    }
}

void BudgetPage::addWeights(QBoxLayout& line) {
    weights_->setObjectName(QStringLiteral("weights"));
    weights_->setAccessibleName(tr("Weights of the chosen model"));
    weights_->setPlaceholderText(tr("auto, or 16 GB"));
    weights_->setMinimumWidth(
        weights_->fontMetrics().horizontalAdvance(weights_->placeholderText()) + 24);
    weights_->setMaximumWidth(140);
    weights_label_->setBuddy(weights_);
    connect(weights_, &QLineEdit::editingFinished, this,
            [this] { study_.setWeights(study_.current(), weights_->text().trimmed()); });
    line.addWidget(weights_label_);
    line.addWidget(weights_);
}

QWidget* BudgetPage::makePlacePart() {
    fillChoices();
    auto* part = new QWidget(this);
    auto* rows = new QVBoxLayout(part);
    rows->setContentsMargins(0, 0, 0, 0);
    // Three short lines: one long one would hold the window open wider than a small screen is.
    for (const auto add :
         {&BudgetPage::addDevice, &BudgetPage::addRanks, &BudgetPage::addWeights}) {
        auto* line = new QHBoxLayout;
        rows->addLayout(line);
        (this->*add)(*line);
        line->addStretch(1);
    }
    return part;
}

void BudgetPage::onRanks() {
    study_.setParallel(
        {ranks_[0]->value(), ranks_[1]->value(), ranks_[2]->value(), ranks_[3]->value()});
}

void BudgetPage::fillChoices() {
    std::vector<Device> devices = known_devices();
    std::stable_sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
        return a.display_name < b.display_name;
    });
    for (const Device& device : devices) {
        device_->addItem(text(device.display_name), text(device.name));
        device_->setItemData(
            device_->count() - 1,
            tr("%1; %2").arg(text(format_bytes_exact(device.memory)), text(device.source)),
            Qt::ToolTipRole);
    }
    device_->setMaxVisibleItems(24);
    for (const EngineInfo& engine : engines()) {
        engine_->addItem(text(engine.name), text(engine.name));
        engine_->setItemData(engine_->count() - 1, text(engine.meaning), Qt::ToolTipRole);
    }
}

QWidget* BudgetPage::makeTablePart() {
    sorted_->setSourceModel(rows_);
    sorted_->setSortRole(sort_role);
    view_->setObjectName(QStringLiteral("budgetTable"));
    view_->setAccessibleName(tr("Budgets of the ticked models"));
    view_->setModel(sorted_);
    style_table(*view_);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &BudgetPage::onSelected);
    detail_->setObjectName(QStringLiteral("budgetDetail"));
    detail_->setAccessibleName(tr("Budget of the chosen model"));
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(view_);
    split->addWidget(detail_);
    split->setChildrenCollapsible(false);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    return split;
}

const QAbstractItemModel& BudgetPage::table() const {
    return *sorted_;
}

void BudgetPage::refresh() {
    budgets_ = budget_rows(study_, budgets_);
    rows_->setRows(budget_table_rows(budgets_));
    view_->resizeColumnsToContents();
    view_->setColumnWidth(1, std::min(view_->columnWidth(1), 260));
    chart_->setMinimumHeight(bars_height(budgets_.size()));
    chart_->setData(budget_chart(study_, budgets_));
    showPlace();
    showDetail();
}

void BudgetPage::showPlace() {
    const BudgetState& place = study_.state().budget;
    const QSignalBlocker blockers[] = {QSignalBlocker(device_), QSignalBlocker(engine_),
                                       QSignalBlocker(weights_)};
    device_->setCurrentIndex(device_->findData(place.device));
    engine_->setCurrentIndex(engine_->findData(place.engine));
    showRanks();
    const StudyRow* row = study_.row(study_.current());
    weights_label_->setText(row != nullptr ? tr("&Weights of %1").arg(row->name) : tr("&Weights"));
    weights_->setEnabled(row != nullptr);
    weights_->setText(place.weights.value(study_.current()));
}

/// Ways an engine has no rule for are closed, unless one is set: that can be set back.
void BudgetPage::showRanks() {
    const BudgetState& place = study_.state().budget;
    KnownWays ways{true, true, true};
    try {
        ways = find_engine(utf8(place.engine)).ways;
    } catch (const Error&) { // said in the rows
    }
    const std::int64_t values[] = {place.tensor, place.pipeline, place.context, place.data};
    const bool known[] = {ways.tensor, ways.pipeline, ways.context, true};
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        QSpinBox& box = *ranks_[i];
        const QSignalBlocker blocker(box);
        box.setValue(static_cast<int>(values[i]));
        box.setEnabled(known[i] || values[i] != 1);
        box.setToolTip(known[i] ? box.accessibleName()
                                : tr("%1. No rule of engine %2 is known for more than 1.")
                                      .arg(box.accessibleName(), place.engine));
    }
}

void BudgetPage::showOptions() {
    const int set = options_panel_->setCount();
    const bool any = options_panel_->optionCount() > 0;
    options_->setText(set == 0 ? tr("&Options…") : tr("&Options (%1 set)").arg(set));
    options_->setEnabled(any);
    options_->setToolTip(any ? tr("Options of the engine, under the names of its own flags")
                             : tr("This engine has no options."));
    if (!any) {
        options_->setChecked(false);
    }
}

void BudgetPage::showDetail() {
    const auto found = std::find_if(budgets_.begin(), budgets_.end(), [this](const BudgetRow& row) {
        return row.id == study_.current();
    });
    detail_->setHtml(found != budgets_.end() ? budget_html(study_, *found)
                                             : tr("<p>Tick a model to see what it needs.</p>"));
}

void BudgetPage::onSelected(const QModelIndex& index) {
    if (index.isValid()) {
        study_.setCurrent(index.data(id_role).toString());
    }
}

} // namespace kvcaliper::gui
