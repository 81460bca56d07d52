// shown.h: text of jobs, models and documents, made fit to be shown to people.
#pragma once

#include <string>
#include <string_view>

namespace amdahl {

// plain(), with spaces for line ends and tabs.
std::string on_one_line(std::string_view text);

// plain(), for whole answers: line ends, tabs and our own colours stay.
std::string harmless(std::string_view text);

}  // namespace amdahl
