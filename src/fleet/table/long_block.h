// long_block.h: fast parser for lines of a long table of samples; usable in any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fleet/intake.h"
#include "fleet/table/cells.h"
#include "fleet/table/long_columns.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {

// Parsed content of a block of lines. Series have the parser's numbers; translate them to
// SeriesId.
struct LongBlock {
  struct Problem {
    model::Trouble trouble{};
    Where where;  // Relative to the block: line 0 is its first.
    std::string text;
  };
  struct NewSeries {
    std::string host, device, uuid, slice, profile, job, kind, metric;
  };
  std::vector<std::uint32_t> series;
  std::vector<Sample> samples;
  std::vector<NewSeries> fresh;       // In order of their numbers.
  std::vector<Problem> problems;      // The first few of each kind.
  std::vector<std::uint64_t> counts;  // By trouble: problems that are not listed.
  std::uint64_t lines = 0;

  void clear();
};

// Remembers for each series which one followed it: rows repeat in the same order, so the guess is
// usually right.
class LongParser {
 public:
  LongParser(const LongColumns& columns, const Zone& zone) : columns_{columns}, zone_{zone} {}

  // `lines` must end with a newline, or be the end of the input.
  void parse(std::string_view lines, LongBlock& into);

 private:
  struct Known {
    std::uint64_t key[2] = {0, 0};  // First 16 bytes, with the delimiter after it.
    std::uint64_t mask[2] = {0, 0};
    std::uint32_t size = 0;  // Including the delimiter.
    std::uint32_t next = 0;
    const std::string* text = nullptr;
  };

  const char* parse_plain(const char* at, const char* end, LongBlock& into);
  const char* parse_values(const char* at, const char* end, std::uint32_t known, LongBlock& into);
  const char* same_or_next_time(const char* at);
  std::uint32_t known_at(const char* at, const char* end);
  void parse_slowly(std::string_view line, std::uint64_t byte, LongBlock& into);
  std::uint32_t intern(std::string_view key, LongBlock& into);
  void remember_time(std::string_view text);
  bool read_time(std::string_view text, Where where, LongBlock& into);
  void problem(LongBlock& into, model::Trouble trouble, Where where, std::string text);

  const LongColumns& columns_;
  const Zone& zone_;
  Cells cells_;
  std::deque<std::string> texts_;
  std::vector<Known> known_;
  std::unordered_map<std::string_view, std::uint32_t> by_key_;
  std::uint32_t previous_ = 0;
  std::array<char, 24> time_text_{};  // Of the last row, with the delimiter; usually repeated.
  std::size_t time_size_ = 0;         // 0: nothing to compare with.
  Nanos time_{};
};

}  // namespace amdahl::fleet::table
