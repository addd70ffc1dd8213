// SPDX-License-Identifier: Apache-2.0
// One run of kvcaliper-verify, from request to result.
#pragma once

#include "app/cli/cli.h"
#include "core/json_value.h"

#include <string>

namespace kvcaliper::cli {

struct VerifierAnswer {
    JsonValue result; ///< the protocol's last line
    int code = 0;     ///< of the contract: 0, 1 or 3
};

/// Starts the verifier, shows its progress behind `label` and waits for its result, which is also
/// written to the file `record` unless that is empty. Throws Error(impossible_here) when it is not
/// there, is of another version, dies or gives no result, and Error for a request it rejects.
VerifierAnswer run_verifier(JsonValue request, const std::string& label, const std::string& record,
                            Io& io);

} // namespace kvcaliper::cli
