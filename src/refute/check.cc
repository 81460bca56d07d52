#include "refute/check.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "refute/aa/aa.h"
#include "refute/aggregate/aggregate.h"
#include "refute/amdahl/amdahl.h"
#include "refute/cost/cost.h"
#include "refute/design/design.h"
#include "refute/failures/failures.h"
#include "refute/host/host.h"
#include "refute/input/input.h"
#include "refute/order/order.h"
#include "refute/outlier/outlier.h"
#include "refute/quality/quality.h"
#include "refute/replicate/replicate.h"
#include "refute/shrink/shrink.h"
#include "refute/work/work.h"

namespace amdahl::refute {
namespace {

constexpr auto kChecks = std::to_array<Check>({
    {"design", "Did the coin decide which arm ran second?", true, design::run},
    {"work", "Did the variant do all of the work?", true, work::run, work::pairs_help},
    {"quality", "Are its results as good?", true, quality::run, quality::pairs_help},
    {"cost", "Does the whole bill fall, CPU included?", true, cost::run, cost::pairs_help},
    {"replicate", "Is the win there again in fresh pairs?", true, replicate::run},
    {"aa", "Does the harness favour an arm when both are A?", true, aa::run},
    {"input", "Did both arms read the same input?", true, input::run, input::pairs_help},
    {"host", "Was it the machine or its other tenants?", true, host::run, host::pairs_help},
    {"order", "Does it win both when first and when second?", false, order::run},
    {"outlier", "Do a few lucky pairs carry the win?", false, outlier::run},
    {"aggregate", "Do rare slow runs eat what typical runs save?", false, aggregate::run},
    {"amdahl", "Can the part it touches give that much?", false, amdahl::run},
    {"failures", "Does it fail more often than the job always did?", false, failures::run},
    {"shrink", "Is it worth having once selection is allowed for?", false, shrink::run},
});

}  // namespace

std::span<const Check> checks() { return kChecks; }

std::vector<model::Finding> ask_all(const Evidence& evidence) {
  CHECK(evidence.spec != nullptr);
  std::vector<model::Finding> findings;
  for (const Check& check : kChecks) {
    model::Finding finding = check.run(evidence);
    finding.check = check.id;
    finding.mandatory = check.mandatory;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<std::string> helped_by_pairs(std::span<const std::string> wants_pairs,
                                         const Evidence& evidence) {
  std::vector<std::string> helped(wants_pairs.begin(), wants_pairs.end());
  std::erase_if(helped, [&](const std::string& id) {
    const auto check = std::ranges::find(kChecks, id, &Check::id);
    return check != kChecks.end() && check->pairs_help != nullptr && !check->pairs_help(evidence);
  });
  return helped;
}

Target target_of(std::string_view check) {
  if (check == "aa") return {.pairs = 12, .variant_second = std::nullopt, .same = true};
  if (check == "aggregate") return {.pairs = 12, .variant_second = std::nullopt};
  // A warm second run is the suspicion, so the variant has to go first.
  if (check == "order") return {.pairs = 8, .variant_second = false};
  return {};
}

}  // namespace amdahl::refute
