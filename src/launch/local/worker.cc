#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/redact.h"
#include "base/text.h"
#include "launch/environment.h"
#include "launch/launcher.h"
#include "launch/local/allocation.h"
#include "launch/local/arms.h"
#include "launch/local/local.h"
#include "launch/local/neighbours.h"
#include "launch/local/nodes.h"
#include "launch/local/own_workdir.h"
#include "launch/local/patched.h"
#include "launch/local/record.h"
#include "launch/local/together.h"
#include "launch/source.h"
#include "launch/steps.h"
#include "model/codec.h"
#include "observe/child.h"
#include "observe/inputs.h"
#include "observe/supervisor.h"
#include "os/bubblewrap.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"
#include "os/lock.h"
#include "os/reserve.h"

namespace amdahl::launch {
namespace {

using local::Arm;
using local::RunFolder;
namespace fs = std::filesystem;

constexpr int kMostInFlight = 1000;
constexpr int kMostCopiedGib = 2;  // Before each run.

std::optional<std::string> visible_devices(const model::Plan& plan) {
  if (const auto set = plan.env.find("CUDA_VISIBLE_DEVICES"); set != plan.env.end()) {
    return set->second;
  }
  const char* inherited = std::getenv("CUDA_VISIBLE_DEVICES");
  return inherited ? std::optional<std::string>(inherited) : std::nullopt;
}

class Worker {
 public:
  Worker(RunFolder folder, PairRequest request)
      : folder_{std::move(folder)},
        request_{std::move(request)},
        // <state>/runs/<reservation>
        state_dir_{fs::path(folder_.path).parent_path().parent_path().string()} {}

  // What its arms leave must be kept even if the disk is full by then.
  Result<> reserve_space() const {
    constexpr std::size_t kReceipt = 64 * 1024;
    constexpr std::size_t kDone = 4 * 1024;
    if (const auto arms = local::arms_of(request_)) {
      for (const Arm& arm : *arms) TRY(os::take_space(space_for(arm.name), kReceipt));
    }
    return os::take_space(space_for("done"), kDone);
  }

  Result<> run() {
    if (request_.build) return build();
    // What ranks on other nodes write must be where all of them see it.
    if (request_.allocated && !spans_nodes()) scratch_ = local::make_scratch(request_.ticket);
    const auto arms = local::arms_of(request_);
    if (!arms) return finish({}, arms.error().text);
    TRY(os::make_dirs(state_dir_ + "/plans"));
    take_state_folders(*arms);
    // All that takes time comes first, so that the arms are neighbours in time.
    std::vector<Ready> ready;
    for (const Arm& arm : *arms) ready.push_back(TRY(make_ready(arm)));
    if (!worth_starting(ready)) return spend_none(ready, *arms);
    if (request_.steps) {
      const auto told = tell_of_steps(ready.front());
      if (!told) return finish({}, told.error().text);
    }
    std::optional<local::Neighbours> neighbours;
    if (request_.contended) {
      auto made = local::Neighbours::on(request_.cpus);
      if (!made) return finish({}, made.error().text);
      neighbours.emplace(*std::move(made));
    }
    if (request_.concurrent) {
      TRY(run_at_once(ready));
    } else {
      for (Ready& arm : ready) {
        limit_by_baseline(arm);
        TRY(run_one(arm));
      }
    }
    const bool deserted = neighbours && !neighbours->all_there();
    neighbours.reset();  // Whoever sees that it is done may use the slots.
    return finish(*arms, deserted ? "a load process died while the arms ran" : "");
  }

 private:
  struct Ready {
    Arm arm;
    observe::RunOrder order;
    std::string reason;  // Why it cannot start; empty if it can.
    model::NeverRuns never = model::NeverRuns::kNo;
    bool too_dear_after = false;  // Its time limit is that of an arm that costs too much.
  };

