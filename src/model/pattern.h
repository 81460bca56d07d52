// pattern.h: a regular expression that finds an amount of work in what a job printed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace amdahl::model {

// In RE2's syntax, which has neither look-around nor back-references, and for it can be searched
// in time that grows with the text alone: no pattern makes the supervisor hang after a run.
class WorkPattern {
 public:
  // An error reads on from the pattern's name: "is not a regular expression (...)".
  static Result<WorkPattern> make(const std::string& text);
  WorkPattern(WorkPattern&&) noexcept;
  WorkPattern& operator=(WorkPattern&&) noexcept;
  ~WorkPattern();

  // What the group holds in the first match; nothing if the line does not match. Bytes, not UTF-8.
  std::optional<std::string> find(std::string_view line) const;

 private:
  explicit WorkPattern(std::unique_ptr<const re2::RE2> compiled);

  std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace amdahl::model
