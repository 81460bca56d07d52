#include "fleet/local/local.h"

#include <cmath>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "model/codec.h"

namespace amdahl::fleet::local {
namespace {

// More than any allocation; a record beyond it is damaged, and would cost us a row each.
constexpr int kMostAccelerators = 1'000'000;

Result<> check(const model::Usage& usage) {
  if (usage.schema != 1) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("/schema: is {}, but this program reads 1", usage.schema)};
  }
  if (usage.job.empty()) return bad_input("/job: is empty");
  if (usage.family.empty()) return bad_input("/family: is empty");
  if (usage.accelerators < 1 || usage.accelerators > kMostAccelerators) {
    return bad_input(fmt::format("/accelerators: must be 1 to {}, but is {}", kMostAccelerators,
                                 usage.accelerators));
  }
  if (usage.end < usage.start) {
    return bad_input(
        fmt::format("/end_ns: is {} before /start_ns", show_duration(usage.start - usage.end)));
  }
  if (!usage.utilisation.accelerators.empty() && usage.utilisation.interval <= Nanos{}) {
    return bad_input("/utilisation: has samples, but its interval is not above 0");
  }
  return Ok{};
}

// A record is one document: a reader has to see all of it. Nothing real comes near this.
constexpr std::size_t kLargestRecord = std::size_t{256} << 20;

model::JobDraft draft_of(const model::Usage& usage, std::string_view script) {
  model::JobDraft draft;
  draft.id = usage.job;
  draft.name = usage.family;
  draft.family = usage.family;
  draft.user = usage.user;
  draft.kind = usage.accelerator_kind;
  draft.script = script;
  draft.hosts = usage.host;
  draft.state = usage.failed ? model::JobState::kFailed : model::JobState::kCompleted;
  draft.submit = usage.start;
  draft.start = usage.start;
  draft.end = usage.end;
  draft.elapsed = usage.end - usage.start;
  draft.accelerators = usage.accelerators;
  draft.host_count = 1;
  return draft;
}

// The samples of one accelerator; gaps (NaN) are left out, so they stay unobserved.
std::vector<Sample> samples_of(const model::Usage& usage, const std::vector<float>& values) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Nanos at = usage.start + usage.utilisation.interval * static_cast<std::int64_t>(i);
    if (at < usage.end && std::isfinite(values[i])) samples.push_back({at, values[i]});
  }
  return samples;
}

void give(const model::Usage& usage, Intake& intake) {
  const std::string script = shell_quote(usage.command);
  const std::string host = usage.host.empty() ? "localhost" : usage.host;
  intake.job(draft_of(usage, script), {});
  for (int i = 0; i < usage.accelerators; ++i)
    intake.tell(Assignment{usage.job, host, std::to_string(i)});
  int index = 0;
  for (const std::vector<float>& values : usage.utilisation.accelerators) {
    if (index == usage.accelerators) break;  // Beyond the allocation: not this job's.
    const std::string accelerator = std::to_string(index++);
    const SeriesId id = intake.series({.host = host,
                                       .accelerator = accelerator,
                                       .uuid = {},
                                       .slice = {},
                                       .job = usage.job,
                                       .metric = usage.utilisation.metric,
                                       .kind = usage.accelerator_kind});
    intake.samples(id, samples_of(usage, values));
  }
}

class LocalReader final : public Reader {
 public:
  explicit LocalReader(Intake& intake) : intake_{intake} {}

  Result<> feed(std::string_view bytes) override {
    if (text_.size() + bytes.size() > kLargestRecord) {
      return bad_input(
          fmt::format("byte {}: a record this long is not one of `amdahl run`", kLargestRecord));
    }
    text_ += bytes;
    return Ok{};
  }

  Result<> finish() override {
    for (const model::Usage& usage : TRY(read(text_))) give(usage, intake_);
    return Ok{};
  }

 private:
  Intake& intake_;
  std::string text_;
};

}  // namespace

bool claims(std::string_view head) {
  const auto has = [&](std::string_view key) { return head.find(key) != head.npos; };
  // A receipt has an argv; a usage record a command and a job.
  return trim(head).starts_with('{') && has("\"accelerators\"") &&
         (has("\"command\"") || has("\"job\"")) && !has("\"argv\"");
}

Result<std::vector<model::Usage>> read(std::string_view bytes) {
  auto usage = TRY(model::decode_text<model::Usage>(bytes));
  TRY(check(usage));
  std::vector<model::Usage> jobs;
  jobs.push_back(std::move(usage));
  return jobs;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions&) {
  return std::make_unique<LocalReader>(intake);
}

}  // namespace amdahl::fleet::local
