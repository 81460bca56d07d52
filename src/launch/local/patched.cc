#include "launch/local/patched.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <fnmatch.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "launch/launcher.h"
#include "launch/local/frozen.h"
#include "launch/local/tree_steps.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;
using model::NeverRuns;

// A failure may be the machine's fault; retried after this time.
constexpr Nanos kFailedFor = std::chrono::hours(1);
constexpr std::size_t kMostLinks = 1000;  // Files and folders next to the code.

std::optional<os::FileLock> wait_for_lock(const std::string& path) {
  const Nanos give_up = os::real_clock().monotonic() + kBuildLimit;
  while (os::real_clock().monotonic() < give_up) {
    if (auto lock = os::FileLock::try_take(path)) return lock;
    os::real_clock().sleep(std::chrono::milliseconds(100));
  }
  return std::nullopt;
}

struct Tree {
  std::string path;
  std::string top;     // Of the checkout.
  std::string commit;  // That it is made of.
};

// Where the job writes, from the root of the checkout; may be patterns.
std::vector<std::string> outputs_in(const model::Spec& spec, const std::string& top) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const model::Output& output : spec.outputs) {
    if (output.path.starts_with('{')) continue;
    const fs::path whole = fs::weakly_canonical(spec.workdir, ignored) / output.path;
    paths.push_back(
        whole.lexically_normal().lexically_relative(fs::weakly_canonical(top, ignored)).string());
  }
  return paths;
}

// Whether the path is in the folder, wherever links lead.
bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  const fs::path inside =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !inside.empty() && *inside.begin() != "..";
}

// What lies beside the code and is no part of the commit, such as data, is where the job expects
// it: a link into the checkout. What the build has made stays. Outputs of earlier runs are no data:
// through a link the job would write to the checkout.
Result<> link_data(const model::Spec& spec, const std::string& top, const std::string& tree,
                   Steps& steps) {
  const std::vector<std::string> outputs = outputs_in(spec, top);
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
    const auto is_it = [&](const std::string& output) {
      return ::fnmatch(output.c_str(), name.c_str(), FNM_PATHNAME) == 0;
    };
    const auto holds = [&](const std::string& output) { return output.starts_with(name + "/"); };
    if (std::ranges::any_of(outputs, is_it)) continue;
    if (std::ranges::any_of(outputs, holds)) {
      fs::create_directories(place, error);
      continue;
    }
    fs::create_directories(place.parent_path(), error);
    if (!is_inside(place.parent_path(), tree)) {
      return bad_input(fmt::format("{}: the build has led it out of the tree", name));
    }
    fs::create_symlink(there, place, error);
    if (error) return external(fmt::format("{}: {}", place.string(), error.message()));
  }
  return Ok{};
}

// Makes one tree.
class Making {
 public:
  Making(const model::Spec& spec, const model::Plan& plan, const Tree& tree, const Trust& trust,
         Steps& steps)
      : spec_{spec}, plan_{plan}, tree_{tree}, trust_{trust}, steps_{steps} {}

  Result<> build() {
    std::error_code ignored;
    fs::remove_all(tree_.path, ignored);  // Half a tree of a worker that died.
    const std::string& repo = spec_.repo;
    TRY(steps_.run({"git", "-C", repo, "worktree", "prune"}, repo));
    TRY(steps_.run(
        {"git", "-C", repo, "worktree", "add", "--detach", "--force", tree_.path, tree_.commit},
        repo));
    TRY(keep_git_file(tree_.path));
    if (!plan_.patch.empty()) TRY(apply());
    TRY(check_frozen_if_agents());
    if (!spec_.build.empty()) {
      TRY(need(NeverRuns::kBuildFailed, steps_.run_in_tree(spec_.build, tree_.path, {})));
    }
    return check_frozen_if_agents();  // What the build made of it.
  }

  Result<> check() {
    const Result<> linked = link_data(spec_, tree_.top, tree_.path, steps_);
    const bool led_out = !linked && linked.error().kind == Error::Kind::kBadInput;
    if (!linked) return led_out ? need(NeverRuns::kFrozenChange, linked) : linked;
    if (!spec_.check.empty()) {
      TRY(need(NeverRuns::kCheckFailed, steps_.try_in_tree(spec_.check, tree_.path, spec_.env)));
    }
    return check_frozen_if_agents();
  }

