// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format_box.h"

#include "app/gui/text.h"

#include <QSignalBlocker>
#include <QStandardItemModel>

namespace kvcaliper::gui {

namespace {

QString checkpoint() {
    return QStringLiteral("checkpoint");
}

/// The scheme that a file asks for is one of K and V.
bool takes_checkpoint(FormatClass format_class) {
    return format_class == FormatClass::k || format_class == FormatClass::v;
}

} // namespace

FormatBox::FormatBox(Study& study, FormatClass format_class, QWidget* parent)
    : QComboBox(parent), study_(study), format_class_(format_class) {
    addItem(tr("auto (%1)").arg(text(ideal_formats().of(format_class).name)),
            QStringLiteral("auto"));
    for (const NumericFormat& format : numeric_formats()) {
        addItem(text(format.name), text(format.name));
    }
    if (takes_checkpoint(format_class)) {
        addItem(tr("checkpoint"), checkpoint());
    }
    checkItems(study_.readModels());
    refresh();
    connect(&study_, &Study::changed, this, &FormatBox::refresh);
    connect(this, &QComboBox::activated, this,
            [this] { study_.setFormat(format_class_, format()); });
}

/// A format the list does not have, of a file, is shown and not taken for another one.
void FormatBox::show(const QString& format) {
    setPlaceholderText(format);
    setCurrentIndex(findData(format));
}

void FormatBox::refresh() {
    const QSignalBlocker blocker(this);
    show(text(study_.settings().*format_member(format_class_)));
    std::vector<ModelPtr> models = study_.readModels();
    if (checked_models_ != models) { // widths belong to models: a slider move changes none
        checkItems(models);
        checked_models_ = std::move(models);
    }
    // Whatever is set can be set back.
    setEnabled(!parts_.empty() || format() != QLatin1String("auto"));
    setToolTip(parts_.empty()
                   ? tr("No ticked model keeps %1.").arg(format_class_text(format_class_))
                   : QString());
}

QString FormatBox::problemOf(const QString& format, const std::vector<ModelPtr>& models) const {
    if (format != checkpoint()) {
        return format_problem(*find_numeric_format(utf8(format)), parts_);
    }
    for (const ModelPtr& model : models) {
        if (!model->plan.checkpoint_kv_format) {
            return tr("%1: its file asks for no format of K and V")
                .arg(text(model->plan.display_name.empty() ? model->plan.name
                                                           : model->plan.display_name));
        }
    }
    return {};
}

void FormatBox::checkItems(const std::vector<ModelPtr>& models) {
    parts_ = stored_parts(models, format_class_);
    auto* items = qobject_cast<QStandardItemModel*>(model());
    for (int i = 1; i < count(); ++i) {
        const QString name = itemData(i).toString();
        const QString problem = problemOf(name, models);
        const QString use = name == checkpoint() ? tr("what each model's file asks for")
                                                 : text(find_numeric_format(utf8(name))->used_by);
        items->item(i)->setEnabled(problem.isEmpty());
        setItemData(i, problem.isEmpty() ? use : problem, Qt::ToolTipRole);
    }
}

} // namespace kvcaliper::gui
