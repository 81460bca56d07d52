// From "run one more pair" to a reservation and a worker.
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/pairs.h"
#include "app/ran_with.h"
#include "base/text.h"
#include "launch/steps.h"
#include "ledger/event.h"
#include "model/plan.h"
#include "os/fault.h"
#include "os/host.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

constexpr Nanos kGitWithin = std::chrono::minutes(1);  // A file system may hang.

std::string reservation_id(const model::Pair& order) {
  if (!order.experiment.empty()) return fmt::format("r-{}-{}", order.experiment, order.index);
  return fmt::format("r-{}-{}-{}", text_of(order.aim), order.family, order.index);
}

Result<launch::PairRequest> request_of(const ledger::Family& family, const model::Pair& order,
                                       const std::vector<int>& cpus) {
  launch::PairRequest request;
  request.reservation = reservation_id(order);
  request.spec = family.spec;
  request.a = TRY(make_plan(family.spec, order.a).in("baseline"));
  request.b = TRY(make_plan(family.spec, order.b).in("variant"));
  request.variant_second = order.variant_second;
  request.profile = order.aim.purpose == model::Purpose::kProfile;
  request.concurrent = order.concurrent;
  request.contended = order.contended;
  request.order = order.order;
  request.cpus = cpus;
  for (const model::SharedVariant& variant : order.shared) {
    request.more.push_back(TRY(make_plan(family.spec, variant.change).in(variant.experiment)));
  }
  return request;
}

// Whether one process can be both arms: if not, they are whole runs as under other pairings.
bool can_alternate(const launch::PairRequest& request) {
  const auto settings = launch::step_settings(request.spec, request.a, request.b,
                                              [](std::string text) { return text; });
  return bool{settings};
}

// Each pair of steps has a coin of its own, of the seed that orders whole pairs.
Result<std::string> schedule_for(Context& context, const model::Pair& order) {
  const int index = order.index;
  if (order.experiment.empty()) {
    return launch::step_schedule(text_of(order.aim), order.family, index, launch::kStepPairs);
  }
  const model::Experiment about = TRY(context.ledger->experiment(order.experiment)).experiment;
  return launch::step_schedule(about.seed, about.hypothesis, index, launch::kStepPairs);
}

std::string git_says(const std::string& repo, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", repo});
  std::string said;
  // The same code is the same commit, whoever asks and when.
  std::map<std::string, std::string> env;
  for (const std::string who : {"AUTHOR", "COMMITTER"}) {
    env["GIT_" + who + "_NAME"] = "amdahl";
    env["GIT_" + who + "_EMAIL"] = "amdahl@localhost";
    env["GIT_" + who + "_DATE"] = "2000-01-01T00:00:00Z";
  }
  const auto asked = os::run_program(
      {.argv = std::move(words), .env = env, .limit = kGitWithin},
      [&](std::string_view bytes) -> Result<> {
        said.append(bytes);
        return Ok{};
      },
      [] { return false; });
  return asked ? std::string(trim(said)) : "";
}

// The code as it lies there: HEAD, or a commit beside all branches with the edits of tracked files.
// Empty if git fails: the worker will say what is wrong.
std::string code_of(const std::string& repo) {
  const std::string edited = git_says(repo, {"stash", "create"});
  return edited.empty() ? git_says(repo, {"rev-parse", "HEAD"}) : edited;
}

// The commit that patches are applied to. An experiment's is that of its first run, so that all its
// pairs compare the same code, whatever is committed meanwhile.
Result<std::string> commit_for(Context& context, const model::Spec& spec,
                               const model::Pair& order) {
  if (!order.experiment.empty()) {
    for (const model::Pair& pair : TRY(context.ledger->runs_of(order.experiment))) {
      if (!pair.commit.empty()) return pair.commit;
    }
  }
  return code_of(spec.repo);
}

// Whether a model wrote the variant's patch; a block has only such variants, or none.
Result<bool> tests_agents_patch(Context& context, const model::Pair& order) {
  if (order.experiment.empty()) return false;
  const model::Experiment about = TRY(context.ledger->experiment(order.experiment)).experiment;
  return is_agents_patch(TRY(context.ledger->hypothesis(about.hypothesis)).hypothesis);
}

