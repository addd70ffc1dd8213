// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/claims_page.h"

#include "app/gui/pages.h"

#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

QString mark(ClaimVerdict verdict) {
    switch (verdict) {
    case ClaimVerdict::consistent:
        return QStringLiteral("✓");
    case ClaimVerdict::only_if:
        return QStringLiteral("(✓)");
    case ClaimVerdict::refuted:
        return QStringLiteral("✗");
    }
    return {};
}

QString joined(const std::vector<std::string>& texts) {
    QStringList list;
    for (const std::string& one : texts) {
        list << text(one);
    }
    return list.join(QStringLiteral("; "));
}

TextRow table_row(const ClaimResult& result, std::size_t index) {
    const auto plain = [](const QString& words) { return TextCell{words, {}, {}, words, false}; };
    return {QString::number(index),
            {plain(text(result.claim.text)), plain(text(result.claimed)),
             plain(text(result.computed)),
             plain(mark(result.verdict) + QStringLiteral(" ") + text(to_string(result.verdict))),
             plain(joined(result.reading)), plain(text(result.claim.source))}};
}

std::vector<ClaimResult> check_all(const QString& file) {
    const std::string bundled = bundled_claims_path(utf8(file));
    const auto catalog = bundled_models();
    std::vector<ClaimResult> results;
    for (const Claim& claim : read_claims(bundled.empty() ? utf8(file) : bundled)) {
        results.push_back(check_claim(claim, catalog));
    }
    return results;
}

} // namespace

QString claim_html(const ClaimResult& result) {
    const auto line = [](const QString& title, const QString& words) {
        return words.isEmpty() ? QString()
                               : QStringLiteral("<p style='margin-top:4px;margin-bottom:0'>"
                                                "<b>%1</b> %2</p>")
                                     .arg(title, words.toHtmlEscaped());
    };
    return line(ClaimsPage::tr("Claim:"), text(result.claim.text)) +
           line(ClaimsPage::tr("Claimed:"), text(result.claimed)) +
           line(ClaimsPage::tr("Computed:"), text(result.computed)) +
           line(ClaimsPage::tr("Verdict:"),
                mark(result.verdict) + QStringLiteral(" ") + text(to_string(result.verdict))) +
           line(ClaimsPage::tr("Reading:"), joined(result.reading)) +
           line(ClaimsPage::tr("Notes:"), joined(result.notes)) +
           line(ClaimsPage::tr("Source:"), text(result.claim.source));
}

ClaimsPage::ClaimsPage(QWidget* parent)
    : QWidget(parent), file_(new QComboBox(this)), search_(new QLineEdit(this)),
      summary_(new QLabel(this)), rows_(new TextTable({tr("Claim"), tr("Claimed"), tr("Computed"),
                                                       tr("Verdict"), tr("Reading"), tr("Source")},
                                                      this)),
      sorted_(new QSortFilterProxyModel(this)), view_(new QTableView(this)),
      detail_(new QTextBrowser(this)) {
    sorted_->setSourceModel(rows_);
    sorted_->setSortRole(sort_role);
    sorted_->setFilterKeyColumn(-1);
    sorted_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    view_->setObjectName(QStringLiteral("claimsTable"));
    view_->setAccessibleName(tr("Claims"));
    view_->setModel(sorted_);
    style_table(*view_);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    detail_->setObjectName(QStringLiteral("claimDetail"));
    detail_->setAccessibleName(tr("The chosen claim"));
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(view_);
    split->addWidget(detail_);
    split->setStretchFactor(0, 4);
    split->setStretchFactor(1, 1);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makeBar());
    layout->addWidget(split, 1);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &ClaimsPage::onSelected);
}

QWidget* ClaimsPage::makeBar() {
    file_->setObjectName(QStringLiteral("claimsFile"));
    file_->setAccessibleName(tr("Claims file"));
    file_->addItem(tr("seed: the story"), QStringLiteral("seed"));
    file_->addItem(tr("gallery: 72 published figures"), QStringLiteral("gallery"));
    search_->setPlaceholderText(tr("Search claims"));
    search_->setAccessibleName(tr("Search claims"));
    search_->setClearButtonEnabled(true);
    auto* open = new QPushButton(tr("Open &file…"), this);
    connect(file_, &QComboBox::activated, this,
            [this] { openClaims(file_->currentData().toString()); });
    connect(search_, &QLineEdit::textChanged, sorted_,
            &QSortFilterProxyModel::setFilterFixedString);
    connect(open, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Open claims"), QString(),
                                                          tr("Claims (*.json);;All files (*)"));
        if (!path.isEmpty()) {
            openClaims(path);
        }
    });
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(file_);
    layout->addWidget(open);
    layout->addWidget(summary_, 1);
    layout->addWidget(search_);
    return bar;
}

const QAbstractItemModel& ClaimsPage::table() const {
    return *sorted_;
}

std::optional<QString> ClaimsPage::openClaims(const QString& file) {
    try {
        results_ = check_all(file);
    } catch (const std::exception& exception) {
        summary_->setText(tr("Not opened: %1").arg(text(exception.what())));
        return text(exception.what());
    }
    shown_ = file;
    showResults();
    return std::nullopt;
}

void ClaimsPage::showResults() {
    std::vector<TextRow> rows;
    int consistent = 0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        rows.push_back(table_row(results_[i], i));
        consistent += results_[i].verdict == ClaimVerdict::consistent ? 1 : 0;
    }
    rows_->setRows(std::move(rows));
    for (int column = 0; column < rows_->columnCount(); ++column) {
        view_->resizeColumnToContents(column);
        view_->setColumnWidth(column,
                              std::min(view_->columnWidth(column), column == 0 ? 240 : 300));
    }
    summary_->setText(tr("%1 of %2 are consistent as written")
                          .arg(consistent)
                          .arg(static_cast<int>(results_.size())));
    detail_->setHtml(results_.empty() ? QString() : claim_html(results_.front()));
}

void ClaimsPage::onSelected(const QModelIndex& index) {
    const auto row = static_cast<std::size_t>(index.data(id_role).toString().toULong());
    if (index.isValid() && row < results_.size()) {
        detail_->setHtml(claim_html(results_[row]));
    }
}

void ClaimsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (results_.empty()) {
        openClaims(file_->currentData().toString());
    }
}

} // namespace kvcaliper::gui
