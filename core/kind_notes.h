// SPDX-License-Identifier: Apache-2.0
// What each kind of cache is, what it saves, what it trades for that, and who measured it.
#pragma once

#include "core/estimate.h"

#include <string_view>
#include <vector>

namespace kvcaliper {

struct KindNote {
    std::string_view title;  ///< "Grouped heads (GQA)"
    std::string_view keeps;  ///< what is kept of each token, or of all
    std::string_view saves;  ///< against keeping K and V of every head of every token
    std::string_view trades; ///< what that costs
    std::string_view result; ///< a published measurement or statement, in our words
    std::string_view source; ///< its paper with arXiv number, and where in it
};

/// What is no kind of layer but changes what a layer keeps.
enum class NoteTopic {
    grouped_heads, ///< several query heads read one K and V
    single_head,   ///< all of them do
    index_key,     ///< a small key by which the tokens to read are chosen
    shared_layers, ///< layers that read another's cache
    quantized,     ///< K or V in less than 16 bits
    cartridge,     ///< a trained cache in place of a document's
};
inline constexpr NoteTopic all_note_topics[] = {NoteTopic::grouped_heads, NoteTopic::single_head,
                                                NoteTopic::index_key,     NoteTopic::shared_layers,
                                                NoteTopic::quantized,     NoteTopic::cartridge};

const KindNote& kind_note(LayerKind kind);
const KindNote& topic_note(NoteTopic topic);

/// Notes of all a model keeps under its settings: its kinds in order of appearance, then what
/// changes them. None twice.
std::vector<const KindNote*> notes_of(const Estimate& estimate);

/// "Grouped heads (GQA)" and a line for each part, indented.
std::string note_text(const KindNote& note);
/// {"title", "keeps", "saves", "trades", "result", "source"}.
JsonValue note_json(const KindNote& note);

} // namespace kvcaliper
