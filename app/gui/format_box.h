// SPDX-License-Identifier: GPL-3.0-or-later
// The number formats of K or of V. Formats that cannot store the ticked models are disabled and say
// why.
#pragma once

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

    Study& study_;
    FormatClass format_class_;
    std::vector<ModelPtr> checked_models_; ///< those whose widths the items were checked against
};

} // namespace kvcaliper::gui
