#include "observe/tree.h"

#include <algorithm>
#include <array>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kOpenFiles = 256;  // Of processes, and as many of threads.

ProcessIdentity born(const ProcessStat& stat) {
  return {stat.pid, stat.group, stat.session, stat.start_ticks};
}

bool is_alive(const ProcessStat& stat) { return stat.state != 'Z' && stat.state != 'X'; }

}  // namespace

Tree::Tree(pid_t root, std::string proc_root)
    : root_{root},
      proc_root_{std::move(proc_root)},
      loadavg_{::open((proc_root_ + "/loadavg").c_str(), O_RDONLY | O_CLOEXEC)},
      task_files_left_{static_cast<int>(kOpenFiles)} {
  find_new();
  for (const auto& [pid, member] : members_) excluded_.insert(pid);
  members_.clear();
}

std::vector<pid_t> Tree::numbers() const {
  std::vector<pid_t> found;
  DIR* folder = ::opendir(proc_root_.c_str());
  if (!folder) return found;
  while (const dirent* entry = ::readdir(folder)) {
    if (const auto pid = to_number<pid_t>(entry->d_name)) found.push_back(*pid);
  }
  ::closedir(folder);
  return found;
}

bool Tree::read_stat(pid_t pid, int fd, ProcessStat& stat) const {
  std::array<char, 1024> line{};
  std::optional<os::Fd> opened;
  if (fd < 0) {
    const std::string path = fmt::format("{}/{}/stat", proc_root_, pid);
    opened.emplace(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    fd = opened->get();
  }
  const ssize_t length = ::pread(fd, line.data(), line.size(), 0);
  if (length <= 0) return false;
  const auto parsed = parse_process_stat({line.data(), static_cast<std::size_t>(length)});
  if (parsed) stat = *parsed;
  return parsed.has_value();
}

// The last field of loadavg is the number of the youngest process.
bool Tree::something_started() {
  std::array<char, 128> line{};
  const ssize_t length = ::pread(loadavg_.get(), line.data(), line.size(), 0);
  if (length <= 0) return true;
  const std::string_view text(line.data(), static_cast<std::size_t>(length));
  const std::string_view youngest = trim(text.substr(text.rfind(' ') + 1));
  if (youngest == last_started_) return false;
  last_started_ = youngest;
  return true;
}

Tree::Member& Tree::add(pid_t pid) {
  const bool keep = members_.size() < kOpenFiles;
  const std::string folder = fmt::format("{}/{}", proc_root_, pid);
  const int stat = keep ? ::open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC) : -1;
  return members_.emplace(pid, Member{os::Fd{stat}, Tasks{folder}}).first->second;
}

void Tree::find_new() {
  std::map<pid_t, pid_t> parent_of_new;
  std::set<pid_t> still_not_ours;
  for (const pid_t pid : numbers()) {
    if (pid == root_ || members_.contains(pid) || excluded_.contains(pid)) continue;
    ProcessStat stat;
    if (not_ours_.contains(pid)) {
      still_not_ours.insert(pid);
    } else if (read_stat(pid, -1, stat)) {
      parent_of_new[pid] = stat.parent;
    }
  }
  // A child may be listed before its parent: repeat until a round adds none.
  for (bool added = true; added;) {
    added = false;
    for (auto at = parent_of_new.begin(); at != parent_of_new.end();) {
      const auto& [pid, parent] = *at;
      if (parent != root_ && !members_.contains(parent)) {
        ++at;
        continue;
      }
      add(pid);
      at = parent_of_new.erase(at);
      added = true;
    }
  }
  for (const auto& [pid, parent] : parent_of_new) still_not_ours.insert(pid);
  not_ours_ = std::move(still_not_ours);
}

Tree::Members::iterator Tree::forget(Members::iterator member) {
  const Tasks& tasks = member->second.tasks;
  gone_run_delay_ += tasks.run_delay();
  task_files_left_ += tasks.open_files();
  return members_.erase(member);
}

void Tree::adopt(pid_t pid) {
  Member& member = add(pid);
  member.tasks.look(1, task_files_left_);
  ProcessStat stat;
  if (read_stat(pid, member.stat_file.get(), stat)) seen_.push_back(born(stat));
}

void Tree::note_dead(pid_t pid) {
  const auto member = members_.find(pid);
  if (member == members_.end()) return;
  member->second.tasks.look(0, task_files_left_);
  forget(member);
}

Nanos Tree::run_delay() const {
  Nanos sum = gone_run_delay_;
  for (const auto& [pid, member] : members_) sum += member.tasks.run_delay();
  return sum;
}

std::vector<ProcessStat> Tree::read_members() {
  std::vector<ProcessStat> found;
  for (auto at = members_.begin(); at != members_.end();) {
    ProcessStat stat;
    const bool there = read_stat(at->first, at->second.stat_file.get(), stat);
    // A number may have been given to a stranger since; a stranger has another parent.
    if (!there || (stat.parent != root_ && !members_.contains(stat.parent))) {
      at = forget(at);
      continue;
    }
    found.push_back(stat);
    ++at;
  }
  return found;
}

TreeSample Tree::sample() {
  if (something_started()) find_new();
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  TreeSample sum;
  seen_.clear();
  for (const ProcessStat& stat : read_members()) {
    sum.cpu += cpu_time(stat, proc_root_ == "/proc");
    sum.resident_bytes += stat.resident_pages * page;
    seen_.push_back(born(stat));
    // Processes never seen alive are not worth listing: in a fork storm most are dead.
    members_.at(stat.pid).tasks.look(is_alive(stat) ? stat.threads : 0, task_files_left_);
    if (is_alive(stat)) {
      sum.threads += stat.threads;
      ++sum.processes;
    }
  }
  return sum;
}

std::vector<ProcessStat> Tree::living() {
  not_ours_.clear();
  find_new();
  std::vector<ProcessStat> found = read_members();
  std::erase_if(found, [](const ProcessStat& stat) { return !is_alive(stat); });
  return found;
}

}  // namespace amdahl::observe
