#include "hypothesize/near.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/patch_edits.h"

namespace amdahl::hypothesize {
namespace {

constexpr std::size_t kTellingWord = 4;   // Letters; shorter words are in every sentence.
constexpr std::size_t kTellingLine = 6;   // Letters; "}" and "else:" are in every file.
constexpr double kMostlyTheSame = 0.6;    // Of all telling words.
constexpr std::size_t kEnoughToTell = 4;  // Words of the shorter text.

// Every setting by one name each, with its value.
std::map<std::string, std::string> settings_of(const model::Change& change) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : change.env) all["env " + name] = value.value_or("(unset)");
  for (const auto& [flag, value] : change.args) all["arg " + flag] = value.value_or("(gone)");
  for (const auto& [place, value] : change.config) all["config " + place] = value;
  for (const auto& [fix, value] : change.inject) all["inject " + fix] = value;
  if (change.accelerators) all["accelerators"] = std::to_string(*change.accelerators);
  if (!change.wrap.empty()) all["wrap"] = join(change.wrap, " ");
  return all;
}

// "path: line" of each line that goes, and of each that comes, without its indentation.
struct Lines {
  std::set<std::string> removed;
  std::set<std::string> added;
};
Lines lines_of(const std::string& patch) {
  Lines lines;
  for (const model::FileEdit& file : model::read_patch(patch)) {
    const auto add = [&](const std::vector<std::string>& from, std::set<std::string>& to) {
      for (const std::string& line : from) {
        const std::string_view text = trim(line);
        if (text.size() >= kTellingLine) to.insert(file.path + ": " + std::string(text));
      }
    };
    for (const model::LineEdit& edit : file.edits) {
      add(edit.removed, lines.removed);
      add(edit.added, lines.added);
    }
  }
  return lines;
}

bool overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& item) { return b.contains(item); });
}

std::set<std::string> telling_words(const model::Hypothesis& h) {
  std::set<std::string> words;
  std::string word;
  for (const char c : lower(h.title + " " + h.mechanism + " ")) {
    if ((c >= 'a' && c <= 'z') || is_digit(c)) {
      word += c;
      continue;
    }
    if (word.size() >= kTellingWord) words.insert(word);
    word.clear();
  }
  return words;
}

bool same_words(const model::Hypothesis& a, const model::Hypothesis& b) {
  const std::set<std::string> first = telling_words(a);
  const std::set<std::string> second = telling_words(b);
  if (std::min(first.size(), second.size()) < kEnoughToTell) return false;
  const auto both =
      std::ranges::count_if(first, [&](const std::string& word) { return second.contains(word); });
  const auto either = static_cast<double>(first.size() + second.size()) - static_cast<double>(both);
  return static_cast<double>(both) >= kMostlyTheSame * either;
}

}  // namespace

std::string_view describe(Nearness nearness) {
  switch (nearness) {
    case Nearness::kNone:
      return "nothing in common";
    case Nearness::kSameMechanism:
      return "same mechanism";
    case Nearness::kSameSetting:
      return "same setting, other value";
    case Nearness::kSameLines:
      return "same lines touched";
    case Nearness::kSameChange:
      return "same change";
  }
  return "";
}

Nearness near(const model::Hypothesis& a, const model::Hypothesis& b) {
  const auto mine = settings_of(a.change);
  const auto theirs = settings_of(b.change);
  const bool patched = !a.change.patch.empty() && !b.change.patch.empty();
  const Lines my_lines = lines_of(patched ? a.change.patch : "");
  const Lines their_lines = lines_of(patched ? b.change.patch : "");
  const bool same_lines = my_lines.removed == their_lines.removed &&
                          my_lines.added == their_lines.added &&
                          a.change.patch.empty() == b.change.patch.empty();
  if (mine == theirs && same_lines) return Nearness::kSameChange;
  if (overlap(my_lines.removed, their_lines.removed) ||
      overlap(my_lines.added, their_lines.added)) {
    return Nearness::kSameLines;
  }
  const bool shares = std::ranges::any_of(
      mine, [&](const auto& setting) { return theirs.contains(setting.first); });
  if (shares) return Nearness::kSameSetting;
  const bool same_entry = a.origin.kind == "playbook" && a.origin == b.origin;
  return same_entry || same_words(a, b) ? Nearness::kSameMechanism : Nearness::kNone;
}

}  // namespace amdahl::hypothesize
