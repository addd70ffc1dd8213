// SPDX-License-Identifier: Apache-2.0
// The README's table of model types names each row of the architecture table, and nothing else.
#include "core/architectures/architectures.h"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

namespace kvcaliper {
namespace {

std::set<std::string> types_in_readme() {
    std::ifstream file(std::string(KVCALIPER_SOURCE) + "/README.md");
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string text = stream.str();
    const auto begin = text.find("| what is kept | `model_type` |");
    const auto end = text.find("\n\n", begin);
    EXPECT_NE(begin, std::string::npos);
    const std::string table = text.substr(begin, end - begin);
    std::set<std::string> types;
    const std::regex quoted("`([^`]+)`");
    for (std::sregex_iterator match(table.begin(), table.end(), quoted), none; match != none;
         ++match) {
        types.insert((*match)[1]);
    }
    types.erase("model_type");
    return types;
}

TEST(Readme, ItsTableOfTypesIsTheArchitectureTable) {
    std::set<std::string> known;
    for (const ArchitectureInfo& info : known_architectures()) {
        if (info.confidence == Confidence::rule) {
            known.insert(info.model_type);
        }
    }
    EXPECT_EQ(types_in_readme(), known);
}

} // namespace
} // namespace kvcaliper
