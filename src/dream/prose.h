// prose.h: splits untrusted text into sentences and words, and detects what they advise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::dream {

// Lower case, with one blank for everything but letters and digits, and a blank at both ends. A
// text contains a phrase if the folded text contains the folded phrase; "--batch-size" equals
// "Batch size".
std::string folded(std::string_view text);

struct Word {
  std::string text;       // Letters and digits, lower case.
  std::size_t start = 0;  // Offset in the sentence's text.
  std::size_t end = 0;
};

struct Sentence {
  std::string text;         // As written, with its line breaks.
  int line = 0;             // Line breaks in the passage before it.
  std::vector<Word> words;  // In order.
};

// Splits at full stops, list items and lines of code.
std::vector<Sentence> sentences_in(std::string_view passage);

// Index of the first word of each match of the folded `phrase`.
std::vector<std::size_t> positions_of(const Sentence& sentence, std::string_view phrase);

// For people: one line, without control characters and secrets, clipped.
std::string quoted(const Sentence& sentence);

enum class Direction : std::uint8_t { kUnstated, kMore, kLess };
Direction opposite(Direction way);

// The direction that the words next to [first, last) ask for: "raise", "fewer", "off". For a
// switch, "use" and "with" mean on, that is, more.
Direction direction_beside(const Sentence& sentence, std::size_t first, std::size_t last,
                           bool is_switch);

// Whether the sentence advises against word `at`: "do not set …", "instead of …", or mentions harm
// and no benefit.
bool advises_against(const Sentence& sentence, std::size_t at);

}  // namespace amdahl::dream
