// source.h: a source text and its language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::code {

enum class Language : std::uint8_t { kPython, kCpp };

std::string_view name(Language language);  // "Python", "C++".

// From the file extension; nothing if neither.
std::optional<Language> language_of(std::string_view path);

struct Source {
  std::string path;   // As named in findings.
  std::string bytes;  // Any bytes; invalid UTF-8 or syntax is skipped.
  // As named in patches: relative to the repository. Empty: same as `path`.
  std::string in_repo = {};
};

}  // namespace amdahl::code
