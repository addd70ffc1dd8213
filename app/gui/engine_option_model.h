// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the study's engine, one row each: what they are set to, their defaults, what they
// mean.
#pragma once

#include "app/gui/engine_options.h"
#include "app/gui/study.h"

#include <QAbstractTableModel>

#include <functional>

namespace kvcaliper::gui {

class EngineOptionModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column { Name, Value, Default, Meaning, ColumnCount };

    explicit EngineOptionModel(Study& study, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// Sets the value of a row; an empty one is the default. A refused one changes nothing and is
    /// told by refused().
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

    /// The words a row's option may take; empty where it takes a number.
    QStringList wordsOf(int row) const;
    /// Sets an option written as KEY=VALUE.
    bool add(const QString& written);
    int setCount() const { return static_cast<int>(set_.size()); }

  Q_SIGNALS:
    void refused(const QString& reason);
    void accepted();

  private:
    /// An option of the engine, or a name that is set and that the engine does not have.
    struct Row {
        QString name;
        QString by_default;
        QString meaning;
        QString values;
        QStringList words;
        bool known = true;
    };
    std::vector<Row> readRows() const;
    void refresh();
    /// Makes the change that `read` gives, or tells why it gives none.
    bool change(const std::function<EngineOptionChange()>& read);
    QVariant cell(const Row& row, int column) const;

    Study& study_;
    QString engine_;
    QMap<QString, QString> set_;
    std::vector<Row> rows_;
};

} // namespace kvcaliper::gui
