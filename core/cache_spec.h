// SPDX-License-Identifier: Apache-2.0
// What each layer keeps, as components, and every byte formula of a cache.
// bytes(component, T) = units(T) × rows × row_bytes(width, format).
#pragma once

#include "core/figure.h"
#include "core/layer_plan.h"
#include "core/numeric_format.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

enum class Role {
    key,
    value,
    key_value, ///< one vector that serves as K and as V
    latent,
    rope_key,
    index_key,
    cross_key,
    cross_value,
    compressed,
    conv_state,
    recurrent_state,
    shift,          ///< the last token's input, for token shift (RWKV)
    tail,           ///< values and gates of the tokens that the next compressed entry is pooled of
    index_tail,     ///< the same for its index key
    key_residual,   ///< recent tokens of K that are not packed yet (core/stored_components.h)
    value_residual, ///< the same of V
};
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view name);

/// Which of the settings' formats a component is stored in.
enum class FormatClass { k, v, index, conv, state };
std::string_view to_string(FormatClass format_class);
std::optional<FormatClass> format_class_from(std::string_view name);

/// How many units a component stores at T tokens.
struct Units {
    enum class Kind {
        tokens,    ///< T
        window,    ///< min(T, n)
        chunk,     ///< min(T, n): the bound; exactly ((T - 1) mod n) + 1 are needed
        groups,    ///< floor(T / n)
        constant,  ///< n
        remainder, ///< T mod n
        past,      ///< max(T - n, 0): all but the last n
    };
    Kind kind = Kind::tokens;
    std::int64_t n = 0;

    std::int64_t at(Tokens tokens) const;
    /// Units added per token at T tokens: units(T + 1) - units(T), the steps of groups averaged;
    /// a remainder comes and goes, on average 0.
    Ratio slope_at(Tokens tokens) const;
    std::string to_string() const; ///< "T", "min(T,1024)", "floor(T/4)", "T mod 4", "1"

    friend bool operator==(const Units&, const Units&) = default;
};

/// One tensor of one layer. A stored unit has rows × width elements; each row of `width` elements
/// is quantised on its own (per head for K and V).
struct Component {
    LayerKind kind = LayerKind::full_attention; ///< the part of the layer it belongs to
    Role role = Role::key;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    std::string rows_name;  ///< config key behind rows: "num_key_value_heads"
    std::string width_name; ///< config key behind width: "head_dim"
    FormatClass format_class = FormatClass::k;
    Units units;

    std::int64_t elements() const { return checked_multiply(rows, width); }
    friend bool operator==(const Component&, const Component&) = default;
};

struct LayerCache {
    std::string kind; ///< kind_text of its plan
    std::vector<Component> components;
    std::optional<int> shared_with; ///< index of the layer whose cache this one reads
    std::string decided_by;
};

/// Formats of one computation, resolved (no `auto`). Pointers into numeric_formats().
struct CacheFormats {
    const NumericFormat* k = nullptr;
    const NumericFormat* v = nullptr;
    const NumericFormat* index = nullptr;
    const NumericFormat* conv = nullptr;
    const NumericFormat* state = nullptr;

    const NumericFormat& of(FormatClass format_class) const;
};

/// bf16 K, V, index and convolution, fp32 recurrent state: the `ideal` engine's `auto`.
CacheFormats ideal_formats();

struct CacheSpec {
    std::vector<LayerCache> layers;
    std::optional<Tokens> max_context;
};

/// Step 3 of reading a model: the components of every layer of a plan. `encoder_tokens` is how many
/// rows cross-attention holds where the plan does not fix it.
CacheSpec build_cache_spec(const ModelPlan& plan, Tokens encoder_tokens = Tokens(0));

/// Adds what compressed attention keeps of unfinished groups. It is no part of what is required
/// (a note of the plan gives its size), but nothing runs without it.
void add_compressor_buffers(CacheSpec& spec, const ModelPlan& plan);

/// Equal components of all layers, counted.
struct ComponentGroup {
    Component component;
    std::int64_t layers = 0;
};
std::vector<ComponentGroup> group_components(const CacheSpec& spec);

/// The format a component is stored in: that of its class, but for a rotary key whose latent's
/// format leaves it in another, and for what a format keeps beside its packed tokens.
const NumericFormat& format_of(const Component& component, const CacheFormats& formats);

/// Bytes of one component of one layer, one sequence, at T tokens, in all it is stored as.
Bytes component_bytes(const Component& component, const CacheFormats& formats, Tokens tokens);

/// Why a format does not fit a component ("key of full_attention layers (head_dim 80): q8_0 can not
/// store rows of 80: 32 does not divide 80"), or nothing.
std::optional<std::string> storage_problem(const CacheSpec& spec, const CacheFormats& formats);
/// Throws that problem as an Error.
void check_storable(const CacheSpec& spec, const CacheFormats& formats);

// The figures of a cache, all per sequence.
Figure cache_bytes(const CacheSpec& spec, const CacheFormats& formats, Tokens tokens);
/// Every attention layer counted as growing: what most published tables print.
Figure uncapped_bytes_per_token(const CacheSpec& spec, const CacheFormats& formats);
/// bytes(Tmax + 1) - bytes(Tmax) at the model's maximum context, at infinity where none is known.
Figure growth_bytes_per_token(const CacheSpec& spec, const CacheFormats& formats);
/// What is not in that slope: full windows and states. A window that never fills adds nothing; of
/// tokens packed late (`past`) those that the slope counts too early are taken off. With packed
/// groups and `past`, bytes(T) = growth × T + constant where whole groups are full.
Figure constant_bytes(const CacheSpec& spec, const CacheFormats& formats);

/// A token count where the slope changes because a window is full, or because what leaves it is
/// packed.
struct Knee {
    Tokens tokens;
    Ratio bytes_per_token_before;
    Ratio bytes_per_token_after;
};
std::vector<Knee> knees(const CacheSpec& spec, const CacheFormats& formats);

/// The spec as the verifier's `spec`: {"layers": [{"kind", "components": […]}]}, and its inverse.
JsonValue to_json(const CacheSpec& spec);
CacheSpec cache_spec_from_json(const JsonValue& json);
JsonValue to_json(const CacheFormats& formats);
CacheFormats cache_formats_from_json(const JsonValue& json);

} // namespace kvcaliper
