// SPDX-License-Identifier: Apache-2.0
// Names of modules as quantised checkpoints list them, and what they match.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kvcaliper {

/// A list of module names: whole names and parts of them ("lm_head", "self_attn"), globs
/// ("model.layers.0*"), and the simple regular expressions of compressed-tensors
/// ("re:.*mlp\.(gate|up)_proj.*"). What stands before "layers." is not compared, since checkpoints
/// and engines spell it differently.
class ModuleSet {
  public:
    /// False when the pattern is a regular expression beyond what is read here.
    bool add(std::string_view pattern);
    /// True when a pattern means the module ("model.layers.3.self_attn.q_proj") or one it is in.
    bool contains(std::string_view module) const;
    bool empty() const { return words_.empty() && globs_.empty(); }
    /// Patterns that are tried one after the other.
    std::size_t globs() const { return globs_.size(); }

  private:
    void add_glob(std::string_view glob);
    std::unordered_set<std::string> words_;
    std::vector<std::string> globs_;
};

/// True when the glob, in which * stands for any characters and ? for one, matches all of `text`.
bool glob_matches(std::string_view glob, std::string_view text);

} // namespace kvcaliper
