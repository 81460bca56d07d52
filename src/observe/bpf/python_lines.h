// python_lines.h: Python lines of sites and samples, from what the BPF program read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/bpf.h"
#include "observe/bpf/record.h"

namespace amdahl::observe {

// The source line of an instruction, from its code object's line table; nothing if not in the
// table. `at` is as in waits_python_frame, `version` as in waits_python.
std::optional<int> python_line(std::uint32_t version, int first_line,
                               std::span<const std::uint8_t> table, std::int32_t at);

// A Python string as UTF-8; starts with "…" if its start is missing.
std::string python_text(const waits_python_text& head, std::span<const std::uint8_t> bytes);

// Stacks are numbered, since many are equal. Not thread-safe.
class PythonLines {
 public:
  void add_code(const waits_event_code& event);
  // The number of the event's stack; nothing if none of its frames could be read.
  std::optional<std::uint32_t> add(const waits_event_python& event);
  // The process called exec.
  void forget(std::uint32_t process);

  std::vector<model::PythonFrame> frames(std::uint32_t stack) const;

 private:
  struct Code {
    std::uint32_t version = 0;
    int first_line = 0;
    std::uint32_t file = 0;  // Index into texts_, like `name`.
    std::uint32_t name = 0;
    std::vector<std::uint8_t> lines;
    std::unordered_map<std::int32_t, int> known;  // Resolved lines by instruction.
  };
  struct Frame {
    std::uint32_t file = 0;  // Index into texts_, like `name`.
    std::uint32_t name = 0;
    int line = 0;
    friend auto operator<=>(const Frame&, const Frame&) = default;
  };
  std::uint32_t text(const std::string& text);
  static int line_of(Code& code, std::int32_t at);

  std::map<std::pair<std::uint32_t, std::uint64_t>, Code> codes_;  // By process and address.
  std::map<std::string, std::uint32_t> text_numbers_;
  std::vector<std::string> texts_;
  std::map<std::vector<Frame>, std::uint32_t> stack_numbers_;
  std::vector<std::vector<Frame>> stacks_;
};

}  // namespace amdahl::observe
