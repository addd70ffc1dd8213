// SPDX-License-Identifier: Apache-2.0
#include "core/kind_notes.h"

#include "core/error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace kvcaliper {

namespace {

// Figures as the sources print them; whose models and lengths they are of is said beside them.

constexpr std::pair<LayerKind, KindNote> kind_table[] = {
    {LayerKind::full_attention,
     {"Full attention", "K and V of every token, for each KV head.",
      "Work: a step reads what earlier steps made, where without a cache it makes all of it again.",
      "Memory grows with every token, and each step reads all of it.",
      "Loading K and V over and over is named as what makes decoding slow; with all heads kept, "
      "T5-XXL takes 1.51 s per sample.",
      "Shazeer, arXiv 1911.02150, abstract; GQA, arXiv 2305.13245, table 1"}},
    {LayerKind::sliding_attention,
     {"Sliding window", "K and V of the last W tokens; older ones are overwritten.",
      "Past W tokens the layer grows no more.",
      "What left the window reaches a token only through other layers. A model trained on full "
      "attention also breaks when its first tokens leave, unless they are kept as sinks "
      "(StreamingLLM, arXiv 2309.17453).",
      "Windows of 4,096 cut the cache of 32K tokens to an eighth (Mistral 7B); windows of 1,024 in "
      "three layers of four take it, at 32K tokens, from 60 % on top of a 2B model to under 15 % "
      "(Gemma 3).",
      "Mistral 7B, arXiv 2310.06825, section 2; Gemma 3, arXiv 2503.19786, figure 5"}},
    {LayerKind::chunked_attention,
     {"Chunked attention", "K and V of the tokens since the last chunk boundary, at most C.",
      "Past C tokens the layer grows no more, and a new chunk begins empty.",
      "A token just past a boundary sees nothing before it here; layers with full attention "
      "between have to carry it.",
      "Llama 4 Scout, with chunks of 8,192 and full layers without positions between them, is "
      "given a context of 10M tokens.",
      "Meta, The Llama 4 herd, April 2025; attention_chunk_size of its config"}},
    {LayerKind::cross_attention,
     {"Cross-attention", "K and V of an encoder's or an image's tokens, made once.",
      "It does not grow while text is generated.",
      "It is there from the first token on, and takes weights of its own.",
      "Llama 3 reads images by such a layer after every fourth of the language model's; in the "
      "405B model these have about 100B parameters.",
      "The Llama 3 herd, arXiv 2407.21783, section 7"}},
    {LayerKind::mla,
     {"Latent attention (MLA)",
      "One compressed latent for K and V of all heads, and one rotary key, per token.",
      "The heads: their number is no factor of the cache.",
      "Every step makes K and V from the latent again, or folds that into the queries: more "
      "arithmetic, and each tensor-parallel rank holds all of the latent.",
      "93.3 % less cache and up to 5.76 times the throughput of DeepSeek 67B.",
      "DeepSeek-V2, arXiv 2405.04434, abstract"}},
    {LayerKind::compressed_attention,
     {"Compressed attention (CSA, HCA)",
      "A short window of exact vectors, K and V in one, and one more per group of tokens.",
      "The rest of the context divided by the group.",
      "Tokens outside the window are read as a mixture of their group; a group needs a buffer "
      "until it is full.",
      "At 1M tokens DeepSeek-V4-Pro takes 10 % of the cache and 27 % of the arithmetic per token "
      "of V3.2.",
      "DeepSeek-V4: Towards Highly Efficient Million-Token Context Intelligence, April 2026"}},
    {LayerKind::mamba1,
     {"Mamba 1", "A state of fixed size and the last few inputs of a convolution.",
      "Everything that grows: a long text takes what a short one does.",
      "All that was read shares one state; what it did not keep can not be looked up.",
      "Five times the throughput of Transformers in inference; 3B matches Transformers of twice "
      "its size.",
      "Mamba, arXiv 2312.00752, abstract"}},
    {LayerKind::mamba2,
     {"Mamba 2", "A matrix state per head, of fixed size, and the last few inputs.",
      "Everything that grows; larger states are affordable than in Mamba 1.",
      "One decay per head where Mamba 1 has one per channel and state: simpler memory, more of it.",
      "The core layer is 2 to 8 times as fast as Mamba's and competitive with Transformers.",
      "Transformers are SSMs, arXiv 2405.21060, abstract"}},
    {LayerKind::gated_delta,
     {"Gated delta rule", "A matrix per value head, of fixed size, and the last few inputs.",
      "Everything that grows; a gate forgets, the delta rule overwrites what one key held.",
      "Looking up what was read stays weaker than attention: on recall tasks 30.6 on average "
      "against a Transformer's 37.0.",
      "Of 1.3B models a number in 4K tokens of text is found in 92.2 % of cases, by Mamba 2 in "
      "56.2 %.",
      "Gated Delta Networks, arXiv 2412.06464, table 2 and its recall table"}},
    {LayerKind::kda,
     {"Kimi delta attention", "A matrix per head, of fixed size, and the last few q, k and v.",
      "Everything that grows; every channel of a key forgets at a pace of its own.",
      "Like every state of fixed size it is mixed with full layers, in Kimi Linear one in four.",
      "Up to 75 % less cache and up to six times the decoding throughput at 1M tokens.",
      "Kimi Linear, arXiv 2510.26692, abstract"}},
    {LayerKind::lightning,
     {"Lightning attention", "A matrix per head, of fixed size.",
      "Everything that grows: linear attention in blocks, without softmax.",
      "Old tokens fade at a fixed pace; one layer in eight stays softmax attention to look things "
      "up.",
      "Trained on up to 1M tokens, used with 4M.", "MiniMax-01, arXiv 2501.08313, abstract"}},
    {LayerKind::gla,
     {"Gated linear attention", "A matrix per head, of fixed size.",
      "Everything that grows; what is forgotten depends on what is read.",
      "One state for all that was read; attention stays ahead in recall.",
      "A model trained on 2K tokens goes on to more than 20K without much loss of perplexity, and "
      "trains faster than a Mamba of its size.",
      "Gated Linear Attention Transformers, arXiv 2312.06635, abstract"}},
    {LayerKind::rglru,
     {"RG-LRU", "One number per channel, and the last few inputs of a convolution.",
      "Everything that grows; the smallest state of all kinds here.",
      "So small a state holds little: layers with a window between them do the looking up.",
      "Griffin matches Llama 2 after training on less than a sixth of the tokens.",
      "Griffin, arXiv 2402.19427, abstract"}},
    {LayerKind::short_conv,
     {"Short convolution", "The last few inputs of each channel.",
      "Everything that grows, and nearly all of the state.",
      "It sees no further than its kernel; a few attention layers see the rest.",
      "Up to twice as fast as models of its size on processors, prefill and decoding.",
      "LFM2, arXiv 2511.23404, abstract"}},
    {LayerKind::rwkv4,
     {"RWKV 4", "A few vectors of the width of the model.",
      "Everything that grows: memory and work per token are constant.",
      "A weighted mean of the past: what came long ago fades and is hard to pick out.",
      "Trained up to 14B parameters, on par with Transformers of the same size.",
      "RWKV, arXiv 2305.13048, abstract"}},
    {LayerKind::rwkv,
     {"RWKV 5 to 7", "A matrix per head, of fixed size, and the last token's inputs.",
      "Everything that grows: memory and time per token are constant.",
      "A state of fixed size for a text of any length.",
      "Version 7 with 2.9B parameters matches the best English results at 3B after training on "
      "far fewer tokens.",
      "Eagle and Finch, arXiv 2404.05892; RWKV-7, arXiv 2503.14456, abstract"}},
    {LayerKind::xlstm,
     {"mLSTM", "A matrix, a vector and a number per head, of fixed size.",
      "Everything that grows: exponential gates decide what is stored and what is replaced.",
      "A state of fixed size; without the sLSTM layers no tracking of state.",
      "After 15B tokens a perplexity of 13.43 where Llama has 14.25 and Mamba 13.70, at 400M "
      "parameters.",
      "xLSTM, arXiv 2405.04517, table 1; served at 7B in arXiv 2503.13427"}},
    {LayerKind::kv_conv,
     {"Convolution beside attention", "The last one to three raw rows that K and V are mixed from.",
      "Little by itself: it lets K and V be few or narrow.",
      "A small state beside the cache that prefix reuse has to restore, too.",
      "With it, attention in a compressed space keeps an eighth of the cache of full heads, at no "
      "loss in MoE models.",
      "Compressed Convolutional Attention, arXiv 2510.04476, abstract; Baichuan-M1, arXiv "
      "2502.12671"}},
};

constexpr std::pair<NoteTopic, KindNote> topic_table[] = {
    {NoteTopic::grouped_heads,
     {"Grouped heads (GQA)", "One K and V for each group of query heads.",
      "The cache divided by the query heads of a group.",
      "Heads of a group look through the same keys; several tensor-parallel ranks may have to "
      "hold the same ones.",
      "T5-XXL with 8 groups: 0.28 s per sample and 47.1 on average, against 1.51 s and 47.2 with "
      "all heads.",
      "GQA, arXiv 2305.13245, table 1"}},
    {NoteTopic::single_head,
     {"One KV head (MQA)", "One K and V for all query heads.",
      "The cache divided by the number of query heads.",
      "Some quality; and every tensor-parallel rank holds all of it.",
      "T5-XXL: 0.24 s per sample and 46.6 on average, against 1.51 s and 47.2 with all heads.",
      "Shazeer, arXiv 1911.02150; figures of GQA, arXiv 2305.13245, table 1"}},
    {NoteTopic::index_key,
     {"Index key (sparse attention)", "A small key per token, beside the cache.",
      "Reading, not memory: an index chooses the tokens that attention reads.",
      "The cache stays whole and the key comes on top; the index itself still looks at all tokens.",
      "Attention's work falls from L² to L·k, with 2,048 tokens chosen for each query.",
      "DeepSeek-V3.2-Exp, technical report, September 2025"}},
    {NoteTopic::shared_layers,
     {"Layers that share", "Nothing: such a layer reads the K and V of another one.",
      "The whole cache of every layer that borrows.",
      "Its queries have to do with keys that were made for another layer.",
      "Pairs of layers halve the cache once more at nearly the accuracy of one KV head alone.",
      "Cross-Layer Attention, arXiv 2405.12981, abstract"}},
    {NoteTopic::quantized,
     {"Quantised K and V", "K and V in fewer bits, with scales per row or block.",
      "The cache in proportion to the bits, scales included.",
      "Precision: keys want scales per channel and values per token; each step has to unpack.",
      "In 2 bits 2.6 times less peak memory, weights included, batches up to four times as large, "
      "and 2.35 to 3.47 times the throughput at almost the same quality.",
      "KIVI, arXiv 2402.02750, abstract"}},
    {NoteTopic::cartridge,
     {"Cartridge", "A few trained rows of K and V in every layer in place of a document's.",
      "The document's cache; all questions about it read one cartridge.",
      "Training, once for each document, which pays after many questions.",
      "The same answers with 38.6 times less memory and 26.4 times the throughput.",
      "Cartridges, arXiv 2506.06266, abstract"}},
};

template <typename Key, std::size_t N>
const KindNote& find_note(const std::pair<Key, KindNote> (&table)[N], Key key) {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const auto& row) { return row.first == key; });
    if (found == std::end(table)) {
        throw Error("no note of that kind of cache");
    }
    return found->second;
}

