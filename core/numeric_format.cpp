// SPDX-License-Identifier: Apache-2.0
#include "core/numeric_format.h"

#include "core/catalog.h"
#include "core/error.h"

#include <array>

namespace kvcaliper {

namespace {

// name, elements per block, bytes per block, bytes per row, engines, note.
// ggml: block structs of ggml-common.h. vLLM, SGLang: cache layouts. MLX: 16-bit scale and bias per
// group of 64 (bits + 32/64). Quanto, HQQ: 16-bit scale and zero per group of 64. KIVI
// (quant/new_pack.py): 16-bit scale and least value per group; models/llama_kivi.py for the rest.
constexpr NumericFormat formats[] = {
    {"f32", 1, 4, 0, "all", ""},
    {"f16", 1, 2, 0, "all", ""},
    {"bf16", 1, 2, 0, "all", ""},
    {"fp8_e4m3", 1, 1, 0, "vLLM, SGLang, TensorRT-LLM", "per-tensor scale, outside the cache"},
    {"fp8_e5m2", 1, 1, 0, "vLLM, SGLang", "per-tensor scale, outside the cache"},
    {"int8", 1, 1, 0, "vLLM, LMDeploy", "static per-channel scale, outside the cache"},
    {"fp8_per_token_head", 1, 1, 4, "vLLM", "one fp32 scale per row of a head"},
    {"int8_per_token_head", 1, 1, 4, "vLLM", "one fp32 scale per row of a head"},
    {"fp8_e4m3_128", 128, 132, 0, "FlashMLA, vLLM, SGLang",
     "fp32 scale per 128; an MLA's rotary key stays bf16: 656 B for 512 + 64", "bf16"},
    {"q8_0", 32, 34, 0, "llama.cpp", ""},
    {"q8_1", 32, 36, 0, "llama.cpp", "not offered for caches"},
    {"q6_0", 32, 26, 0, "ik_llama.cpp", ""},
    {"q8_KV", 32, 32, 8, "ik_llama.cpp", "one scale per row"},
    {"q5_1", 32, 24, 0, "llama.cpp", ""},
    {"q5_0", 32, 22, 0, "llama.cpp", ""},
    {"q4_1", 32, 20, 0, "llama.cpp", ""},
    {"q4_0", 32, 18, 0, "llama.cpp", ""},
    {"iq4_nl", 32, 18, 0, "llama.cpp", ""},
    {"mxfp4", 32, 17, 0, "ggml", "8-bit exponent per 32"},
    {"mxfp8", 32, 33, 0, "SGLang", "8-bit exponent per 32"},
    {"nvfp4", 16, 9, 0, "vLLM, SGLang, TensorRT-LLM", "fp8 scale per 16; per-tensor fp32 outside"},
    {"nvfp4_ggml", 64, 36, 0, "ggml", "four fp8 scales per block of 64"},
    {"dsa_index_fp8", 128, 132, 0, "vLLM, SGLang", "index key: fp32 scale per 128"},
    {"dsa_index_fp4", 128, 68, 0, "vLLM", "index key: 4-bit, scale per 32"},
    {"mlx_8bit", 64, 68, 0, "MLX-LM", "group 64"},
    {"mlx_6bit", 64, 52, 0, "MLX-LM", "group 64"},
    {"mlx_4bit", 64, 36, 0, "MLX-LM", "group 64"},
    {"mlx_3bit", 64, 28, 0, "MLX-LM", "group 64"},
    {"mlx_2bit", 64, 20, 0, "MLX-LM", "group 64"},
    {"quanto_4bit", 64, 36, 0, "transformers", "group 64"},
    {"quanto_2bit", 64, 20, 0, "transformers", "group 64"},
    {"hqq_8bit", 64, 68, 0, "transformers", "group 64"},
    {"hqq_4bit", 64, 36, 0, "transformers", "group 64"},
    {"hqq_3bit", 320, 148, 0, "transformers", "group 64, ten values in 32 bits"},
    {"hqq_2bit", 64, 20, 0, "transformers", "group 64"},
    {"hqq_1bit", 64, 12, 0, "transformers", "group 64"},
    {"kivi_2bit", 32, 12, 0, "KIVI",
     "group 32: K by channel, V by token; the last 128 tokens in f16", "", 128, "f16"},
    {"kivi_4bit", 32, 20, 0, "KIVI", "group 32; the last 128 tokens in f16", "", 128, "f16"},
    {"kivi_2bit_r32", 32, 12, 0, "KIVI", "group 32; the last 32 tokens in f16", "", 32, "f16"},
    {"kivi_4bit_r32", 32, 20, 0, "KIVI", "group 32; the last 32 tokens in f16", "", 32, "f16"},
    {"kivi_2bit_g64", 64, 20, 0, "KIVI", "group 64; the last 128 tokens in f16", "", 128, "f16"},
    {"kivi_4bit_g64", 64, 36, 0, "KIVI", "group 64; the last 128 tokens in f16", "", 128, "f16"},
    {"kivi_2bit_g128", 128, 36, 0, "KIVI", "group 128; the last 128 tokens in f16", "", 128, "f16"},
    {"kivi_4bit_g128", 128, 68, 0, "KIVI", "group 128; the last 128 tokens in f16", "", 128, "f16"},
};

struct Spelling {
    std::string_view written;
    std::string_view name;
};

constexpr std::array<Spelling, 13> spellings = {{{"bfloat16", "bf16"},
                                                 {"float16", "f16"},
                                                 {"fp16", "f16"},
                                                 {"half", "f16"},
                                                 {"float32", "f32"},
                                                 {"fp32", "f32"},
                                                 {"fp8", "fp8_e4m3"},
                                                 {"q8", "q8_0"},
                                                 {"q4", "q4_0"},
                                                 {"q5", "q5_0"},
                                                 {"q6", "q6_0"},
                                                 {"q8_kv", "q8_KV"},
                                                 {"float", "f32"}}};

} // namespace

std::span<const NumericFormat> numeric_formats() {
    return formats;
}

const NumericFormat* find_numeric_format(std::string_view name) {
    for (const Spelling& spelling : spellings) {
        if (spelling.written == name) {
            name = spelling.name;
            break;
        }
    }
    for (const NumericFormat& format : formats) {
        if (format.name == name) {
            return &format;
        }
    }
    return nullptr;
}

const NumericFormat& numeric_format(std::string_view name) {
    if (const NumericFormat* format = find_numeric_format(name)) {
        return *format;
    }
    std::vector<std::string> names;
    for (const NumericFormat& format : formats) {
        names.emplace_back(format.name);
    }
    const std::string near = nearest_word(std::string(name), names);
    throw Error("expected a number format (see `list formats`), found \"" + std::string(name) +
                "\"" + (near.empty() ? "" : "; did you mean " + near + "?"));
}

bool storable(const NumericFormat& format, std::int64_t width) {
    return width > 0 && width % format.elements_per_block == 0;
}

std::string not_storable_reason(const NumericFormat& format, std::int64_t width) {
    return std::string(format.name) + " can not store rows of " + std::to_string(width) + ": " +
           std::to_string(format.elements_per_block) + " does not divide " + std::to_string(width);
}

Bytes row_bytes(const NumericFormat& format, std::int64_t width) {
    if (!storable(format, width)) {
        throw Error(not_storable_reason(format, width));
    }
    const std::int64_t blocks = width / format.elements_per_block;
    return Bytes(
        checked_add(checked_multiply(blocks, format.bytes_per_block), format.row_side_bytes));
}

} // namespace kvcaliper