  // A job may write wherever we may: changes to receipts of other arms are undone.
  Result<> finish(const std::vector<Arm>& arms, const std::string& problem) const {
    Json done{{"at", os::real_clock().unix_time().count()},
              {"monotonic_ns", os::real_clock().monotonic().count()},
              {"arms", Json::array()}};
    for (const Arm& arm : arms) done["arms"].push_back(arm.name);
    if (!arms.empty()) done["first"] = arms.front().name;
    if (build_wall_ > Nanos{0}) {
      done["build_wall_ns"] = build_wall_.count();
      done["build_cpu_ns"] = build_cpu_.count();
    }
    if (!problem.empty() || !problem_.empty()) {
      done["problem"] = problem.empty() ? problem_ : problem;
    } else if (disk_was_full_) {
      done["problem"] = "the disk of the state folder was full while an arm failed";
    }
    TRY(local::keep_scratch(scratch_, folder_.path));
    for (const Arm& arm : arms) {
      os::free_space(space_for(arm.name));
      std::error_code ignored;
      fs::remove_all(own_workdir(arm), ignored);
    }
    for (const auto& [arm, text] : kept_) {
      const auto there = os::read_left(folder_.receipt(arm));
      if (there && *there == text) continue;
      TRY(os::write_file(folder_.receipt(arm), text));
      done["restored"].push_back(arm);
    }
    return os::write_in_space(space_for("done"), folder_.done(), pretty_json(done));
  }

  std::string space_for(const std::string& what) const {
    return fmt::format("{}/space-{}", folder_.path, what);
  }

  // The pairs that need the tree find there what came of it, also a failure of the patch's own.
  Result<> build() {
    TRY(os::make_dirs(state_dir_ + "/plans"));
    std::string why_not;
    if (request_.sandbox && !os::can_jail(&why_not)) return finish({}, why_not);
    const local::Patched made =
        local::build_tree(request_.spec, request_.a, state_dir_ + "/trees", request_.commit,
                          {request_.sandbox, request_.by_agent, request_.b.patch});
    build_wall_ = made.wall;
    build_cpu_ = made.cpu;
    const bool ours = !made.plan && made.never == model::NeverRuns::kNo && !made.reached;
    return finish({}, ours ? made.plan.error().text : "");
  }

  bool spans_nodes() const { return request_.spec.layout.nodes > 1; }

  std::string rank_mark(const Arm& arm) const { return request_.ticket + "/" + arm.name; }

  bool cancelled() const { return interrupted_ || os::exists(folder_.cancelled()); }

  Result<Ready> make_ready(const Arm& arm) {
    TRY(os::make_dirs(folder_.out(arm.name)));
    Ready ready{arm, {}, "", model::NeverRuns::kNo, false};
    model::Plan plan = *arm.plan;
    std::string tree;
    if (cancelled()) return ready;
    if (std::string why_not; request_.sandbox && !os::can_jail(&why_not)) {
      ready.reason = fmt::format(
          "a model's patch runs in a sandbox only, and that does not work on {}: {}. Install "
          "bubblewrap, or set agent.unsandboxed = true",
          os::host_name(), why_not);
    } else if (has_patch(request_)) {
      const local::Patched made = local::make_patched(
          request_.spec, plan, state_dir_ + "/trees", request_.commit,
          {request_.sandbox, request_.by_agent && arm.name != "A", request_.a.patch});
      build_wall_ += made.wall;
      build_cpu_ += made.cpu;
      tree = made.tree;
      if (!made.plan) ready.reason = made.plan.error().text;
      if (!made.plan) ready.never = made.never;
      if (made.plan) plan = *made.plan;
    }
    if (request_.allocated && !spans_nodes()) local::limit_devices(own_environment(), plan);
    if (spans_nodes()) local::limit_steps(request_.spec.layout.nodes, rank_mark(arm), plan);
    TRY(local::fill_in_meeting_point(plan));
    ready.order = order_for(arm, plan);
    if (request_.sandbox) put_in_sandbox(tree, ready);
    if (request_.concurrent && ready.reason.empty()) {
      // Inputs without a fingerprint are read now, not while the other arm runs.
      observe::fingerprint(ready.order.inputs, plan.workdir,
                           ready.order.state_dir + "/inputs.json");
    }
    return ready;
  }

