#include "observe/tasks.h"

#include <algorithm>
#include <array>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"

namespace amdahl::observe {

Nanos parse_run_delay(std::string_view schedstat) {
  const auto words = split(trim(schedstat), ' ');
  if (words.size() != 3) return {};
  return Nanos(to_number<std::int64_t>(words[1]).value_or(0));
}

std::string Tasks::file_of(pid_t number) const {
  return fmt::format("{}/task/{}/schedstat", folder_, number);
}

bool Tasks::read(pid_t number, Task& task) const {
  std::array<char, 128> line{};
  const bool is_open = task.file.get() >= 0;
  const os::Fd opened{is_open ? -1 : ::open(file_of(number).c_str(), O_RDONLY | O_CLOEXEC)};
  const int file = is_open ? task.file.get() : opened.get();
  const ssize_t length = ::pread(file, line.data(), line.size(), 0);
  if (length <= 0) return false;
  const std::string_view text(line.data(), static_cast<std::size_t>(length));
  // Never back: a number may have been given to another thread since.
  task.waited = std::max(task.waited, parse_run_delay(text));
  return true;
}

void Tasks::add_new(int& files_left) {
  DIR* folder = ::opendir((folder_ + "/task").c_str());
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder)) {
    const auto number = to_number<pid_t>(entry->d_name);
    if (!number || tasks_.contains(*number)) continue;
    Task task;
    if (files_left > 0) {
      task.file = os::Fd{::open(file_of(*number).c_str(), O_RDONLY | O_CLOEXEC)};
      if (task.file.get() >= 0) --files_left;
    }
    if (!read(*number, task)) {
      if (task.file.get() >= 0) ++files_left;
      continue;
    }
    living_ += task.waited;
    tasks_.emplace(*number, std::move(task));
  }
  ::closedir(folder);
}

void Tasks::look(std::int64_t count, int& files_left) {
  living_ = {};
  for (auto at = tasks_.begin(); at != tasks_.end();) {
    if (read(at->first, at->second)) {
      living_ += at->second.waited;
      ++at;
      continue;
    }
    ended_ += at->second.waited;
    if (at->second.file.get() >= 0) ++files_left;
    at = tasks_.erase(at);
  }
  if (count > static_cast<std::int64_t>(tasks_.size())) add_new(files_left);
}

int Tasks::open_files() const {
  return static_cast<int>(
      std::ranges::count_if(tasks_, [](const auto& row) { return row.second.file.get() >= 0; }));
}

}  // namespace amdahl::observe
