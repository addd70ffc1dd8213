// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_proof.h"

#include "core/error.h"

#include <algorithm>
#include <utility>

namespace kvcaliper {

namespace {

constexpr std::string_view here = "cpu, emulated";

// clang-format off
constexpr KernelProof proofs[] = {
    {"full_attention", "attention.cuh, mma.cuh", here, ""},
    {"sliding_attention", "attention.cuh, mma.cuh", here, ""},
    {"chunked_attention", "attention.cuh, mma.cuh", here, ""},
    {"cross_attention", "attention.cuh, mma.cuh", here, ""},
    {"mla", "latent.cuh, mma.cuh", here, ""},
    {"compressed_attention", "attention.cuh, index.cuh, latent.cuh, mma.cuh, pool.cuh", here, ""},
    {"mamba1", "mamba1.cuh", here, ""},
    {"mamba2", "conv.cuh, mamba2.cuh", here, ""},
    {"gated_delta", "conv.cuh, delta.cuh", here, ""},
    {"kda", "conv.cuh, delta.cuh", here, ""},
    {"lightning", "delta.cuh", here, ""},
    {"gla", "conv.cuh, delta.cuh", here, ""},
    {"rglru", "conv.cuh, channel_states.cuh", here, ""},
    {"short_conv", "conv.cuh", here, ""},
    {"rwkv4", "conv.cuh, channel_states.cuh", here, ""},
    {"rwkv", "conv.cuh, rwkv.cuh", here, ""},
    {"xlstm", "xlstm.cuh", here, ""},
    {"kv_conv", "conv.cuh", here, ""},
    {index_keys, "index.cuh", here, ""},
    {shared_cache, "attention.cuh, latent.cuh, mma.cuh", here, ""},
    {attention_sinks, "split.cuh", here, ""},
    {"pages", "placed.cuh", here, ""},
    {"cartridge", "attention.cuh, latent.cuh, mma.cuh", here, ""},
    {"residual", "pack.cuh, placed.cuh", here, ""}, // formats that pack older tokens: KIVI
};
// clang-format on

std::string one_proof_text(const KernelProof& proof) {
    return (proof.backends.empty() ? "" : std::string(proof.backends) + "; ") + record_text(proof);
}

} // namespace

std::span<const KernelProof> kernel_proofs() {
    return proofs;
}

const KernelProof& proof_of(std::string_view subject) {
    for (const KernelProof& proof : proofs) {
        if (proof.subject == subject) {
            return proof;
        }
    }
    throw Error("no proof is told of " + std::string(subject));
}

std::string record_text(const KernelProof& proof) {
    if (proof.kernels.empty()) {
        return "no kernel yet";
    }
    return std::string(proof.record.empty() ? emulation_only : proof.record);
}

std::string proof_text(const std::vector<std::string>& subjects) {
    std::vector<std::pair<std::string, std::string>> texts; // text, and whom it is about
    for (const std::string& subject : subjects) {
        const std::string text = one_proof_text(proof_of(subject));
        const auto known = std::find_if(texts.begin(), texts.end(),
                                        [&](const auto& one) { return one.first == text; });
        if (known == texts.end()) {
            texts.emplace_back(text, subject);
        } else {
            known->second += ", " + subject;
        }
    }
    if (texts.size() == 1) {
        return texts.front().first;
    }
    std::string all;
    for (const auto& [text, about] : texts) {
        all += (all.empty() ? "" : "; ") + about + ": " + text;
    }
    return all;
}

} // namespace kvcaliper
