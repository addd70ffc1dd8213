// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format_box.h"

#include "app/gui/text.h"

#include <QSignalBlocker>
#include <QStandardItemModel>

namespace kvcaliper::gui {

FormatBox::FormatBox(Study& study, FormatClass format_class, QWidget* parent)
    : QComboBox(parent), study_(study), format_class_(format_class) {
    addItem(tr("auto (%1)").arg(text(ideal_formats().of(format_class).name)),
            QStringLiteral("auto"));
    for (const NumericFormat& format : numeric_formats()) {
        addItem(text(format.name), text(format.name));
    }
    refresh();
    connect(&study_, &Study::changed, this, &FormatBox::refresh);
    connect(this, &QComboBox::activated, this, [this] {
        format_class_ == FormatClass::k ? study_.setKFormat(format()) : study_.setVFormat(format());
    });
}

void FormatBox::refresh() {
    const QSignalBlocker blocker(this);
    const Settings& settings = study_.settings();
    const std::string& set =
        format_class_ == FormatClass::k ? settings.k_format : settings.v_format;
    setCurrentIndex(std::max(0, findData(text(set))));
    std::vector<ModelPtr> models = study_.readModels();
    if (checked_models_ == models) {
        return; // widths belong to models: a slider move changes none
    }
    auto* items = qobject_cast<QStandardItemModel*>(model());
    for (int i = 1; i < count(); ++i) {
        const NumericFormat& format = *find_numeric_format(utf8(itemData(i).toString()));
        const QString problem = format_problem(format, format_class_, models);
        items->item(i)->setEnabled(problem.isEmpty());
        setItemData(i, problem.isEmpty() ? text(format.used_by) : problem, Qt::ToolTipRole);
    }
    checked_models_ = std::move(models);
}

} // namespace kvcaliper::gui
