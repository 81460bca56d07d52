#include "app/compare_pair.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/compare_folder.h"
#include "app/compare_metric.h"
#include "app/compare_run.h"
#include "base/redact.h"
#include "base/text.h"
#include "compare/judge.h"
#include "compare/power.h"
#include "os/files.h"
#include "os/host.h"
#include "stats/estimate.h"

namespace amdahl::app {
namespace {

using model::PairFact;
using model::Purpose;

constexpr int kHopeless = 3;   // Void pairs in a row at the start.
constexpr int kSamePairs = 6;  // The least that give a scale.
constexpr double kSoon = 30;   // Seconds that measuring the noise may take unasked.

Result<model::Spec> spec_from(const std::vector<std::string>& words, const std::string& arm) {
  if (words.empty()) {
    return bad_input(fmt::format("arm {} has no command; type: amdahl compare -- A ::: B", arm));
  }
  if (words.size() == 1 && words.front().ends_with(".toml")) {
    const std::string path = os::absolute(words.front());
    return model::parse_spec(TRY(os::read_file(path)), words.front(),
                             std::filesystem::path(path).parent_path().string());
  }
  model::Spec spec;
  spec.family = "compare-" + lower(arm);
  spec.command = words;
  spec.workdir = TRY(os::working_folder());
  spec.accelerators = 1;
  // A script in this folder is what people mean, also without "./".
  if (os::exists(words.front()) && words.front().find('/') == std::string::npos) {
    spec.command.front() = "./" + words.front();
  }
  return spec;
}

std::vector<double> ratios_of(const std::vector<PairFact>& pairs, const model::Spec& spec) {
  std::vector<double> d;
  for (const PairFact& pair : pairs) {
    if (const auto value = compare::log_ratio(pair, spec)) d.push_back(*value);
  }
  return d;
}

double claim_of(const CompareQuestion& q) { return -std::log1p(-std::clamp(q.claim, 0.0, 0.95)); }

compare::Design design_of(const CompareFolder& folder) {
  const CompareQuestion& q = folder.question;
  compare::Design design;
  design.sigma = q.noise ? *q.noise : compare::sigma_from_same(ratios_of(folder.same, q.a));
  design.cap = q.pairs;
  design.delta = stats::futility_margin(claim_of(q), design.sigma);
  design.bound_level = 1 - q.confidence;
  design.win_threshold = 1 / design.bound_level;
  design.two_sided = true;
  return design;
}

CompareProgress stage(std::string name, int number, int most) {
  CompareProgress at;
  at.stage = std::move(name);
  at.number = number;
  at.most = most;
  return at;
}

// As a page or a log may show it.
std::vector<std::string> shown(const std::vector<std::string>& command) {
  return redact(Json(command)).get<std::vector<std::string>>();
}

// All of one comparison, from the first warm-up to the answer.
class Trial {
 public:
  Trial(const Config& config, CompareFolder folder, const CompareWatch& watch)
      : watch_{watch}, folder_{std::move(folder)}, runs_{config, folder_, watch} {}

  Result<CompareOutcome> go() {
    if (!settled()) TRY(warm_up());
    if (!folder_.design) TRY(measure_noise());
    if (!runs_.stopped() && !folder_.design) {
      folder_.design = design_of(folder_);
      TRY(keep_question(folder_));
    }
    TRY(compare_arms());
    return outcome();
  }

  CompareOutcome outcome() const {
    const CompareQuestion& q = folder_.question;
    compare::Measurements measured;
    measured.a = shell_quote(shown(q.a.command));
    measured.b = shell_quote(shown(q.b.command));
    measured.metric_text = metric_text_of(q);
    measured.spec = q.a;
    measured.design = folder_.design ? *folder_.design : design_of(folder_);
    measured.claim = claim_of(q);
    measured.noise_given = q.noise.has_value();
    measured.same = folder_.same;
    measured.pairs = folder_.pairs;
    measured.outputs_named = !q.a.outputs.empty() || !q.b.outputs.empty();
    const auto reports = [](const PairFact& pair) { return pair.a.work.value_or(1) != 1; };
    if (measured.metric_text.metric == "wall time" &&
        std::ranges::any_of(measured.pairs, reports)) {
      measured.metric_text.metric = "wall time per unit of work";
    }
    measured.interrupted = runs_.stopped();
    measured.resume = "amdahl compare --resume " + folder_.path;
    measured.cpus = static_cast<int>(os::usable_cpus().size());
    return {compare::account_of(measured), folder_.path, folder_.started};
  }

