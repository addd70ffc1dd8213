// SPDX-License-Identifier: GPL-3.0-or-later
// Which key of a config a field is, by model_type; or why there is none.
#pragma once

#include "app/gui/model_edit.h"

#include "core/architectures/table.h"

namespace kvcaliper::gui {

/// A config as the rules see it.
struct EditView {
    const Architecture& row;
    const ModelConfig& keys; ///< of the language model
    const ModelPlan& plan;
};

/// State of a field. With a key, the value is read by the caller's rules; `key` may lead into an
/// object: "attn_config/kv_n_heads".
FieldState layers_state(const EditView& view);
FieldState kv_heads_state(const EditView& view);
FieldState head_width_state(const EditView& view);
FieldState window_state(const EditView& view);
FieldState latent_rank_state(const EditView& view);
FieldState full_every_state(const EditView& view);

/// Whether the type's window has a switch of its own, use_sliding_window.
bool has_window_switch(const Architecture& row);

/// Which layers attend to everything, in order; layers that keep nothing of their own count as
/// their owner does.
std::vector<bool> full_layers(const ModelPlan& plan);

} // namespace kvcaliper::gui
