#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the .gguf fixtures beside it with the `gguf` package (pip install gguf==0.19.0).

Headers only: the metadata that llama.cpp's conversion writes for the published config.json of each
model, a small tokenizer to step over, no tensors. Nothing here is needed to build or to test.
"""
import struct
from pathlib import Path

import gguf

here = Path(__file__).parent


def header(file, arch, name, keys, arrays=None, endianess=gguf.GGUFEndian.LITTLE):
    writer = gguf.GGUFWriter(here / file, arch, endianess=endianess)
    writer.add_type("model")
    writer.add_name(name)
    for key, value in keys.items():
        writer.add_uint32(f"{arch}.{key}", value)
    for key, value in (arrays or {}).items():
        writer.add_array(f"{arch}.{key}", value)
    writer.add_float32(f"{arch}.attention.layer_norm_rms_epsilon", 1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token {i}" for i in range(64)])
    writer.add_token_scores([0.5] * 64)
    writer.add_chat_template("{{ messages }}")
    writer.add_quantization_version(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def heads(layers, context, hidden, query, kv, width=None):
    keys = {"block_count": layers, "context_length": context, "embedding_length": hidden,
            "attention.head_count": query, "attention.head_count_kv": kv}
    if width:
        keys |= {"attention.key_length": width, "attention.value_length": width}
    return keys


llama = heads(32, 8192, 4096, 32, 8)
header("llama-3-8b.gguf", "llama", "Meta Llama 3 8B", llama)
header("llama-3-8b-big-endian.gguf", "llama", "Meta Llama 3 8B", llama,
       endianess=gguf.GGUFEndian.BIG)
# Version 2 has the same layout; the package writes only version 3.
v3 = (here / "llama-3-8b.gguf").read_bytes()
(here / "llama-3-8b-v2.gguf").write_bytes(v3[:4] + struct.pack("<I", 2) + v3[8:])

header("gemma-2-9b.gguf", "gemma2", "Gemma 2 9b It",
       heads(42, 8192, 3584, 16, 8, 256) | {"attention.sliding_window": 4096})
header("gemma-3-27b.gguf", "gemma3", "Gemma 3 27b It",
       heads(62, 131072, 5376, 32, 16, 128) | {"attention.sliding_window": 1024})
header("qwen3-30b-a3b.gguf", "qwen3moe", "Qwen3 30B A3B",
       heads(48, 40960, 2048, 32, 4, 128) | {"expert_count": 128, "expert_used_count": 8})
header("gpt-oss-20b.gguf", "gpt-oss", "Gpt Oss 20b",
       heads(24, 131072, 2880, 64, 8, 64) | {"attention.sliding_window": 128})
header("deepseek-v3.gguf", "deepseek2", "DeepSeek V3",
       heads(61, 163840, 7168, 128, 1) | {
           "attention.q_lora_rank": 1536, "attention.kv_lora_rank": 512,
           "attention.key_length": 576, "attention.value_length": 512,
           "attention.key_length_mla": 192, "attention.value_length_mla": 128,
           "rope.dimension_count": 64})
header("mamba-2.8b.gguf", "mamba", "Mamba 2.8b Hf",
       {"block_count": 64, "context_length": 1048576, "embedding_length": 2560,
        "feed_forward_length": 0, "attention.head_count": 0, "ssm.conv_kernel": 4,
        "ssm.inner_size": 5120, "ssm.state_size": 16, "ssm.time_step_rank": 160})
header("qwen3-next-80b.gguf", "qwen3next", "Qwen3 Next 80B A3B",
       heads(48, 262144, 2048, 16, 2, 256) | {
           "ssm.conv_kernel": 4, "ssm.inner_size": 4096, "ssm.state_size": 128,
           "ssm.time_step_rank": 32, "ssm.group_count": 16, "full_attention_interval": 4})
jamba = heads(32, 262144, 4096, 32, 8) | {
    "ssm.conv_kernel": 4, "ssm.inner_size": 8192, "ssm.state_size": 16, "ssm.time_step_rank": 256}
del jamba["attention.head_count_kv"]
header("jamba-v0.1.gguf", "jamba", "Jamba v0.1", jamba,
       {"attention.head_count_kv": [8 if i % 8 == 4 else 0 for i in range(32)]})
