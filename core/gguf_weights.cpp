// SPDX-License-Identifier: Apache-2.0
#include "core/gguf_weights.h"

#include "core/error.h"
#include "core/gguf.h"
#include "core/gguf_metadata.h"
#include "core/gguf_tensors.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

namespace kvcaliper {

namespace {

/// Blocks of each type, apart for what a token reads in part.
struct Blocks {
    std::map<const GgmlType*, std::int64_t> whole;
    std::map<const GgmlType*, std::int64_t> experts;
    std::map<const GgmlType*, std::int64_t> embedding; ///< a row of it is read
    std::int64_t parameters = 0;
    bool has_output = false;
};

bool is_expert(const std::string& name) {
    return name.find("_exps.") != std::string::npos;
}

void add_tensor(const GgufTensor& tensor, Blocks& to) {
    auto& blocks = is_expert(tensor.name)               ? to.experts
                   : tensor.name == "token_embd.weight" ? to.embedding
                                                        : to.whole;
    blocks[tensor.type] =
        checked_add(blocks[tensor.type], tensor.elements / tensor.type->elements_per_block);
    to.parameters = checked_add(to.parameters, tensor.elements);
    to.has_output = to.has_output || tensor.name == "output.weight";
}

/// llama.cpp's names: llama_split_path writes "%s-%05d-of-%05d.gguf".
std::string part_path(const std::string& path, std::int64_t part, std::int64_t parts) {
    std::array<char, 32> tail{};
    std::snprintf(tail.data(), tail.size(), "-%05d-of-%05d.gguf", static_cast<int>(part),
                  static_cast<int>(parts));
    constexpr std::size_t length = 20;
    return path.size() > length ? path.substr(0, path.size() - length) + tail.data() : tail.data();
}

std::vector<std::string> parts_of(const std::string& path, const GgufHeader& header) {
    const JsonValue* count = header.metadata.find("split.count");
    const auto* parts = count ? count->if_integer() : nullptr;
    if (!parts || *parts <= 1) {
        return {path};
    }
    constexpr std::int64_t most_parts = 99'999;
    if (*parts > most_parts) {
        throw Error(path + ": metadata key split.count: expected at most " +
                    std::to_string(most_parts) + ", found " + std::to_string(*parts));
    }
    std::vector<std::string> paths;
    std::error_code error;
    for (std::int64_t part = 1; part <= *parts; ++part) {
        paths.push_back(part_path(path, part, *parts));
        if (!std::filesystem::is_regular_file(paths.back(), error)) {
            throw Error(path + ": expected all " + std::to_string(*parts) +
                        " parts of the file beside it, found no " +
                        std::filesystem::path(paths.back()).filename().string());
        }
    }
    return paths;
}

void add_terms(Figure& figure, const std::string& label,
               const std::map<const GgmlType*, std::int64_t>& blocks, const Ratio& share) {
    std::map<std::string, Term> terms; // by name, so that the order is not that of addresses
    for (const auto& [type, count] : blocks) {
        const std::string name(type->name);
        Term term{label + " in " + name,
                  {{"blocks", count}, {"bytes per block", type->bytes_per_block}}};
        if (share != Ratio(1)) {
            term.factors.push_back({"of the experts", share});
        }
        terms.emplace(name, std::move(term));
    }
    for (auto& [name, term] : terms) {
        figure.terms.push_back(std::move(term));
    }
}

/// What a token reads: its share of the experts, and the embedding where it is the output, too.
void add_active(const std::string& path, const GgufHeader& header, const Blocks& blocks,
                Weights& to) {
    const GgufMetadata metadata(header, path);
    const std::int64_t count = metadata.integer("expert_count").value_or(0);
    const std::int64_t used = metadata.integer("expert_used_count").value_or(0);
    if (blocks.experts.empty() || used < 1 || used >= count) {
        return;
    }
    Figure active{"weights one token reads", {}};
    if (!blocks.has_output) {
        add_terms(active, "embedding", blocks.embedding, 1);
    }
    add_terms(active, "tensors", blocks.whole, 1);
    add_terms(active, "experts", blocks.experts, Ratio(used, count));
    if (active.value().is_integer()) {
        to.active = std::move(active);
    }
}

} // namespace

Weights gguf_weights(const std::string& path) {
    const GgufHeader header = read_gguf_header(path);
    Blocks blocks;
    for (const std::string& part : parts_of(path, header)) {
        for (const GgufTensor& tensor : read_gguf_tensors(part)) {
            add_tensor(tensor, blocks);
        }
    }
    Weights weights;
    weights.source = WeightsSource::gguf_header;
    weights.parameters = blocks.parameters;
    weights.total.name = "weights";
    add_terms(weights.total, "embedding", blocks.embedding, 1);
    add_terms(weights.total, "tensors", blocks.whole, 1);
    add_terms(weights.total, "experts", blocks.experts, 1);
    add_active(path, header, blocks, weights);
    return weights;
}

} // namespace kvcaliper
