// SPDX-License-Identifier: GPL-3.0-or-later
// Every model that can be ticked: the bundled ones and files that were opened.
#pragma once

#include "app/gui/model_places.h"
#include "app/gui/study.h"
#include "core/catalog.h"

#include <QAbstractListModel>

namespace kvcaliper::gui {

class ModelList : public QAbstractListModel {
    Q_OBJECT

  public:
    explicit ModelList(Study& study, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// Adds models of other programs, behind the bundled ones.
    void addFound(const std::vector<FoundModel>& found);

    /// Why the bundled models could not be listed; empty when they could.
    const QString& problem() const { return problem_; }

  private:
    struct Item {
        QString id;
        QString name;
        QString search;  ///< words a search finds besides the name
        QString place{}; ///< whose it is; empty for the bundled ones
    };
    void readBundled();
    void refresh();

    Study& study_;
    std::vector<Item> items_;
    QString problem_;
};

} // namespace kvcaliper::gui
