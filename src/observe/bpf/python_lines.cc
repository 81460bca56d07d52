#include "observe/bpf/python_lines.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <unistd.h>

namespace amdahl::observe {
namespace {

constexpr std::size_t kMostCodes = 50000;
constexpr std::size_t kMostPythonStacks = 50000;
constexpr std::uint32_t kAscii = 1U << 6U;

using Table = std::span<const std::uint8_t>;

// 3.9: pairs of bytes, how far the address and the line move.
std::optional<int> line_in_pairs(int line, Table table, std::int64_t at) {
  std::int64_t address = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    address += table[i];
    if (address > at) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return line;
}

// 3.10: pairs of bytes, a length and how far the line moves; -128: no line.
std::optional<int> line_in_ranges(int line, Table table, std::int64_t at) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto moves = static_cast<std::int8_t>(table[i + 1]);
    if (moves != -128) line += moves;
    end += table[i];
    if (at < end) return moves == -128 ? std::nullopt : std::optional(line);
  }
  return std::nullopt;
}

// A number in groups of six bits, the lowest first.
std::int64_t take_number(Table table, std::size_t& i) {
  std::int64_t value = 0;
  for (unsigned shift = 0; i < table.size() && shift < 30; shift += 6) {
    const std::uint8_t byte = table[i++];
    value |= static_cast<std::int64_t>(byte & 0x3FU) << shift;
    if ((byte & 0x40U) == 0) break;
  }
  return value;
}

std::int64_t take_signed(Table table, std::size_t& i) {
  const std::int64_t value = take_number(table, i);
  return (value & 1) != 0 ? -(value >> 1) : value >> 1;
}

// 3.11 and later: entries of a kind and a length in units of two bytes of code, with columns.
std::optional<int> line_in_entries(std::int64_t line, Table table, std::int64_t at) {
  constexpr unsigned kNoLine = 15;
  constexpr unsigned kWhole = 14;
  constexpr unsigned kNoColumns = 13;
  constexpr unsigned kOneLine = 10;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < table.size();) {
    const std::uint8_t head = table[i++];
    const unsigned kind = (head >> 3U) & 0xFU;
    end += 2 * ((head & 7) + 1);
    if (kind == kWhole) {
      line += take_signed(table, i);
      for (int skipped = 0; skipped < 3; ++skipped) take_number(table, i);
    } else if (kind == kNoColumns) {
      line += take_signed(table, i);
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
      i += 2;
    } else if (kind != kNoLine) {
      i += 1;
    }
    if (at < end) return kind == kNoLine ? std::nullopt : std::optional(static_cast<int>(line));
  }
  return std::nullopt;
}

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  if (point >= 0xD800 && (point < 0xE000 || point > 0x10FFFF)) point = 0xFFFD;
  std::array<char, 4> bytes{};
  int count = 0;
  const std::uint32_t lead = point < 0x800 ? 0xC0U : point < 0x10000 ? 0xE0U : 0xF0U;
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  bytes[static_cast<std::size_t>(count++)] = static_cast<char>(lead | (point >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    bytes[static_cast<std::size_t>(count++)] =
        static_cast<char>(0x80U | ((point >> (6 * i)) & 0x3FU));
  }
  out.append(bytes.data(), static_cast<std::size_t>(count));
}

// For a job whose script path is relative to where it was started.
std::string absolute(const std::string& file, std::uint32_t process) {
  if (file.empty() || file.front() == '/' || file.front() == '<') return file;
  std::array<char, 4096> folder{};
  const std::string link = fmt::format("/proc/{}/cwd", process);
  const ssize_t bytes = ::readlink(link.c_str(), folder.data(), folder.size());
  if (bytes <= 0) return file;
  return fmt::format("{}/{}", std::string_view(folder.data(), static_cast<std::size_t>(bytes)),
                     file);
}

}  // namespace

std::optional<int> python_line(std::uint32_t version, int first_line, Table table,
                               std::int32_t at) {
  if (version <= 0x0309) return line_in_pairs(first_line, table, at);
  if (version == 0x030A) return line_in_ranges(first_line, table, std::int64_t{at} * 2);
  return line_in_entries(first_line, table, at);
}

std::string python_text(const waits_python_text& head, Table bytes) {
  const std::size_t width = (head.state & kAscii) != 0 ? 1 : (head.state >> 2U) & 7U;
  if (width != 1 && width != 2 && width != 4) return "";
  const std::size_t room = bytes.size() / width;
  std::string made = head.length > room ? "…" : "";
  for (std::size_t i = 0; i < std::min<std::uint64_t>(head.length, room); ++i) {
    std::uint32_t point = 0;
    for (std::size_t part = 0; part < width; ++part) {
      point |= std::uint32_t{bytes[i * width + part]} << (8 * part);
    }
    append_utf8(made, point);
  }
  return made;
}

void PythonLines::add_code(const waits_event_code& event) {
  if (codes_.size() >= kMostCodes) codes_.clear();
  Code& code = codes_[{event.process, event.code}];
  code.version = event.version;
  code.first_line = static_cast<int>(event.first_line);
  code.file = text(absolute(python_text(event.file_head, event.file), event.process));
  code.name = text(python_text(event.name_head, event.name));
  const std::size_t bytes = std::min<std::size_t>(event.line_bytes, sizeof(event.lines));
  code.lines.assign(event.lines, event.lines + bytes);
  code.known.clear();
}

std::uint32_t PythonLines::text(const std::string& text) {
  const auto [known, is_new] =
      text_numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return known->second;
}

// If the table has no entry, the function's first line is close.
int PythonLines::line_of(Code& code, std::int32_t at) {
  const auto [known, is_new] = code.known.try_emplace(at);
  if (is_new) {
    known->second = std::max(
        0, python_line(code.version, code.first_line, code.lines, at).value_or(code.first_line));
  }
  return known->second;
}

std::optional<std::uint32_t> PythonLines::add(const waits_event_python& event) {
  std::vector<Frame> made;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(event.count, kPythonFrames); ++i) {
    const auto code = codes_.find({event.process, event.frames[i].code});
    if (code == codes_.end()) continue;
    Code& own = code->second;
    made.push_back({own.file, own.name, line_of(own, event.frames[i].at)});
  }
  if (made.empty()) return std::nullopt;
  const auto known = stack_numbers_.find(made);
  if (known != stack_numbers_.end()) return known->second;
  if (stacks_.size() >= kMostPythonStacks) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  stack_numbers_[made] = number;
  stacks_.push_back(std::move(made));
  return number;
}

void PythonLines::forget(std::uint32_t process) {
  const auto from = codes_.lower_bound({process, 0});
  codes_.erase(from, codes_.upper_bound({process, UINT64_MAX}));
}

std::vector<model::PythonFrame> PythonLines::frames(std::uint32_t stack) const {
  std::vector<model::PythonFrame> made;
  if (stack >= stacks_.size()) return made;
  for (const Frame& frame : stacks_[stack]) {
    made.push_back({texts_[frame.file], frame.line, texts_[frame.name]});
  }
  return made;
}

}  // namespace amdahl::observe