// What the arms that a reservation pays for hold.
struct Holding {
  int accelerators = 0;
  int cpus = 0;
  int while_built = 0;  // Accelerators that wait for each tree that is built, summed over trees.
};

// The run holds what its largest arm needs while the trees of its patches are built.
int held_while_built(const launch::PairRequest& request) {
  const bool builds = launch::has_patch(request) && !request.spec.build.empty();
  if (!builds || request.built) return 0;
  int trees = request.a.needs_build ? 1 : 0;
  int most = request.a.accelerators;
  const auto add = [&](const model::Plan& plan) {
    trees += plan.needs_build ? 1 : 0;
    most = std::max(most, plan.accelerators);
  };
  if (!request.profile) add(request.b);
  for (const model::Plan& plan : request.more) add(plan);
  return trees * most;
}

ledger::Draft reservation(const Config& config, const model::Pair& order, const std::string& id,
                          const Holding& arms, const ledger::Family& family, Json request) {
  if (!order.stratum.empty()) request["stratum"] = order.stratum;
  const Nanos most = family.spec.time_limit + launch::kArmGrace;
  const AcceleratorSeconds build = Accelerators(arms.while_built) * launch::kBuildLimit;
  const AcceleratorSeconds time = Accelerators(arms.accelerators) * most + build;
  if (arms.while_built > 0) request["build_accelerator_s"] = build.count();
  return {"run.reserved",
          "cycle",
          id,
          {{"family", order.family},
           {"experiment", order.experiment},
           {"purpose", text_of(order.aim)},
           {"index", order.index},
           {"variant_second", order.variant_second},
           {"reserved_accelerator_s", time.count()},
           {"reserved", {{"usd", bill(config, time, arms.cpus * most).count()}}},
           {"request", std::move(request)}}};
}

// The pair and, for a block, each further variant: it shares the baseline, so it pays for itself
// alone.
std::vector<ledger::Draft> reservations(const Config& config, const ledger::Family& family,
                                        const model::Pair& order,
                                        const launch::PairRequest& request, const RanWith& with,
                                        const model::Plan& baseline, bool allocates) {
  Holding both{request.a.accelerators + request.b.accelerators, request.a.cpus + request.b.cpus,
               held_while_built(request)};
  if (allocates) {  // What one arm does not use is held for the other.
    both.accelerators = 2 * launch::most_accelerators(request);
    both.cpus = 2 * launch::most_cpus(request);
  }
  std::vector<ledger::Draft> drafts{reservation(config, order, request.reservation, both, family,
                                                launch::encode_request(request))};
  const std::string of_a = digest(request.a);
  // A profile and a process that alternates are both of A's plan.
  const bool one_plan = request.profile || request.steps;
  drafts.front().payload["cpus"] = request.cpus;
  // The noise of a baseline is that of all its classes of inputs.
  const bool is_same = order.aim.purpose == model::Purpose::kSame;
  drafts.front().payload["request"]["setup"] =
      setup_of(family.spec, is_same ? baseline : request.a, with);
  drafts.front().payload["request"]["digests"] = {of_a, one_plan ? of_a : digest(request.b)};
  for (std::size_t i = 0; i < order.shared.size(); ++i) {
    const model::Pair own = pair_of(order.shared[i], order);
    drafts.push_back(reservation(config, own, reservation_id(own),
                                 {request.more[i].accelerators, request.more[i].cpus}, family,
                                 Json{{"block", request.reservation},
                                      {"arm", static_cast<int>(i) + 2},
                                      {"ticket", request.ticket},
                                      {"digests", {of_a, digest(request.more[i])}}}));
    if (!request.commit.empty()) {
      drafts.back().payload["request"]["commit"] = request.commit;
    }
    if (own.aim.purpose == model::Purpose::kSame || own.aim.purpose == model::Purpose::kRace) {
      drafts.back().payload["request"]["setup"] = drafts.front().payload["request"]["setup"];
    }
    drafts.back().payload["cpus"] = std::vector<int>{};
  }
  for (ledger::Draft& draft : drafts) {
    Json& of = draft.payload["request"];
    if (!with.environment.empty()) of["environment"] = with.environment;
    // A patch runs on its commit, and not on what lies in the repo.
    if (!with.source.empty() && !launch::has_patch(request)) of["source"] = with.source;
  }
  return drafts;
}

