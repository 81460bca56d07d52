// python_lines.h: the Python lines of places and samples, from what the kernel's program read.
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

// The line that an instruction is of, by the table of its code object; nothing if the table does
// not say. `at` is as waits_python_frame has it, `version` as waits_python.
std::optional<int> python_line(std::uint32_t version, int first_line,
                               std::span<const std::uint8_t> table, std::int32_t at);

// A text of Python's as UTF-8; "…" where its start is missing.
std::string python_text(const waits_python_text& head, std::span<const std::uint8_t> bytes);

// Stacks are kept by number: many are the same. Used by one thread.
class PythonLines {
 public:
  void add_code(const waits_event_code& event);
  // The number of the event's stack; nothing if none of its frames could be read.
  std::optional<std::uint32_t> add(const waits_event_python& event);
  // Another program runs in the process.
  void forget(std::uint32_t process);

  std::vector<model::PythonFrame> frames(std::uint32_t stack) const;

 private:
  struct Code {
    std::uint32_t version = 0;
    int first_line = 0;
    std::uint32_t file = 0;  // In texts_, as is `name`.
    std::uint32_t name = 0;
    std::vector<std::uint8_t> lines;
    std::unordered_map<std::int32_t, int> known;  // Lines by instruction, as they were asked for.
  };
  struct Frame {
    std::uint32_t file = 0;  // In texts_, as is `name`.
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