bool below_16_bits(const NumericFormat& format) {
    return format.bytes_per_block < 2 * format.elements_per_block;
}

/// Which topic a layer's heads are, if any.
void add_head_topics(const ModelPlan& plan, std::vector<const KindNote*>& notes) {
    const auto any = [&](auto&& matches) {
        return std::any_of(plan.layers.begin(), plan.layers.end(), [&](const LayerPlan& layer) {
            return std::any_of(layer.parts.begin(), layer.parts.end(), [&](const LayerPart& part) {
                const auto* dims = std::get_if<AttentionDims>(&part.dims);
                return dims != nullptr && matches(*dims);
            });
        });
    };
    if (any([](const AttentionDims& d) { return d.kv_heads > 1 && d.kv_heads < d.heads; })) {
        notes.push_back(&topic_note(NoteTopic::grouped_heads));
    }
    if (any([](const AttentionDims& d) { return d.kv_heads == 1 && d.heads > 1; })) {
        notes.push_back(&topic_note(NoteTopic::single_head));
    }
}

/// What some component says: an index key, K or V in few bits.
void add_component_topics(const Estimate& estimate, std::vector<const KindNote*>& notes) {
    const auto groups = group_components(estimate.model->spec);
    const auto any = [&](auto&& matches) {
        return std::any_of(groups.begin(), groups.end(),
                           [&](const ComponentGroup& group) { return matches(group.component); });
    };
    if (any([](const Component& one) { return one.role == Role::index_key; })) {
        notes.push_back(&topic_note(NoteTopic::index_key));
    }
    if (any([&](const Component& one) {
            const bool kv =
                one.format_class == FormatClass::k || one.format_class == FormatClass::v;
            return kv && below_16_bits(format_of(one, estimate.formats));
        })) {
        notes.push_back(&topic_note(NoteTopic::quantized));
    }
}

} // namespace

