#include "dream/prose.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/redact.h"
#include "base/text.h"

namespace amdahl::dream {
namespace {

constexpr std::size_t kWordsBefore = 3;  // How far a word reaches forward.
constexpr std::size_t kWordsAfter = 2;   // And back: "checkpoints less often".
constexpr std::size_t kColumns = 160;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A line of a list, a table or a shell, which ends what stood before it.
bool starts_anew(std::string_view rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  const std::string_view text = trim(line);
  if (text.empty() || line.starts_with("    ") || line.starts_with('\t')) return true;
  if (std::string_view("-*+|#$`>").find(text.front()) != std::string_view::npos) return true;
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool numbered = digits != 0 && digits != std::string_view::npos &&
                        (text[digits] == '.' || text[digits] == ')');
  return numbered || text.starts_with("export ");
}

// Whether text[at], after a line break, starts a new sentence: a list item, code, or what follows
// code.
bool starts_line_anew(std::string_view text, std::size_t at) {
  const std::size_t line = at < 2 ? std::string_view::npos : text.rfind('\n', at - 2);
  const std::string_view before = text.substr(line == std::string_view::npos ? 0 : line + 1);
  return starts_anew(text.substr(at)) || before.starts_with("    ") ||
         trim(before).starts_with("export ");
}

// Whether a sentence ends before text[at].
bool ends_before(std::string_view text, std::size_t at) {
  if (text[at - 1] == '\n' && starts_line_anew(text, at)) return true;
  if (at < 2 || !is_blank(text[at - 1])) return false;
  const char mark = text[at - 2];
  const std::string_view last = at < 5 ? std::string_view{} : text.substr(at - 5, 4);
  const bool shortened = last == "e.g." || last == "i.e.";
  return mark == '!' || mark == '?' || (mark == '.' && !shortened);
}

std::vector<Word> words_in(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    words.push_back({lower(text.substr(i, end - i)), i, end});
    i = end;
  }
  return words;
}

// The rows are beginnings of words if they end in '*'.
bool is_among(std::string_view word, std::span<const std::string_view> rows) {
  return std::ranges::any_of(rows, [&](std::string_view row) {
    return row.ends_with('*') ? word.starts_with(row.substr(0, row.size() - 1)) : word == row;
  });
}

constexpr auto kMore = std::to_array<std::string_view>(
    {"more", "increas*", "rais*", "larger", "bigger", "higher", "deeper", "longer", "doubl*",
     "twice", "grow*", "enabl*", "add", "added", "adding"});
constexpr auto kLess = std::to_array<std::string_view>(
    {"fewer", "less", "reduc*", "lower*", "decreas*", "smaller", "shorter", "halv*", "half",
     "disabl*", "without", "no", "skip*", "remov*", "drop*", "limit*"});
// After a name, most verbs describe what it did, not what is done to it.
constexpr auto kMoreAfter =
    std::to_array<std::string_view>({"up", "doubled", "raised", "higher", "enabled"});
constexpr auto kLessAfter = std::to_array<std::string_view>(
    {"down", "halved", "lowered", "lower", "disabled", "off", "less"});
constexpr auto kTurn = std::to_array<std::string_view>({"turn*", "switch*"});
constexpr auto kUse = std::to_array<std::string_view>(
    {"use", "using", "used", "with", "set", "setting", "keep", "keeping", "try"});
constexpr auto kNegations = std::to_array<std::string_view>(
    {"not", "never", "avoid*", "don", "doesn", "didn", "instead", "rather", "unset", "beware"});
constexpr auto kHarm =
    std::to_array<std::string_view>({"slower", "slows", "slowed", "worse", "hurt*", "harm*",
                                     "regress*", "degrad*", "deadlock*", "crash*", "useless"});
constexpr auto kGood = std::to_array<std::string_view>(
    {"faster", "better", "cure*", "help*", "improv*", "sav*", "fix*", "speed*", "gain*", "cut",
     "win", "won", "solv*", "prevent*"});

Direction way_before(const Sentence& sentence, std::size_t at, bool is_switch) {
  const std::string& word = sentence.words[at].text;
  if (is_among(word, kMore)) return Direction::kMore;
  if (is_among(word, kLess)) return Direction::kLess;
  if (at > 0 && is_among(sentence.words[at - 1].text, kTurn)) {
    if (word == "on") return Direction::kMore;
    if (word == "off") return Direction::kLess;
  }
  return is_switch && is_among(word, kUse) ? Direction::kMore : Direction::kUnstated;
}

Direction way_after(const std::string& word) {
  if (is_among(word, kMoreAfter)) return Direction::kMore;
  return is_among(word, kLessAfter) ? Direction::kLess : Direction::kUnstated;
}

bool has_any(const Sentence& sentence, std::span<const std::string_view> rows) {
  return std::ranges::any_of(sentence.words,
                             [&](const Word& word) { return is_among(word.text, rows); });
}

}  // namespace

std::string folded(std::string_view text) {
  std::string result = " ";
  for (const char c : lower(text)) {
    if (is_letter(c)) {
      result += c;
    } else if (result.back() != ' ') {
      result += ' ';
    }
  }
  if (result.back() != ' ') result += ' ';
  return result;
}

std::vector<Sentence> sentences_in(std::string_view passage) {
  std::vector<Sentence> sentences;
  std::size_t start = 0;
  int line = 0;
  for (std::size_t at = 1; at <= passage.size(); ++at) {
    if (at < passage.size() && !ends_before(passage, at)) continue;
    const std::string_view text = passage.substr(start, at - start);
    std::vector<Word> words = words_in(text);
    const int lines = static_cast<int>(std::ranges::count(text, '\n'));
    if (!words.empty()) sentences.push_back({std::string(text), line, std::move(words)});
    line += lines;
    start = at;
  }
  return sentences;
}

std::vector<std::size_t> positions_of(const Sentence& sentence, std::string_view phrase) {
  std::vector<std::size_t> places;
  const std::vector<std::string_view> wanted = split(trim(phrase), ' ');
  for (std::size_t i = 0; i + wanted.size() <= sentence.words.size(); ++i) {
    const bool same = std::ranges::equal(
        wanted, std::span(sentence.words).subspan(i, wanted.size()), {}, {}, &Word::text);
    if (same) places.push_back(i);
  }
  return places;
}

std::string quoted(const Sentence& sentence) {
  std::string text;
  for (const char c : trim(sentence.text)) {
    const bool obeyed = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!obeyed && c != ' ') {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return clip(redact(text), kColumns);
}

Direction opposite(Direction way) {
  if (way == Direction::kUnstated) return way;
  return way == Direction::kMore ? Direction::kLess : Direction::kMore;
}

Direction direction_beside(const Sentence& sentence, std::size_t first, std::size_t last,
                           bool is_switch) {
  for (std::size_t back = 1; back <= std::min(kWordsBefore, first); ++back) {
    const Direction way = way_before(sentence, first - back, is_switch);
    if (way != Direction::kUnstated) return way;
  }
  const std::size_t end = std::min(last + kWordsAfter, sentence.words.size());
  for (std::size_t i = last; i < end; ++i) {
    const Direction way = way_after(sentence.words[i].text);
    if (way != Direction::kUnstated) return way;
  }
  return Direction::kUnstated;
}

bool advises_against(const Sentence& sentence, std::size_t at) {
  for (std::size_t back = 1; back <= std::min(kWordsBefore, at); ++back) {
    if (is_among(sentence.words[at - back].text, kNegations)) return true;
  }
  return has_any(sentence, kHarm) && !has_any(sentence, kGood);
}

}  // namespace amdahl::dream
