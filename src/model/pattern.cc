#include "model/pattern.h"

#include <fmt/core.h>
#include <re2/re2.h>

namespace amdahl::model {

WorkPattern::WorkPattern(std::unique_ptr<const re2::RE2> compiled)
    : compiled_{std::move(compiled)} {}
WorkPattern::WorkPattern(WorkPattern&&) noexcept = default;
WorkPattern& WorkPattern::operator=(WorkPattern&&) noexcept = default;
WorkPattern::~WorkPattern() = default;

Result<WorkPattern> WorkPattern::make(const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  auto compiled = std::make_unique<const re2::RE2>(text, options);
  if (!compiled->ok()) {
    return bad_input(
        fmt::format("is not a regular expression (RE2 syntax): {}", compiled->error()));
  }
  const int groups = compiled->NumberOfCapturingGroups();
  if (groups != 1) {
    return bad_input(
        fmt::format("must have exactly one group (...), around the number, not {}", groups));
  }
  return WorkPattern(std::move(compiled));
}

std::optional<std::string> WorkPattern::find(std::string_view line) const {
  std::string group;
  const re2::StringPiece text(line.data(), line.size());
  if (!re2::RE2::PartialMatch(text, *compiled_, &group)) return std::nullopt;
  return group;
}

}  // namespace amdahl::model