// Ok if the place can start it soon; kBusy if it is full or does not answer.
Result<> find_room(Context& context, const launch::PairRequest& request) {
  const auto capacity = context.launcher->capacity(request);
  if (!capacity) return Error{Error::Kind::kBusy, capacity.error().text};
  if (!capacity->never.empty()) return bad_input(capacity->never);
  if (capacity->room && *capacity->room > 0) return Ok{};
  return Error{Error::Kind::kBusy, "the cluster is full; runs are submitted when it has room"};
}

}  // namespace

std::string head_of(const std::string& repo) { return git_says(repo, {"rev-parse", "HEAD"}); }

Result<int> slots_needed(const model::Spec& spec, const model::Pair& order) {
  const model::Plan a = TRY(make_plan(spec, order.a));
  const model::Plan b = TRY(make_plan(spec, order.b));
  if (order.concurrent) return 2 * std::max(a.cpus, b.cpus);
  int most = std::max(a.cpus, b.cpus);
  for (const model::SharedVariant& variant : order.shared) {
    most = std::max(most, TRY(make_plan(spec, variant.change)).cpus);
  }
  return most;
}

Result<Submission> hand_in(Context& context, const launch::PairRequest& request,
                           const std::vector<ledger::Draft>& drafts, std::int64_t fence) {
  TRY(context.ledger->append(drafts, fence));
  os::fault_point("cycle.reserved");
  const launch::SubmitAnswer answer = context.launcher->submit(std::span(&request, 1)).front();
  if (answer.handover != launch::Handover::kAccepted) {
    return Submission{request.reservation, answer.reason};
  }
  os::fault_point("cycle.launched");
  std::vector<ledger::Draft> submitted{
      {"run.submitted", "cycle", request.reservation, {{"worker_run_id", answer.worker}}}};
  for (std::size_t i = 1; i < drafts.size(); ++i) {
    submitted.push_back(
        {"run.submitted",
         "cycle",
         drafts[i].subject,
         {{"worker_run_id", shared_worker(answer.worker, static_cast<int>(i) + 1)}}});
  }
  TRY(context.ledger->append(submitted, fence));
  os::fault_point("cycle.recorded");
  // Only what is on record may start.
  const launch::RunRef run{request.reservation, request.ticket};
  const auto released = context.launcher->release(std::span(&run, 1));
  return Submission{request.reservation, released ? "" : released.error().text};
}

Result<Submission> submit_pair(Context& context, const ledger::Family& family,
                               const model::Pair& order, const std::vector<int>& cpus,
                               std::int64_t fence) {
  launch::PairRequest request = TRY(request_of(family, order, cpus));
  request.steps = order.steps && can_alternate(request);
  if (request.steps) request.schedule = TRY(schedule_for(context, order));
  request.ledger = TRY(context.ledger->id());
  request.ticket = os::random_hex(kTicketDigits);
  const RanWith with = ran_with(context, family.name, family.spec);
  request.environment = with.environment;
  request.by_agent = TRY(tests_agents_patch(context, order));
  request.sandbox = request.by_agent && !context.config.agent_unsandboxed;
  if (launch::has_patch(request)) request.commit = TRY(commit_for(context, family.spec, order));
  if (launch::has_patch(request) && !family.spec.build.empty()) {
    auto build = TRY(build_first(context, family, request, fence));
    if (build) return *std::move(build);
  }
  if (context.allocates) TRY(find_room(context, request));
  const model::Plan baseline = TRY(make_plan(family.spec, family.baseline).in("baseline"));
  const std::vector<ledger::Draft> reserved =
      reservations(context.config, family, order, request, with, baseline, context.allocates);
  return hand_in(context, request, reserved, fence);
}

}  // namespace amdahl::app
