// SPDX-License-Identifier: Apache-2.0
#include "core/architectures/table.h"

namespace kvcaliper {

namespace {

// clang-format off
constexpr Architecture table[] = {
    {.model_type = "llama", .plan = plan_attention},
    {.model_type = "yi", .plan = plan_attention},
    {.model_type = "xverse", .plan = plan_attention},
    {.model_type = "internlm", .plan = plan_attention},
    {.model_type = "internlm2", .plan = plan_attention},
    {.model_type = "internlm3", .plan = plan_attention},
    {.model_type = "aquila", .plan = plan_attention},
    {.model_type = "minicpm", .plan = plan_attention},
    {.model_type = "arcee", .plan = plan_attention},
    {.model_type = "apertus", .plan = plan_attention},
    {.model_type = "granite", .plan = plan_attention},
    {.model_type = "granitemoe", .plan = plan_attention},
    {.model_type = "granitemoeshared", .plan = plan_attention},
    {.model_type = "olmo", .plan = plan_attention},
    {.model_type = "olmo2", .plan = plan_attention},
    {.model_type = "olmoe", .plan = plan_attention},
    {.model_type = "flex_olmo", .plan = plan_attention},
    {.model_type = "stablelm", .plan = plan_attention},
    {.model_type = "phi", .plan = plan_attention},
    {.model_type = "diffllama", .plan = plan_attention},
    {.model_type = "doge", .plan = plan_attention},
    {.model_type = "nanochat", .plan = plan_attention},
    {.model_type = "helium", .plan = plan_attention},
    {.model_type = "jais2", .plan = plan_attention},
    {.model_type = "hyperclovax", .plan = plan_attention},
    {.model_type = "bitnet", .plan = plan_attention},
    {.model_type = "solar_open", .plan = plan_attention},
    {.model_type = "seed_oss", .plan = plan_attention},
    {.model_type = "ernie4_5", .plan = plan_attention},
    {.model_type = "ernie4_5_moe", .plan = plan_attention},
    {.model_type = "ernie4_5_vl_moe_text", .plan = plan_attention},
    {.model_type = "glm", .plan = plan_attention},
    {.model_type = "glm4", .plan = plan_attention},
    {.model_type = "glm4_moe", .plan = plan_attention},
    {.model_type = "glm4v_text", .plan = plan_attention},
    {.model_type = "glm4v_moe_text", .plan = plan_attention},
    {.model_type = "glm_ocr_text", .plan = plan_attention},
    {.model_type = "minimax_m2", .plan = plan_attention},
    {.model_type = "hy_v3", .plan = plan_attention},
    {.model_type = "sarvam_moe", .plan = plan_attention},
    {.model_type = "qwen3_vl_text", .plan = plan_attention},
    {.model_type = "qwen3_vl_moe_text", .plan = plan_attention},
    {.model_type = "qwen3_omni_moe_text", .plan = plan_attention},
    {.model_type = "qwen3_omni_moe_talker_text", .plan = plan_attention},
    {.model_type = "aria_text", .plan = plan_attention},
    {.model_type = "csm", .plan = plan_attention},
    {.model_type = "chameleon", .plan = plan_attention},
    {.model_type = "emu3_text_model", .plan = plan_attention},
    {.model_type = "paddleocr_vl_text", .plan = plan_attention},
    {.model_type = "gemma", .plan = plan_attention},
    {.model_type = "cohere", .plan = plan_attention},
    {.model_type = "cohere_compass_text", .plan = plan_attention},
    {.model_type = "nemotron", .plan = plan_attention},
    {.model_type = "deepseek", .plan = plan_attention},
    {.model_type = "bailing_moe", .plan = plan_attention},
    {.model_type = "arctic", .plan = plan_attention},
    {.model_type = "molmo", .plan = plan_attention},
    {.model_type = "orion", .plan = plan_attention},
    {.model_type = "step3_text", .plan = plan_attention},
    {.model_type = "jetmoe", .plan = plan_attention},
    {.model_type = "codeshell", .plan = plan_attention},
    {.model_type = "blt_global_transformer", .plan = plan_attention},
    {.model_type = "blt_local_decoder", .plan = plan_attention},
    {.model_type = "phi-msft", .plan = plan_attention},
    {.model_type = "grok", .plan = plan_attention},
    {.model_type = "minicpmv", .plan = plan_attention},
    {.model_type = "persimmon", .plan = plan_attention},
    {.model_type = "fuyu", .plan = plan_attention},
    {.model_type = "gpt2", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "openai-gpt", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "ctrl", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "gpt_neox", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "gpt_neox_japanese", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "gptj", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "codegen", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "bloom", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "opt", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "biogpt", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "xglm", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "cpmant", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "qwen", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "baichuan", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "musicgen_decoder", .plan = plan_attention, .kv_heads = KvHeads::all},
    {.model_type = "gpt_bigcode", .plan = plan_attention, .kv_heads = KvHeads::multi_query},
    {.model_type = "mpt", .plan = plan_attention, .kv_heads = KvHeads::attn_config_all},
    {.model_type = "dbrx", .plan = plan_attention, .kv_heads = KvHeads::attn_config},
    {.model_type = "falcon", .plan = plan_attention, .kv_heads = KvHeads::falcon},
    {.model_type = "chatglm", .plan = plan_attention, .kv_heads = KvHeads::query_groups},
    {.model_type = "hunyuan", .plan = plan_attention, .sharing = Sharing::cross_layer},
    {.model_type = "hunyuan_v1_dense", .plan = plan_attention, .sharing = Sharing::cross_layer},
    {.model_type = "hunyuan_v1_moe", .plan = plan_attention, .sharing = Sharing::cross_layer},
    {.model_type = "hrm_text", .plan = plan_recursion},
    {.model_type = "mistral", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "mixtral", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "ministral3", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "starcoder2", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "phi3", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "phi3small", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "phi4_multimodal", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "phimoe", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "moshi", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "kyutai_speech_to_text", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "voxtral_realtime_text", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "ministral", .plan = plan_attention, .layout = Layout::window_if_set},
    {.model_type = "qwen2", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen3", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen2_vl_text", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen2_5_vl_text", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen2_5_omni_text", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen2_5_omni_talker", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "dots1", .plan = plan_attention, .layout = Layout::use_sliding_window},
    {.model_type = "qwen2_moe", .plan = plan_attention, .layout = Layout::use_sliding_window_even},
    {.model_type = "qwen3_moe", .plan = plan_attention, .layout = Layout::use_sliding_window_all},
    {.model_type = "smollm3", .plan = plan_attention, .layout = Layout::no_rope_sliding},
    {.model_type = "gemma2", .plan = plan_attention, .layout = Layout::period, .period = 2},
    {.model_type = "vaultgemma", .plan = plan_attention, .layout = Layout::period, .period = 2},
    {.model_type = "gpt_oss", .plan = plan_attention, .layout = Layout::period, .period = 2, .sinks = Sinks::all},
    {.model_type = "gemma3_text", .plan = plan_attention, .layout = Layout::period, .period = 6},
    {.model_type = "t5_gemma_module", .plan = plan_attention, .layout = Layout::period, .period = 2, .beside = Beside::cross},
    {.model_type = "t5gemma2_decoder", .plan = plan_attention, .layout = Layout::period, .period = 6, .beside = Beside::cross},
    {.model_type = "t5gemma2_text", .plan = plan_attention, .layout = Layout::period, .period = 6, .beside = Beside::cross},
    {.model_type = "gemma3n_text", .plan = plan_attention, .layout = Layout::period, .period = 5, .sharing = Sharing::last_layers},
    {.model_type = "gemma4_text", .plan = plan_attention, .layout = Layout::period, .period = 6, .split = Split::global_heads, .sharing = Sharing::last_layers},
    {.model_type = "gemma4_unified_text", .plan = plan_attention, .layout = Layout::period, .period = 6, .split = Split::global_heads, .sharing = Sharing::last_layers},
    {.model_type = "diffusion_gemma_text", .plan = plan_attention, .layout = Layout::period, .period = 6, .split = Split::global_heads, .sharing = Sharing::last_layers},
    {.model_type = "cohere2", .plan = plan_attention, .layout = Layout::period, .period = 4, .head_width = HeadWidth::quotient},
    {.model_type = "cohere2_moe", .plan = plan_attention, .layout = Layout::prefix_period, .period = 4},
    {.model_type = "olmo3", .plan = plan_attention, .layout = Layout::period, .period = 4},
    {.model_type = "afmoe", .plan = plan_attention, .layout = Layout::period, .period = 4},
    {.model_type = "exaone4", .plan = plan_attention, .layout = Layout::pattern_word, .period = 4},
    {.model_type = "exaone_moe", .plan = plan_attention, .layout = Layout::pattern_word, .period = 4},
    {.model_type = "laguna", .plan = plan_attention, .layout = Layout::list_only},
    {.model_type = "mellum", .plan = plan_attention, .layout = Layout::list_only},
    {.model_type = "cwm", .plan = plan_attention, .layout = Layout::start_period, .period = 4},
    {.model_type = "granite_swa", .plan = plan_attention, .layout = Layout::start_period, .period = 4, .sinks = Sinks::all},
    {.model_type = "granitemoe_swa", .plan = plan_attention, .layout = Layout::start_period, .period = 4, .sinks = Sinks::all},
    {.model_type = "modernbert-decoder", .plan = plan_attention, .layout = Layout::start_period, .period = 3, .window_key = "local_attention"},
    {.model_type = "muse_glimmer_text", .plan = plan_attention, .layout = Layout::end_period, .period = 4},
    {.model_type = "llama4_text", .plan = plan_attention, .layout = Layout::no_rope_chunked, .window_key = "attention_chunk_size"},
    {.model_type = "gpt_neo", .plan = plan_attention, .layout = Layout::local_list, .kv_heads = KvHeads::all, .window_key = "window_size"},
    {.model_type = "step3p5", .plan = plan_attention, .layout = Layout::list_only, .split = Split::other_setting},
    {.model_type = "step3p7", .plan = plan_attention, .layout = Layout::list_only, .split = Split::other_setting},
    {.model_type = "mimo_v2_flash", .plan = plan_attention, .layout = Layout::hybrid_layer_pattern, .period = 6, .split = Split::swa_keys, .sinks = Sinks::sliding},
    {.model_type = "mimo_v2", .plan = plan_attention, .layout = Layout::hybrid_layer_pattern, .period = 6, .split = Split::swa_keys, .sinks = Sinks::sliding},
    {.model_type = "inkling_text", .plan = plan_attention, .layout = Layout::local_layer_ids, .period = 6, .split = Split::swa_keys, .beside = Beside::inkling_conv, .window_key = "sliding_window_size"},
    {.model_type = "baichuan_m1", .plan = plan_attention, .layout = Layout::sliding_window_layers, .split = Split::swa_heads, .beside = Beside::baichuan_conv},
    {.model_type = "zaya", .plan = plan_attention, .layout = Layout::list_only, .beside = Beside::zaya_conv},
    {.model_type = "minimax_m3_vl_text", .plan = plan_attention, .beside = Beside::index_key},
    {.model_type = "afm7", .plan = plan_attention, .sharing = Sharing::reuse},
    {.model_type = "dia_decoder", .plan = plan_attention, .beside = Beside::cross},
    {.model_type = "deepseek_v2", .plan = plan_mla},
    {.model_type = "deepseek_v3", .plan = plan_mla},
    {.model_type = "glm4_moe_lite", .plan = plan_mla},
    {.model_type = "youtu", .plan = plan_mla},
    {.model_type = "mistral4", .plan = plan_mla},
    {.model_type = "minicpm3", .plan = plan_mla},
    {.model_type = "axk1", .plan = plan_mla},
    {.model_type = "sarvam_mla", .plan = plan_mla},
    {.model_type = "deepseek_ocr2_text", .plan = plan_mla},
    {.model_type = "deepseek_v32", .plan = plan_mla, .beside = Beside::index_key},
    {.model_type = "glm_moe_dsa", .plan = plan_mla, .beside = Beside::index_key},
    {.model_type = "axk2", .plan = plan_mla, .beside = Beside::index_key},
    {.model_type = "longcat_flash", .plan = plan_mla_twice, .layers_key = "num_layers"},
    {.model_type = "deepseek_v4", .plan = plan_compressed},
    {.model_type = "deepseek_v41", .plan = plan_compressed_shared},
    {.model_type = "qwen3_next", .plan = plan_hybrid, .state = State::gated_delta},
    {.model_type = "qwen3_5_text", .plan = plan_hybrid, .state = State::gated_delta},
    {.model_type = "qwen3_5_moe_text", .plan = plan_hybrid, .state = State::gated_delta},
    {.model_type = "olmo_hybrid", .plan = plan_hybrid, .attends = Attends::every_fourth, .state = State::gated_delta},
    {.model_type = "kimi_linear", .plan = plan_hybrid, .attends = Attends::kimi_list, .state = State::kda, .latent = true},
    {.model_type = "bailing_moe_linear", .plan = plan_hybrid, .period = 5, .attends = Attends::layer_group, .state = State::lightning, .latent = true},
    {.model_type = "bailing_hybrid", .plan = plan_hybrid, .period = 5, .attends = Attends::layer_group, .state = State::bailing, .latent = true},
    {.model_type = "minimax", .plan = plan_hybrid, .attends = Attends::attn_type_list, .state = State::lightning},
    {.model_type = "minimax_text_01", .plan = plan_hybrid, .attends = Attends::attn_type_list, .state = State::lightning},
    {.model_type = "minimax_m1", .plan = plan_hybrid, .attends = Attends::attn_type_list, .state = State::lightning},
    {.model_type = "jamba", .plan = plan_hybrid, .attends = Attends::period_offset, .state = State::mamba1_prefix},
    {.model_type = "bamba", .plan = plan_hybrid, .attends = Attends::indices, .state = State::mamba2_prefix},
    {.model_type = "granitemoehybrid", .plan = plan_hybrid, .attends = Attends::layer_words, .state = State::mamba2_prefix},
    {.model_type = "zamba", .plan = plan_hybrid, .head_width = HeadWidth::twice, .attends = Attends::zamba_words, .state = State::mamba1_prefix},
    {.model_type = "zamba2", .plan = plan_hybrid, .head_width = HeadWidth::twice, .attends = Attends::zamba_words, .state = State::mamba2_zamba},
    {.model_type = "falcon_h1", .plan = plan_hybrid, .attends = Attends::always, .state = State::mamba2_prefix},
    {.model_type = "nemotron_h", .plan = plan_hybrid, .attends = Attends::override_pattern, .state = State::mamba2_nemotron, .layers_key = ""},
    {.model_type = "plamo2", .plan = plan_hybrid, .attends = Attends::mamba_step, .state = State::mamba2_plamo},
    {.model_type = "lfm2", .plan = plan_hybrid, .attends = Attends::full_attention_ids, .state = State::short_conv},
    {.model_type = "lfm2_moe", .plan = plan_hybrid, .attends = Attends::full_attention_ids, .state = State::short_conv},
    {.model_type = "recurrent_gemma", .plan = plan_hybrid, .layout = Layout::window_if_set, .head_width = HeadWidth::quotient, .attends = Attends::block_types, .state = State::rglru, .window_key = "attention_window_size"},
    {.model_type = "samba", .plan = plan_hybrid, .attends = Attends::attn_layers, .state = State::mamba1},
    {.model_type = "mamba", .plan = plan_recurrent, .state = State::mamba1},
    {.model_type = "falcon_mamba", .plan = plan_recurrent, .state = State::mamba1},
    {.model_type = "mamba2", .plan = plan_recurrent, .state = State::mamba2},
    {.model_type = "rwkv", .plan = plan_recurrent, .state = State::rwkv4},
    {.model_type = "rwkv5", .plan = plan_recurrent, .state = State::rwkv},
    {.model_type = "rwkv6", .plan = plan_recurrent, .state = State::rwkv},
    {.model_type = "rwkv7", .plan = plan_recurrent, .state = State::rwkv},
    {.model_type = "xlstm", .plan = plan_recurrent, .state = State::xlstm},
    {.model_type = "gated_deltanet", .plan = plan_recurrent, .state = State::gated_delta_fla},
    {.model_type = "gla", .plan = plan_recurrent, .state = State::gla_fla},
    {.model_type = "openelm", .plan = plan_lists},
    {.model_type = "nemotron-nas", .plan = plan_blocks},
    {.model_type = "deci", .plan = plan_blocks},
    {.model_type = "t5", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "mt5", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "umt5", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "switch_transformers", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "longt5", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "udop", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "pop2piano", .plan = plan_decoder, .layers_key = "num_decoder_layers"},
    {.model_type = "bart", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "mbart", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "pegasus", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "pegasus_x", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "blenderbot", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "blenderbot-small", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "m2m_100", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "marian", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "led", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "plbart", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "bigbird_pegasus", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "trocr", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "speech_to_text", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "nllb-moe", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "fsmt", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "prophetnet", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "whisper", .plan = plan_decoder, .layers_key = "decoder_layers"},
    {.model_type = "moonshine", .plan = plan_decoder, .layers_key = "decoder_num_hidden_layers"},
    {.model_type = "moonshine_streaming", .plan = plan_decoder, .layers_key = "decoder_num_hidden_layers"},
    {.model_type = "mllama_text_model", .plan = plan_cross_list},
};

// The plain transformer an unknown type is read as: transformers' own order of decisions.
constexpr Architecture generic{
    .model_type = "", .plan = plan_attention, .layout = Layout::window_if_set};

// Other names of a type: hub spellings, and wrappers whose file is flat.
constexpr TypeName type_names[] = {
    {"kimi_k2", "deepseek_v3"},        {"RefinedWeb", "falcon"},
    {"RefinedWebModel", "falcon"},     {"deepseek_ref", "deepseek_v4"},
    {"phi3_v", "phi3"},                {"qwen2_vl", "qwen2_vl_text"},
    {"qwen2_5_vl", "qwen2_5_vl_text"}, {"internvl2_phi3", "phi3"},
    {"minimax_m3", "minimax_m3_vl_text"}, {"step3", "step3_text"},
    {"phimoe_v", "phimoe"},            {"chatglm2", "chatglm"},
    {"kimi_linear_text", "kimi_linear"}, {"longcat_flash_ngram", "longcat_flash"},
};

constexpr TypeName wrappers[] = {
    {"gemma3", "gemma3_text"},     {"gemma3n", "gemma3n_text"},   {"gemma4", "gemma4_text"},
    {"mistral3", "mistral"},       {"llava", "llama"},            {"llava_next", "llama"},
    {"llava_onevision", "qwen2"},  {"vipllava", "llama"},         {"kimi_k25", "kimi_k2"},
    {"kimi_vl", "deepseek_v3"},    {"kimi_k3", "kimi_linear"},    {"llama4", "llama4_text"},
    {"mllama", "mllama_text_model"}, {"got_ocr2", "qwen2"},       {"lighton_ocr", "qwen3"},
    {"qwen3_vl", "qwen3_vl_text"}, {"qwen3_vl_moe", "qwen3_vl_moe_text"},
    {"qwen3_5", "qwen3_5_text"},   {"qwen3_5_moe", "qwen3_5_moe_text"},
    {"glm4v", "glm4v_text"},       {"glm4v_moe", "glm4v_moe_text"}, {"idefics2", "mistral"},
    {"idefics3", "llama"},         {"smolvlm", "llama"},          {"paligemma", "gemma"},
    {"aya_vision", "cohere2"},     {"cohere2_vision", "cohere2"}, {"internvl", "qwen2"},
    {"step3_vl", "step3_text"},    {"lfm2_vl", "lfm2"},           {"voxtral", "llama"},
    {"granite_speech", "granite"}, {"muse_glimmer", "muse_glimmer_text"},
    {"inkling", "inkling_text"},   {"minimax_m3_vl", "minimax_m3_vl_text"},
    {"t5gemma", "t5_gemma_module"}, {"t5gemma2", "t5gemma2_decoder"}, {"dia", "dia_decoder"},
};

constexpr std::string_view layer_aliases[] = {"n_layer", "n_layers", "num_layers",
                                              "num_transformer_layers", "num_blocks"};
constexpr std::string_view decoder_layer_aliases[] = {"num_layers"};
constexpr std::string_view hidden_aliases[] = {"n_embd", "d_model", "n_embed", "embedding_dim", "model_dim"};
constexpr std::string_view head_aliases[] = {"n_head", "n_heads", "num_heads", "decoder_num_attention_heads"};
constexpr std::string_view kv_aliases[] = {"num_kv_heads", "n_head_kv", "num_attention_groups"};
constexpr std::string_view width_aliases[] = {"attention_head_dim", "kv_channels", "hidden_size_per_head", "head_size"};
constexpr std::string_view context_aliases[] = {"n_positions", "n_ctx", "max_seq_len", "seq_length",
                                                "max_position_embedding", "max_context_length",
                                                "model_max_length", "context_length",
                                                "max_target_positions", "max_sequence_length"};
constexpr std::string_view inner_aliases[] = {"d_inner"};
constexpr std::string_view state_aliases[] = {"d_state"};
constexpr std::string_view conv_aliases[] = {"d_conv"};
constexpr std::string_view inkling_conv_aliases[] = {"sconv_kernel_size"};
constexpr std::string_view mamba_state_aliases[] = {"state_size"};
constexpr std::string_view mamba_conv_aliases[] = {"conv_dimension"};
// clang-format on

struct Aliases {
    std::string_view key;
    std::span<const std::string_view> others;
};

constexpr Aliases alias_table[] = {{"num_hidden_layers", layer_aliases},
                                   {"num_decoder_layers", decoder_layer_aliases},
                                   {"hidden_size", hidden_aliases},
                                   {"num_attention_heads", head_aliases},
                                   {"num_key_value_heads", kv_aliases},
                                   {"head_dim", width_aliases},
                                   {"max_position_embeddings", context_aliases},
                                   {"intermediate_size", inner_aliases},
                                   {"state_size", state_aliases},
                                   {"conv_kernel", conv_aliases},
                                   {"conv_kernel_size", inkling_conv_aliases},
                                   {"mamba_d_state", mamba_state_aliases},
                                   {"mamba_d_conv", mamba_conv_aliases}};

std::string_view renamed(std::span<const TypeName> words, std::string_view from,
                         std::string_view otherwise) {
    for (const TypeName& word : words) {
        if (word.from == from) {
            return word.to;
        }
    }
    return otherwise;
}

} // namespace

std::span<const Architecture> architecture_table() {
    return table;
}

const Architecture* find_architecture(std::string_view model_type) {
    const std::string_view name = renamed(type_names, model_type, model_type);
    for (const Architecture& row : table) {
        if (row.model_type == name) {
            return &row;
        }
    }
    return nullptr;
}

const Architecture& generic_architecture() {
    return generic;
}

std::string_view wrapped_model_type(std::string_view wrapper) {
    return renamed(wrappers, wrapper, "");
}

std::span<const std::string_view> key_aliases(std::string_view key) {
    for (const Aliases& aliases : alias_table) {
        if (aliases.key == key) {
            return aliases.others;
        }
    }
    return {};
}

std::span<const TypeName> other_type_names() {
    return type_names;
}

std::span<const TypeName> wrapper_types() {
    return wrappers;
}

} // namespace kvcaliper
