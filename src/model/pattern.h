// pattern.h: a regular expression that extracts an amount of work from a job's output.
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

// RE2 syntax: no look-around and no back-references. Matching time is linear in the text, so no
// pattern can make the supervisor hang.
class WorkPattern {
 public:
  // The error continues a sentence that names the pattern: "is not a regular expression (...)".
  static Result<WorkPattern> make(const std::string& text);
  WorkPattern(WorkPattern&&) noexcept;
  WorkPattern& operator=(WorkPattern&&) noexcept;
  ~WorkPattern();

  // The group of the first match; nothing if the line does not match. Works on bytes, not UTF-8.
  std::optional<std::string> find(std::string_view line) const;

 private:
  explicit WorkPattern(std::unique_ptr<const re2::RE2> compiled);

  std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace amdahl::model
