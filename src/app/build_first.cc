// A patch is built by a run of its own, so that no accelerator waits for a compiler.
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/pairs.h"
#include "app/work.h"
#include "base/text.h"
#include "launch/local/patched.h"
#include "model/pair.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

constexpr int kMostBuilds = 3;  // Of one tree, within so long: they may be lost, or reach nothing.
constexpr Nanos kWithin = std::chrono::hours(1);

struct NeededTree {
  const model::Plan* plan = nullptr;
  bool by_agent = false;
};

// Each arm that runs in a worktree, the baseline first.
std::vector<NeededTree> trees_of(const launch::PairRequest& request) {
  std::vector<NeededTree> wanted{{&request.a, false}};
  if (!request.profile) wanted.push_back({&request.b, request.by_agent});
  for (const model::Plan& plan : request.more) wanted.push_back({&plan, request.by_agent});
  return wanted;
}

launch::PairRequest build_of(const launch::PairRequest& pair, const NeededTree& wanted,
                             const std::string& id) {
  launch::PairRequest build;
  build.reservation = id;
  build.spec = pair.spec;
  build.spec.layout = {};  // One node is enough.
  build.a = *wanted.plan;
  build.b = pair.a;
  build.cpus = pair.cpus;
  build.commit = pair.commit;
  build.ledger = pair.ledger;
  build.ticket = os::random_hex(kTicketDigits);
  build.environment = pair.environment;
  build.sandbox = pair.sandbox;
  build.by_agent = wanted.by_agent;
  build.build = true;
  return build;
}

// Where runs have allocations, the build has one; else a helper does it, or reconcile() in the end.
Result<Submission> begin(Context& context, const ledger::Family& family,
                         const launch::PairRequest& request, const model::Aim& aim, int index,
                         std::int64_t fence) {
  if (context.allocates) {
    const auto capacity = context.launcher->capacity(request);
    if (!capacity) return Error{Error::Kind::kBusy, capacity.error().text};
    if (!capacity->never.empty()) return bad_input(capacity->never);
  }
  const Nanos most = launch::longest_arms(request);
  const double usd = bill(context.config, AcceleratorSeconds{0}, request.a.cpus * most).count();
  const ledger::Draft draft{"run.reserved",
                            "cycle",
                            request.reservation,
                            {{"family", family.name},
                             {"experiment", ""},
                             {"purpose", text_of(aim)},
                             {"index", index},
                             {"variant_second", false},
                             {"reserved_accelerator_s", 0.0},
                             {"reserved", {{"usd", usd}}},
                             {"cpus", request.cpus},
                             {"request", launch::encode_request(request)}}};
  if (!context.allocates) {
    TRY(note(context, draft, fence));
    return Submission{"", "", request.reservation, true};
  }
  Submission made = TRY(hand_in(context, request, {draft}, fence));
  return Submission{"", made.problem, made.reservation, true};
}

}  // namespace

Result<std::optional<Submission>> build_first(Context& context, const ledger::Family& family,
                                              launch::PairRequest& request, std::int64_t fence) {
  if (!context.allocates && !WorkFolder(context).has_helper()) return std::optional<Submission>();
  request.built = true;
  for (const NeededTree& wanted : trees_of(request)) {
    const std::string tree = TRY(
        launch::local::tree_path(request.spec, *wanted.plan, context.path("trees"), request.commit,
                                 {request.sandbox, wanted.by_agent, request.a.patch}));
    if (launch::local::is_built(tree)) continue;
    request.built = false;
    const model::Aim aim{model::Purpose::kBuild, tree.substr(tree.rfind('/') + 1)};
    const std::vector<model::Pair> runs = TRY(context.ledger->family_runs(family.name, aim));
    const auto open = std::ranges::find_if(runs, model::in_flight);
    if (open != runs.end()) return std::optional(Submission{"", "", open->reservation, false});
    const Nanos recent = context.clock->unix_time() - kWithin;
    const auto tried =
        std::ranges::count_if(runs, [&](const model::Pair& run) { return run.at > recent; });
    if (tried >= kMostBuilds) continue;
    const int index = next_index(runs);
    const std::string id = fmt::format("r-build-{}-{}", aim.target, index);
    const launch::PairRequest build = build_of(request, wanted, id);
    return std::optional(TRY(begin(context, family, build, aim, index, fence)));
  }
  return std::optional<Submission>();
}

}  // namespace amdahl::app
