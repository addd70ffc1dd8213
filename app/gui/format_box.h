// SPDX-License-Identifier: GPL-3.0-or-later
// The number formats of one class of components. Formats that cannot store the ticked models are
// disabled and say why; so is the box where no ticked model has such a component.
#pragma once

#include "app/gui/format_setting.h"
#include "app/gui/study.h"

#include <QComboBox>

namespace kvcaliper::gui {

class FormatBox : public QComboBox {
    Q_OBJECT

  public:
    FormatBox(Study& study, FormatClass format_class, QWidget* parent = nullptr);
    QString format() const { return currentData().toString(); }

  private:
    void refresh();
    void checkItems(const std::vector<ModelPtr>& models);
    QString problemOf(const QString& format, const std::vector<ModelPtr>& models) const;
    void show(const QString& format);

    Study& study_;
    FormatClass format_class_;
    std::vector<StoredPart> parts_;        ///< what would be stored in the format
    std::vector<ModelPtr> checked_models_; ///< those the items were checked against
};

} // namespace kvcaliper::gui
