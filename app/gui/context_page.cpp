// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/context_extras.h"
#include "app/gui/pages.h"
#include "app/gui/text.h"
#include "core/device.h"
#include "core/error.h"

#include <QAction>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QMap>
#include <QMenu>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStringList>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <cmath>

namespace kvcaliper::gui {

namespace {

constexpr int frame_height = 150;
constexpr int reads_height = 170;
constexpr int name_height = 18; // a curve's name at its end

/// A device may be taken away where there is none of that name any more.
QString device_title(const Device& device) {
    return ContextPage::tr("%1, %2").arg(text(device.display_name),
                                         bytes_text(Ratio(device.usable.count())));
}

QAction* add_device(QMenu& menu, const QString& name, const QString& title, bool shown) {
    QAction* action = menu.addAction(title);
    action->setObjectName(QStringLiteral("capacity:") + name);
    action->setData(name);
    action->setCheckable(true);
    action->setChecked(shown);
    return action;
}

} // namespace

Tokens round_tokens(double tokens) {
    const double clamped = std::min(std::max(tokens, 1.0), 1e15);
    const double step = std::exp2(std::max(0.0, std::floor(std::log2(clamped)) - 2));
    return Tokens(std::llround(std::round(clamped / step) * step));
}

ContextPage::ContextPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), chart_(new ChartView(this)), devices_(new QToolButton(this)),
      crossings_(new QCheckBox(tr("Mar&k meetings"), this)),
      linear_(new QCheckBox(tr("&Linear axes"), this)),
      recompute_(new QCheckBox(tr("&Without a cache"), this)) {
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(chart_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(makeControls());
    layout->addWidget(scroll, 1);
    connect(chart_, &ChartView::hovered, this, &ContextPage::onHover);
}

QWidget* ContextPage::makeControls() {
    devices_->setObjectName(QStringLiteral("capacityDevices"));
    devices_->setAccessibleName(tr("Devices whose memory is a line"));
    devices_->setToolTip(tr("Draw a line at the memory of a GPU"));
    devices_->setPopupMode(QToolButton::InstantPopup);
    devices_->setMenu(new QMenu(devices_));
    connect(devices_->menu(), &QMenu::aboutToShow, this, &ContextPage::fillDevices);
    auto* part = new QWidget(this);
    auto* layout = new QHBoxLayout(part);
    layout->setContentsMargins(9, 6, 9, 0);
    layout->addWidget(devices_);
    const auto add = [&](QCheckBox* box, const char* name, const QString& tip,
                         bool ContextView::*field) {
        box->setObjectName(QLatin1String(name));
        box->setToolTip(tip);
        layout->addWidget(box);
        connect(box, &QCheckBox::clicked, this, [this, field](bool on) {
            ContextView view = study_.state().context_view;
            view.*field = on;
            study_.setContextView(view);
        });
    };
    add(crossings_, "markMeetings",
        tr("Where curves meet each other and the lines of devices, to the token"),
        &ContextView::crossings);
    add(linear_, "linearAxes", tr("Both axes linear instead of logarithmic"), &ContextView::linear);
    add(recompute_, "withoutCache",
        tr("The tokens read without a cache, in a chart of their own below"),
        &ContextView::recompute);
    layout->addStretch(1);
    return part;
}

/// Every known device under its vendor; read when the menu opens, as the user's file may change.
void ContextPage::fillDevices() {
    QMenu& menu = *devices_->menu();
    menu.clear();
    QStringList shown = study_.state().context_view.devices;
    connect(menu.addAction(tr("&None")), &QAction::triggered, this, [this] {
        ContextView view = study_.state().context_view;
        view.devices.clear();
        study_.setContextView(view);
    });
    menu.addSeparator();
    const auto follow = [this](QAction* action) {
        connect(action, &QAction::triggered, this,
                [this, action](bool on) { setDevice(action->data().toString(), on); });
    };
    try {
        QMap<QString, QMenu*> vendors;
        for (const Device& device : known_devices()) {
            const QString vendor = text(device.vendor);
            if (!vendors.contains(vendor)) {
                vendors.insert(vendor, menu.addMenu(vendor));
            }
            const QString name = text(device.name);
            follow(add_device(*vendors[vendor], name, device_title(device), shown.contains(name)));
            shown.removeAll(name);
        }
    } catch (const Error& error) {
        menu.addAction(text(error.what()))->setEnabled(false);
    }
    for (const QString& unknown : shown) { // of another machine's file: can be taken away
        follow(add_device(menu, unknown, unknown, true));
    }
}

void ContextPage::setDevice(const QString& name, bool shown) {
    ContextView view = study_.state().context_view;
    view.devices.removeAll(name);
    if (shown) {
        view.devices << name;
    }
    study_.setContextView(view);
}

void ContextPage::refresh() {
    const ContextView& view = study_.state().context_view;
    devices_->setText(view.devices.isEmpty() ? tr("&GPU lines")
                                             : tr("&GPU lines: %1").arg(view.devices.size()));
    crossings_->setChecked(view.crossings);
    linear_->setChecked(view.linear);
    recompute_->setChecked(view.recompute);
    chart_->setMinimumHeight(frame_height + (view.recompute ? reads_height : 0) +
                             name_height * static_cast<int>(study_.rows().size()));
    chart_->setData(context_chart(study_));
}

void ContextPage::onHover(const ChartSpot& spot, const QPoint& global) {
    const auto& chart = std::get<CurveChart>(chart_->data().body);
    QToolTip::showText(global, spot.tokens > 0
                                   ? context_tip(study_, chart, round_tokens(spot.tokens),
                                                 spot.bytes, spot.meeting)
                                   : QString());
}

} // namespace kvcaliper::gui
