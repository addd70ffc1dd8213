// SPDX-License-Identifier: Apache-2.0
#include "app/cli/child_process.h"
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/error.h"

#include <ostream>

namespace kvcaliper::cli {

int verify_command(const Options& options, Io& io) {
    const ModelPtr model = load_model(options.models.front());
    JsonValue request = verify_request(*model, options.settings, options.verify);
    request.set("cancel_on_eof", true);
    const std::string program = find_program("KVCALIPER_VERIFY", "kvcaliper-verify");
    const int code = run_child(program, {}, dump_json(request, -1) + "\n",
                               [&](const std::string& line) { io.out << line << "\n"; });
    return code > impossible_here ? impossible_here : code;
}

} // namespace kvcaliper::cli