  // The code is read-only. If the job writes outputs beside it, each run has a copy of its own. No
  // arm sees another's results, or those of an earlier run.
  void put_in_sandbox(const std::string& tree, Ready& ready) const {
    os::Jail& jail = ready.order.jail.emplace();
    jail.network = request_.spec.network;
    jail.hidden = {state_dir_};
    jail.readable = {request_.spec.repo, request_.spec.workdir, tree};
    for (const std::string& input : request_.spec.inputs) {
      if (input.starts_with('/')) jail.readable.push_back(input);
    }
    if (!local::writes_beside_code(request_.spec) || !ready.reason.empty()) return;
    ready.order.own_workdir = own_workdir(ready.arm);
    const auto copied =
        local::copy_workdir(ready.order.plan.workdir, ready.order.own_workdir, kMostCopiedGib);
    if (!copied) ready.reason = copied.error().text;
  }

  std::string own_workdir(const Arm& arm) const {
    return fmt::format("{}/workdir-{}", folder_.path, arm.name);
  }

  std::string state_folder(const model::Plan& plan) const {
    return fmt::format("{}/plans/{}{}", state_dir_, model::digest(plan), numbered_);
  }

  // A plan keeps its state folder between runs, and pairs in flight must not share one: uses the
  // first number whose folders no other worker holds, the same for all arms.
  void take_state_folders(const std::vector<Arm>& arms) {
    std::set<std::string> folders;
    for (int number = 1; number <= kMostInFlight; ++number) {
      numbered_ = number == 1 ? "" : fmt::format("-{}", number);
      folders.clear();
      for (const Arm& arm : arms) folders.insert(state_folder(*arm.plan));
      held_folders_.clear();
      for (const std::string& folder : folders) {
        auto lock = os::FileLock::try_take(folder + ".lock");
        if (lock) held_folders_.push_back(*std::move(lock));
      }
      if (held_folders_.size() == folders.size()) return;
    }
    numbered_ = "-" + request_.reservation;
  }

  // Without the baseline, or without any variant, the other arms would be run for nothing.
  static bool worth_starting(const std::vector<Ready>& ready) {
    bool any = false;
    for (const Ready& arm : ready) {
      const bool is_a = arm.arm.name == "A";
      if (is_a && !arm.reason.empty()) return false;
      any |= (!is_a || ready.size() == 1) && arm.reason.empty();
    }
    return any;
  }

  Result<> spend_none(const std::vector<Ready>& ready, const std::vector<Arm>& arms) {
    std::string culprit;
    for (const Ready& arm : ready) {
      if (!arm.reason.empty()) culprit = arm.arm.name;
    }
    const std::string others = fmt::format("not run: arm {} cannot start", culprit);
    for (const Ready& arm : ready) {
      const bool sound = arm.reason.empty();
      model::Receipt receipt = not_started(arm.arm, sound ? others : arm.reason, arm.never);
      receipt.held_back = sound;
      model::seal(receipt);
      TRY(keep(arm.arm, receipt));
    }
    return finish(arms, "");
  }

  observe::RunOrder order_for(const Arm& arm, const model::Plan& plan) const {
    const model::Spec& spec = request_.spec;
    observe::RunOrder order;
    order.id = request_.reservation + "/" + arm.name;
    order.family = spec.family;
    order.arm = arm.label;
    order.plan = plan;
    if (!spans_nodes()) order.cpus = arm.cpus;
    order.out_dir = scratch_.empty() ? folder_.out(arm.name) : scratch_ + "/" + arm.name;
    order.state_dir = state_folder(*arm.plan);
    // Two concurrent runs of one plan must not write into one folder.
    const bool same = model::digest(request_.a) == model::digest(request_.b);
    if (request_.concurrent && same && arm.name == "B") order.state_dir += "-B";
    observe::take_spec(spec, order);
    // What a sandbox may not write to, it must not have removed either.
    if (!request_.sandbox) order.results_list = local::results_list_of(state_dir_, spec);
    order.with_hook = arm.label == "profile";
    order.with_waits = order.with_hook && !spans_nodes();  // Of srun they tell nothing.
    return order;
  }

  // One process, started as A, that gets the schedule of arms and their settings.
  Result<> tell_of_steps(Ready& ready) const {
    const auto fill = [&](const std::string& text) { return observe::fill_in(text, ready.order); };
    const Json settings = TRY(step_settings(request_.spec, request_.a, request_.b, fill));
    TRY(os::write_file(folder_.schedule(), request_.schedule));
    ready.order.plan.env["AMDAHL_STEPS"] = folder_.schedule();
    ready.order.plan.env["AMDAHL_STEPS_ARMS"] = dump_json(settings);
    return Ok{};
  }

