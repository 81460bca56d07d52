#include "app/profile_command.h"

#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/private_state.h"
#include "base/json.h"
#include "base/text.h"
#include "model/codec.h"
#include "observe/nsight.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "profile/classify.h"

namespace amdahl::app {
namespace {

// Inside the tool that was asked for, if any.
Result<std::optional<observe::Nsight>> wrap(const ProfileCommand& command,
                                            observe::RunOrder& order) {
  if (command.nsys && command.ncu) {
    return bad_input(
        "--nsys and --ncu cannot be combined: each replays or serialises the "
        "device; profile twice");
  }
  std::optional<observe::Nsight> tool;
  if (command.nsys) tool = TRY(observe::in_nsys(order.plan.argv, order.out_dir));
  if (command.ncu) tool = TRY(observe::in_ncu(order.plan.argv, order.out_dir));
  if (tool) order.plan.argv = tool->argv;
  return tool;
}

// A tick of a clock is a large part of less.
constexpr Nanos kShortest = std::chrono::milliseconds(200);

void forget_causes(Nanos wall, model::Profile& profile) {
  profile.causes.clear();
  profile.bottleneck = model::Bottleneck::kUnknown;
  profile.rule = fmt::format("it ran for {} ms, too short to tell; profile a longer run",
                             show_number(1000 * to_seconds(wall)));
}

}  // namespace

Result<CommandProfile> profile_command(const Config& config, const ProfileCommand& command) {
  if (command.run.argv.empty() && command.run.spec_file.empty()) {
    return bad_input("nothing to profile; type: amdahl profile -- CMD");
  }
  observe::RunOrder order = TRY(order_of(command.run));
  model::Spec spec;
  spec.family = order.family;
  spec.command = order.plan.argv;
  spec.workdir = order.plan.workdir;
  // Where nothing was asked for, it gets all there are.
  const bool asked = command.run.accelerators > 0 || !command.run.spec_file.empty();
  spec.accelerators = asked ? order.plan.accelerators : 0;
  order.id = fmt::format("p-{}", os::random_hex(8));
  order.arm = "profile";
  order.out_dir = fmt::format("{}/profiles/{}", config.state_dir, order.id);
  order.state_dir = fmt::format("{}/jobs-state/{}", config.state_dir, order.family);
  order.pass_input = true;
  order.pass_output = !command.run.quiet;
  order.with_hook = true;
  order.with_waits = true;
  order.with_syscalls = command.syscalls;
  TRY(make_private_state(config.state_dir));
  TRY(make_state(order.out_dir));
  const std::optional<observe::Nsight> tool = TRY(wrap(command, order));

  CommandProfile result;
  result.folder = order.out_dir;
  result.receipt = TRY(observe::supervise(order, os::real_clock()));
  if (result.receipt.ending == model::Ending::kNotStarted) return result;
  result.cut_short = profile::was_cut_short(result.receipt);
  TRY(os::write_file(order.out_dir + "/receipt.json", dump_json(encode(result.receipt))));
  Collected collected = collected_in(order.out_dir);
  const std::string trouble = tool ? observe::trouble_of(*tool) : "";
  if (!trouble.empty()) std::erase(collected.traces, tool->output);
  result.joined = join_collected(spec, result.receipt, collected, {});
  if (!trouble.empty()) result.joined.problems.push_back(trouble);
  if (result.receipt.wall < kShortest) forget_causes(result.receipt.wall, result.joined.profile);
  result.joined.profile.id = order.id;
  result.joined.profile.family = order.family;
  result.joined.profile.at = os::real_clock().unix_time();
  return result;
}

}  // namespace amdahl::app
