// SPDX-License-Identifier: Apache-2.0
#include "core/figure.h"

namespace kvcaliper {

Ratio Term::value() const {
    Ratio product(1);
    for (const Factor& factor : factors) {
        product = product * factor.value;
    }
    return product;
}

Ratio Figure::value() const {
    Ratio sum;
    for (const Term& term : terms) {
        sum = sum + term.value();
    }
    return sum;
}

Bytes Figure::bytes() const {
    return Bytes(value().to_integer());
}

namespace {

std::string number_text(const Ratio& value) {
    return value.is_integer() ? format_integer(value.numerator()) : value.to_string();
}

} // namespace

std::string explain(const Term& term) {
    std::string text;
    for (const Factor& factor : term.factors) {
        text += (text.empty() ? "" : " × ") + number_text(factor.value) + " " + factor.name;
    }
    return text;
}

std::string explain(const Figure& figure) {
    std::string text = figure.name + " = " + number_text(figure.value()) + " B (" +
                       format_bytes(figure.value()) + ")\n";
    for (const Term& term : figure.terms) {
        text +=
            "  " + term.label + ": " + explain(term) + " = " + number_text(term.value()) + " B\n";
    }
    if (figure.terms.empty()) {
        text += "  nothing contributes\n";
    }
    return text;
}

} // namespace kvcaliper
