#include "launch/local/tree_steps.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "launch/launcher.h"
#include "launch/local/own_workdir.h"
#include "observe/supervisor.h"
#include "os/clock.h"

namespace amdahl::launch::local {
namespace {

constexpr int kMostCopiedOfTreeGib = 20;  // Once a patch.

}  // namespace

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

Result<std::string> Steps::try_in_tree(const std::vector<std::string>& argv,
                                       const std::string& tree,
                                       const std::map<std::string, std::string>& env) {
  if (!jail_) return run(argv, tree, env, std::nullopt);
  const std::string copy = tree + ".check";
  TRY(copy_workdir(tree, copy, kMostCopiedOfTreeGib));
  auto said = run(argv, tree, env, jail_, copy);
  std::error_code ignored;
  std::filesystem::remove_all(copy, ignored);
  return said;
}

Result<std::string> Steps::run(const std::vector<std::string>& argv, const std::string& workdir,
                               const std::map<std::string, std::string>& env,
                               std::optional<os::Jail> jail, const std::string& own_workdir) {
  observe::RunOrder order;
  order.own_workdir = own_workdir;
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
