// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_list.h"

#include "app/gui/table_text.h"
#include "app/gui/text.h"

#include <algorithm>
#include <exception>

namespace kvcaliper::gui {

ModelList::ModelList(Study& study, QObject* parent) : QAbstractListModel(parent), study_(study) {
    readBundled();
    refresh();
    connect(&study_, &Study::changed, this, &ModelList::refresh);
}

void ModelList::readBundled() {
    try {
        for (const CatalogEntry& entry : bundled_models()) {
            const QString id = text(entry.name);
            const QString name = entry.display_name.empty() ? id : text(entry.display_name);
            items_.push_back({id,
                              name,
                              QStringList{name, id, text(entry.vendor), text(entry.family),
                                          text(entry.model_type)}
                                  .join(u' '),
                              {}});
        }
    } catch (const std::exception& exception) {
        problem_ = text(exception.what());
    }
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
        return QString::compare(a.name, b.name, Qt::CaseInsensitive) < 0;
    });
}

void ModelList::addFound(const std::vector<FoundModel>& found) {
    std::vector<Item> added;
    for (const FoundModel& model : found) {
        const bool known = std::any_of(items_.begin(), items_.end(),
                                       [&](const Item& item) { return item.id == model.path; });
        if (!known) {
            added.push_back({model.path, model.name,
                             QStringList{model.name, model.path, model.place}.join(u' '),
                             model.place});
        }
    }
    if (added.empty()) {
        return;
    }
    const int first = rowCount();
    beginInsertRows({}, first, first + static_cast<int>(added.size()) - 1);
    items_.insert(items_.end(), added.begin(), added.end());
    endInsertRows();
}

/// Opened files join the list when they are ticked, and stay in it.
void ModelList::refresh() {
    for (const StudyRow& row : study_.rows()) {
        const bool known = std::any_of(items_.begin(), items_.end(),
                                       [&](const Item& item) { return item.id == row.id; });
        if (!known) {
            beginInsertRows({}, 0, 0);
            items_.insert(items_.begin(), {row.id, row.name, row.name + u' ' + row.id, {}});
            endInsertRows();
        }
    }
    if (!items_.empty()) {
        Q_EMIT dataChanged(index(0), index(static_cast<int>(items_.size()) - 1),
                           {Qt::CheckStateRole});
    }
}

int ModelList::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

QVariant ModelList::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Item& item = items_[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return item.place.isEmpty() ? item.name : tr("%1 — %2").arg(item.name, item.place);
    case Qt::ToolTipRole:
        return item.id;
    case Qt::CheckStateRole:
        return study_.state().models.contains(item.id) ? Qt::Checked : Qt::Unchecked;
    case sort_role:
        return item.search;
    case id_role:
        return item.id;
    default:
        return {};
    }
}

bool ModelList::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::CheckStateRole) {
        return false;
    }
    const QString id = items_[static_cast<std::size_t>(index.row())].id;
    study_.setTicked(id, value.toInt() == Qt::Checked);
    return true;
}

Qt::ItemFlags ModelList::flags(const QModelIndex& index) const {
    return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable |
                                 Qt::ItemNeverHasChildren
                           : Qt::NoItemFlags;
}

} // namespace kvcaliper::gui
