// prose.h: sentences of untrusted text: their words, and what they advise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::dream {

// Lower case, everything but letters and digits a single blank, and a blank at both ends: a phrase
// stands in a text if its folded form stands in the text's, and "--batch-size" is "Batch size".
std::string folded(std::string_view text);

struct Word {
  std::string text;       // Letters and digits, lower case.
  std::size_t start = 0;  // Of its letters in the sentence's text.
  std::size_t end = 0;
};

struct Sentence {
  std::string text;         // As written, with its line breaks.
  int line = 0;             // Line breaks of the passage before it.
  std::vector<Word> words;  // In order.
};

// Ends at full stops, at list items and at lines of code.
std::vector<Sentence> sentences_in(std::string_view passage);

// Index of the first word of each place where `phrase`, folded, stands.
std::vector<std::size_t> positions_of(const Sentence& sentence, std::string_view phrase);

// For people: on one line, without control characters and secrets, clipped.
std::string quoted(const Sentence& sentence);

enum class Direction : std::uint8_t { kUnstated, kMore, kLess };
Direction opposite(Direction way);

// What the words beside the words from `first` to before `last` ask for: "raise", "fewer", "off".
// Of a switch, "use" and "with" say on, which is more.
Direction direction_beside(const Sentence& sentence, std::size_t first, std::size_t last,
                           bool is_switch);

// Whether the sentence is against what stands at word `at`: "do not set …", "instead of …", or one
// that speaks of harm and of no good.
bool advises_against(const Sentence& sentence, std::size_t at);

}  // namespace amdahl::dream
