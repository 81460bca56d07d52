#include "launch/local/patched.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "launch/launcher.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

// A failure may have been the machine's; after that it is tried again.
constexpr Nanos kFailedFor = std::chrono::hours(1);
constexpr std::size_t kMostLinks = 1000;  // Of files and folders beside the code.

// Commands in a row, and what CPU time they took.
class Steps {
 public:
  explicit Steps(std::string out_dir) : out_dir_{std::move(out_dir)} {}

  // What the command printed; an error with the end of its complaints if it failed.
  Result<std::string> run(const std::vector<std::string>& argv, const std::string& workdir) {
    observe::RunOrder order;
    order.id = "step";
    order.family = "step";
    order.plan.argv = argv;
    order.plan.workdir = workdir;
    order.out_dir = out_dir_;
    order.time_limit = kBuildLimit;
    const model::Receipt receipt = TRY(observe::supervise(order, os::real_clock()));
    cpu_ += receipt.cpu_user + receipt.cpu_system;
    if (model::succeeded(receipt)) return std::string(trim(receipt.stdout_tail));
    std::string_view said = trim(receipt.stderr_tail);
    if (said.empty()) said = trim(receipt.stdout_tail);
    return external(fmt::format("{}: {}: {}", shell_quote(argv), receipt.reason, said));
  }
  const std::string& out_dir() const { return out_dir_; }
  Nanos cpu() const { return cpu_; }

 private:
  std::string out_dir_;
  Nanos cpu_{};
};

std::optional<os::FileLock> wait_for_lock(const std::string& path) {
  const Nanos give_up = os::real_clock().monotonic() + kBuildLimit;
  while (os::real_clock().monotonic() < give_up) {
    if (auto lock = os::FileLock::try_take(path)) return lock;
    os::real_clock().sleep(std::chrono::milliseconds(100));
  }
  return std::nullopt;
}

// What lies beside the code and is no part of the commit, such as data, is where the job expects
// it: a link into the checkout. What the build has made stays.
Result<> link_data(const std::string& top, const std::string& tree, Steps& steps) {
  TRY(steps.run({"git", "-C", top, "ls-files", "--others", "--directory", "-z"}, top));
  const std::string listed = TRY(os::read_file(steps.out_dir() + "/stdout"));
  std::size_t linked = 0;
  for (const std::string_view entry : split(listed, '\0')) {
    std::string name(entry);
    while (name.ends_with('/')) name.pop_back();
    const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
    const fs::path there = fs::path(top) / name;
    const bool holds_us = (tree + "/").starts_with(there.string() + "/");
    if (name.empty() || last == "__pycache__" || holds_us || ++linked > kMostLinks) continue;
    std::error_code error;
    const fs::path place = fs::path(tree) / name;
    if (fs::exists(fs::symlink_status(place, error))) continue;
    fs::create_directories(place.parent_path(), error);
    fs::create_symlink(there, place, error);
    if (error) return external(fmt::format("{}: {}", place.string(), error.message()));
  }
  return Ok{};
}

Result<> make_tree(const model::Spec& spec, const model::Plan& plan, const std::string& commit,
                   const std::string& tree, Steps& steps, model::NeverRuns& never) {
  const auto or_never = [&](Result<std::string> step, model::NeverRuns why) {
    if (!step) never = why;
    return std::move(step).in(name(why));
  };
  std::error_code ignored;
  fs::remove_all(tree, ignored);  // Half a tree of a worker that died.
  TRY(steps.run({"git", "-C", spec.repo, "worktree", "prune"}, spec.repo));
  TRY(steps.run({"git", "-C", spec.repo, "worktree", "add", "--detach", "--force", tree, commit},
                spec.repo));
  if (!plan.patch.empty()) {
    const std::string patch = steps.out_dir() + "/change.patch";
    TRY(os::write_file(patch, plan.patch));
    TRY(or_never(steps.run({"git", "apply", "--whitespace=nowarn", patch}, tree),
                 model::NeverRuns::kPatchDoesNotApply));
  }
  const std::string top =
      TRY(steps.run({"git", "-C", spec.repo, "rev-parse", "--show-toplevel"}, "/"));
  if (!spec.build.empty()) {
    TRY(or_never(steps.run(spec.build, tree), model::NeverRuns::kBuildFailed));
  }
  return link_data(top, tree, steps);
}

// Why the tree could not be made, if that was tried within the last hour: three parts, each on a
// line, the Unix time in nanoseconds, name(NeverRuns) and the error.
struct Failure {
  model::NeverRuns never = model::NeverRuns::kNo;
  std::string text;
};