 private:
  Result<> warm_up() {
    const int rounds = folder_.question.warm_up;
    for (int i = 1; i <= rounds && !runs_.stopped(); ++i) {
      const CompareProgress at = stage("warm-up", i, rounds);
      TRY(runs_.warm_up(true, at));
      if (!runs_.stopped()) TRY(runs_.warm_up(false, at));
    }
    return Ok{};
  }

  // How many A/A pairs are wanted. Unasked, six if they are soon over, by the latest run of A; one,
  // while there was none.
  int same_wanted() const {
    if (folder_.question.same) return *folder_.question.same;
    if (folder_.question.noise) return 0;
    if (runs_.seconds_of_a() == 0) return 1;
    return 2 * kSamePairs * runs_.seconds_of_a() <= kSoon ? kSamePairs : 0;
  }

  void say_why_same(int wanted) const {
    if (!watch_.say || folder_.question.same || folder_.question.noise) return;
    const double seconds = 2 * kSamePairs * runs_.seconds_of_a();
    watch_.say(wanted > 0
                   ? fmt::format("runs are short: first {} pairs of A against A, to know the noise "
                                 "(--same 0 leaves them out)",
                                 wanted)
                   : fmt::format("A against A would take {}: the noise of a pair is taken as 5 % "
                                 "until the pairs tell (--same {} measures it)",
                                 show_duration(from_seconds(seconds)), kSamePairs));
  }

  Result<> measure_noise() {
    const auto counted = [&] {
      return static_cast<int>(std::ranges::count(folder_.same, false, &PairFact::voided));
    };
    // Decided once: a slow run among them must not end what was begun.
    const bool blind = runs_.seconds_of_a() == 0;
    int wanted = same_wanted();
    if (!blind) say_why_same(wanted);
    const int most_tries = 2 * std::max(wanted, kSamePairs) + kHopeless;
    for (int tries = 0; tries < most_tries && !runs_.stopped(); ++tries) {
      if (blind && tries == 1) say_why_same(wanted = same_wanted());
      if (counted() >= wanted) break;
      const int index = folder_.next_index(Purpose::kSame);
      CompareProgress at = stage("A against A", counted() + 1, wanted);
      at.seconds_left = runs_.seconds_a_pair() * (wanted - counted());
      const PairFact pair = TRY(runs_.pair(Purpose::kSame, index, at));
      TRY(keep_pair(folder_, pair));
      TRY(give_up_on(folder_.same));
    }
    return Ok{};
  }

  compare::Judge judge() const {
    compare::Judge judge(*folder_.design);
    for (const double d : compare::resolved_prefix(folder_.pairs, {}, folder_.question.a)) {
      judge.fold(d);
    }
    return judge;
  }

  bool settled() const {
    if (!folder_.design) return false;
    const compare::Judge judged = judge();
    if (judged.pairs() >= folder_.question.pairs) return true;
    if (judged.answer() == model::Answer::kCannotTell) return false;
    const double precision = folder_.question.precision;
    if (precision <= 0) return true;
    const model::Comparison c = judged.comparison();
    const compare::MetricText metric_text = metric_text_of(folder_.question);
    return share_of(c.upper, metric_text) - share_of(c.lower, metric_text) <= 2 * precision;
  }

  Result<> compare_arms() {
    const int most_tries = 2 * folder_.question.pairs + kHopeless;
    for (int tries = 0; tries < most_tries && !runs_.stopped() && !settled(); ++tries) {
      const int index = folder_.next_index(Purpose::kCompare);
      const PairFact pair = TRY(runs_.pair(Purpose::kCompare, index, progress()));
      TRY(keep_pair(folder_, pair));
      TRY(give_up_on(folder_.pairs));
    }
    return Ok{};
  }

  // Nothing came of the first pairs: the rest would be no better.
  Result<> give_up_on(const std::vector<PairFact>& pairs) const {
    if (runs_.stopped() || !std::ranges::all_of(pairs, &PairFact::voided)) return Ok{};
    const auto failed = std::ranges::count_if(
        pairs, [](const PairFact& pair) { return pair.void_reason != kInterrupted; });
    if (failed < kHopeless) return Ok{};
    return external(fmt::format("the first {} pairs cannot be used: {}; all they wrote is in {}",
                                failed, pairs.back().void_reason, folder_.path));
  }

