// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/engine_option_model.h"

#include "app/gui/text.h"
#include "core/engines/engine.h"
#include "core/error.h"

#include <QFont>

#include <algorithm>

namespace kvcaliper::gui {

EngineOptionModel::EngineOptionModel(Study& study, QObject* parent)
    : QAbstractTableModel(parent), study_(study) {
    refresh();
    connect(&study_, &Study::changed, this, &EngineOptionModel::refresh);
}

std::vector<EngineOptionModel::Row> EngineOptionModel::readRows() const {
    std::vector<Row> rows;
    try {
        for (const EngineOption& option : find_engine(utf8(engine_)).options) {
            rows.push_back({text(option.name), text(option.by_default), text(option.meaning),
                            option_values_text(option.values), option_words(option.values)});
        }
    } catch (const Error&) { // an engine nobody knows has no options; its rows say so
    }
    for (const QString& name : set_.keys()) {
        const bool known =
            std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
        if (!known) {
            rows.push_back({name,
                            {},
                            tr("%1 has no such option: empty its value to remove it").arg(engine_),
                            {},
                            {},
                            false});
        }
    }
    return rows;
}

void EngineOptionModel::refresh() {
    const BudgetState& place = study_.state().budget;
    const auto set = place.options.value(place.engine);
    if (place.engine == engine_ && set == set_ && !rows_.empty()) {
        return;
    }
    const bool same_engine = place.engine == engine_;
    engine_ = place.engine;
    set_ = set;
    std::vector<Row> rows = readRows();
    if (same_engine && rows.size() == rows_.size()) { // values alone: views keep their place
        rows_ = std::move(rows);
        if (!rows_.empty()) {
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        }
        return;
    }
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
}

int EngineOptionModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int EngineOptionModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EngineOptionModel::cell(const Row& row, int column) const {
    const QString cells[] = {row.name, set_.value(row.name, row.by_default), row.by_default,
                             row.meaning};
    return cells[column];
}

QVariant EngineOptionModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
        return cell(row, index.column());
    case Qt::ToolTipRole:
        return index.column() == Value && row.known ? row.values : row.meaning;
    case Qt::FontRole: {
        QFont font;
        font.setBold(index.column() <= Value && set_.contains(row.name));
        return font;
    }
    default:
        return {};
    }
}

QVariant EngineOptionModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    return QStringList{tr("Option"), tr("Value"), tr("Default"), tr("Meaning")}.value(section);
}

Qt::ItemFlags EngineOptionModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == Value ? usual | Qt::ItemIsEditable : usual;
}

QStringList EngineOptionModel::wordsOf(int row) const {
    return rows_[static_cast<std::size_t>(row)].words;
}

bool EngineOptionModel::change(const std::function<EngineOptionChange()>& read) {
    try {
        const EngineOptionChange change = read();
        study_.setEngineOption(change.name, change.value);
    } catch (const Error& error) {
        Q_EMIT refused(text(error.what()));
        return false;
    }
    Q_EMIT accepted();
    return true;
}

bool EngineOptionModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::EditRole ||
        index.column() != Value) {
        return false;
    }
    const QString name = rows_[static_cast<std::size_t>(index.row())].name;
    const QString written = value.toString().trimmed();
    return change([&] {
        return written.isEmpty() ? EngineOptionChange{name, {}}
                                 : read_engine_option(engine_, name, written);
    });
}

bool EngineOptionModel::add(const QString& written) {
    return change([&] { return read_engine_option(engine_, written); });
}

} // namespace kvcaliper::gui
