#include "code/cmake.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace amdahl::code {
namespace {

constexpr std::size_t kMostSettings = 60;

struct CacheEntry {
  std::string_view name;
  std::string_view type;
  std::string_view value;
};

// "CMAKE_BUILD_TYPE:STRING=Release".
std::optional<CacheEntry> entry_of(std::string_view line) {
  const std::size_t equals = line.find('=');
  const std::size_t colon = line.find(':');
  if (line.starts_with('#') || line.starts_with('/') || equals == line.npos || colon > equals) {
    return std::nullopt;
  }
  return CacheEntry{line.substr(0, colon), line.substr(colon + 1, equals - colon - 1),
                    trim(line.substr(equals + 1))};
}

// Whether another build folder must be told, too. Places are found anew.
bool is_setting(const CacheEntry& entry) {
  constexpr auto kTypes = std::to_array<std::string_view>({"BOOL", "STRING", "UNINITIALIZED"});
  constexpr auto kOfCmake = std::to_array<std::string_view>(
      {"CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS", "CMAKE_C_STANDARD",
       "CMAKE_CXX_STANDARD", "CMAKE_INTERPROCEDURAL_OPTIMIZATION"});
  const bool is_known = !entry.name.starts_with("CMAKE_") ||
                        std::ranges::find(kOfCmake, entry.name) != kOfCmake.end();
  return is_known && std::ranges::find(kTypes, entry.type) != kTypes.end() &&
         entry.name.find("-ADVANCED") == entry.name.npos && !entry.value.empty();
}

std::string upper_case(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return made;
}

// Where the line of project(...) ends; nothing if there is none.
struct LineEnd {
  std::size_t at = 0;
  int line = 0;  // The next one.
};

std::optional<LineEnd> behind_project(std::string_view lists) {
  std::size_t at = 0;
  for (const std::string_view line : split(lists, '\n')) {
    const std::string_view code = trim(line);
    const std::size_t begin = at;
    at += line.size() + 1;
    if (!lower(code).starts_with("project") ||
        !trim(code.substr(std::string_view("project").size())).starts_with('(')) {
      continue;
    }
    const std::size_t close = lists.find(')', begin);
    if (close == lists.npos) return std::nullopt;
    const std::size_t end = std::min(lists.find('\n', close), lists.size());
    const auto before = std::ranges::count(lists.substr(0, end), '\n');
    return LineEnd{end, static_cast<int>(before) + 2};
  }
  return std::nullopt;
}

}  // namespace

std::optional<CmakeCache> read_cmake_cache(std::string_view text) {
  CmakeCache cache;
  std::map<std::string_view, std::string_view> values;
  for (const std::string_view line : split(text, '\n')) {
    const auto entry = entry_of(line);
    if (!entry) continue;
    values[entry->name] = entry->value;
    if (!is_setting(*entry) || cache.settings.size() >= kMostSettings) continue;
    cache.settings.push_back("-D" + std::string(entry->name) + "=" + std::string(entry->value));
  }
  cache.source = values["CMAKE_HOME_DIRECTORY"];
  if (cache.source.empty()) return std::nullopt;
  const std::string of_type = "CMAKE_CXX_FLAGS_" + upper_case(values["CMAKE_BUILD_TYPE"]);
  cache.flags = std::string(values["CMAKE_CXX_FLAGS"]) + " " + std::string(values[of_type]);
  return cache;
}

std::string cmake_flags(std::string_view written, std::string_view target) {
  const std::string folder = "CMakeFiles/" + std::string(target) + ".dir/";
  bool is_ninja = false;
  bool inside = false;
  for (const std::string_view line : split(written, '\n')) {
    if (line.starts_with("build ")) {
      is_ninja = true;
      inside = line.find(folder) != line.npos;
    }
    const std::size_t equals = line.find('=');
    const std::string_view name = trim(line.substr(0, equals));
    const bool is_flags = name == "CXX_FLAGS" || name == "C_FLAGS" || (inside && name == "FLAGS");
    if (equals != line.npos && is_flags && (inside || !is_ninja)) {
      return std::string(trim(line.substr(equals + 1)));
    }
  }
  return "";
}

std::optional<FasterBuild> faster_cmake(std::string_view lists, std::string_view flags,
                                        Rounding rounding) {
  const std::string before = last_level(flags);
  auto options = faster_level(before, flags, rounding);
  const auto end = behind_project(lists);
  if (!options || !end) return std::nullopt;
  // As in CMake's own builds for speed: a failed assertion does not stop those.
  const bool is_debug = before.empty() || before == "-O0" || before == "-Og";
  if (is_debug) *options += " -DNDEBUG";
  const auto at = static_cast<std::uint32_t>(end->at);
  return FasterBuild{{{at, at, "\nadd_compile_options(" + *options + ")"}}, end->line, before};
}

}  // namespace amdahl::code
