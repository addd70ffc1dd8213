// SPDX-License-Identifier: Apache-2.0
#include "core/logs/log_patterns.h"

#include <algorithm>

namespace kvcaliper::logs {

namespace {

using enum LogLineKind;

constexpr std::string_view llama = "llama.cpp";
constexpr std::string_view ik_llama = "ik_llama.cpp";
constexpr std::string_view ollama = "Ollama";
constexpr std::string_view vllm = "vLLM";
constexpr std::string_view sglang = "SGLang";
constexpr std::string_view trt = "TensorRT-LLM";

constexpr MemoryPattern memory_list[] = {
    // llama.cpp of 2025 and 2026: src/llama-kv-cache.cpp, llama-memory-recurrent.cpp.
    {llama, pool,
     "size = {#size} MiB ({#cells} cells, {#layers} layers, {#seqs}/{#streams} seqs), "
     "K ({k}): {#k_size} MiB, V ({v}): {#v_size} MiB"},
    {llama, pool,
     "size = {#size} MiB ({#cells} cells, {#layers} layers, {#seqs} seqs), "
     "K ({k}): {#k_size} MiB, V ({v}): {#v_size} MiB"},
    {llama, states,
     "size = {#size} MiB ({#cells} cells, {#layers} layers, {#seqs} seqs {#rs_seq} rs_seq), "
     "R ({r}): {#k_size} MiB, S ({s}): {#v_size} MiB"},
    {llama, states,
     "size = {#size} MiB ({#cells} cells, {#layers} layers, {#seqs} seqs), "
     "R ({r}): {#k_size} MiB, S ({s}): {#v_size} MiB"},
    {llama, states, "llama_memory_recurrent: size = {#size} MiB ({#cells} cells, {#layers} layers"},
    // The same, quoted without its end.
    {llama, pool,
     "llama_kv_cache: size = {#size} MiB ({#cells} cells, {#layers} layers, "
     "{#seqs}/{#streams} seqs"},
    {llama, pool, "llama_kv_cache: size = {#size} MiB ({#cells} cells, {#layers} layers"},
    // ik_llama.cpp of 2025: src/llama.cpp. The transposed copy is that of -mla 1.
    {ik_llama, latent_split,
     "KV self size = {#size} MiB, K^R ({k}): {#v_size} MiB, c^KV ({c}): {#k_size} MiB"},
    {ik_llama, latent,
     "KV self size = {#size} MiB, c^KV ({k}): {#k_size} MiB, kv^T ({v}): {#v_size} MiB"},
    {ik_llama, latent, "KV self size = {#size} MiB, c^KV ({k}): {#k_size} MiB"},
    // llama.cpp before June 2025: src/llama.cpp, llama-context.cpp; ik_llama.cpp to this day.
    {llama, context, "KV self size = {#size} MiB, K ({k}): {#k_size} MiB, V ({v}): {#v_size} MiB"},
    {llama, context, "KV self size = {#size} MiB"},
    {llama, context, "kv self size = {#size} MB"}, // of 2023; counted in MiB
    {llama, buffers, "KV buffer size = {#size} MiB"},
    // Ollama: ml/device.go and llm/memory.go (until 2025).
    {ollama, server_cache, "msg=\"kv cache\" device={device} size=\"{#size} {unit}\""},
    {ollama, server_cache, "memory.required.kv=\"{#size} {unit}\""},
    // vLLM V1: v1/core/kv_cache_utils.py; V0: worker/worker.py, executor/executor_base.py.
    {vllm, cache_tokens, "GPU KV cache size: {#tokens} tokens"},
    {vllm, concurrency, "Maximum concurrency for {#max_len} tokens per request: {#size}x"},
    {vllm, gpu_blocks, "GPU blocks: {#blocks}"},
    {vllm, gpu_blocks, "cuda blocks: {#blocks}"},
    // SGLang 0.4 to 0.5: srt/mem_cache/memory_pool.py, swa_memory_pool.py.
    {sglang, token_pool,
     "KV Cache is allocated.{*}#tokens: {#tokens}, K size: {#k_size} GB, V size: {#v_size} GB"},
    {sglang, latent_pool, "KV Cache is allocated.{*}#tokens: {#tokens}, KV size: {#size} GB"},
    {sglang, window_pools,
     "SWAKVPool mem usage: {#size} GB, swa size: {#swa_tokens}, full size: {#tokens}"},
    {sglang, state_pool,
     "Mamba Cache is allocated. max_mamba_cache_size: {#slots}, conv_state size: {#k_size} GB, "
     "ssm_state size: {#v_size} GB"},
    // TensorRT-LLM 0.8 to 1.x: cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp.
    {trt, paged_cache, "Allocated {#size} GiB for max tokens in paged KV cache ({#tokens})"},
    {trt, paged_cache, "Using {#tokens} tokens in paged KV cache"},
};

constexpr FactPattern fact_list[] = {
    {llama, "loaded meta data with{*}tensors from {model_file} (version", true},
    {llama, "general.name str = {>general_name}"},
    {llama, "general.name = {>general_name}"},
    {llama, ": n_seq_max = {#n_seq_max}"},
    {llama, ": n_ctx = {#n_ctx}"},
    {llama, ": n_ctx_seq = {#n_ctx_seq}"},
    {llama, ": n_ctx_per_seq = {#n_ctx_seq}"},
    {llama, ": n_batch = {#n_batch}"},
    {llama, ": n_ubatch = {#n_ubatch}"},
    {llama, ": flash_attn = {flash_attn}"},
    {llama, ": kv_unified = {kv_unified}"},
    {llama, ": mla_attn = {#mla_attn}"},
    {llama, "type_k = '{kv_type_k}', type_v = '{kv_type_v}'"},
    {llama, "using full-size SWA cache{=swa_full:on}"},
    {llama, "creating non-SWA KV cache, size = {#pool_cells} cells{=pool:full}"},
    {llama, "creating SWA KV cache, size = {#pool_cells} cells{=pool:window}"},
    {ollama, "layers.requested={*}memory.available={=engine:ollama}", true},
    {ollama, "--ctx-size {#n_ctx}"},
    {ollama, "--parallel {#n_seq_max}"},
    {ollama, "Parallel:{#n_seq_max} BatchSize:"},
    {ollama, "KvSize:{#n_ctx} KvCacheType:{kv_type} NumThreads"},
    {vllm, "LLM engine{*}with config: model='{model}'", true},
    {vllm, "non-default args: {*}'model': '{model}'"},
    {vllm, "max_seq_len={#max_len}"},
    {vllm, "Using max model len {#max_len}"},
    {vllm, "tensor_parallel_size={#tp}"},
    {vllm, "pipeline_parallel_size={#pp}"},
    {vllm, "kv_cache_dtype={kv_dtype}"},
    {vllm, "max_num_batched_tokens={#batched_tokens}"},
    {vllm, "Setting attention block size to {#block} tokens"},
    {vllm, "Available KV cache memory: {#memory} GiB"},
    {vllm, "reserved for KV Cache is {#memory}GiB"},
    {vllm, "kv_cache_size={#memory}GiB"},
    {vllm, "'max_model_len': {#max_len}"},
    {vllm, "'tensor_parallel_size': {#tp}"},
    {vllm, "'kv_cache_dtype': '{kv_dtype}'"},
    {vllm, "'max_num_batched_tokens': {#batched_tokens}"},
    {vllm, "GPU KV cache size: {#cache_tokens} tokens"},
    {vllm, "Mamba cache mode is set to '{mamba_mode}'"},
    {sglang, "ServerArgs(model_path='{model}'", true},
    {sglang, ", tp_size={#tp}"},
    {sglang, ", pp_size={#pp}"},
    {sglang, ", dp_size={#dp}"},
    {sglang, ", page_size={#page}"},
    {sglang, "enable_dp_attention=True{=dp_attention:on}"},
    {sglang, "Using KV cache dtype: {kv_dtype}"},
    {sglang, "KV Cache is allocated. dtype: {kv_dtype},"},
    {trt, "Allocate {#bytes} bytes for k/v cache"},
    {trt, "Number of tokens per block: {#block}"},
};

constexpr std::size_t longest_text = 512;  ///< of a captured text
constexpr std::size_t longest_jump = 2048; ///< of what {*} passes over
constexpr std::size_t longest_number = 18; ///< characters of one, so that it fits 64 bits

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// The literal that a pattern goes on with: up to the next space or capture.
std::string_view next_literal(std::string_view pattern) {
    while (!pattern.empty() && pattern.front() == ' ') {
        pattern.remove_prefix(1);
    }
    return pattern.substr(0, pattern.find_first_of(" {"));
}

/// One attempt at one place of a line. No step goes back, so that no line can make it slow.
class Matcher {
  public:
    Matcher(std::string_view pattern, std::string_view line, std::size_t at)
        : pattern_(pattern), line_(line), at_(at) {}