  Result<> run_one(const Ready& ready) {
    model::Receipt receipt = receipt_for(ready);
    interrupted_ |= receipt.ending == model::Ending::kCancelled;
    if (ready.arm.name == "A" && succeeded(receipt)) baseline_cost_ = cost(receipt);
    if (ready.too_dear_after && receipt.ending == model::Ending::kTimeLimit) {
      local::say_too_dear(receipt);
      model::seal(receipt);
    }
    return keep(ready.arm, receipt);
  }

  // A variant that has already cost several times its baseline cannot win: stop it.
  void limit_by_baseline(Ready& ready) const {
    if (!baseline_cost_) return;
    const auto limit = local::too_dear_after(ready.arm, *baseline_cost_, ready.order.time_limit);
    if (!limit) return;
    ready.order.time_limit = *limit;
    ready.too_dear_after = true;
  }

  Result<> keep(const Arm& arm, const model::Receipt& receipt) {
    std::string& text = kept_[arm.name];
    text = pretty_json(model::encode(receipt));
    // Whoever fails for want of space is not to blame for it.
    disk_was_full_ |= !succeeded(receipt) && os::is_disk_full(folder_.path);
    return os::write_in_space(space_for(arm.name), folder_.receipt(arm.name), text);
  }

  Result<> run_at_once(const std::vector<Ready>& ready) {
    std::vector<local::Task> tasks;
    for (const Ready& arm : ready) {
      tasks.push_back({arm.order.cpus, [this, &arm] {
                         const auto kept = run_one(with_devices(arm));
                         // To the worker's log: the parent sees only the exit status.
                         if (!kept)
                           fmt::print(stderr, "arm {}: {}\n", arm.arm.name, kept.error().text);
                         return bool{kept};
                       }});
    }
    const local::TaskResults results = TRY(local::run_together(tasks));
    interrupted_ |= results.interrupted;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (results.well[i]) continue;
      // The signal may arrive before the arm's process handles it, or after its job has ended.
      const Arm& arm = ready[i].arm;
      if (!cancelled()) return external(fmt::format("the supervisor of arm {} died", arm.name));
      TRY(keep(arm, not_begun(arm)));
    }
    return Ok{};
  }

  // Runs in the arm's own process: NVML must be initialised after the fork.
  Ready with_devices(Ready ready) const {
    const int each = std::max(request_.a.accelerators, request_.b.accelerators);
    model::Plan& plan = ready.order.plan;
    const auto devices = local::devices_for(visible_devices(plan), observe::gpu_count(),
                                            ready.arm.half, each, plan.accelerators);
    if (!devices && ready.reason.empty()) ready.reason = devices.error().text;
    if (devices && !devices->empty()) plan.env["CUDA_VISIBLE_DEVICES"] = *devices;
    return ready;
  }

  model::Receipt receipt_for(const Ready& ready) {
    if (cancelled()) return not_begun(ready.arm);
    if (!ready.reason.empty()) return not_started(ready.arm, ready.reason, ready.never);
    // Its output is elsewhere until the end; if the worker dies, this shows which arm ran.
    if (!scratch_.empty()) {
      const auto marked = os::write_file(folder_.out(ready.arm.name) + "/stdout", "");
      if (!marked) return not_started(ready.arm, marked.error().text);
    }
    // The reservation names the commit of a patched arm.
    const std::string source = has_patch(request_) ? "" : source_of(request_.spec);
    std::optional<local::NodeObservers> observers;
    if (spans_nodes()) {
      const int nodes = request_.spec.layout.nodes;
      auto made = local::NodeObservers::start({nodes, folder_.out(ready.arm.name) + "/nodes",
                                               rank_mark(ready.arm),
                                               ready.order.plan.accelerators / nodes});
      if (!made) {
        problem_ = made.error().text;
        return not_started(ready.arm, problem_);
      }
      observers.emplace(*std::move(made));
    }
    auto receipt = observe::supervise(ready.order, os::real_clock());
    if (!receipt) return not_started(ready.arm, receipt.error().text);
    // Digest the requested plan, which does not depend on where the worktree is.
    model::Receipt sealed = *receipt;
    if (observers) observers->finish(sealed);
    sealed.source = source;
    // With AMDAHL_WORKER the site's own program sets the environment, the same for all workers.
    const bool by_other = !os::env_or("AMDAHL_WORKER", "").empty() || local::has_modules();
    sealed.environment = by_other ? "" : digest(own_environment());
    sealed.plan_digest = model::digest(*ready.arm.plan);
    model::seal(sealed);
    return sealed;
  }

