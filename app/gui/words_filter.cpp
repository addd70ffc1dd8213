// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/words_filter.h"

#include <algorithm>

namespace kvcaliper::gui {

WordsFilter::WordsFilter(int role, QObject* parent) : QSortFilterProxyModel(parent), role_(role) {}

void WordsFilter::setWords(const QString& written) {
    QStringList words = written.simplified().split(u' ', Qt::SkipEmptyParts);
    if (words != words_) {
        words_ = std::move(words);
        invalidateFilter();
    }
}

bool WordsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (words_.isEmpty()) {
        return true;
    }
    const QString text = sourceModel()->index(row, 0, parent).data(role_).toString();
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace kvcaliper::gui