std::optional<Failure> failed_before(const std::string& path) {
  const auto text = os::read_file(path);
  if (!text) return std::nullopt;
  const std::size_t first = text->find('\n');
  const std::size_t second = first == text->npos ? first : text->find('\n', first + 1);
  if (second == text->npos) return std::nullopt;
  const auto at = to_number<std::int64_t>(text->substr(0, first));
  const auto never = model::never_runs_named(text->substr(first + 1, second - first - 1));
  if (!at || !never) return std::nullopt;
  const Nanos age = os::real_clock().unix_time() - Nanos{*at};
  if (age < Nanos{0} || age > kFailedFor) return std::nullopt;
  return Failure{*never, text->substr(second + 1)};
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

// A script given as text that names the checkout would run its code, whatever the patch: what to
// do about it.
std::optional<std::string> text_with(const model::Plan& plan, const std::string& top) {
  for (const std::string& word : plan.argv) {
    if (word.find_first_of(" \t\n") == word.npos) continue;
    for (std::size_t at = word.find(top); at != word.npos; at = word.find(top, at + 1)) {
      const std::string_view rest = std::string_view(word).substr(at + top.size());
      if (!rest.empty() && std::string_view("/ \t\n;&|)'\"").find(rest[0]) == rest.npos) continue;
      return fmt::format(
          "\"{}\" contains the path of the checkout {}; use paths relative to the spec's workdir",
          clip(word, 80), top);
    }
  }
  return std::nullopt;
}

// Search paths that the job would inherit: what they find in the checkout must be the worktree's.
void inherit_paths(model::Plan& plan) {
  for (const char* name : {"PYTHONPATH", "PATH", "LD_LIBRARY_PATH"}) {
    const char* inherited = std::getenv(name);
    const bool unset = std::ranges::find(plan.unset, name) != plan.unset.end();
    if (inherited && !unset) plan.env.emplace(name, inherited);
  }
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

struct Tree {
  std::string path;
  std::string top;     // Of the checkout.
  std::string commit;  // That it is made of.
};

// By what makes it: the same commit, build and patch are the same tree.
Result<Tree> tree_for(const model::Spec& spec, const model::Plan& plan,
                      const std::string& trees_dir, const std::string& commit) {
  Tree tree;
  Steps steps(fmt::format("{}/.steps-{}", trees_dir, ::getpid()));
  tree.commit =
      commit.empty() ? TRY(steps.run({"git", "-C", spec.repo, "rev-parse", "HEAD"}, "/")) : commit;
  tree.top = TRY(steps.run({"git", "-C", spec.repo, "rev-parse", "--show-toplevel"}, "/"));
  std::error_code ignored;
  fs::remove_all(steps.out_dir(), ignored);
  const std::string what =
      fmt::format("{}\n{}\n{}\n{}", tree.top, tree.commit, shell_quote(spec.build), plan.patch);
  tree.path = trees_dir + "/" + sha256_hex(what).substr(0, 16);
  return tree;
}

// Under the tree's lock.
Result<> build(const model::Spec& spec, const model::Plan& plan, const Tree& tree, Steps& steps,
               model::NeverRuns& never) {
  const std::string kept = tree.path + ".failed";
  if (const auto failure = failed_before(kept)) {
    never = failure->never;
    return external(failure->text);
  }
  const auto made = make_tree(spec, plan, tree.commit, tree.path, steps, never);
  if (!made && never != model::NeverRuns::kNo) {
    TRY(os::write_file(kept, fmt::format("{}\n{}\n{}", os::real_clock().unix_time().count(),
                                         name(never), made.error().text)));
  }
  if (!made) return made.error();
  return os::write_file(tree.path + ".ready", tree.commit + "\n");
}

// Nothing if nothing of the plan lies in the repo.
std::optional<model::Plan> moved_into(const model::Plan& plan, const Tree& tree) {
  model::Plan moved = plan;
  inherit_paths(moved);
  std::error_code ignored;
  if (!move_plan(moved, fs::weakly_canonical(tree.top, ignored), tree.path)) return std::nullopt;
  return moved;
}

}  // namespace

Patched make_patched(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                     const std::string& commit) {
  Patched made{bad_input("a patch needs repo = \"...\" in the job's spec")};
  if (spec.repo.empty()) return made;
  // The patch then has no effect on the job. An arm without a patch is not to blame for that.
  const auto cannot_reach = [&](const std::string& why) {
    if (!plan.patch.empty()) made.never = model::NeverRuns::kPatchDoesNotApply;
    return bad_input(fmt::format("{}: it does not affect the job: {}",
                                 name(model::NeverRuns::kPatchDoesNotApply), why));
  };
  const auto make = [&]() -> Result<model::Plan> {
    TRY(os::make_dirs(trees_dir));
    const Tree tree = TRY(tree_for(spec, plan, trees_dir, commit));
    if (const auto why = text_with(plan, tree.top)) return cannot_reach(*why);
    const auto lock = wait_for_lock(tree.path + ".lock");
    if (!lock) return external("another worker has been building this patch for an hour");
    if (!os::exists(tree.path + ".ready")) {
      Steps steps(tree.path + ".steps");
      const Nanos began = os::real_clock().monotonic();
      const auto built = build(spec, plan, tree, steps, made.never);
      made.wall = os::real_clock().monotonic() - began;
      made.cpu = steps.cpu();
      if (!built) return built.error();
    }
    if (auto moved = moved_into(plan, tree)) return *std::move(moved);
    return cannot_reach(
        fmt::format("neither the workdir {} nor any file of the command is inside the repo {}",
                    plan.workdir, tree.top));
  };
  made.plan = make();
  return made;
}

Result<model::Plan> in_patched_tree(const model::Spec& spec, const model::Plan& plan,
                                    const std::string& trees_dir, const std::string& commit) {
  return make_patched(spec, plan, trees_dir, commit).plan;
}

}  // namespace amdahl::launch::local
