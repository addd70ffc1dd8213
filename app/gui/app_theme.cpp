// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/app_theme.h"

#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleOption>

#include <algorithm>
#include <cmath>

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

/// White on black, nothing muted; what is chosen is black on yellow.
const Ground contrast = {Qt::black, Qt::black,  Qt::black, Qt::black, Qt::white,
                         Qt::white, Qt::yellow, Qt::black, Qt::yellow};

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

/// WCAG 2: relative luminance of a colour, 0 to 1.
double luminance(const QColor& colour) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

/// WCAG 2: 1 for equal colours, 21 for black on white.
double contrast_ratio(const QColor& a, const QColor& b) {
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

/// Fusion outlines everything in shades of the window's colour: on a dark ground check boxes
/// vanish, on a black one every field, button and handle.
class Outlined : public QProxyStyle {
  public:
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        const bool check =
            element == PE_IndicatorItemViewItemCheck || element == PE_IndicatorCheckBox;
        const bool edge = element == PE_Frame || element == PE_FrameLineEdit ||
                          element == PE_PanelButtonCommand || element == PE_FrameMenu;
        if (check || (edge && is_black_and_white(option->palette))) {
            outline(option->rect, *option, painter, check ? 0.5F : 1.0F);
        }
    }

    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                            QPainter* painter, const QWidget* widget) const override {
        QProxyStyle::drawComplexControl(control, option, painter, widget);
        if (!is_black_and_white(option->palette)) {
            return;
        }
        if (control == CC_ComboBox || control == CC_SpinBox) {
            outline(option->rect, *option, painter, 1.0F);
        } else if (control == CC_Slider || control == CC_ScrollBar) {
            const auto handle = control == CC_Slider ? SC_SliderHandle : SC_ScrollBarSlider;
            outline(subControlRect(control, option, handle, widget), *option, painter, 1.0F);
        }
    }

    /// Fusion draws the arrow of a button with a menu over its last letter.
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                           const QWidget* widget) const override {
        QSize needed = QProxyStyle::sizeFromContents(type, option, size, widget);
        const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
        if (type == CT_ToolButton && button != nullptr &&
            button->features.testFlag(QStyleOptionToolButton::HasMenu)) {
            needed.rwidth() += pixelMetric(PM_MenuButtonIndicator, option, widget);
        }
        return needed;
    }

  private:
    static void outline(const QRect& rect, const QStyleOption& option, QPainter* painter,
                        float strength) {
        QColor line = option.palette.color(QPalette::Text);
        line.setAlphaF(strength);
        painter->save();
        painter->setPen(line);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(rect.adjusted(0, 0, -1, -1));
        painter->restore();
    }
};

} // namespace

void use_style() {
    QApplication::setStyle(new Outlined);
}

bool is_black_and_white(const QPalette& palette) {
    return contrast_ratio(palette.color(QPalette::Window), palette.color(QPalette::WindowText)) >=
           20;
}

QString theme_name(AppTheme theme) {
    switch (theme) {
    case AppTheme::light:
        return QStringLiteral("light");
    case AppTheme::dark:
        return QStringLiteral("dark");
    case AppTheme::contrast:
        return QStringLiteral("contrast");
    case AppTheme::system:
        return QStringLiteral("system");
    }
    return {};
}

QStringList theme_names() {
    QStringList names;
    for (const AppTheme theme : all_themes) {
        names << theme_name(theme);
    }
    return names;
}

std::optional<AppTheme> theme_from(const QString& name) {
    for (const AppTheme theme : all_themes) {
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
    case AppTheme::contrast:
        QApplication::setPalette(palette_of(contrast));
        return;
    case AppTheme::system:
        QApplication::setPalette(QPalette());
        return;
    }
}

} // namespace kvcaliper::gui
