#include "launch/local/tree.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

// A command to its end; its output if it fails.
Result<std::string> must_run(const std::string& what, std::vector<std::string> argv,
                             const std::string& folder, const std::string& out_dir) {
  observe::RunOrder order;
  order.id = what;
  order.plan.argv = std::move(argv);
  order.plan.workdir = folder;
  order.out_dir = out_dir;
  order.state_dir = out_dir;
  order.time_limit = std::chrono::hours(1);
  TRY(os::make_dirs(out_dir));
  const model::Receipt receipt = TRY(observe::supervise(order, os::real_clock()));
  if (!succeeded(receipt)) {
    return bad_input(fmt::format("{}: {}: {}", what, describe_ending(receipt),
                                 clip(trim(receipt.stderr_tail), 400)));
  }
  return std::string(trim(receipt.stdout_tail));
}

// Where the job's folder is inside the repository.
std::string inside(const std::string& repo, const std::string& workdir) {
  if (workdir == repo || !workdir.starts_with(repo + "/")) return "";
  return workdir.substr(repo.size());
}

}  // namespace

Result<std::string> patched_tree(const std::string& state_dir, const model::Spec& spec,
                                 const model::Plan& plan) {
  const std::string trees = state_dir + "/trees";
  TRY(os::make_dirs(trees));
  const std::string scratch = trees + "/log";
  const std::string commit =
      TRY(must_run("git rev-parse", {"git", "rev-parse", "HEAD"}, spec.repo, scratch));
  const std::string name =
      sha256_hex(commit + "\n" + plan.patch + "\n" + join(spec.build, " ")).substr(0, 16);
  const std::string tree = trees + "/" + name;
  // Two pairs may want the same tree at once: one makes it, the other waits.
  std::optional<os::FileLock> lock;
  while (!(lock = os::FileLock::try_take(tree + ".lock"))) {
    os::real_clock().sleep(std::chrono::milliseconds(100));
  }
  if (!os::exists(tree + ".ready")) {
    if (os::exists(tree)) {  // A crash left it half made.
      TRY(must_run("git worktree remove", {"git", "worktree", "remove", "--force", tree}, spec.repo,
                   scratch));
    }
    TRY(must_run("git worktree add", {"git", "worktree", "add", "--detach", tree, commit},
                 spec.repo, scratch));
    TRY(os::write_file(tree + ".patch", plan.patch));
    TRY(must_run("git apply", {"git", "apply", tree + ".patch"}, tree, scratch));
    if (!spec.build.empty()) TRY(must_run("build", spec.build, tree, scratch));
    TRY(os::write_file(tree + ".ready", commit));
  }
  return tree + inside(spec.repo, spec.workdir);
}

}  // namespace amdahl::launch::local
