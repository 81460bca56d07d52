#include "app/compare_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "app/compare_metric.h"
#include "app/pairs.h"
#include "model/plan.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "stats/coin.h"

namespace amdahl::app {
namespace {

using model::PairFact;
using model::Purpose;
using model::Receipt;

bool is_cancelled(const std::optional<Receipt>& receipt) {
  return receipt && receipt->ending == model::Ending::kCancelled;
}

// A command that says nothing of its work does one unit of it; if only one of the two reports, they
// cannot be compared per unit, and the pair is void.
void fill_work(const CompareQuestion& q, launch::Receipts& receipts) {
  if (!q.typed || !q.work.empty() || !receipts.a || !receipts.b) return;
  if (receipts.a->work || receipts.b->work) return;
  receipts.a->work = receipts.b->work = 1;
}

// Whether there was a time when both ran.
bool overlap(const Receipt& a, const Receipt& b) {
  return a.started < b.started + b.wall && b.started < a.started + a.wall;
}

}  // namespace

CompareRuns::CompareRuns(const Config& config, const CompareFolder& folder,
                         const CompareWatch& watch)
    : config_{config}, folder_{folder}, watch_{watch} {}

bool CompareRuns::stopped() const { return cancelled_ || (watch_.stopped && watch_.stopped()); }

double CompareRuns::seconds_a_pair() const {
  return folder_.question.concurrent ? std::max(seconds_a_, seconds_b_) : seconds_a_ + seconds_b_;
}

const model::Spec& CompareRuns::spec_of(Purpose purpose, bool is_a) const {
  return is_a || purpose == Purpose::kSame ? folder_.question.a : folder_.question.b;
}

void CompareRuns::note_time(const Receipt& receipt, bool is_a) {
  (is_a ? seconds_a_ : seconds_b_) = to_seconds(receipt.wall);
}

Result<Receipt> CompareRuns::run(const model::Spec& spec, bool is_a, const std::string& out_dir,
                                 CompareProgress progress) {
  observe::RunOrder order;
  order.arm = is_a ? "A" : "B";
  order.id = std::filesystem::path(out_dir).lexically_relative(folder_.path).string();
  order.family = spec.family;
  order.plan = TRY(make_plan(spec, {}));
  order.out_dir = out_dir;
  order.state_dir = fmt::format("{}/state-{}", folder_.path, order.arm);
  observe::take_spec(spec, order);
  progress.arm = order.arm;
  progress.expected_s = is_a ? seconds_a_ : seconds_b_;
  const auto show = [&](double elapsed) {
    progress.elapsed_s = elapsed;
    if (watch_.progress) watch_.progress(progress);
  };
  show(0);
  Receipt receipt = TRY(observe::supervise(
      order, os::real_clock(), [&](const observe::Live& live) { show(to_seconds(live.elapsed)); }));
  cancelled_ |= receipt.ending == model::Ending::kCancelled;
  measure(folder_.question, out_dir, receipt);
  note_time(receipt, is_a);
  return receipt;
}

Result<> CompareRuns::warm_up(bool is_a, CompareProgress progress) {
  const model::Spec& spec = spec_of(Purpose::kCompare, is_a);
  const std::string out = fmt::format("{}/warm-up/{}", folder_.path, is_a ? "A" : "B");
  const Receipt receipt = TRY(run(spec, is_a, out, std::move(progress)));
  if (stopped()) return Ok{};
  const std::string wrong = complaint(folder_.question, spec, receipt);
  if (wrong.empty()) return Ok{};
  return external(fmt::format("{} {}; what it wrote is in {}", is_a ? "A" : "B", wrong, out));
}

Result<launch::Receipts> CompareRuns::one_by_one(Purpose purpose, int index, bool b_second,
                                                 const CompareProgress& progress) {
  const std::string place = folder_.place(purpose, index);
  launch::Receipts receipts;
  for (const bool is_a : {b_second, !b_second}) {
    const std::string out = fmt::format("{}/{}", place, is_a ? "A" : "B");
    (is_a ? receipts.a : receipts.b) = TRY(run(spec_of(purpose, is_a), is_a, out, progress));
    if (stopped()) break;
  }
  return receipts;
}

Result<launch::Receipts> CompareRuns::at_once(Purpose purpose, int index, bool b_second,
                                              CompareProgress progress) {
  launch::PairRequest request;
  request.reservation = fmt::format("{}-{}", model::name(purpose), index);
  request.spec = spec_of(purpose, true);
  request.a = TRY(make_plan(request.spec, {}));
  request.b = TRY(make_plan(spec_of(purpose, false), {}));
  request.variant_second = b_second;
  request.concurrent = true;
  request.cpus = config_.slots;
  if (request.cpus.size() % 2 == 1) request.cpus.pop_back();
  // A command that was typed may use its whole half; a spec says what it wants.
  if (folder_.question.typed) {
    request.a.cpus = request.b.cpus = static_cast<int>(request.cpus.size() / 2);
  }
  progress.arm = "both";
  progress.expected_s = seconds_a_pair();
  if (watch_.progress) watch_.progress(progress);
  TRY(os::make_dirs(folder_.place(purpose, index)));  // The index is spent from here on.
  launch::Receipts receipts = TRY(launch::run_here(folder_.path, request));
  cancelled_ |= is_cancelled(receipts.a) || is_cancelled(receipts.b);
  if (receipts.a) {
    measure(folder_.question, receipts.out_a, *receipts.a);
    note_time(*receipts.a, true);
  }
  if (receipts.b) {
    measure(folder_.question, receipts.out_b, *receipts.b);
    note_time(*receipts.b, false);
  }
  return receipts;
}

Result<PairFact> CompareRuns::pair(Purpose purpose, int index, const CompareProgress& progress) {
  const CompareQuestion& q = folder_.question;
  model::Pair about;
  about.reservation = fmt::format("{}-{}", model::name(purpose), index);
  about.aim.purpose = purpose;
  about.index = index;
  about.variant_second = stats::coin(q.seed, model::name(purpose), index);
  launch::Receipts receipts = q.concurrent
                                  ? TRY(at_once(purpose, index, about.variant_second, progress))
                                  : TRY(one_by_one(purpose, index, about.variant_second, progress));
  fill_work(q, receipts);
  PairFact fact = fact_of(about, q.a, receipts);
  fact.concurrent = q.concurrent;
  if (q.concurrent) {
    fact.ran_variant_second = fact.variant_second;  // The halves, not the times.
    if (!fact.voided && !overlap(*receipts.a, *receipts.b)) {
      fact.voided = true;
      fact.void_reason = "the arms did not run at the same time";
    }
  }
  if (q.typed && receipts.a && receipts.b) {
    fact.a.output_digest = receipts.a->stdout_sha256;
    fact.b.output_digest = receipts.b->stdout_sha256;
  }
  if (stopped()) {
    fact.voided = true;
    fact.void_reason = kInterrupted;
    // That an arm was cut short is not its fault.
    if (is_cancelled(receipts.a)) fact.a.failed = false;
    if (is_cancelled(receipts.b)) fact.b.failed = false;
  }
  return fact;
}

}  // namespace amdahl::app
