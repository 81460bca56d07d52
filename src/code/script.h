// script.h: what the lines of a shell script start.
#pragma once

#include <string_view>
#include <vector>

namespace amdahl::code {

// Whether a shell runs it: by its name or its first line.
bool is_script(std::string_view path, std::string_view bytes);

// The lines, from 1, that name a program, with or without a path to it; comments, variables and
// assignments are none. The kernel knows 15 letters of a longer name, which are enough.
std::vector<int> lines_naming(std::string_view script, std::string_view program);

}  // namespace amdahl::code
