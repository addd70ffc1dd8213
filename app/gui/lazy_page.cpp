// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages.h"

namespace kvcaliper::gui {

LazyPage::LazyPage(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
    connect(&study_, &Study::changed, this, &LazyPage::refreshSeen);
}

void LazyPage::refreshSeen() {
    stale_ = !isVisible();
    if (!stale_) {
        refresh();
    }
}

void LazyPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        refreshSeen();
    }
}

} // namespace kvcaliper::gui
