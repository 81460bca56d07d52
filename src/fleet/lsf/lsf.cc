#include "fleet/lsf/lsf.h"

#include <optional>

#include "base/text.h"
#include "fleet/line_reader.h"
#include "fleet/lsf/acct.h"
#include "fleet/lsf/story.h"

namespace amdahl::fleet::lsf {
namespace {

using model::Trouble;

class LsfReader final : public LineReader {
 public:
  LsfReader(Intake& intake, const ReaderOptions& options) : LineReader(intake, options) {
    if (zone_) stories_.emplace(intake, *zone_, options.now);
  }

 private:
  void end() override { stories_->finish(); }

  Result<> take(std::string_view line, Where where) override {
    if (is_event(line)) {
      is_log_ = true;
      tell_event(line, where, intake_);
    } else if (!is_log_) {
      stories_->take(line, where);
    } else if (!trim(line).empty() && !line.starts_with('#')) {
      intake_.trouble(Trouble::kBadLine, where, "is not an event of LSF");
    }
    return Ok{};
  }

  std::optional<Stories> stories_;
  bool is_log_ = false;  // lsb.acct
};

}  // namespace

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  bool is_bacct = false;
  for (const std::string_view line : split(head, '\n')) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    is_bacct = is_bacct || line.starts_with("Accounting information about jobs that are");
    // What bacct -l prints about the jobs comes after what it was asked for.
    if (!is_bacct) return is_event(line) || is_story(line);
    if (is_story(line)) return true;
  }
  return false;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<LsfReader>(intake, options);
}

Explained explain(std::string_view, const ReaderOptions&) {
  return {Gives::kJobs,
          "jobs of LSF: accelerators are those asked for on each host (num=N, ngpus_physical=N), "
          "times the hosts; num=N/task times the tasks"};
}

}  // namespace amdahl::fleet::lsf
