#include "model/frozen.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fnmatch.h>

#include "base/text.h"

namespace amdahl::model {
namespace {

constexpr std::size_t kShortestWord = 4;

constexpr auto kFrozen = std::to_array<const char*>(
    {".git/*", "*/.git/*", ".git*", "*/.git*", "test/*", "tests/*", "*/test/*", "*/tests/*",
     "test_*", "*/test_*", "*_test.*", "*conftest.py", "*/ci/*", ".ci/*", "ci/*"});

// A folder's name means all that is in it.
bool matches(const std::string& pattern, const std::string& path) {
  std::string folder = pattern;
  while (folder.ends_with('/')) folder.pop_back();
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || path.starts_with(folder + "/");
}

bool is_outside(const std::string& path) {
  return path.starts_with('/') || path == ".." || path.starts_with("../") ||
         contains(path, "/../") || path.ends_with("/..");
}

// A file that the check command names, from the repo's root.
bool is_of_check(const Spec& spec, const std::string& path) {
  return std::ranges::any_of(spec.check, [&](std::string word) {
    if (word.starts_with(spec.repo + "/")) word = word.substr(spec.repo.size() + 1);
    while (word.starts_with("./")) word = word.substr(2);
    return word == path;
  });
}

}  // namespace

bool is_frozen(const Spec& spec, const std::string& path) {
  const auto matches_path = [&](const std::string& pattern) { return matches(pattern, path); };
  return std::ranges::any_of(kFrozen, matches_path) ||
         std::ranges::any_of(spec.deny, matches_path) || is_of_check(spec, path);
}

Result<> may_touch(const Spec& spec, const std::string& path) {
  if (is_outside(path)) {
    return bad_input(fmt::format("the patch touches {}, which is outside of the repo", path));
  }
  if (is_frozen(spec, path)) {
    return bad_input(fmt::format(
        "the patch touches {}: tests, checks and what the spec denies are frozen", path));
  }
  const bool allowed =
      spec.paths.empty() || std::ranges::any_of(spec.paths, [&](const std::string& pattern) {
        return matches(pattern, path);
      });
  if (allowed) return Ok{};
  return bad_input(fmt::format("the patch touches {}, and the spec's paths allow only: {}", path,
                               join(spec.paths, ", ")));
}

std::vector<std::string> frozen_words(const Spec& spec) {
  std::vector<std::string> words{"AMDAHL_"};
  if (spec.metric != Spec{}.metric) words.push_back(spec.metric);
  for (const Quality& quality : spec.quality) {
    if (quality.name.size() >= kShortestWord && quality.pattern.empty()) {
      words.push_back(quality.name);
    }
    words.push_back(plain_part(quality.pattern));
  }
  words.push_back(plain_part(spec.work_pattern));
  std::erase(words, "");
  return words;
}

std::string plain_part(std::string_view pattern) {
  // Either of two branches matches: no text is in both for sure.
  if (contains(pattern, "|")) return "";
  std::string longest;
  std::string run;
  int depth = 0;  // Of brackets, whose content may be optional or one of several.
  const auto end_run = [&] {
    if (run.size() > longest.size()) longest = run;
    run.clear();
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      end_run();
      ++i;
    } else if (c == '(' || c == '[' || c == '{') {
      end_run();
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      depth = std::max(0, depth - 1);
    } else if (c == '?' || c == '*' || c == '+') {
      if (!run.empty()) run.pop_back();  // What it repeats may be absent.
      end_run();
    } else if (c == '.' || c == '^' || c == '$') {
      end_run();
    } else if (depth == 0) {
      run += c;
    }
  }
  end_run();
  longest = std::string(trim(longest));
  return longest.size() >= kShortestWord ? longest : "";
}

}  // namespace amdahl::model
