// source.h: source text as it is handed in, and the language it is written in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::code {

enum class Language : std::uint8_t { kPython, kCpp };

std::string_view name(Language language);  // "Python", "C++".

// From the ending of the path; nothing if it is neither.
std::optional<Language> language_of(std::string_view path);

struct Source {
  std::string path;          // As findings name it.
  std::string bytes;         // Any bytes; what is not UTF-8 or not the language is passed over.
  std::string in_repo = {};  // As patches name it: relative to the repository. Empty: as `path`.
};

}  // namespace amdahl::code
