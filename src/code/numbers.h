// numbers.h: which expressions of a source text have no effect, and which are numbers for certain.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "code/tree.h"

namespace amdahl::code {

using NameSet = std::set<std::string, std::less<>>;

// A name, a literal, a field or an element of such, or arithmetic on these: evaluating it changes
// nothing.
bool is_pure(TSNode node);

// A literal, one of the names, or arithmetic on such. `numbers` are variables that hold nothing but
// numbers, and functions that return nothing else.
bool is_number(TSNode node, std::string_view bytes, const NameSet& numbers);

// Whether a declaration of C++ gives its names the type of a number.
bool declares_number(TSNode declaration, std::string_view bytes);

}  // namespace amdahl::code
