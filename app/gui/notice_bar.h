// SPDX-License-Identifier: GPL-3.0-or-later
// A line at the top of the window that stays until it is answered: what could not be opened, or
// what can be recovered.
#pragma once

#include <QToolBar>

#include <functional>
#include <vector>

class QLabel;

namespace kvcaliper::gui {

class NoticeBar : public QToolBar {
    Q_OBJECT

  public:
    struct Choice {
        QString name; ///< of the button's object
        QString words;
        std::function<void()> chosen;
    };

    explicit NoticeBar(QWidget* parent = nullptr);
    /// Shows a line with buttons; each hides it and then does what it is for.
    void ask(const QString& words, const std::vector<Choice>& choices);
    /// A line that is only to be read.
    void say(const QString& words);
    QString words() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fitHeight();

    QLabel* words_;
    std::vector<QAction*> buttons_;
};

} // namespace kvcaliper::gui
