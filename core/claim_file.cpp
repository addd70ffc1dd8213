// SPDX-License-Identifier: Apache-2.0
// Reading a claims file; every error names the file and the pointer.
#include "core/claim.h"
#include "core/error.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kvcaliper {

namespace {

constexpr std::array quantities = {"per_token", "growth",      "total",  "ratio",        "at_most",
                                   "fixed",     "layer_ratio", "window", "recomputation"};

/// Reads the members of one claim; errors name the file and the pointer.
class ClaimReader {
  public:
    ClaimReader(const std::string& file, std::size_t index, const JsonValue& object)
        : file_(file), pointer_("/" + std::to_string(index)), object_(object) {
        if (!object.is_object()) {
            throw input_error(file_, pointer_, "a claim (an object)", describe(object));
        }
    }

    std::string text(std::string_view key, std::optional<std::string> otherwise = {}) const {
        const JsonValue* value = object_.find(key);
        if (value == nullptr && otherwise) {
            return *otherwise;
        }
        if (value == nullptr || !value->if_string()) {
            fail(key, "a string", value ? describe(*value) : "nothing");
        }
        return *value->if_string();
    }

    std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
        const JsonValue* value = object_.find(key);
        if (value == nullptr) {
            return otherwise;
        }
        const auto* number = value->if_integer();
        if (number == nullptr || *number < 1) {
            fail(key, "an integer of at least 1", describe(*value));
        }
        return *number;
    }

    bool flag(std::string_view key) const {
        const JsonValue* value = object_.find(key);
        if (value != nullptr && value->if_bool() == nullptr) {
            fail(key, "true or false", describe(*value));
        }
        return value != nullptr && *value->if_bool();
    }

    [[noreturn]] void fail(std::string_view key, std::string_view expected,
                           std::string_view found) const {
        throw input_error(file_, pointer_ + "/" + std::string(key), expected, found);
    }

  private:
    const std::string& file_;
    std::string pointer_;
    const JsonValue& object_;
};

void check_members(const Claim& claim, const ClaimReader& reader) {
    if (std::find(quantities.begin(), quantities.end(), claim.quantity) == quantities.end()) {
        std::string known;
        for (const std::string_view name : quantities) {
            known += (known.empty() ? "" : ", ") + std::string(name);
        }
        reader.fail("quantity", "one of " + known, "\"" + claim.quantity + "\"");
    }
    if (needs_against(claim) && claim.against.empty()) {
        reader.fail("against", "the model to compare with", "nothing");
    }
    try {
        if (claim.quantity != "fixed" || !claim.value.empty()) {
            parse_written_number(claim.value);
        }
    } catch (const Error&) {
        reader.fail("value", "a decimal number as text, digits as written",
                    "\"" + claim.value + "\"");
    }
    try {
        if (counts_bytes(claim) && !claim.value.empty()) {
            bytes_of_unit(claim.unit);
        }
    } catch (const Error&) {
        reader.fail("unit", "a unit of bytes such as KiB or GB", "\"" + claim.unit + "\"");
    }
}

Claim read_claim(const ClaimReader& reader) {
    Claim claim;
    claim.id = reader.text("id");
    claim.text = reader.text("text");
    claim.source = reader.text("source", "");
    claim.model = reader.text("model");
    claim.against = reader.text("against", "");
    claim.quantity = reader.text("quantity");
    claim.value = reader.text("value", "");
    claim.unit = reader.text("unit", "");
    claim.k_format = reader.text("k_format", reader.text("format", "auto"));
    claim.v_format = reader.text("v_format", reader.text("format", "auto"));
    claim.context = Tokens(reader.integer("context", Claim{}.context.count()));
    claim.note = reader.text("note", "");
    claim.about = reader.flag("about");
    check_members(claim, reader);
    return claim;
}

} // namespace

bool needs_against(const Claim& claim) {
    return claim.quantity == "ratio" || (claim.quantity == "at_most" && claim.unit.empty());
}

bool counts_bytes(const Claim& claim) {
    return claim.quantity == "per_token" || claim.quantity == "growth" ||
           claim.quantity == "total" || claim.quantity == "fixed" ||
           (claim.quantity == "at_most" && claim.against.empty());
}

std::vector<Claim> read_claims(const std::string& path) {
    const JsonDocument document = read_json_file(path);
    const auto* array = document.value.if_array();
    if (array == nullptr) {
        throw input_error(path, "", "an array of claims", describe(document.value));
    }
    std::vector<Claim> claims;
    for (const JsonValue& object : *array) {
        claims.push_back(read_claim(ClaimReader(path, claims.size(), object)));
    }
    return claims;
}

} // namespace kvcaliper
