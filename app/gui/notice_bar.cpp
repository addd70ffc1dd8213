// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/notice_bar.h"

#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

constexpr int spacing_around_button = 8;
constexpr int least_width = 200;

} // namespace

NoticeBar::NoticeBar(QWidget* parent) : QToolBar(tr("Notice"), parent), words_(new QLabel(this)) {
    setObjectName(QStringLiteral("noticeBar"));
    setMovable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    toggleViewAction()->setVisible(false); // it comes and goes with what it says
    words_->setObjectName(QStringLiteral("notice"));
    words_->setTextFormat(Qt::PlainText);
    words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    words_->setWordWrap(true);
    words_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    words_->setContentsMargins(8, 4, 8, 4);
    addWidget(words_);
    hide();
}

void NoticeBar::ask(const QString& words, const std::vector<Choice>& choices) {
    for (QAction* button : buttons_) {
        removeAction(button);
        button->deleteLater();
    }
    buttons_.clear();
    words_->setText(words);
    for (const Choice& choice : choices) {
        auto* button = new QPushButton(choice.words, this);
        button->setObjectName(choice.name);
        connect(button, &QPushButton::clicked, this, [this, chosen = choice.chosen] {
            hide();
            chosen();
        });
        buttons_.push_back(addWidget(button));
    }
    fitHeight();
    show();
}

/// A tool bar asks no label how high it is at a width; without this a line takes the place of four.
void NoticeBar::fitHeight() {
    if (words_->text().isEmpty()) {
        return;
    }
    int taken = 0;
    for (QAction* button : buttons_) {
        taken += widgetForAction(button)->sizeHint().width() + spacing_around_button;
    }
    const int bar = isVisible() ? width() : window()->width();
    words_->setFixedHeight(words_->heightForWidth(std::max(least_width, bar - taken)));
}

void NoticeBar::resizeEvent(QResizeEvent* event) {
    fitHeight();
    QToolBar::resizeEvent(event);
}

void NoticeBar::say(const QString& words) {
    ask(words, {{QStringLiteral("closeNotice"), tr("&Close"), [] {}}});
}

QString NoticeBar::words() const {
    return words_->text();
}

} // namespace kvcaliper::gui
