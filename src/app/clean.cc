#include "app/clean.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/core.h>
#include <sys/stat.h>

#include "app/lease.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr double kBytesPerGb = 1e9;
constexpr Nanos kNever = std::chrono::hours(24);  // Nothing younger goes for its size.

// Something that may go.
struct Leftover {
  std::size_t part = 0;
  std::string path;
  Nanos used{};  // Unix time.
  std::int64_t bytes = 0;
  bool is_tree = false;
};

std::int64_t size_of(const std::string& path) {
  std::int64_t bytes = 0;
  std::error_code failed;
  for (auto at = fs::recursive_directory_iterator(path, failed);
       !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    struct stat about {};
    // What it takes on the disk; files of several names are counted once.
    if (::lstat(at->path().c_str(), &about) != 0) continue;
    const auto names = static_cast<std::int64_t>(std::max<nlink_t>(about.st_nlink, 1));
    bytes += about.st_blocks * 512 / (S_ISREG(about.st_mode) ? names : 1);
  }
  return bytes;
}

std::optional<Nanos> changed(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return std::nullopt;
  return std::chrono::seconds(about.st_mtim.tv_sec) + Nanos{about.st_mtim.tv_nsec};
}

// The folder that a pair's run is in: that of its block, if it shares one.
const std::string& run_folder_of(const model::Pair& run) {
  return run.block.empty() ? run.reservation : run.block;
}

class Cleaner {
 public:
  Cleaner(Context& context, const CleanOptions& options) : context_{context}, options_{options} {}

  Result<Cleaned> clean() {
    TRY(look_at_runs());
    TRY(look_at_trees());
    look_at_jobs();
    choose();
    return std::move(cleaned_);
  }

 private:
  Result<> look_at_runs() {
    std::set<std::string> needed;
    for (const model::Pair& run : TRY(context_.ledger->runs_in_flight())) {
      needed.insert(run_folder_of(run));
      patched_in_flight_ = patched_in_flight_ || !run.commit.empty();
    }
    for (const ledger::ExperimentRow& row : TRY(context_.ledger->live_experiments())) {
      for (const model::Pair& run : TRY(context_.ledger->runs_of(row.experiment.id))) {
        needed.insert(run_folder_of(run));
      }
    }
    std::map<std::string, Nanos> known;  // Ended runs, and when they were reserved.
    for (const ledger::Family& family : TRY(context_.ledger->families())) {
      if (family.profile) needed.insert(family.profile->id);
      for (const model::Pair& run : TRY(context_.ledger->family_runs(family.name))) {
        Nanos& at = known[run_folder_of(run)];
        at = std::max(at, run.at);
      }
    }
    begin("runs");
    for (const std::string& name : os::list(context_.path("runs"))) {
      const auto run = known.find(name);
      const bool free = run != known.end() && !needed.contains(name);
      found(name, free ? std::optional(run->second) : std::nullopt);
    }
    return Ok{};
  }

  // A tree is made anew when it is needed; its mark says when a run was last started in it.
  Result<> look_at_trees() {
    begin("trees");
    for (const std::string& name : os::list(context_.path("trees"))) {
      const std::string path = context_.path("trees/" + name);
      std::error_code failed;
      if (!fs::is_directory(path, failed)) continue;
      auto used = changed(path + ".used");
      if (!used) used = changed(path);
      found(name, patched_in_flight_ ? std::nullopt : used, true);
    }
    return Ok{};
  }

  // Jobs that `amdahl run` ran and that have ended. Their usage records stay.
  void look_at_jobs() {
    begin("jobs");
    for (const std::string& name : os::list(context_.path("jobs"))) {
      found(name, changed(context_.path(fmt::format("jobs/{}/receipt.json", name))));
    }
  }

  void begin(const std::string& folder) { cleaned_.parts.push_back({.folder = folder}); }

  // Without a time it stays.
  void found(const std::string& name, std::optional<Nanos> used, bool is_tree = false) {
    Cleaned::Part& part = cleaned_.parts.back();
    Leftover leftover{cleaned_.parts.size() - 1,
                      context_.path(fmt::format("{}/{}", part.folder, name)),
                      {},
                      0,
                      is_tree};
    leftover.bytes = size_of(leftover.path);
    part.kept += 1;
    part.kept_bytes += leftover.bytes;
    if (!used) return;
    leftover.used = *used;
    leftovers_.push_back(std::move(leftover));
  }

  std::int64_t kept_bytes() const {
    std::int64_t all = 0;
    for (const Cleaned::Part& part : cleaned_.parts) all += part.kept_bytes;
    return all;
  }

  void choose() {
    const Nanos now = context_.clock->unix_time();
    const Nanos old = from_seconds(options_.older_days * 86400);
    std::ranges::sort(leftovers_, {}, &Leftover::used);
    for (const Leftover& leftover : leftovers_) {
      const Nanos age = now - leftover.used;
      const bool too_much = options_.keep_gb && age > kNever &&
                            static_cast<double>(kept_bytes()) > *options_.keep_gb * kBytesPerGb;
      if (age > old || too_much) remove(leftover);
    }
  }

  void remove(const Leftover& leftover) {
    if (!options_.dry_run && !is_removed(leftover)) return;
    Cleaned::Part& part = cleaned_.parts[leftover.part];
    part.kept -= 1;
    part.kept_bytes -= leftover.bytes;
    part.removed += 1;
    part.removed_bytes += leftover.bytes;
  }

  bool is_removed(const Leftover& leftover) {
    const std::string& path = leftover.path;
    std::optional<os::FileLock> lock;
    std::error_code failed;
    if (leftover.is_tree) {
      lock = os::FileLock::try_take(path + ".lock");
      if (!lock) return false;  // Somebody builds in it.
      // First the mark that it is ready: a tree that is half there must not be used.
      for (const char* end : {".ready", ".built"}) fs::remove(path + end, failed);
    }
    if (!failed) fs::remove_all(path, failed);
    if (failed) {
      cleaned_.failed.push_back(fmt::format("{}: {}", path, failed.message()));
      return false;
    }
    if (!leftover.is_tree) return true;
    for (const char* end : {".used", ".steps", ".check", ".gitfile", ".lock"})
      fs::remove_all(path + end, failed);
    return true;
  }

  Context& context_;
  const CleanOptions& options_;
  Cleaned cleaned_;
  std::vector<Leftover> leftovers_;
  bool patched_in_flight_ = false;
};

}  // namespace

Result<Cleaned> clean(Context& context, const CleanOptions& options) {
  std::unique_ptr<Lease> lease;
  if (!options.dry_run) lease = TRY(Lease::take(context));
  return Cleaner(context, options).clean();
}

}  // namespace amdahl::app
