// SPDX-License-Identifier: Apache-2.0
// The architecture table: what a model_type means, as data.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace kvcaliper {

/// How the layers of a type are planned.
enum class PlanRule { attention, mla, mamba1, mamba2 };

/// Which attention layers have a window when no layer_types list says so.
enum class Layout {
    full,                   ///< none
    window_if_set,          ///< all, when sliding_window is set
    use_sliding_window,     ///< index >= max_window_layers, when use_sliding_window is true
    use_sliding_window_all, ///< all, when use_sliding_window is true
    period,                 ///< all but every p-th: layer i is full when (i + 1) mod p = 0
};

/// How the number of KV heads is found.
enum class KvHeads {
    standard, ///< num_key_value_heads; null is the number of query heads
    all,      ///< always the number of query heads
    falcon,   ///< new_decoder_architecture and multi_query decide
};

/// What a key means when a config does not have it (transformers' config class).
struct ClassDefault {
    std::string_view key;
    std::int64_t value;
};

struct Architecture {
    std::string_view model_type;
    PlanRule rule = PlanRule::attention;
    Layout layout = Layout::full;
    KvHeads kv_heads = KvHeads::standard;
    std::int64_t period = 0; ///< of Layout::period
    std::initializer_list<ClassDefault> defaults;
};

std::span<const Architecture> architecture_table();
/// The row of a model_type (also under its other names), or nullptr.
const Architecture* find_architecture(std::string_view model_type);
/// The row an unknown model_type is read with when all standard keys are there.
const Architecture& generic_architecture();

/// The text model_type a wrapper means when its nested config names none; empty when unknown.
std::string_view wrapped_model_type(std::string_view wrapper);

/// Other spellings of a canonical key, best first.
std::span<const std::string_view> key_aliases(std::string_view key);

} // namespace kvcaliper
