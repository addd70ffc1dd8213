// SPDX-License-Identifier: Apache-2.0
// Which options each command has, and where they are put.
#pragma once

#include "app/cli/commands.h"

namespace CLI {
class App;
} // namespace CLI

namespace kvcaliper::cli {

/// What answers a command; gives the exit code.
using Command = int (*)(const Options&, Io&);

/// Adds every command to the parser. Parsing fills `options` and sets `chosen` to the command that
/// was named; both must outlive it. Parsing throws Error, too, where a value is none of ours.
void add_commands(CLI::App& app, Options& options, Command& chosen);

} // namespace kvcaliper::cli
