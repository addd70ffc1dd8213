// SPDX-License-Identifier: Apache-2.0
// The borders of the design, read off the sources.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

bool is_source(const fs::path& file) {
    const auto kind = file.extension();
    return kind == ".h" || kind == ".cpp" || kind == ".cu" || kind == ".cuh";
}

void expect_nowhere(const std::string& folder, const std::string& pattern) {
    int files = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(KVCALIPER_SOURCE) / folder)) {
        if (is_source(entry.path())) {
            ++files;
            EXPECT_FALSE(std::regex_search(text_of(entry.path()), std::regex(pattern)))
                << entry.path() << " has " << pattern;
        }
    }
    EXPECT_GT(files, 0) << folder;
}

TEST(Purity, CoreHasNoQtNoStreamsAndNeverEnds) {
    expect_nowhere("core", R"(#include\s+<Q)");
    expect_nowhere("core", R"(#include\s+<iostream>)");
    expect_nowhere("core", R"(#include\s+<cuda)");
    expect_nowhere("core", R"(\b(exit|abort|_Exit|quick_exit|terminate)\s*\()");
    expect_nowhere("core", R"(std::(cout|cerr|printf)|\bprintf\()");
}

TEST(Purity, ArrowsPointOneWay) {
    expect_nowhere("core", R"(#include\s+"(app|kernels)/)");
    expect_nowhere("kernels", R"(#include\s+"app/)");
    expect_nowhere("app", R"(#include\s+"kernels/)");
}

TEST(Purity, JsonStaysInsideOneFile) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(KVCALIPER_SOURCE) / "core")) {
        if (entry.path().filename() != "json_value.cpp" && is_source(entry.path())) {
            EXPECT_EQ(text_of(entry.path()).find("nlohmann"), std::string::npos) << entry.path();
        }
    }
}

TEST(Purity, EveryFileNamesItsLicence) {
    for (const char* folder : {"core", "kernels", "app", "tests"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(KVCALIPER_SOURCE) / folder)) {
            if (is_source(entry.path())) {
                EXPECT_EQ(text_of(entry.path()).rfind("// SPDX-License-Identifier: ", 0), 0u)
                    << entry.path();
            }
        }
    }
}

} // namespace
