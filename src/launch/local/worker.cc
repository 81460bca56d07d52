#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/redact.h"
#include "launch/launcher.h"
#include "launch/local/local.h"
#include "launch/local/patched.h"
#include "model/codec.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"

namespace amdahl::launch {
namespace {

using local::RunFolder;
namespace fs = std::filesystem;

struct Arm {
  std::string name;   // "A" or "B": the folder's name.
  std::string label;  // In the receipt: the same, or "profile".
  const model::Plan* plan;
};

class Worker {
 public:
  Worker(RunFolder folder, PairRequest request)
      : folder_{std::move(folder)},
        request_{std::move(request)},
        // <state>/runs/<reservation>
        state_dir_{fs::path(folder_.path).parent_path().parent_path().string()} {}

  Result<> run() {
    std::vector<Arm> arms{{"A", "A", &request_.a}};
    if (request_.profile) {
      arms.push_back({"B", "profile", &request_.a});
    } else {
      arms.insert(request_.variant_second ? arms.end() : arms.begin(), {"B", "B", &request_.b});
    }
    for (const Arm& arm : arms) {
      TRY(os::make_dirs(folder_.out(arm.name)));
      const model::Receipt receipt = receipt_for(arm);
      TRY(os::write_file(folder_.receipt(arm.name), pretty_json(model::encode(receipt))));
    }
    const Json done{{"at", os::real_clock().unix_time().count()}, {"first", arms.front().name}};
    return os::write_file(folder_.done(), pretty_json(done));
  }

 private:
  model::Receipt receipt_for(const Arm& arm) {
    if (os::exists(folder_.cancelled())) return not_started(arm, "the run was cancelled");
    model::Plan plan = *arm.plan;
    // If one arm is patched, both run in worktrees: the checkout may differ from its commit.
    if (!request_.a.patch.empty() || (!request_.profile && !request_.b.patch.empty())) {
      const auto moved = local::in_patched_tree(request_.spec, plan, state_dir_ + "/trees");
      if (!moved) return not_started(arm, moved.error().text);
      plan = *moved;
    }
    auto receipt = observe::supervise(order_for(arm, plan), os::real_clock());
    if (!receipt) return not_started(arm, receipt.error().text);
    // The plan's digest is of what was asked for, not of where its worktree happens to be.
    model::Receipt sealed = *receipt;
    sealed.plan_digest = model::digest(*arm.plan);
    model::seal(sealed);
    return sealed;
  }

  observe::RunOrder order_for(const Arm& arm, const model::Plan& plan) const {
    const model::Spec& spec = request_.spec;
    observe::RunOrder order;
    order.id = request_.reservation + "/" + arm.name;
    order.family = spec.family;
    order.arm = arm.label;
    order.plan = plan;
    order.cpus = request_.cpus;
    // An arm that asks for fewer slots than its partner gets no more than it pays for.
    const auto wanted = static_cast<std::size_t>(std::max(0, plan.cpus));
    if (wanted > 0 && wanted < order.cpus.size()) order.cpus.resize(wanted);
    order.out_dir = folder_.out(arm.name);
    order.state_dir = state_dir_ + "/plans/" + model::digest(*arm.plan);
    order.time_limit = spec.time_limit;
    order.memory_limit_mb = spec.memory_limit_mb;
    order.work_pattern = spec.work_pattern;
    order.fixed_work = spec.fixed_work;
    for (const model::Output& output : spec.outputs) order.outputs.push_back(output.path);
    order.inputs = spec.inputs;
    order.with_hook = arm.label == "profile";
    return order;
  }

  model::Receipt not_started(const Arm& arm, const std::string& reason) const {
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
    model::seal(receipt);
    return receipt;
  }

  RunFolder folder_;
  PairRequest request_;
  std::string state_dir_;
};

}  // namespace

Result<> run_pair(const std::string& run_dir) {
  const RunFolder folder{os::absolute(run_dir)};
  const auto claim = os::FileLock::try_take(folder.claim());
  if (!claim || os::exists(folder.started()) || os::exists(folder.cancelled())) return Ok{};
  const std::string text = TRY(os::read_file(folder.request()));
  const Json json = TRY(parse_json(text).in(folder.request()));
  PairRequest request = TRY(decode_request(json).in(folder.request()));
  const Json started{{"pid", ::getpid()},
                     {"boot_id", os::boot_id()},
                     {"host", os::host_name()},
                     {"at", os::real_clock().unix_time().count()}};
  TRY(os::write_file(folder.started(), pretty_json(started)));
  return Worker(folder, std::move(request)).run();
}

}  // namespace amdahl::launch
