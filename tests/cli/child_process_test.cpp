// SPDX-License-Identifier: Apache-2.0
#include "app/cli/child_process.h"

#include "core/error.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvcaliper::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Child {
    int code = 0;
    std::vector<std::string> lines;
};

Child shell(const std::string& script, const std::string& input = "") {
    Child child;
    child.code = run_child("/bin/sh", {"-c", script}, input,
                           [&](const std::string& line) { child.lines.push_back(line); });
    return child;
}

TEST(ChildProcess, LinesAndExitCodes) {
    const Child child = shell("echo one; echo two; printf three; exit 7");
    EXPECT_EQ(child.code, 7);
    EXPECT_THAT(child.lines, ElementsAre("one", "two", "three"));
}

TEST(ChildProcess, ASignalIsNoSuccess) {
    EXPECT_EQ(shell("kill -9 $$").code, 128 + 9);
}

TEST(ChildProcess, InputArrivesAndStaysOpen) {
    EXPECT_THAT(shell("read line; echo \"$line\"", "hello\n").lines, ElementsAre("hello"));
    const std::string large(300'000, 'x');
    EXPECT_THAT(shell("read line; echo ${#line}", large + "\n").lines, ElementsAre("300000"));
}

TEST(ChildProcess, AChildThatReadsNothingIsNoCrash) {
    EXPECT_EQ(shell("exit 3", std::string(300'000, 'x')).code, 3);
}

TEST(ChildProcess, MissingProgramsNameBothPlaces) {
    unsetenv("KVCALIPER_NOTHING");
    try {
        find_program("KVCALIPER_NOTHING", "kvcaliper-nothing");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::impossible_here);
        EXPECT_THAT(error.what(), HasSubstr("KVCALIPER_NOTHING"));
        EXPECT_THAT(error.what(), HasSubstr("/kvcaliper-nothing, found neither"));
    }
    EXPECT_THROW(run_child("/nonexistent/program", {}, "", [](const std::string&) {}), Error);
}

} // namespace
} // namespace kvcaliper::cli
