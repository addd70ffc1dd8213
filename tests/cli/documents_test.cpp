// SPDX-License-Identifier: Apache-2.0
// The man page and the completions know every long option that --help shows.
#include "tests/cli/run_cli.h"

#include <fstream>
#include <regex>
#include <set>

namespace kvcaliper::cli {
namespace {

std::set<std::string> options_in(const std::string& text) {
    std::set<std::string> options;
    const std::regex option("--([a-z][a-z-]*)");
    for (std::sregex_iterator match(text.begin(), text.end(), option), none; match != none;
         ++match) {
        options.insert((*match)[1]);
    }
    return options;
}

std::string file_text(const std::string& name) {
    std::ifstream file(std::string(KVCALIPER_SOURCE) + "/resources/" + name);
    EXPECT_TRUE(file.good()) << name;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::set<std::string> options_of_the_program() {
    std::set<std::string> all;
    for (const char* command : {"estimate", "compare", "curve", "fit", "claims", "log", "verify",
                                "quality", "chart", "list"}) {
        all.merge(options_in(run_cli({command, "--help"}).out));
    }
    return all;
}

TEST(Documents, EveryOptionIsInTheManPage) {
    // roff writes a hyphen as \-.
    const std::string page =
        std::regex_replace(file_text("man/kvcaliper.1"), std::regex(R"(\\-)"), "-");
    const auto known = options_in(page);
    for (const std::string& option : options_of_the_program()) {
        EXPECT_TRUE(known.contains(option)) << "--" << option;
    }
}

TEST(Documents, EveryOptionIsCompleted) {
    const auto bash = options_in(file_text("completions/kvcaliper.bash"));
    const auto zsh = options_in(file_text("completions/_kvcaliper"));
    const std::string fish = file_text("completions/kvcaliper.fish");
    for (const std::string& option : options_of_the_program()) {
        EXPECT_TRUE(bash.contains(option)) << "--" << option;
        EXPECT_TRUE(zsh.contains(option)) << "--" << option;
        EXPECT_NE(fish.find(option), std::string::npos) << "--" << option;
    }
}

} // namespace
} // namespace kvcaliper::cli
