#include "code/source.h"

#include <algorithm>
#include <array>

namespace amdahl::code {
namespace {

struct Ending {
  std::string_view text;
  Language language;
};

constexpr auto kEndings = std::to_array<Ending>({
    {".py", Language::kPython},
    {".pyw", Language::kPython},
    {".cc", Language::kCpp},
    {".cpp", Language::kCpp},
    {".cxx", Language::kCpp},
    {".c", Language::kCpp},
    {".h", Language::kCpp},
    {".hh", Language::kCpp},
    {".hpp", Language::kCpp},
    {".cu", Language::kCpp},
    {".cuh", Language::kCpp},
});

}  // namespace

std::string_view name(Language language) {
  return language == Language::kPython ? "Python" : "C++";
}

std::optional<Language> language_of(std::string_view path) {
  const auto found = std::ranges::find_if(
      kEndings, [&](const Ending& ending) { return path.ends_with(ending.text); });
  if (found == kEndings.end()) return std::nullopt;
  return found->language;
}

}  // namespace amdahl::code