  NeverRuns never() const { return never_; }

 private:
  Result<> apply() {
    const std::string patch = steps_.out_dir() + "/change.patch";
    TRY(os::write_file(patch, plan_.patch));
    return need(NeverRuns::kPatchDoesNotApply,
                steps_.run({"git", "apply", "--whitespace=nowarn", patch}, tree_.path));
  }

  Result<> check_frozen_if_agents() {
    if (!trust_.by_agent || plan_.patch.empty()) return Ok{};
    return need(NeverRuns::kFrozenChange,
                check_frozen(spec_, trust_.accepted, tree_.path, tree_.commit, steps_));
  }

  // A step whose failure is the change's own.
  template <class T>
  Result<> need(NeverRuns why, const Result<T>& step) {
    if (step) return Ok{};
    never_ = why;
    return Result<>(step.error()).in(name(why));
  }

  const model::Spec& spec_;
  const model::Plan& plan_;
  const Tree& tree_;
  const Trust& trust_;
  Steps& steps_;
  NeverRuns never_ = NeverRuns::kNo;
};

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

// The place in the worktree of a file or folder of the checkout; nothing if it lies elsewhere, or
// is neither in the commit nor a build product (data and results next to the code stay where they
// are).
std::optional<std::string> twin(const std::string& path, const fs::path& top,
                                const std::string& tree) {
  if (!path.starts_with('/')) return std::nullopt;
  std::error_code ignored;
  const fs::path inside = fs::weakly_canonical(path, ignored).lexically_relative(top);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  const fs::path moved = (fs::path(tree) / inside).lexically_normal();
  if (!fs::exists(moved, ignored)) return std::nullopt;
  // A build may have put a link there; one to data leads to the same place in the checkout.
  const bool is_data = fs::weakly_canonical(moved, ignored) == fs::weakly_canonical(path, ignored);
  if (!is_data && !is_inside(moved, tree)) return std::nullopt;
  return moved.string();
}

// A file named by a word of the command, alone or as --name=FILE. Folders stay: they contain data
// as often as code.
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

// Search paths that the job would inherit: entries in the checkout are replaced by the worktree.
void inherit_paths(model::Plan& plan) {
  for (const char* name : {"PYTHONPATH", "PATH", "LD_LIBRARY_PATH"}) {
    const char* inherited = std::getenv(name);
    const bool unset = std::ranges::find(plan.unset, name) != plan.unset.end();
    if (inherited && !unset) plan.env.emplace(name, inherited);
  }
}

// Whether any part of the plan is now in the worktree.
bool move_plan(model::Plan& plan, const fs::path& top, const std::string& tree) {
  bool any = false;
  for (std::string& word : plan.argv) any = move_word(word, top, tree) || any;
  for (auto& [name, value] : plan.env) {
    if (name.ends_with("PATH")) any = move_list(value, top, tree) || any;
  }
  const auto moved = twin(plan.workdir, top, tree);
  if (moved) plan.workdir = *moved;
  return any || moved;
}

// By what makes it: the same commit, build and patch are the same tree.
Result<Tree> tree_for(const model::Spec& spec, const model::Plan& plan,
                      const std::string& trees_dir, const std::string& commit, const Trust& trust) {
  Tree tree;
  Steps steps(fmt::format("{}/.steps-{}", trees_dir, ::getpid()));
  tree.commit =
      commit.empty() ? TRY(steps.run({"git", "-C", spec.repo, "rev-parse", "HEAD"}, "/")) : commit;
  tree.top = TRY(steps.run({"git", "-C", spec.repo, "rev-parse", "--show-toplevel"}, "/"));
  std::error_code ignored;
  fs::remove_all(steps.out_dir(), ignored);
  std::string what =
      fmt::format("{}\n{}\n{}\n{}", tree.top, tree.commit, shell_quote(spec.build), plan.patch);
  if (!spec.check.empty()) what += "\ncheck " + shell_quote(spec.check);
  if (trust.sandbox) what += fmt::format("\nsandbox{}", spec.network ? " with network" : "");
  if (trust.by_agent && !plan.patch.empty()) what += "\nby an agent";
  tree.path = trees_dir + "/" + sha256_hex(what).substr(0, 16);
  return tree;
}

