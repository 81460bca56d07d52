// looks.h: what the rules' conditions share: words in names, literals, and edits of calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/rule.h"

namespace amdahl::code {

// The last word of what stands before the last dot: "log" of self.log.line.
std::string_view last_receiver(const Site& site);

bool is_number(std::string_view text);      // A whole number as it is written.
bool is_plain_name(std::string_view text);  // a, a.b.c.

// Puts `keyword=value` behind the last argument, on a line of its own where each argument has one.
std::vector<Edit> add_keyword(const Subject& subject, std::string_view keyword,
                              std::string_view value);
std::vector<Edit> replace(const Range& range, std::string_view text);

// Takes a statement of Python away with its line; none if something else stands on the line.
std::vector<Edit> drop_statement(const Subject& subject);

// Whether a name stands anywhere in the sources.
bool is_used(const Subject& subject, std::string_view name);

}  // namespace amdahl::code
