// script.h: which lines of a shell script start a program.
#pragma once

#include <string_view>
#include <vector>

namespace amdahl::code {

// Whether it is a shell script, by its name or first line.
bool is_script(std::string_view path, std::string_view bytes);

// The 1-based lines that name the program, with or without a path. Comments, variables and
// assignments do not count. 15 characters of a longer name are enough (the kernel truncates
// names).
std::vector<int> lines_naming(std::string_view script, std::string_view program);

}  // namespace amdahl::code
