#include "launch/local/patched.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

constexpr Nanos kBuildLimit = std::chrono::hours(1);

// What the command printed; an error with the end of its complaints if it failed.
Result<std::string> run_step(const std::vector<std::string>& argv, const std::string& workdir,
                             const std::string& out_dir) {
  observe::RunOrder order;
  order.id = "step";
  order.family = "step";
  order.plan.argv = argv;
  order.plan.workdir = workdir;
  order.out_dir = out_dir;
  order.time_limit = kBuildLimit;
  const model::Receipt receipt = TRY(observe::supervise(order, os::real_clock()));
  if (model::succeeded(receipt)) return std::string(trim(receipt.stdout_tail));
  std::string_view said = trim(receipt.stderr_tail);
  if (said.empty()) said = trim(receipt.stdout_tail);
  return external(fmt::format("{}: {}: {}", shell_quote(argv), receipt.reason, said));
}

std::optional<os::FileLock> wait_for_lock(const std::string& path) {
  const Nanos give_up = os::real_clock().monotonic() + kBuildLimit;
  while (os::real_clock().monotonic() < give_up) {
    if (auto lock = os::FileLock::try_take(path)) return lock;
    os::real_clock().sleep(std::chrono::milliseconds(100));
  }
  return std::nullopt;
}

Result<> make_tree(const model::Spec& spec, const model::Plan& plan, const std::string& commit,
                   const std::string& tree, const std::string& steps, model::NeverRuns* never) {
  const auto or_never = [&](Result<std::string> step, model::NeverRuns why) {
    if (!step && never) *never = why;
    return std::move(step).in(name(why));
  };
  std::error_code ignored;
  fs::remove_all(tree, ignored);  // Half a tree of a worker that died.
  TRY(run_step({"git", "-C", spec.repo, "worktree", "prune"}, spec.repo, steps));
  TRY(run_step({"git", "-C", spec.repo, "worktree", "add", "--detach", "--force", tree, commit},
               spec.repo, steps));
  if (!plan.patch.empty()) {
    TRY(os::write_file(steps + "/change.patch", plan.patch));
    TRY(or_never(
        run_step({"git", "apply", "--whitespace=nowarn", steps + "/change.patch"}, tree, steps),
        model::NeverRuns::kPatchDoesNotApply));
  }
  if (!spec.build.empty()) {
    TRY(or_never(run_step(spec.build, tree, steps), model::NeverRuns::kBuildFailed));
  }
  return Ok{};
}

// Where a file or folder of the checkout lies in the worktree; nothing if it lies elsewhere, or is
// neither in the commit nor made by the build (data and results beside the code stay where they
// are).
std::optional<std::string> twin(const std::string& path, const fs::path& top,
                                const std::string& tree) {
  if (!path.starts_with('/')) return std::nullopt;
  std::error_code ignored;
  const fs::path inside = fs::weakly_canonical(path, ignored).lexically_relative(top);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  const fs::path moved = (fs::path(tree) / inside).lexically_normal();
  if (!fs::exists(moved, ignored)) return std::nullopt;
  return moved.string();
}

// A file that a word of the command names, alone or as --name=FILE. Folders stay: they are as often
// where data lie as where code does.
bool move_word(std::string& word, const fs::path& top, const std::string& tree) {
  const std::size_t at = word.starts_with('-') ? word.find('=') + 1 : 0;  // npos + 1 is 0.
  const auto moved = twin(word.substr(at), top, tree);
  std::error_code ignored;
  if (!moved || !fs::is_regular_file(*moved, ignored)) return false;
  word.replace(at, std::string::npos, *moved);
  return true;
}

// Each folder of a list such as PYTHONPATH.
bool move_list(std::string& list, const fs::path& top, const std::string& tree) {
  std::string made;
  bool any = false;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const std::string part = list.substr(at, end - at);
    const auto moved = twin(part, top, tree);
    any = any || moved;
    made += (at == 0 ? "" : ":") + moved.value_or(part);
    at = end + 1;
  }
  list = made;
  return any;
}

// Whether anything of the plan lies in the worktree now.
bool move_plan(model::Plan& plan, const fs::path& top, const std::string& tree) {
  bool any = false;
  for (std::string& word : plan.argv) any = move_word(word, top, tree) || any;
  for (auto& [name, value] : plan.env) {
    if (name.ends_with("PATH")) any = move_list(value, top, tree) || any;
  }
  std::error_code ignored;
  const fs::path inside = fs::weakly_canonical(plan.workdir, ignored).lexically_relative(top);
  if (inside.empty() || *inside.begin() == "..") return any;
  plan.workdir = (fs::path(tree) / inside).lexically_normal().string();
  return true;
}

}  // namespace

Result<model::Plan> in_patched_tree(const model::Spec& spec, const model::Plan& plan,
                                    const std::string& trees_dir, const std::string& at_commit,
                                    model::NeverRuns* never) {
  if (spec.repo.empty()) return bad_input("a patch needs repo = \"...\" in the job's spec");
  TRY(os::make_dirs(trees_dir));
  const std::string probe = fmt::format("{}/.steps-{}", trees_dir, ::getpid());
  const std::string commit =
      at_commit.empty() ? TRY(run_step({"git", "-C", spec.repo, "rev-parse", "HEAD"}, "/", probe))
                        : at_commit;
  const std::string top =
      TRY(run_step({"git", "-C", spec.repo, "rev-parse", "--show-toplevel"}, "/", probe));
  const std::string digest =
      sha256_hex(fmt::format("{}\n{}\n{}\n{}", top, commit, shell_quote(spec.build), plan.patch))
          .substr(0, 16);
  const std::string tree = trees_dir + "/" + digest;

  std::error_code ignored;
  fs::remove_all(probe, ignored);
  const auto lock = wait_for_lock(tree + ".lock");
  if (!lock) return external("another worker has been building this patch for an hour");
  if (!os::exists(tree + ".ready")) {
    TRY(make_tree(spec, plan, commit, tree, tree + ".steps", never));
    TRY(os::write_file(tree + ".ready", commit + "\n"));
  }
  model::Plan moved = plan;
  if (!move_plan(moved, fs::weakly_canonical(top, ignored), tree)) {
    return bad_input(
        fmt::format("neither workdir {} nor a file of the command is inside the repo {}, so a "
                    "patch cannot reach it",
                    plan.workdir, top));
  }
  return moved;
}

}  // namespace amdahl::launch::local
