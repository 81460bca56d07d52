#include "launch/local/tree_steps.h"

#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "launch/launcher.h"
#include "observe/supervisor.h"
#include "os/clock.h"

namespace amdahl::launch::local {

Result<std::string> Steps::run(const std::vector<std::string>& argv, const std::string& workdir) {
  return run(argv, workdir, {}, std::nullopt);
}

Result<std::string> Steps::run_in_tree(const std::vector<std::string>& argv,
                                       const std::string& tree,
                                       const std::map<std::string, std::string>& env) {
  std::optional<os::Jail> jail = jail_;
  if (jail) jail->writable.push_back(tree);
  return run(argv, tree, env, std::move(jail));
}

Result<std::string> Steps::run(const std::vector<std::string>& argv, const std::string& workdir,
                               const std::map<std::string, std::string>& env,
                               std::optional<os::Jail> jail) {
  observe::RunOrder order;
  order.id = "step";
  order.family = "step";
  order.plan.argv = argv;
  order.plan.env = env;
  order.plan.workdir = workdir;
  order.out_dir = out_dir_;
  order.time_limit = kBuildLimit;
  order.jail = std::move(jail);
  const model::Receipt receipt = TRY(observe::supervise(order, os::real_clock()));
  cpu_ += receipt.cpu_user + receipt.cpu_system;
  if (model::succeeded(receipt)) return std::string(trim(receipt.stdout_tail));
  std::string_view said = trim(receipt.stderr_tail);
  if (said.empty()) said = trim(receipt.stdout_tail);
  return external(fmt::format("{}: {}: {}", shell_quote(argv), receipt.reason, said));
}

}  // namespace amdahl::launch::local