const KindNote& kind_note(LayerKind kind) {
    return find_note(kind_table, kind);
}

const KindNote& topic_note(NoteTopic topic) {
    return find_note(topic_table, topic);
}

std::vector<const KindNote*> notes_of(const Estimate& estimate) {
    std::vector<const KindNote*> notes;
    for (const ComponentGroup& group : group_components(estimate.model->spec)) {
        const KindNote* note = &kind_note(group.component.kind);
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
            notes.push_back(note);
        }
    }
    add_head_topics(estimate.model->plan, notes);
    const auto& layers = estimate.model->spec.layers;
    if (std::any_of(layers.begin(), layers.end(),
                    [](const LayerCache& layer) { return layer.shared_with.has_value(); })) {
        notes.push_back(&topic_note(NoteTopic::shared_layers));
    }
    add_component_topics(estimate, notes);
    return notes;
}

std::string note_text(const KindNote& note) {
    std::string text(note.title);
    for (const auto& [name, words] :
         {std::pair("keeps", note.keeps), std::pair("saves", note.saves),
          std::pair("costs", note.trades), std::pair("published", note.result),
          std::pair("source", note.source)}) {
        text += "\n  " + std::string(name) + ": " + std::string(words);
    }
    return text + "\n";
}

JsonValue note_json(const KindNote& note) {
    JsonValue json;
    json.set("title", std::string(note.title));
    json.set("keeps", std::string(note.keeps));
    json.set("saves", std::string(note.saves));
    json.set("trades", std::string(note.trades));
    json.set("result", std::string(note.result));
    json.set("source", std::string(note.source));
    return json;
}

} // namespace kvcaliper
