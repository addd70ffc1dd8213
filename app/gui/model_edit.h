// SPDX-License-Identifier: GPL-3.0-or-later
// "What if this model had …": one field of a config changed under the keys of its model_type. Works
// on the config and not on the plan, so that what is shown is what a saved file says.
#pragma once

#include "core/architectures/architectures.h"
#include "core/model_config.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper::gui {

enum class EditField {
    layers,
    kv_heads,
    head_width,
    window,      ///< tokens; a chunk where the type has chunks
    latent_rank, ///< kv_lora_rank
    full_every,  ///< every n-th layer is full: 6 is five windowed (or recurrent) layers and a full
                 ///< one
};
inline constexpr EditField all_edit_fields[] = {EditField::layers,      EditField::kv_heads,
                                                EditField::head_width,  EditField::window,
                                                EditField::latent_rank, EditField::full_every};

/// The most a field may be: lists of a config grow with its layers, and a slip of the finger is not
/// to fill the memory.
std::int64_t largest_value(EditField field);

/// What a field of a config is, and whether it can be another.
struct FieldState {
    std::optional<std::int64_t> value; ///< none where nothing of the kind is there
    std::vector<std::int64_t> choices; ///< all that it can be; empty for any number
    bool may_be_none = false;          ///< a window that can be switched off, written as 0
    std::string key;                   ///< of the config, for who edits files
    QString reason;                    ///< why it can not be changed; empty where it can
};

/// A config with what is needed to edit it.
class ModelEdit {
  public:
    /// Throws Error when the config is no model's.
    explicit ModelEdit(ConfigFile config);

    const ConfigFile& config() const { return config_; }
    FieldState state(EditField field) const;
    /// The config with a field changed, read again to see that the model is what was asked for.
    /// Lists with an entry per layer follow the layer count. Throws Error when it can not be.
    ConfigFile with(EditField field, std::int64_t value) const;

  private:
    ConfigFile config_;
    TextConfigPlace place_;
    ModelPlan plan_;
};

/// The copy that edits go into: named, and saying what it was made from.
ConfigFile editable_copy(const ConfigFile& config, const std::string& name);

/// Text of a config as a config.json.
std::string config_text(const ConfigFile& config);

} // namespace kvcaliper::gui
