#include "fleet/local/local.h"

#include <fmt/format.h>

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

}  // namespace amdahl::fleet::local