    bool run() {
        while (!pattern_.empty()) {
            if (!step()) {
                return false;
            }
        }
        return true;
    }
    LogFacts values() && { return std::move(values_); }
    std::size_t end() const { return at_; }

  private:
    bool step() {
        if (pattern_.front() == ' ') {
            pattern_.remove_prefix(1);
            skip_spaces();
            return true;
        }
        if (pattern_.front() == '{') {
            const std::size_t close = pattern_.find('}');
            const std::string_view capture = pattern_.substr(1, close - 1);
            pattern_.remove_prefix(close + 1);
            return take(capture);
        }
        if (at_ == line_.size() || line_[at_] != pattern_.front()) {
            return false;
        }
        pattern_.remove_prefix(1);
        ++at_;
        return true;
    }

    bool take(std::string_view capture) {
        switch (capture.front()) {
        case '#':
            return take_number(capture.substr(1));
        case '>':
            return take_text(capture.substr(1), line_.size());
        case '=':
            return say(capture.substr(1));
        case '*':
            return jump();
        default:
            return take_text(capture, end_of_text());
        }
    }

    bool take_number(std::string_view name) {
        skip_spaces();
        std::size_t end = at_;
        while (end < line_.size() &&
               (is_digit(line_[end]) || line_[end] == '.' || line_[end] == ',')) {
            ++end;
        }
        while (end > at_ && !is_digit(line_[end - 1])) {
            --end;
        }
        if (end == at_ || end - at_ > longest_number || !is_digit(line_[at_])) {
            return false;
        }
        values_[std::string(name)] = line_.substr(at_, end - at_);
        at_ = end;
        return true;
    }