  CompareProgress progress() const {
    const compare::Judge judged = judge();
    CompareProgress at = stage("pair", judged.pairs() + 1, folder_.question.pairs);
    at.so_far = judged.peek();
    at.metric_text = metric_text_of(folder_.question);
    at.log_e_needed = std::log(folder_.design->win_threshold);
    const int room = folder_.question.pairs - judged.pairs();
    const std::vector<double> d = ratios_of(folder_.pairs, folder_.question.a);
    // The pairs' own spread, once there are enough; the effect is a guess before that.
    const double noise = d.size() < kSamePairs ? folder_.design->sigma : stats::mad(d);
    const auto left = d.size() < kHopeless
                          ? std::optional(judged.pairs_still_needed())
                          : compare::pairs_to_settle(judged, {noise, *folder_.design});
    at.pairs_left = left && *left < room ? *left : room;
    at.seconds_left = runs_.seconds_a_pair() * *at.pairs_left;
    return at;
  }

  const CompareWatch& watch_;
  CompareFolder folder_;
  CompareRuns runs_;
};

Result<> check(const CompareQuestion& q, const Config& config) {
  if (q.pairs < 1) return bad_input("--pairs must be at least 1");
  if (q.warm_up < 0) return bad_input("--warm-up must not be negative");
  if (q.same && *q.same < 0) return bad_input("--same must not be negative");
  if (!(q.claim >= 0 && q.claim < 1)) return bad_input("--claim must be from 0 to below 100");
  if (q.noise && !(*q.noise > 0)) return bad_input("--noise must be above 0");
  if (!(q.confidence >= 0.5 && q.confidence < 1)) {
    return bad_input("--confidence must be from 50 to below 100");
  }
  if (!(q.precision >= 0)) return bad_input("--precision must not be negative");
  if (q.concurrent && config.slots.size() < 2) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("--concurrent needs two CPUs, and this process may use {}",
                             config.slots.size())};
  }
  return Ok{};
}

}  // namespace

Result<CompareQuestion> parse_compare(const std::vector<std::string>& words) {
  const auto middle = std::ranges::find(words, ":::");
  if (middle == words.end()) {
    return bad_input("':::' must stand between the two commands; type: amdahl compare -- A ::: B");
  }
  CompareQuestion question;
  question.a = TRY(spec_from({words.begin(), middle}, "A"));
  question.b = TRY(spec_from({middle + 1, words.end()}, "B"));
  const auto is_spec = [](const model::Spec& spec) { return !spec.family.starts_with("compare-"); };
  question.typed = !is_spec(question.a) && !is_spec(question.b);
  return question;
}

Result<CompareOutcome> compare_pairs(const Config& config, const CompareQuestion& asked,
                                     const CompareWatch& watch) {
  CompareQuestion question = asked;
  TRY(check(question, config));
  TRY(set_metric(question));
  return Trial(config, TRY(make_compare_folder(config.state_dir, question)), watch).go();
}

Result<CompareOutcome> compare_again(const Config& config, const CompareAgain& again,
                                     const CompareWatch& watch) {
  CompareFolder folder = TRY(open_compare_folder(config.state_dir, again.folder));
  CompareQuestion& question = folder.question;
  if (!again.words.empty()) {
    const CompareQuestion typed = TRY(parse_compare(again.words));
    question.a = typed.a;
    question.b = typed.b;
    TRY(set_metric(question));
    if (digest_of(question) != folder.digest) {
      return bad_input(
          fmt::format("these commands, or the folder they would run in, are not those "
                      "of {}; leave them out, or start a new comparison",
                      folder.path));
    }
    folder.secrets = false;
  }
  if (again.pairs) question.pairs = *again.pairs;
  if (again.precision) question.precision = *again.precision;
  TRY(check(question, config));
  if (folder.design) folder.design->cap = question.pairs;
  const bool secrets = folder.secrets;
  if (!secrets) TRY(keep_question(folder));
  Trial trial(config, std::move(folder), watch);
  if (!secrets) return trial.go();
  const CompareOutcome told = trial.outcome();
  if (told.account.settle.empty()) return told;
  return bad_input(
      fmt::format("the commands of {} held secrets, which are not kept; type them "
                  "again after: {} --",
                  told.folder, told.account.measured.resume));
}

}  // namespace amdahl::app
