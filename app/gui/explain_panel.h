// SPDX-License-Identifier: GPL-3.0-or-later
// The right dock: how the figures of the chosen model are made up, term by term.
#pragma once

#include "app/gui/study.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QTextBrowser;
class QToolButton;

namespace kvcaliper::gui {

class ExplainPanel : public QWidget {
    Q_OBJECT

  public:
    explicit ExplainPanel(Study& study, QWidget* parent = nullptr);
    /// 0 uncapped, 1 growth, 2 constant, 3 total at the context.
    void setFigure(int figure);
    QSize sizeHint() const override { return {290, 560}; }

  private:
    void refresh();
    void copy(bool markdown);

    Study& study_;
    QLabel* name_;
    QLabel* badge_;
    QComboBox* figure_;
    QToolButton* copy_;
    QTextBrowser* text_;
};

/// The terms of one figure, how it is known, what `kernels` says of the kernels behind that, the
/// components at the context and the notes, as HTML.
QString explain_html(const StudyRow& row, int figure, const Evidence& evidence,
                     const QString& kernels);

} // namespace kvcaliper::gui
