// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/log_slider.h"

#include "app/gui/text.h"
#include "core/error.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>

namespace kvcaliper::gui {

std::vector<std::int64_t> log_steps(std::int64_t most) {
    std::vector<std::int64_t> steps;
    for (std::int64_t value = 1, step = 1; value <= most; value += step) {
        steps.push_back(value);
        step = std::max<std::int64_t>(
            1, value >= 16 ? (std::int64_t{1}
                              << (63 - __builtin_clzll(static_cast<unsigned long long>(value)))) /
                                 16
                           : 1);
    }
    return steps;
}

std::optional<std::int64_t> parse_count(const QString& entry, QString& error) {
    QString digits = entry.trimmed();
    digits.remove(u',').remove(u' ');
    try {
        return parse_tokens(utf8(digits)).count();
    } catch (const Error& problem) {
        error = text(problem.what());
        return std::nullopt;
    }
}

LogSlider::LogSlider(const QString& label, std::int64_t most, QWidget* parent)
    : QWidget(parent), steps_(log_steps(most)), label_(new QLabel(label, this)),
      field_(new QLineEdit(this)), slider_(new QSlider(Qt::Horizontal, this)) {
    const QString name = QString(label).remove(u'&');
    label_->setBuddy(field_);
    field_->setAccessibleName(name);
    field_->setAlignment(Qt::AlignRight);
    field_->setMaximumWidth(120);
    slider_->setAccessibleName(tr("%1, logarithmic slider").arg(name));
    slider_->setRange(0, static_cast<int>(steps_.size()) - 1);
    slider_->setPageStep(16);
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setVerticalSpacing(2);
    layout->addWidget(label_, 0, 0);
    layout->addWidget(field_, 0, 1, Qt::AlignRight);
    layout->addWidget(slider_, 1, 0, 1, 2);
    setFocusProxy(field_);
    connect(slider_, &QSlider::sliderPressed, this, &LogSlider::dragStarted);
    connect(slider_, &QSlider::valueChanged, this, &LogSlider::onSlider);
    connect(field_, &QLineEdit::editingFinished, this, &LogSlider::onField);
}

void LogSlider::setValue(std::int64_t value) {
    value_ = value;
    const QSignalBlocker blocker(slider_);
    const auto next = std::lower_bound(steps_.begin(), steps_.end(), value);
    slider_->setValue(static_cast<int>(next - steps_.begin()));
    field_->setText(integer_text(value));
    field_->setToolTip(
        tr("%1 — accepts 100000, 128K or 1M").arg(text(format_tokens(Tokens(value)))));
}

void LogSlider::onSlider(int position) {
    Q_EMIT edited(steps_[static_cast<std::size_t>(position)], Study::Merge::yes);
}

void LogSlider::onField() {
    QString error;
    const auto value = parse_count(field_->text(), error);
    if (value && *value != value_) {
        Q_EMIT edited(*value, Study::Merge::no);
    }
    if (!value) {
        setValue(value_); // the old number stays, and says what was wrong
        field_->setToolTip(error);
    }
}

} // namespace kvcaliper::gui
