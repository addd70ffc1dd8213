// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/record_history.h"

#include "app/gui/pages.h"
#include "app/gui/record_book.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include <exception>

namespace kvcaliper::gui {

namespace {

TextCell number_cell(std::int64_t value) {
    return {integer_text(value),
            QString::number(value),
            QVariant(static_cast<qlonglong>(value)),
            {},
            true};
}

TextCell word_cell(const QString& words, const QString& tip) {
    return {words, {}, {}, tip, false};
}

/// "bf16", or "q8_0 / q4_0" where K and V differ.
QString formats_text(const CacheFormats& formats) {
    const QString k = text(formats.k->name);
    const QString v = text(formats.v->name);
    return k == v ? k : QStringLiteral("%1 / %2").arg(k, v);
}

QString place_text(const BookedRecord& entry) {
    return entry.file.isEmpty() ? RecordHistory::tr("Kept in the study alone.") : entry.file;
}

TextRow table_row(const BookedRecord& entry, const Study& study) {
    const VerifyRecord& record = *entry.record;
    const RecordCheck check = check_in_study(record, study);
    const StudyRow* row = study.rowOf(record);
    const QString name = row != nullptr ? row->name : text(record.plan.name);
    const QString story = record_text(record, check);
    return {entry.id,
            {word_cell(status_text(check.status), story), word_cell(name, place_text(entry)),
             number_cell(record.contexts().back()), number_cell(record.sequences),
             word_cell(formats_text(record.formats), story),
             word_cell(date_text(record).remove(QStringLiteral(" UTC")), story),
             word_cell(device_text(record), story)}};
}

} // namespace

RecordCheck check_in_study(const VerifyRecord& record, const Study& study) {
    try {
        const StudyRow* row = study.rowOf(record);
        return check_record(record, row != nullptr ? *row->model : rebuilt_model(record));
    } catch (const std::exception& exception) {
        return {RecordStatus::stale, exception.what()};
    }
}

RecordHistory::RecordHistory(Study& study, QWidget* parent)
    : QWidget(parent), study_(study),
      rows_(new TextTable({tr("Verdict"), tr("Model"), tr("Context"), tr("Sequences"), tr("K / V"),
                           tr("Date (UTC)"), tr("Device")},
                          this)),
      sorted_(new QSortFilterProxyModel(this)), view_(new QTableView(this)),
      title_(new QLabel(this)),
      use_(button("recordUse", tr("&Use its settings"),
                  tr("Sets the study to the model, context, sequences and formats of the run"))),
      import_(button("recordImport", tr("&Import…"),
                     tr("Adds records that kvcaliper verify --record wrote, on this machine or on "
                        "one with a GPU"))),
      export_(button("recordExport", tr("E&xport…"), tr("Writes the chosen record to a file"))),
      delete_(button("recordDelete", tr("Dele&te"),
                     tr("Deletes the chosen record; undo brings it "
                        "back"))) {
    buildTable();
    buildLayout();
    connect(import_, &QPushButton::clicked, this, &RecordHistory::importWanted);
    connect(export_, &QPushButton::clicked, this, [this] { Q_EMIT exportWanted(selected()); });
    connect(use_, &QPushButton::clicked, this, [this] { Q_EMIT useWanted(selected()); });
    connect(delete_, &QPushButton::clicked, this, &RecordHistory::removeSelected);
    connect(&study_, &Study::recordsChanged, this, &RecordHistory::refresh);
    connect(&study_, &Study::changed, this, &RecordHistory::refreshModels);
    refresh();
}

QPushButton* RecordHistory::button(const char* name, const QString& words, const QString& tip) {
    auto* result = new QPushButton(words, this);
    result->setObjectName(QLatin1String(name));
    result->setToolTip(tip);
    return result;
}

void RecordHistory::buildTable() {
    sorted_->setSourceModel(rows_);
    sorted_->setSortRole(sort_role);
    view_->setObjectName(QStringLiteral("recordTable"));
    view_->setAccessibleName(tr("Runs that were kept"));
    view_->setModel(sorted_);
    style_table(*view_);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->setTabKeyNavigation(false);
    view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view_->horizontalHeader()->setStretchLastSection(true);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(view_, &QTableView::customContextMenuRequested, this, &RecordHistory::showMenu);
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        enableButtons();
        if (!selecting_ && !selected().isEmpty()) {
            Q_EMIT chosen(selected());
        }
    });
    auto* remove = new QShortcut(QKeySequence::Delete, view_);
    remove->setContext(Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, &RecordHistory::removeSelected);
}

void RecordHistory::buildLayout() {
    title_->setBuddy(view_);
    auto* head = new QHBoxLayout;
    head->addWidget(title_, 1);
    for (QPushButton* one : {use_, import_, export_, delete_}) {
        head->addWidget(one);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(head);
    layout->addWidget(view_, 1);
}

void RecordHistory::refresh() {
    const QString before = selected();
    models_ = study_.readModels();
    std::vector<TextRow> rows;
    for (const BookedRecord& entry : study_.records().all()) {
        rows.push_back(table_row(entry, study_));
    }
    title_->setText(tr("Histor&y of runs: %n", "", static_cast<int>(rows.size())));
    selecting_ = true;
    rows_->setRows(std::move(rows));
    selecting_ = false;
    select(before);
    enableButtons();
}

/// Holding all records against the models takes longer than a frame: a slider does not change them.
void RecordHistory::refreshModels() {
    if (models_ != study_.readModels()) {
        refresh();
    }
}

QString RecordHistory::selected() const {
    return view_->currentIndex().data(id_role).toString();
}

void RecordHistory::select(const QString& id) {
    if (selected() == id) {
        return;
    }
    selecting_ = true;
    view_->setCurrentIndex(QModelIndex());
    for (int row = 0; row < sorted_->rowCount(); ++row) {
        if (!id.isEmpty() && sorted_->index(row, 0).data(id_role).toString() == id) {
            view_->setCurrentIndex(sorted_->index(row, 0));
        }
    }
    selecting_ = false;
    enableButtons();
}

void RecordHistory::enableButtons() {
    for (QPushButton* one : {use_, export_, delete_}) {
        one->setEnabled(!selected().isEmpty());
    }
}

void RecordHistory::removeSelected() {
    if (const QString id = selected(); !id.isEmpty()) {
        study_.deleteRecord(id);
    }
}

void RecordHistory::showMenu(const QPoint& position) {
    const QString id = view_->indexAt(position).data(id_role).toString();
    QMenu menu(this);
    if (!id.isEmpty()) {
        menu.addAction(tr("&Use its settings"), this, [this, id] { Q_EMIT useWanted(id); });
        menu.addAction(tr("E&xport…"), this, [this, id] { Q_EMIT exportWanted(id); });
        menu.addAction(tr("Dele&te"), this, [this, id] { study_.deleteRecord(id); });
    }
    menu.addAction(tr("&Import…"), this, &RecordHistory::importWanted);
    menu.exec(view_->viewport()->mapToGlobal(position));
}

} // namespace kvcaliper::gui
