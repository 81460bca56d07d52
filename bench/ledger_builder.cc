#include "ledger_builder.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/ran_with.h"
#include "launch/environment.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/rows.h"
#include "ledger/sqlite/store.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/clock.h"
#include "os/fake/fake_clock.h"

namespace amdahl::bench {
namespace {

using ledger::Draft;

constexpr std::size_t kBatch = 10'000;
constexpr Nanos kYear = std::chrono::hours(24 * 365);

Draft draft(std::string kind, std::string subject, Json payload) {
  return {std::move(kind), "cycle", std::move(subject), std::move(payload)};
}

model::Spec spec_of(int family) {
  model::Spec spec;
  spec.family = fmt::format("family-{}", family);
  spec.command = {"train", "--batch", "16"};
  spec.workdir = "/";
  spec.inputs = {"data/*"};  // Without these, a cycle has something to say of it.
  spec.outputs = {{"{out}/result"}};
  return spec;
}

model::ArmFact arm(double cost_s) {
  model::ArmFact fact;
  fact.cost = cost_s;
  fact.wall_s = cost_s;
  fact.cpu_s = cost_s;
  fact.work = 1;
  fact.output_digest = "0123456789abcdef";
  fact.input_fingerprint = "fedcba9876543210";
  fact.host = "node-1";
  return fact;
}

class Builder {
 public:
  Builder(ledger::Ledger& ledger, os::FakeClock& clock, const History& history)
      : ledger_{ledger}, clock_{clock}, history_{history} {}

  Result<> build();
  std::int64_t events() const { return events_; }

 private:
  void begin_families();
  void add_run(const std::string& run, int family, const std::string& experiment,
               model::Purpose purpose, int index);
  void add_same(int family);
  void add_profile(int family);
  void add_hypothesis(int number, bool ends);
  void add_gate(const std::string& digits, const std::string& family);
  Result<> flush();

