// SPDX-License-Identifier: Apache-2.0
#include "core/prefix.h"

#include "core/error.h"
#include "core/stored_components.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// Rows of the prefix that are stored once for all sequences. Of tokens that are packed late only
/// those of the prefix that are packed at `context`.
std::int64_t common_units(const Component& component, Tokens context, Tokens prefix) {
    const Units& units = component.units;
    if (units.kind == Units::Kind::constant || is_residual(component.role)) {
        return 0;
    }
    return units.kind == Units::Kind::past ? std::min(prefix.count(), units.at(context))
                                           : units.at(prefix);
}

/// Rows that each sequence stores beside them.
std::int64_t own_units(const Component& component, Tokens context, Tokens prefix) {
    const std::int64_t all = component.units.at(context);
    if (is_residual(component.role)) {
        return all;
    }
    switch (component.units.kind) {
    case Units::Kind::tokens:
    case Units::Kind::groups:
    case Units::Kind::past:
        return all - common_units(component, context, prefix);
    case Units::Kind::window:
    case Units::Kind::chunk:
        // What of the window still lies in the prefix is read there.
        return all - std::max<std::int64_t>(0, prefix.count() - (context.count() - all));
    case Units::Kind::constant:
    case Units::Kind::remainder:
        return all;
    }
    return all;
}

std::string label_of(const Component& component) {
    return std::string(to_string(component.role)) + " of " + std::string(to_string(component.kind));
}

/// layers × rows stored × bytes of a row.
Term part(const ComponentGroup& group, const CacheFormats& formats, const std::string& what,
          std::int64_t units) {
    const Component& component = group.component;
    const Bytes row = row_bytes(format_of(component, formats), component.width);
    return {label_of(component) + ", " + what,
            {{"layers", group.layers},
             {"stored", units},
             {"bytes each", (row * component.rows).count()}}};
}

} // namespace

Figure shared_prefix_bytes(const CacheSpec& spec, const CacheFormats& formats, Tokens context,
                           Tokens prefix, std::int64_t sequences) {
    if (prefix > context) {
        throw Error("--shared-prefix: expected at most the context of " +
                    format_integer(context.count()) + " tokens, found " +
                    format_integer(prefix.count()));
    }
    check_storable(spec, formats);
    Figure figure{"bytes of " + format_integer(sequences) + " sequences of " +
                      format_integer(context.count()) + " tokens, the first " +
                      format_integer(prefix.count()) + " of them shared",
                  {}};
    for (const ComponentGroup& group : group_components(spec, formats)) {
        const Component& component = group.component;
        if (const std::int64_t common = common_units(component, context, prefix); common > 0) {
            figure.terms.push_back(part(group, formats, "once", common));
        }
        if (const std::int64_t own = own_units(component, context, prefix); own > 0) {
            figure.terms.push_back(part(group, formats, "for each sequence", own));
            figure.terms.back().factors.push_back({"sequences", sequences});
        }
    }
    return figure;
}

namespace {

/// How many sequences so many bytes hold while they have `context` tokens.
std::optional<std::int64_t> sequences_at(const CacheSpec& spec, const CacheFormats& formats,
                                         Tokens context, Tokens prefix, std::int64_t bytes) {
    const auto taken = [&](std::int64_t sequences) {
        return shared_prefix_bytes(spec, formats, context, prefix, sequences).bytes().count();
    };
    const std::int64_t once = taken(0);
    const std::int64_t each = taken(1) - once;
    if (each == 0) {
        return std::nullopt;
    }
    return bytes < once ? 0 : (bytes - once) / each;
}

} // namespace

std::optional<std::int64_t> sequences_in(const CacheSpec& spec, const CacheFormats& formats,
                                         Tokens context, Tokens prefix, std::int64_t bytes) {
    const auto there = sequences_at(spec, formats, context, prefix, bytes);
    const Tokens fullest = fullest_context(formats, context);
    if (fullest == context) {
        return there;
    }
    const auto before = sequences_at(spec, formats, fullest, std::min(prefix, fullest), bytes);
    return there && before ? std::min(there, before) : there ? there : before;
}

CartridgeAnswer answer_cartridge(const CacheSpec& spec, const CacheFormats& formats,
                                 const CartridgeQuestion& question, std::int64_t sequences,
                                 std::int64_t room) {
    const auto way = [&](Tokens first, Tokens prefix) {
        const Tokens context = first + question.conversation;
        return CartridgeWay{shared_prefix_bytes(spec, formats, context, prefix, sequences),
                            sequences_in(spec, formats, context, prefix, room)};
    };
    CartridgeAnswer answer;
    answer.slots = cache_bytes(spec, formats, question.slots);
    answer.document = cache_bytes(spec, formats, question.document);
    answer.repeated = way(question.document, Tokens(0));
    answer.shared = way(question.document, question.document);
    answer.cartridges = way(question.slots, question.slots);
    if (question.training_tokens) {
        const std::int64_t passes = checked_multiply(question.training_tokens->count(), 3);
        answer.break_even_queries =
            (passes + question.document.count() - 1) / question.document.count();
    }
    return answer;
}

} // namespace kvcaliper
