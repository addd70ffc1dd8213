// SPDX-License-Identifier: Apache-2.0
// What single architectures say beyond the common keys, one function each. For gguf_kinds alone.
#pragma once

#include "core/gguf_kinds.h"

namespace kvcaliper::gguf_rules {

// attention
void falcon(GgufTranslation& to);
void gpt_bigcode(GgufTranslation& to);
void mpt(GgufTranslation& to);
void kv_channels(GgufTranslation& to);
void chatglm(GgufTranslation& to);
void openelm(GgufTranslation& to);
void deci(GgufTranslation& to);
void olmo2(GgufTranslation& to);
void gemma3n(GgufTranslation& to);
void gemma4(GgufTranslation& to);
void mimo2(GgufTranslation& to);
void step35(GgufTranslation& to);
void t5(GgufTranslation& to);
void latent(GgufTranslation& to);
void latent_indexed(GgufTranslation& to);

// recurrent, and both in one model
void mamba1(GgufTranslation& to);
void mamba2(GgufTranslation& to);
void rwkv(GgufTranslation& to);
void jamba(GgufTranslation& to);
void granite_hybrid(GgufTranslation& to);
void plamo2(GgufTranslation& to);
void nemotron_h(GgufTranslation& to);
void falcon_h1(GgufTranslation& to);
void lfm2(GgufTranslation& to);
void gated_delta(GgufTranslation& to);
void kimi_linear(GgufTranslation& to);

} // namespace kvcaliper::gguf_rules
