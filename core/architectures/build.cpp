// SPDX-License-Identifier: Apache-2.0
// Step 3 of reading a model: the components of each kind of part. The only place where what a kind
// keeps is written down. Shapes: the rule catalogue's table of kinds, as in layer_plan.h.
#include "core/cache_spec.h"

#include "core/error.h"

namespace kvcaliper {

namespace {

constexpr Units per_token{Units::Kind::tokens, 0};
constexpr Units once{Units::Kind::constant, 1};

/// Collects the components of one part.
class Parts {
  public:
    Parts(std::vector<Component>& components, LayerKind kind)
        : components_(components), kind_(kind) {}

    void add(Role role, std::int64_t rows, std::string rows_name, std::int64_t width,
             std::string width_name, FormatClass format_class, Units units) {
        components_.push_back({kind_, role, rows, width, std::move(rows_name),
                               std::move(width_name), format_class, units});
    }
    /// The last kernel - 1 inputs of a convolution: none for a kernel of one.
    void add_conv(std::int64_t channels, std::string channels_name, std::int64_t kernel) {
        if (kernel > 1) {
            add(Role::conv_state, 1, "", channels, std::move(channels_name), FormatClass::conv,
                {Units::Kind::constant, kernel - 1});
        }
    }
    void add_state(std::int64_t rows, std::string rows_name, std::int64_t width,
                   std::string width_name) {
        add(Role::recurrent_state, rows, std::move(rows_name), width, std::move(width_name),
            FormatClass::state, once);
    }
    LayerKind kind() const { return kind_; }