  ledger::Ledger& ledger_;
  os::FakeClock& clock_;
  const History& history_;
  std::vector<Draft> drafts_;
  std::vector<int> same_of_;        // A/A pairs so far, by family.
  std::vector<std::string> plan_;   // Digest of the baseline, by family,
  std::vector<std::string> setup_;  // and what its A/A pairs were measured with.
  std::int64_t events_ = 0;
};

// Three events.
void Builder::add_run(const std::string& run, int family, const std::string& experiment,
                      model::Purpose purpose, int index) {
  const bool same = purpose == model::Purpose::kSame;
  const auto at = static_cast<std::size_t>(family);
  drafts_.push_back(draft("run.reserved", run,
                          {{"family", spec_of(family).family},
                           {"experiment", experiment},
                           {"purpose", same ? "same" : "compare"},
                           {"index", index},
                           {"variant_second", index % 2 == 1},
                           {"cpus", {0, 1}},
                           {"reserved_accelerator_s", 10},
                           {"request", {{"reservation", run}, {"setup", setup_[at]}}}}));
  drafts_.push_back(draft("run.submitted", run, {{"worker_run_id", "w-" + run}}));
  model::PairFact fact;
  fact.reservation = run;
  fact.index = index;
  fact.purpose = purpose;
  fact.variant_second = index % 2 == 1;
  fact.ran_variant_second = fact.variant_second;
  fact.a = arm(5.0 + 0.01 * (index % 7));
  fact.b = arm(same ? 5.0 + 0.01 * (index % 5) : 4.0);
  drafts_.push_back(
      draft("run.collected", run, {{"spent_accelerator_s", 9}, {"fact", model::encode(fact)}}));
}

void Builder::add_same(int family) {
  const int index = ++same_of_[static_cast<std::size_t>(family)];
  add_run(fmt::format("r-same-{}-{}", family, index), family, "", model::Purpose::kSame, index);
}

void Builder::add_profile(int family) {
  model::Profile profile;
  profile.id = fmt::format("p-{}", family);
  profile.family = spec_of(family).family;
  profile.baseline = plan_[static_cast<std::size_t>(family)];
  profile.at = clock_.unix_time();
  profile.wall = std::chrono::seconds(5);
  profile.causes = {
      {"input.wait", "waiting for input", model::Bottleneck::kInput, 2, 0.4, 1 / 0.6, "2 of 5 s"}};
  profile.bottleneck = model::Bottleneck::kInput;
  drafts_.push_back(draft("profile.recorded", profile.family, model::encode(profile)));
}

void Builder::begin_families() {
  drafts_.push_back(draft("campaign.opened", "c1", {{"k", history_.hypotheses}, {"alpha", 0.1}}));
  same_of_.assign(static_cast<std::size_t>(history_.families), 0);
  // A cycle pins the environment it finds, and A/A pairs of another one would be run anew.
  const app::RanWith with{launch::digest(launch::own_environment()), ""};
  for (int family = 0; family < history_.families; ++family) {
    const model::Spec spec = spec_of(family);
    const model::Plan plan = *model::make_plan(spec, {});
    plan_.push_back(model::digest(plan));
    setup_.push_back(app::setup_of(spec, plan, with));
    drafts_.push_back(draft("family.adopted", spec.family, model::encode(spec)));
  }
}

// Ten events if it ends: proposed, registered, two pairs, a comparison, a verdict.
void Builder::add_hypothesis(int number, bool ends) {
  // Scattered over the ids, as random ones are.
  const std::string digits = fmt::format("{:010x}", static_cast<unsigned>(number) * 2654435761u);
  const int family = number % history_.families;
  model::Hypothesis hypothesis;
  hypothesis.id = "h-" + digits;
  hypothesis.family = spec_of(family).family;
  hypothesis.key = fmt::format("{:032x}{:032x}", static_cast<unsigned>(number) * 2246822519u,
                               static_cast<unsigned>(number));
  hypothesis.title = "larger batches";
  hypothesis.mechanism = "each launch costs the same however much it computes";
  hypothesis.change.args["--batch"] = std::to_string(number);
  drafts_.push_back(draft("hypothesis.proposed", hypothesis.id, model::encode(hypothesis)));
  model::Experiment experiment;
  experiment.id = "x-" + digits;
  experiment.hypothesis = hypothesis.id;
  experiment.family = hypothesis.family;
  experiment.campaign = "c1";
  experiment.baseline = plan_[static_cast<std::size_t>(family)];
  drafts_.push_back(draft("experiment.registered", experiment.id, model::encode(experiment)));
  for (int index = 1; index <= 2; ++index) {
    add_run(fmt::format("r-{}-{}", experiment.id, index), family, experiment.id,
            model::Purpose::kCompare, index);
  }
  drafts_.push_back(draft("comparison.made", experiment.id, model::encode(model::Comparison{})));
  if (!ends) {
    add_gate(digits, hypothesis.family);
    return;
  }
  const bool declined = history_.declined_in > 0 && number % history_.declined_in == 0;
  if (declined) {
    add_gate(digits, hypothesis.family);
    const std::string seen = ledger::sqlite::packet_digest(dump_json(drafts_.back().payload));
    Draft decided = draft("gate.decided", experiment.id,
                          model::encode(model::GateDecision{false, "ada", "not worth it", seen}));
    decided.actor = "ada";
    drafts_.push_back(std::move(decided));
  }
  model::Verdict verdict;
  verdict.hypothesis = hypothesis.id;
  verdict.experiment = experiment.id;
  verdict.kind = number % 3 == 0 ? model::VerdictKind::kNoEffect : model::VerdictKind::kRefuted;
  if (declined) verdict.kind = model::VerdictKind::kDeclined;
  verdict.reason = "the interval holds 0 after 40 pairs";
  drafts_.push_back(draft("verdict.recorded", hypothesis.id, model::encode(verdict)));
}

void Builder::add_gate(const std::string& digits, const std::string& family) {
  model::GatePacket packet;
  packet.experiment = "x-" + digits;
  packet.hypothesis = "h-" + digits;
  packet.family = family;
  packet.claim = "saves 20 %";
  drafts_.push_back(draft("experiment.staged", packet.experiment, {{"stage", "gate"}}));
  drafts_.push_back(draft("gate.opened", packet.experiment, model::encode(packet)));
}

Result<> Builder::flush() {
  const auto written = TRY(ledger_.append(drafts_));
  if (!written.empty()) events_ = written.back().seq;
  drafts_.clear();
  return Ok{};
}

Result<> Builder::build() {
  begin_families();
  const int past = std::max(0, history_.hypotheses - history_.waiting);
  const Nanos step = kYear / std::max(1, past);
  for (int number = 0; number < past; ++number) {
    add_hypothesis(number, true);
    if (number % 10 == 0) add_same(number / 10 % history_.families);
    clock_.advance(step);
    if (drafts_.size() >= kBatch) TRY(flush());
  }
  TRY(flush());
  clock_.advance(std::chrono::hours(24 * 30));
  for (int family = 0; family < history_.families; ++family) {
    add_profile(family);
    for (int i = 0; i < history_.same_pairs_each; ++i) add_same(family);
  }
  for (int number = past; number < history_.hypotheses; ++number) add_hypothesis(number, false);
  return flush();
}

}  // namespace

Result<std::int64_t> build_idle_ledger(const std::string& folder, const History& history) {
  std::filesystem::create_directories(folder);
  // Ends an hour ago, so that what is fresh for the real program was written last.
  os::FakeClock clock(os::real_clock().unix_time() - kYear - std::chrono::hours(24 * 30 + 1));
  ledger::sqlite::StoreOptions options;
  options.durable = false;
  auto opened = ledger::sqlite::open_store(folder + "/ledger.db", options, clock);
  if (!opened) return opened.error();
  const std::unique_ptr<ledger::Ledger> ledger = *std::move(opened);
  Builder builder(*ledger, clock, history);
  TRY(builder.build());
  return builder.events();
}

}  // namespace amdahl::bench