// Under the tree's lock.
Result<> make_tree(const model::Spec& spec, const model::Plan& plan, const Tree& tree,
                   const Trust& trust, Steps& steps, bool with_check, model::NeverRuns& never) {
  const std::string kept = tree.path + ".failed";
  if (const auto failure = failed_before(kept)) {
    never = failure->never;
    return external(failure->text);
  }
  Making making(spec, plan, tree, trust, steps);
  // A tree whose check died half-way is made anew.
  const auto make = [&]() -> Result<> {
    std::error_code ignored;
    if (!fs::remove(tree.path + ".built", ignored)) TRY(making.build());
    if (with_check) return making.check();
    return os::write_file(tree.path + ".built", tree.commit + "\n");
  };
  const auto made = make();
  never = making.never();
  if (!made && never != model::NeverRuns::kNo) {
    TRY(os::write_file(kept, fmt::format("{}\n{}\n{}", os::real_clock().unix_time().count(),
                                         name(never), made.error().text)));
  }
  if (!made || !with_check) return made;
  return os::write_file(tree.path + ".ready", tree.commit + "\n");
}

// The state folder is hidden: other trees and runs are none of the build's business.
std::optional<os::Jail> jail_for(const model::Spec& spec, const std::string& trees_dir,
                                 const Tree& tree, const Trust& trust) {
  if (!trust.sandbox) return std::nullopt;
  os::Jail jail;
  jail.network = spec.network;
  jail.hidden = {fs::path(trees_dir).parent_path().string()};
  jail.readable = {tree.top};
  return jail;
}

// Nothing if nothing of the plan lies in the repo.
std::optional<model::Plan> moved_into(const model::Plan& plan, const Tree& tree) {
  model::Plan moved = plan;
  inherit_paths(moved);
  std::error_code ignored;
  if (!move_plan(moved, fs::weakly_canonical(tree.top, ignored), tree.path)) return std::nullopt;
  return moved;
}

Patched make(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
             const std::string& commit, const Trust& trust, bool with_check) {
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
    const Tree tree = TRY(tree_for(spec, plan, trees_dir, commit, trust));
    made.tree = tree.path;
    if (const auto why = text_with(plan, tree.top)) return cannot_reach(*why);
    const auto lock = wait_for_lock(tree.path + ".lock");
    if (!lock) return external("another worker has been building this patch for an hour");
    const bool is_there =
        os::exists(tree.path + ".ready") || (!with_check && os::exists(tree.path + ".built"));
    if (!is_there) {
      Steps steps(tree.path + ".steps", jail_for(spec, trees_dir, tree, trust));
      const Nanos began = os::real_clock().monotonic();
      const auto built = make_tree(spec, plan, tree, trust, steps, with_check, made.never);
      made.wall = os::real_clock().monotonic() - began;
      made.cpu = steps.cpu();
      if (!built) return built.error();
    }
    made.reached = true;
    // When it was last used, for `amdahl clean`. If this fails, it only looks older.
    static_cast<void>(os::write_file(tree.path + ".used", ""));
    if (auto moved = moved_into(plan, tree)) return *std::move(moved);
    return cannot_reach(
        fmt::format("neither the workdir {} nor any file of the command is inside the repo {}",
                    plan.workdir, tree.top));
  };
  made.plan = make();
  return made;
}

}  // namespace

Patched make_patched(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                     const std::string& commit, const Trust& trust) {
  return make(spec, plan, trees_dir, commit, trust, true);
}

Patched build_tree(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                   const std::string& commit, const Trust& trust) {
  return make(spec, plan, trees_dir, commit, trust, false);
}

Result<std::string> tree_path(const model::Spec& spec, const model::Plan& plan,
                              const std::string& trees_dir, const std::string& commit,
                              const Trust& trust) {
  TRY(os::make_dirs(trees_dir));
  return TRY(tree_for(spec, plan, trees_dir, commit, trust)).path;
}

bool is_built(const std::string& tree) {
  return os::exists(tree + ".ready") || os::exists(tree + ".built") ||
         failed_before(tree + ".failed");
}

Result<model::Plan> in_patched_tree(const model::Spec& spec, const model::Plan& plan,
                                    const std::string& trees_dir, const std::string& commit) {
  return make_patched(spec, plan, trees_dir, commit).plan;
}

}  // namespace amdahl::launch::local
