// SPDX-License-Identifier: Apache-2.0
// Starting the other programs of kvcaliper.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kvcaliper::cli {

/// The program named by the environment variable, else the one of that name in the folder of the
/// running executable. PATH is not searched. Throws Error(impossible_here) naming both places.
std::string find_program(const char* variable, const std::string& name);

/// Runs a program: writes `input` to its standard input, which stays open until it ends, and hands
/// over each line of its standard output. SIGINT and SIGTERM are passed on. Gives its exit code, or
/// 128 + the signal that ended it. Throws Error(impossible_here) when it can not be started.
int run_child(const std::string& program, const std::vector<std::string>& arguments,
              const std::string& input, const std::function<void(const std::string&)>& on_line);

} // namespace kvcaliper::cli
