// SPDX-License-Identifier: Apache-2.0
#include "core/module_pattern.h"

#include <algorithm>
#include <optional>

namespace kvcaliper {

namespace {

constexpr std::size_t most_alternatives = 64;

/// "model.language_model.layers.3.mlp" is "layers.3.mlp".
std::string_view without_prefix(std::string_view name) {
    const auto at = name.find("layers.");
    return at == std::string_view::npos ? name : name.substr(at);
}

/// One regular expression as globs, one for each way through its groups; nothing when it has more
/// than literals, dots, ".*" and groups of alternatives.
class Expression {
  public:
    explicit Expression(std::string_view text) : text_(text) {}

    std::optional<std::vector<std::string>> globs() {
        if (text_.starts_with('^')) {
            text_.remove_prefix(1);
        }
        while (known_ && at_ < text_.size()) {
            step();
        }
        if (!known_) {
            return std::nullopt;
        }
        if (!anchored_) {
            append("*"); // re.match asks for the start alone
        }
        return std::move(globs_);
    }

  private:
    void append(std::string_view piece) {
        for (std::string& glob : globs_) {
            glob += piece;
        }
    }
    bool take(std::string_view word) {
        const bool found = text_.substr(at_).starts_with(word);
        at_ += found ? word.size() : 0;
        return found;
    }
    void step() {
        if (take(".*") || take(".+") || take("\\d+")) {
            append("*");
        } else if (take("\\.")) {
            append(".");
        } else if (take("(?:") || take("(")) {
            group();
        } else if (text_[at_] == '$' && at_ + 1 == text_.size()) {
            anchored_ = true;
            ++at_;
        } else {
            character();
        }
    }
    void character() {
        const char c = text_[at_++];
        known_ = std::string_view("\\[]{}+*?|)$").find(c) == std::string_view::npos;
        append(c == '.' ? "?" : std::string_view(&c, 1));
    }
    /// The words of "(a|b)"; a group in a group is not read.
    void group() {
        const auto end = text_.find(')', at_);
        if (end == std::string_view::npos) {
            known_ = false;
            return;
        }
        const std::vector<std::string> before = std::move(globs_);
        globs_.clear();
        std::string_view rest = text_.substr(at_, end - at_);
        at_ = end + 1;
        for (bool more = true; more && known_;) {
            const auto bar = rest.find('|');
            more = bar != std::string_view::npos;
            add_alternative(before, rest.substr(0, bar));
            rest.remove_prefix(more ? bar + 1 : rest.size());
        }
    }
    void add_alternative(const std::vector<std::string>& before, std::string_view word) {
        known_ = word.find_first_of("\\()[]{}.+*?$") == std::string_view::npos &&
                 globs_.size() + before.size() <= most_alternatives;
        for (const std::string& glob : before) {
            globs_.push_back(glob + std::string(word));
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool known_ = true;
    bool anchored_ = false;
    std::vector<std::string> globs_{""};
};

} // namespace

bool glob_matches(std::string_view glob, std::string_view text) {
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t from = 0; // where the text that the last star swallows ends
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            from = t;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', g) == std::string_view::npos;
}

void ModuleSet::add_glob(std::string_view glob) {
    globs_.emplace_back(without_prefix(glob));
}

bool ModuleSet::add(std::string_view pattern) {
    if (pattern.starts_with("re:")) {
        const auto globs = Expression(pattern.substr(3)).globs();
        for (const std::string& glob : globs.value_or(std::vector<std::string>{})) {
            add_glob(glob);
        }
        return globs.has_value();
    }
    if (pattern.find('*') == std::string_view::npos) {
        words_.emplace(without_prefix(pattern));
    } else {
        add_glob(pattern);
        add_glob(std::string(pattern) + ".*");
    }
    return true;
}

bool ModuleSet::contains(std::string_view module) const {
    const std::string_view name = without_prefix(module);
    for (std::size_t from = 0; !words_.empty() && from < name.size();) {
        for (std::size_t to = from; to != std::string_view::npos;) {
            to = name.find('.', to + 1);
            if (words_.contains(std::string(name.substr(from, to - from)))) {
                return true;
            }
        }
        const auto dot = name.find('.', from);
        from = dot == std::string_view::npos ? name.size() : dot + 1;
    }
    return std::any_of(globs_.begin(), globs_.end(),
                       [&](const std::string& glob) { return glob_matches(glob, name); });
}

} // namespace kvcaliper