  private:
    std::vector<Component>& components_;
    LayerKind kind_;
};

Units attention_units(LayerKind kind, const AttentionDims& dims) {
    if (kind == LayerKind::chunked_attention) {
        return {Units::Kind::chunk, *dims.window};
    }
    return dims.window ? Units{Units::Kind::window, *dims.window} : per_token;
}

void add_cross(Parts& parts, const AttentionDims& dims, Tokens encoder_tokens) {
    const std::int64_t rows =
        dims.encoder_tokens > 0 ? dims.encoder_tokens : encoder_tokens.count();
    const Units units{Units::Kind::constant, rows};
    parts.add(Role::cross_key, dims.kv_heads, "KV heads", dims.key_width, "head_dim",
              FormatClass::k, units);
    parts.add(Role::cross_value, dims.kv_heads, "KV heads", dims.value_width, "head_dim",
              FormatClass::v, units);
}

void add_part(Parts& parts, const AttentionDims& dims, Tokens encoder_tokens) {
    if (parts.kind() == LayerKind::cross_attention) {
        add_cross(parts, dims, encoder_tokens);
        return;
    }
    const Units units = attention_units(parts.kind(), dims);
    parts.add(Role::key, dims.kv_heads, "KV heads", dims.key_width, "head_dim", FormatClass::k,
              units);
    parts.add(Role::value, dims.kv_heads, "KV heads", dims.value_width,
              dims.value_width == dims.key_width ? "head_dim" : "v_head_dim", FormatClass::v,
              units);
    if (dims.index_width > 0) {
        parts.add(Role::index_key, 1, "", dims.index_width, "index_head_dim", FormatClass::index,
                  units);
    }
}

/// One latent and one rotary key per token, for all heads: not per head, not doubled for V.
void add_part(Parts& parts, const LatentDims& dims, Tokens) {
    parts.add(Role::latent, 1, "", dims.rank, "kv_lora_rank", FormatClass::k, per_token);
    parts.add(Role::rope_key, 1, "", dims.rope_width, "qk_rope_head_dim", FormatClass::k,
              per_token);
    if (dims.index_width > 0) {
        parts.add(Role::index_key, 1, "", dims.index_width, "index_head_dim", FormatClass::index,
                  per_token);
    }
}

void add_part(Parts& parts, const CompressedDims& dims, Tokens) {
    if (dims.window > 0) {
        parts.add(Role::key_value, 1, "", dims.width, "head_dim", FormatClass::k,
                  {Units::Kind::window, dims.window});
    }
    if (dims.group > 0) {
        const Units entries = dims.group == 1 ? per_token : Units{Units::Kind::groups, dims.group};
        parts.add(Role::compressed, 1, "", dims.width, "head_dim", FormatClass::k, entries);
        if (dims.index_width > 0) {
            parts.add(Role::index_key, 1, "", dims.index_width, "index_head_dim",
                      FormatClass::index, entries);
        }
    }
}

void add_part(Parts& parts, const Mamba1Dims& dims, Tokens) {
    parts.add_conv(dims.inner, "intermediate_size", dims.conv_kernel);
    parts.add_state(dims.inner, "intermediate_size", dims.state_size, "state_size");
}

/// The convolution runs over x, B and C: inner + 2 · groups · state_size channels.
void add_part(Parts& parts, const Mamba2Dims& dims, Tokens) {
    const std::int64_t b_and_c =
        checked_multiply(2, checked_multiply(dims.groups, dims.state_size));
    parts.add_conv(checked_add(dims.inner, b_and_c), "channels (inner + 2·groups·state_size)",
                   dims.conv_kernel);
    parts.add_state(checked_multiply(dims.heads, dims.head_width), "heads·head_dim",
                    dims.state_size, "state_size");
}

/// The convolution runs over q, k and v.
void add_part(Parts& parts, const DeltaDims& dims, Tokens) {
    const std::int64_t q_and_k =
        checked_multiply(2, checked_multiply(dims.key_heads, dims.key_width));
    const std::int64_t v = checked_multiply(dims.value_heads, dims.value_width);
    parts.add_conv(checked_add(q_and_k, v), "channels (q, k and v)", dims.conv_kernel);
    parts.add_state(checked_multiply(dims.value_heads, dims.key_width), "value heads·key width",
                    dims.value_width, "value width");
}

void add_part(Parts& parts, const RglruDims& dims, Tokens) {
    parts.add_conv(dims.width, "lru_width", dims.conv_kernel);
    parts.add_state(1, "", dims.width, "lru_width");
}

void add_part(Parts& parts, const ConvDims& dims, Tokens) {
    parts.add(Role::conv_state, 1, "", dims.channels, "channels",
              dims.in_state_format ? FormatClass::state : FormatClass::conv,
              {Units::Kind::constant, dims.columns});
}

/// Two token-shift vectors, and three vectors (version 4) or one matrix per head (5 to 7) of state.
void add_part(Parts& parts, const RwkvDims& dims, Tokens) {
    parts.add(Role::shift, 1, "", dims.hidden, "hidden_size", FormatClass::conv,
              {Units::Kind::constant, 2});
    if (parts.kind() == LayerKind::rwkv4) {
        parts.add_state(3, "vectors", dims.attention_hidden, "attention_hidden_size");
    } else {
        parts.add_state(dims.hidden, "hidden_size", dims.head_width, "head_size");
    }
}

/// Per head the matrix C, the vector n and the number m.
void add_part(Parts& parts, const XlstmDims& dims, Tokens) {
    const std::int64_t per_head = checked_add(checked_multiply(dims.key_width, dims.value_width),
                                              checked_add(dims.key_width, 1));
    parts.add_state(dims.heads, "heads", per_head, "qk·v + qk + 1");
}

} // namespace

CacheSpec build_cache_spec(const ModelPlan& plan, Tokens encoder_tokens) {
    CacheSpec spec;
    spec.max_context = plan.max_context;
    for (const LayerPlan& layer : plan.layers) {
        LayerCache cache{kind_text(layer), {}, layer.shared_with, layer.decided_by};
        for (const LayerPart& part : layer.parts) {
            Parts parts(cache.components, part.kind);
            std::visit([&](const auto& dims) { add_part(parts, dims, encoder_tokens); }, part.dims);
        }
        spec.layers.push_back(std::move(cache));
    }
    return spec;
}

namespace {

/// An entry with an index key is pooled of two groups: a token has a value for the entry of its own
/// group and another for the next one (transformers' deepseek_v4, CSA).
std::int64_t values_per_token(const CompressedDims& dims) {
    return dims.index_width > 0 ? 2 : 1;
}

/// A value and a gate per part for each of the last parts · group tokens, in the state format.
void add_tail(LayerCache& layer, const CompressedDims& dims, Role role, std::int64_t width) {
    const std::int64_t parts = values_per_token(dims);
    layer.components.push_back({LayerKind::compressed_attention,
                                role,
                                1,
                                checked_multiply(2 * parts, width),
                                "",
                                "values and gates",
                                FormatClass::state,
                                {Units::Kind::window, checked_multiply(parts, dims.group)}});
}

} // namespace

/// As DeepSeek's own decode, vLLM and llama.cpp keep them: rings of the tokens that the next entry
/// is pooled of, in fp32. (transformers gives up a group's rows when it has been pooled.)
void add_compressor_buffers(CacheSpec& spec, const ModelPlan& plan) {
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        for (const LayerPart& part : plan.layers[i].parts) {
            const auto* dims = std::get_if<CompressedDims>(&part.dims);
            if (dims == nullptr || dims->group < 2) {
                continue; // an entry of one token waits for none
            }
            add_tail(spec.layers[i], *dims, Role::tail, dims->width);
            if (dims->index_width > 0) {
                add_tail(spec.layers[i], *dims, Role::index_tail, dims->index_width);
            }
        }
    }
}

} // namespace kvcaliper
