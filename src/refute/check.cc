#include "refute/check.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "refute/aa/aa.h"
#include "refute/aggregate/aggregate.h"
#include "refute/amdahl/amdahl.h"
#include "refute/contention/contention.h"
#include "refute/cost/cost.h"
#include "refute/design/design.h"
#include "refute/dose/dose.h"
#include "refute/failures/failures.h"
#include "refute/host/host.h"
#include "refute/input/input.h"
#include "refute/mechanism/mechanism.h"
#include "refute/order/order.h"
#include "refute/outlier/outlier.h"
#include "refute/quality/quality.h"
#include "refute/replicate/replicate.h"
#include "refute/rule.h"
#include "refute/shrink/shrink.h"
#include "refute/strata/strata.h"
#include "refute/tod/tod.h"
#include "refute/work/work.h"

namespace amdahl::refute {
namespace {

constexpr auto kChecks = std::to_array<Check>({
    {"design", "Did the coin decide which arm ran first?", true, design::run},
    {"work", "Did the variant do all the work?", true, work::run, work::pairs_help, nullptr, false,
     true},
    {"quality", "Are the results as good?", true, quality::run, quality::pairs_help, nullptr, false,
     true},
    {"cost", "Does the total cost fall, CPU included?", true, cost::run, cost::pairs_help},
    {"replicate", "Does the win repeat in fresh pairs?", true, replicate::run},
    {"aa", "Does the harness show no difference when both arms are A?", true, aa::run,
     aa::pairs_help},
    {"input", "Did both arms read the same input?", true, input::run, input::pairs_help},
    {"host", "Does the win hold on equal, undisturbed hosts?", true, host::run, host::pairs_help},
    {"order", "Does it win both when it runs first and when it runs second?", false, order::run,
     nullptr, nullptr, true},
    {"outlier", "Does the win remain without the best pairs?", false, outlier::run},
    {"aggregate", "Does the mean save too, rare slow runs included?", false, aggregate::run,
     nullptr, nullptr, true},
    {"strata", "Does it win on the fleet's mix of inputs?", false, strata::run, nullptr,
     strata::applies},
    {"tod", "Does it win at all times of day?", false, tod::run, tod::pairs_help, nullptr, true},
    {"amdahl", "Is the affected share of the cost large enough?", false, amdahl::run},
    {"failures", "Does it fail no more often than the job usually does?", false, failures::run,
     nullptr, nullptr, false, true},
    {"shrink", "Is it still worth having when corrected for selection?", false, shrink::run},
    {"dose", "Does a larger change help more?", false, dose::run, nullptr, dose::applies},
    {"mechanism", "Is the time saved in the part that the hypothesis names?", false, mechanism::run,
     nullptr, mechanism::applies},
    {"contention", "Does it win on busy hosts as well as on quiet ones?", false, contention::run,
     contention::pairs_help, nullptr, true},
});

// The evidence with the pairs of earlier tests among its own.
Evidence with_earlier_tests(Evidence evidence) {
  evidence.pairs.insert(evidence.pairs.begin(), evidence.before.begin(), evidence.before.end());
  return evidence;
}

int severity_of(const model::Finding& finding) {
  return severity(Ruling{finding.vote, finding.decisive});
}

}  // namespace

std::span<const Check> checks() { return kChecks; }

std::vector<model::Finding> ask_all(const Evidence& evidence) {
  CHECK(evidence.spec != nullptr);
  std::vector<model::Finding> findings;
  const std::optional<Evidence> all =
      evidence.before.empty() ? std::nullopt : std::optional(with_earlier_tests(evidence));
  for (const Check& check : kChecks) {
    if (check.applies != nullptr && !check.applies(evidence)) continue;
    model::Finding finding = check.run(evidence);
    if (all && check.remembers) {
      model::Finding earlier = check.run(*all);
      earlier.because += " (earlier tests of the change included)";
      if (severity_of(earlier) > severity_of(finding)) finding = std::move(earlier);
    }
    finding.check = check.id;
    finding.mandatory |= check.mandatory;
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
  Target target;
  if (check == "aa" || check == "aggregate") target.enough = 12;
  if (check == "contention") {  // Two tell of a clear win, four of any other.
    target.pairs = 2;
    target.enough = 4;
  }
  // It asks for less once it had pairs: a variant that loses some of its runs must not pass early.
  if (check == "failures") target.pairs = 8;
  // More pairs tell these from chance; the others hardly find another win by them.
  if (check == "failures" || check == "outlier" || check == "replicate") target.most = 6;
  target.same = check == "aa";
  // A warm second run is the suspicion, so the variant has to go first.
  if (check == "order") target.variant_second = false;
  target.contended = check == "contention";
  target.whole_runs = check == "quality" || check == "cost" || check == "mechanism";
  return target;
}

Target target_of(std::string_view check, const Evidence& evidence) {
  Target target = target_of(check);
  if (check == "strata") target.stratum = strata::thinnest(evidence);
  if (check == "order") {
    const order::Missing missing = order::missing(evidence);
    target.variant_second = missing.variant_second;
    target.pairs = missing.pairs;
  }
  if (check == "contention") {
    target.contended = contention::found_in(evidence) != contention::State::kBusy;
  }
  return target;
}

}  // namespace amdahl::refute
