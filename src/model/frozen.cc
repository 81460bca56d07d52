#include "model/frozen.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/core.h>
#include <fnmatch.h>

#include "base/text.h"

namespace amdahl::model {
namespace {

constexpr std::size_t kShortestWord = 4;

// In either case of letters: tests, what runs them and how, and git's own files.
constexpr auto kFrozen =
    std::to_array<const char*>({".git/*",    "*/.git/*",    ".git*",        "*/.git*",
                                "test/*",    "*/test/*",    "tests/*",      "*/tests/*",
                                "testing/*", "*/testing/*", "__tests__/*",  "*/__tests__/*",
                                "test_*",    "*/test_*",    "test.*",       "*/test.*",
                                "tests.*",   "*/tests.*",   "*_test.*",     "*_tests.*",
                                "*.test.*",  "*.spec.*",    "*conftest.py", "*pytest.ini",
                                "*tox.ini",  "*noxfile.py", "*setup.cfg",   "*CTestTestfile.cmake",
                                "*/ci/*",    ".ci/*",       "ci/*"});
// "BatchTest.java", but not "latest.py".
constexpr auto kFrozenAsSpelled = std::to_array<const char*>({"*Test.*", "*Tests.*"});
// Lines that say which tests there are.
constexpr auto kOfTests = std::to_array<const char*>(
    {"add_test(", "enable_testing(", "[tool.pytest", "addopts", "testpaths"});

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

// Whether a word of the check is the file; within a shell's text the folder may be another one.
bool names(const Spec& spec, std::string word, const std::string& path, bool anywhere) {
  if (word.starts_with(spec.repo + "/")) word = word.substr(spec.repo.size() + 1);
  word = std::filesystem::path(word).lexically_normal().string();
  return word == path || (anywhere && contains(word, ".") && path.ends_with("/" + word));
}

// Whether "-m WORD" runs the file.
bool is_module(std::string word, const std::string& path) {
  std::ranges::replace(word, '.', '/');
  return !word.empty() &&
         std::ranges::any_of(std::to_array<const char*>({".py", "/__main__.py", "/__init__.py"}),
                             [&](const char* end) {
                               return path == word + end || path.ends_with("/" + word + end);
                             });
}

// A file that the check command names, from the repo's root.
bool is_of_check(const Spec& spec, const std::string& path) {
  std::string before;
  for (const std::string& whole : spec.check) {
    std::string spaced = whole;
    for (char& c : spaced) {
      if (std::string_view("\t\n;&|()<>\"'`=").find(c) != std::string_view::npos) c = ' ';
    }
    const bool is_text = contains(spaced, " ");
    for (const std::string_view part : split(spaced, ' ')) {
      const std::string word(part);
      if (word.empty()) continue;
      if (names(spec, word, path, is_text) || (before == "-m" && is_module(word, path)))
        return true;
      before = word;
    }
  }
  return false;
}

}  // namespace

bool is_frozen(const Spec& spec, const std::string& path) {
  const auto matches_path = [&](const std::string& pattern) { return matches(pattern, path); };
  const std::string small = lower(path);
  const auto matches_small = [&](const char* pattern) { return matches(lower(pattern), small); };
  return std::ranges::any_of(kFrozen, matches_small) ||
         std::ranges::any_of(kFrozenAsSpelled, matches_path) ||
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
  words.insert(words.end(), kOfTests.begin(), kOfTests.end());
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
