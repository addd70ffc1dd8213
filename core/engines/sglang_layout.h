// SPDX-License-Identifier: Apache-2.0
// The slots of SGLang's pools. Inside core/engines only.
#pragma once

#include "core/engines/profile.h"
#include "core/engines/sglang_types.h"

namespace kvcaliper::sglang {

inline constexpr std::string_view engine_name = "sglang";

struct Slots {
    std::int64_t count = 0;
    std::string name; ///< "slots = 2 × 8,192 + 1"
};

/// One model being laid out.
struct Layout {
    const Model& model;
    const SglangType& type;
    const Settings& settings;
    const OptionValues& options;
    CacheSpec spec{}; ///< the model's, every layer with a cache of its own
    std::int64_t page = 1;
    Slots full{};
    Slots sliding{}; ///< none where there is no sliding pool
    Slots states{};
    Reservation result{};
};

/// True for layers whose tokens are in the sliding pool.
bool is_pooled(const Layout& layout, LayerKind kind);

/// Sets the slots of full and sliding layers; adds a note where the full pool is raised.
void size_token_pools(Layout& layout);
/// Sets the slots of states. Throws Error when fewer are asked for than the sequences need.
void size_state_pool(Layout& layout);

} // namespace kvcaliper::sglang
