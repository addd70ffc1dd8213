// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/app_theme.h"

#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleOption>

namespace kvcaliper::gui {

namespace {

struct Ground {
    QColor window, base, alternate, button, text, muted, highlight, highlighted, link;
};

const Ground light = {QColor(244, 244, 246), QColor(255, 255, 255), QColor(247, 247, 250),
                      QColor(238, 238, 241), QColor(26, 26, 28),    QColor(132, 132, 140),
                      QColor(0, 95, 150),    QColor(255, 255, 255), QColor(0, 95, 150)};
const Ground dark = {QColor(40, 40, 43),   QColor(30, 30, 32),    QColor(36, 36, 39),
                     QColor(54, 54, 58),   QColor(236, 236, 238), QColor(128, 128, 136),
                     QColor(53, 132, 196), QColor(255, 255, 255), QColor(110, 185, 240)};

QPalette palette_of(const Ground& g) {
    QPalette palette(g.button, g.window);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
                            QPalette::ToolTipText, QPalette::BrightText}) {
        palette.setColor(role, g.text);
        palette.setColor(QPalette::Disabled, role, g.muted);
    }
    palette.setColor(QPalette::Window, g.window);
    palette.setColor(QPalette::Base, g.base);
    palette.setColor(QPalette::AlternateBase, g.alternate);
    palette.setColor(QPalette::Button, g.button);
    palette.setColor(QPalette::ToolTipBase, g.base);
    palette.setColor(QPalette::PlaceholderText, g.muted);
    palette.setColor(QPalette::Highlight, g.highlight);
    palette.setColor(QPalette::HighlightedText, g.highlighted);
    palette.setColor(QPalette::Link, g.link);
    return palette;
}

/// Fusion outlines check boxes in a shade of the window: on a dark ground they vanish.
class OutlinedChecks : public QProxyStyle {
  public:
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        if (element == PE_IndicatorItemViewItemCheck || element == PE_IndicatorCheckBox) {
            QColor line = option->palette.color(QPalette::Text);
            line.setAlphaF(0.5F);
            painter->setPen(line);
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        }
    }
};

} // namespace

void use_style() {
    QApplication::setStyle(new OutlinedChecks);
}

QString theme_name(AppTheme theme) {
    switch (theme) {
    case AppTheme::light:
        return QStringLiteral("light");
    case AppTheme::dark:
        return QStringLiteral("dark");
    case AppTheme::system:
        return QStringLiteral("system");
    }
    return {};
}

std::optional<AppTheme> theme_from(const QString& name) {
    for (const AppTheme theme : {AppTheme::light, AppTheme::dark, AppTheme::system}) {
        if (theme_name(theme) == name) {
            return theme;
        }
    }
    return std::nullopt;
}

void apply_theme(AppTheme theme) {
    switch (theme) {
    case AppTheme::light:
        QApplication::setPalette(palette_of(light));
        return;
    case AppTheme::dark:
        QApplication::setPalette(palette_of(dark));
        return;
    case AppTheme::system:
        QApplication::setPalette(QPalette());
        return;
    }
}

} // namespace kvcaliper::gui
