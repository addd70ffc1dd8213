// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format_setting.h"

#include "app/gui/text.h"
#include "core/stored_components.h"

#include <algorithm>

namespace kvcaliper::gui {

namespace {} // namespace

std::string Settings::*format_member(FormatClass format_class) {
    switch (format_class) {
    case FormatClass::k:
        return &Settings::k_format;
    case FormatClass::v:
        return &Settings::v_format;
    case FormatClass::index:
        return &Settings::index_format;
    case FormatClass::conv:
        return &Settings::conv_format;
    case FormatClass::state:
        return &Settings::state_format;
    }
    return nullptr;
}

bool same_formats(const Settings& a, const Settings& b) {
    const FormatClass classes[] = {FormatClass::k, FormatClass::v, FormatClass::index,
                                   FormatClass::conv, FormatClass::state};
    return std::all_of(std::begin(classes), std::end(classes), [&](FormatClass one) {
        return a.*format_member(one) == b.*format_member(one);
    });
}

QString format_class_text(FormatClass format_class) {
    switch (format_class) {
    case FormatClass::k:
        return tr("K");
    case FormatClass::v:
        return tr("V");
    case FormatClass::index:
        return tr("index keys");
    case FormatClass::conv:
        return tr("convolution history");
    case FormatClass::state:
        return tr("recurrent states");
    }
    return {};
}

std::vector<StoredPart> stored_parts(const std::vector<ModelPtr>& models,
                                     FormatClass format_class) {
    std::vector<StoredPart> parts;
    for (const ModelPtr& model : models) {
        const ModelPlan& plan = model->plan;
        const QString name = text(plan.display_name.empty() ? plan.name : plan.display_name);
        for (const ComponentGroup& group : group_components(model->spec)) {
            if (group.component.format_class == format_class) {
                parts.push_back({name, group.component});
            }
        }
    }
    return parts;
}

QString format_problem(const NumericFormat& format, const std::vector<StoredPart>& parts) {
    const CacheFormats formats{&format, &format, &format, &format, &format};
    for (const StoredPart& part : parts) {
        if (const auto problem = storage_problem(part.component, formats)) {
            return tr("%1: %2").arg(part.model, text(*problem));
        }
    }
    return {};
}

} // namespace kvcaliper::gui