  // Cancelled before the arm started: not a failure of the arm.
  model::Receipt not_begun(const Arm& arm) const {
    model::Receipt receipt = not_started(arm, "the run was cancelled");
    receipt.ending = model::Ending::kCancelled;
    model::seal(receipt);
    return receipt;
  }

  model::Receipt not_started(const Arm& arm, const std::string& reason,
                             model::NeverRuns never = model::NeverRuns::kNo) const {
    model::Receipt receipt;
    receipt.id = request_.reservation + "/" + arm.name;
    receipt.family = request_.spec.family;
    receipt.arm = arm.label;
    receipt.plan_digest = model::digest(*arm.plan);
    receipt.host = os::host_name();
    receipt.boot_id = os::boot_id();
    receipt.hardware = observe::hardware();
    receipt.accelerators = arm.plan->accelerators;
    receipt.started = os::real_clock().unix_time();
    receipt.ending = model::Ending::kNotStarted;
    receipt.reason = redact(reason);
    receipt.never_runs = never;
    model::seal(receipt);
    return receipt;
  }

  RunFolder folder_;
  PairRequest request_;
  std::string state_dir_;
  std::string scratch_;   // Where the arms write until the end; empty: into the run's folder.
  std::string numbered_;  // What follows the digest in the names of state folders.
  std::vector<os::FileLock> held_folders_;
  Nanos build_wall_{};
  Nanos build_cpu_{};
  std::map<std::string, std::string> kept_;          // Receipts as they were written, by arm.
  std::optional<AcceleratorSeconds> baseline_cost_;  // Of A, once it has run well.
  std::string problem_;                              // Of the place: nothing counts.
  bool disk_was_full_ = false;
  bool interrupted_ = false;  // A signal ended an arm: the rest is not wanted.
};

}  // namespace

Result<> run_pair(const std::string& run_dir) {
  const RunFolder folder{os::absolute(run_dir)};
  if (local::has_begun(folder)) return Ok{};
  const std::string text = TRY(os::read_file(folder.request()));
  const Json json = TRY(parse_json(text).in(folder.request()));
  return local::run_request(folder, TRY(decode_request(json).in(folder.request())));
}

Result<> local::run_request(const RunFolder& folder, PairRequest request) {
  std::optional<os::FileLock> lock;
  if (request.allocated) {
    // Locks on a shared file system are unreliable; an exclusive create is not.
    std::error_code error;
    if (!fs::create_directory(folder.path + "/taken", error) || local::has_begun(folder)) {
      return Ok{};
    }
    const std::string state_dir = fs::path(folder.path).parent_path().parent_path().string();
    TRY(local::take_environment(state_dir, request));
    const int job = to_number<int>(os::env_or("SLURM_JOB_ID", "0")).value_or(0);
    request.cpus = local::cpus_for(request, os::affinity_cpus(), job);
    if (request.spec.layout.nodes > 1 && !request.contended) request.cpus.clear();
  } else {
    lock = os::FileLock::try_take(folder.claim());
    if (!lock || local::has_begun(folder)) return Ok{};
  }
  const Json started{{"pid", ::getpid()},
                     {"boot_id", os::boot_id()},
                     {"host", os::host_name()},
                     {"at", os::real_clock().unix_time().count()},
                     {"monotonic_ns", os::real_clock().monotonic().count()}};
  Worker worker(folder, std::move(request));
  TRY(worker.reserve_space());
  TRY(os::write_file(folder.started(), pretty_json(started)));
  return worker.run();
}

}  // namespace amdahl::launch
