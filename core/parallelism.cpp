// SPDX-License-Identifier: Apache-2.0
#include "core/parallelism.h"

#include "core/error.h"

#include <utility>

namespace kvcaliper {

std::int64_t Parallelism::ranks() const {
    return checked_multiply(checked_multiply(tensor, pipeline), checked_multiply(context, data));
}

namespace {

struct Way {
    const char* option;
    const char* title;
    std::int64_t Parallelism::*count;
};
constexpr Way ways[] = {{"--tp", "TP", &Parallelism::tensor},
                        {"--pp", "PP", &Parallelism::pipeline},
                        {"--cp", "CP", &Parallelism::context},
                        {"--dp", "DP", &Parallelism::data}};
constexpr std::int64_t most_ranks_of_a_way = 1'000'000;

} // namespace

void check_parallelism(const Parallelism& parallel) {
    for (const Way& way : ways) {
        const std::int64_t count = parallel.*way.count;
        if (count < 1 || count > most_ranks_of_a_way) {
            throw Error(std::string(way.option) + ": expected 1 to " +
                        format_integer(most_ranks_of_a_way) + ", found " + std::to_string(count));
        }
    }
}

std::string to_string(const Parallelism& parallel) {
    std::string text;
    for (const Way& way : ways) {
        if (parallel.*way.count != 1) {
            text += (text.empty() ? "" : ", ") + std::string(way.title) + " " +
                    std::to_string(parallel.*way.count);
        }
    }
    return text;
}

// ---- layers ------------------------------------------------------------------------------------

std::vector<StageLayers> split_layers(std::int64_t layers, std::int64_t stages) {
    if (stages > layers) {
        throw Error("--pp: expected at most the model's " + std::to_string(layers) +
                    " layers, found " + std::to_string(stages));
    }
    const std::int64_t left_over = layers % stages;
    std::vector<StageLayers> result;
    std::int64_t first = 0;
    for (std::int64_t stage = 0; stage < stages; ++stage) {
        const bool one_more = stage + 1 < stages && stage + 1 + left_over >= stages;
        const std::int64_t last = first + layers / stages + (one_more ? 1 : 0);
        result.push_back({first, last});
        first = last;
    }
    return result;
}

namespace {

bool holds(const StageLayers& stage, std::int64_t layer) {
    return layer >= stage.first && layer < stage.last;
}

} // namespace

ModelPlan keep_stage(const ModelPlan& plan, const StageLayers& stage) {
    ModelPlan kept = plan;
    for (std::size_t i = 0; i < kept.layers.size(); ++i) {
        if (!holds(stage, static_cast<std::int64_t>(i))) {
            kept.layers[i] = {{}, std::nullopt, "another pipeline stage"};
        }
    }
    return kept;
}

void check_sharing(const ModelPlan& plan, const std::vector<StageLayers>& stages) {
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const auto& owner = plan.layers[i].shared_with;
        for (const StageLayers& stage : stages) {
            if (owner && holds(stage, static_cast<std::int64_t>(i)) && !holds(stage, *owner)) {
                throw Error("--pp: layer " + std::to_string(i) + " reads the cache of layer " +
                            std::to_string(*owner) +
                            ", expected both on one stage, found one of layers " +
                            std::to_string(stage.first) + " to " + std::to_string(stage.last - 1));
            }
        }
    }
}

// ---- heads -------------------------------------------------------------------------------------

namespace {

std::int64_t divided(std::int64_t count, std::int64_t ranks, const std::string& what) {
    if (count % ranks != 0) {
        throw Error("--tp: expected a divisor of the " + std::to_string(count) + " " + what +
                    ", found " + std::to_string(ranks));
    }
    return count / ranks;
}

/// At least one on each rank: replicated where ranks are a multiple of the heads.
std::int64_t divided_or_replicated(std::int64_t count, std::int64_t ranks,
                                   const std::string& what) {
    if (count % ranks != 0 && ranks % count != 0) {
        throw Error("--tp: expected a divisor or a multiple of the " + std::to_string(count) + " " +
                    what + ", found " + std::to_string(ranks));
    }
    return count >= ranks ? count / ranks : 1;
}

/// Divides the dimensions of one part, of the kind given.
class Divider {
  public:
    Divider(LayerKind kind, std::int64_t ranks) : kind_(kind), ranks_(ranks) {}

    void operator()(AttentionDims& dims) const {
        dims.heads = divided(dims.heads, ranks_, "query heads");
        dims.kv_heads = divided_or_replicated(dims.kv_heads, ranks_, "KV heads");
    }
    void operator()(LatentDims& dims) const {
        dims.heads = divided(dims.heads, ranks_, "query heads");
    }
    void operator()(CompressedDims& dims) const {
        dims.heads = divided(dims.heads, ranks_, "query heads");
    }
    void operator()(Mamba1Dims& dims) const {
        dims.inner = divided(dims.inner, ranks_, "channels of mamba1");
    }
    void operator()(Mamba2Dims& dims) const {
        dims.inner = divided(dims.inner, ranks_, "channels of mamba2");
        dims.heads = divided(dims.heads, ranks_, "heads of mamba2");
        dims.groups = dims.groups % ranks_ == 0 ? dims.groups / ranks_ : one_group(dims.groups);
    }
    void operator()(DeltaDims& dims) const {
        dims.key_heads = divided(dims.key_heads, ranks_, "key heads of " + kind_text());
        dims.value_heads = divided(dims.value_heads, ranks_, "value heads of " + kind_text());
    }
    void operator()(RglruDims& dims) const {
        dims.width = divided(dims.width, ranks_, "channels of rglru");
    }
    void operator()(ConvDims& dims) const {
        if (kind_ != LayerKind::short_conv) {
            throw no_rule();
        }
        dims.channels = divided(dims.channels, ranks_, "channels of short_conv");
    }
    void operator()(RwkvDims&) const { throw no_rule(); }
    void operator()(XlstmDims& dims) const {
        dims.heads = divided(dims.heads, ranks_, "heads of xlstm");
    }

  private:
    std::string kind_text() const { return std::string(to_string(kind_)); }
    Error no_rule() const { return Error("--tp: no rule for " + kind_text() + " layers yet"); }
    /// Groups that do not divide are padded to one per rank, which takes fewer groups than ranks.
    std::int64_t one_group(std::int64_t groups) const {
        if (groups > ranks_) {
            throw Error("--tp: expected a divisor of the " + std::to_string(groups) +
                        " groups of mamba2 or more ranks than groups, found " +
                        std::to_string(ranks_));
        }
        return 1;
    }

    LayerKind kind_;
    std::int64_t ranks_;
};

} // namespace

ModelPlan divide_heads(const ModelPlan& plan, std::int64_t tensor) {
    ModelPlan result = plan;
    for (LayerPlan& layer : result.layers) {
        for (LayerPart& part : layer.parts) {
            std::visit(Divider(part.kind, tensor), part.dims);
        }
    }
    return result;
}

} // namespace kvcaliper