    bool take_text(std::string_view name, std::size_t end) {
        if (end == std::string_view::npos || end - at_ > longest_text) {
            return false;
        }
        values_[std::string(name)] = trimmed(line_.substr(at_, end - at_));
        at_ = end;
        return true;
    }

    bool say(std::string_view statement) {
        const std::size_t colon = statement.find(':');
        values_[std::string(statement.substr(0, colon))] = statement.substr(colon + 1);
        return true;
    }

    bool jump() {
        const std::size_t distance = distance_to(next_literal(pattern_), longest_jump);
        at_ += distance == std::string_view::npos ? 0 : distance;
        return distance != std::string_view::npos;
    }

    std::size_t distance_to(std::string_view literal, std::size_t most) const {
        return line_.substr(at_, most + literal.size()).find(literal);
    }

    std::size_t end_of_text() const {
        const std::string_view literal = next_literal(pattern_);
        if (literal.empty()) {
            return std::min(line_.find_first_of(" \t\r,", at_), line_.size());
        }
        const std::size_t distance = distance_to(literal, longest_text);
        return distance == std::string_view::npos ? distance : at_ + distance;
    }

    void skip_spaces() {
        while (at_ < line_.size() && is_space(line_[at_])) {
            ++at_;
        }
    }

    std::string_view pattern_;
    std::string_view line_;
    std::size_t at_;
    LogFacts values_{};
};

} // namespace

std::span<const MemoryPattern> memory_patterns() {
    return memory_list;
}

std::span<const FactPattern> fact_patterns() {
    return fact_list;
}

std::optional<PatternMatch> match(std::string_view pattern, std::string_view line) {
    const std::string_view first = next_literal(pattern);
    for (std::size_t at = line.find(first); at != std::string_view::npos;
         at = line.find(first, at + 1)) {
        Matcher matcher(pattern, line, at);
        if (matcher.run()) {
            const std::size_t end = matcher.end();
            return PatternMatch{std::move(matcher).values(), at, end};
        }
    }
    return std::nullopt;
}

} // namespace kvcaliper::logs
