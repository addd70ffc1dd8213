// SPDX-License-Identifier: GPL-3.0-or-later
// Published figures, checked: what is claimed, what is computed, and under which reading it is
// true.
#pragma once

#include "core/claim.h"

#include <QString>
#include <QWidget>

class QAbstractItemModel;
class QComboBox;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTableView;
class QTextBrowser;

namespace kvcaliper::gui {

class TextTable;

class ClaimsPage : public QWidget {
    Q_OBJECT

  public:
    explicit ClaimsPage(QWidget* parent = nullptr);
    const QAbstractItemModel& table() const;
    /// What is shown: "seed", "gallery" or a path.
    const QString& file() const { return shown_; }
    /// Reads and checks a claims file, or the bundled "seed" or "gallery"; the reason when it can
    /// not be read, and then what was shown stays.
    std::optional<QString> openClaims(const QString& file);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* makeBar();
    void showResults();
    void onSelected(const QModelIndex& index);

    QString shown_ = QStringLiteral("seed");
    QComboBox* file_;
    QLineEdit* search_;
    QLabel* summary_;
    TextTable* rows_;
    QSortFilterProxyModel* sorted_;
    QTableView* view_;
    QTextBrowser* detail_;
    std::vector<ClaimResult> results_;
};

/// A claim, its reading and notes, as HTML.
QString claim_html(const ClaimResult& result);

} // namespace kvcaliper::gui
