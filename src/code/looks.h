// looks.h: helpers for the rules' conditions: words in names, literals, edits of calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/rule.h"

namespace amdahl::code {

// The component before the last dot: "log" for self.log.line.
std::string_view last_receiver(const Site& site);

bool is_number(std::string_view text);      // An integer literal.
bool is_plain_name(std::string_view text);  // a, a.b.c.

// Adds `keyword=value` after the last argument, on its own line if each argument has one.
std::vector<Edit> add_keyword(const Subject& subject, std::string_view keyword,
                              std::string_view value);
std::vector<Edit> replace(const Range& range, std::string_view text);

// Deletes a Python statement with its line; no edits if the line holds anything else.
std::vector<Edit> drop_statement(const Subject& subject);

// Whether a name occurs anywhere in the sources.
bool is_used(const Subject& subject, std::string_view name);

}  // namespace amdahl::code
