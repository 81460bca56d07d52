#include "os/opens.h"

#include <array>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

namespace amdahl::os {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFolders = 4096;  // The kernel's limit for a user may be 8192.
constexpr std::size_t kMostFiles = 100'000;

}  // namespace

OpenedFiles::OpenedFiles(const std::string& folder, const std::string& except)
    : folder_{folder},
      events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)},
      wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  if (events_.get() < 0 || wake_.get() < 0) {
    lost_ = true;
    return;
  }
  watch(folder_);
  std::error_code failed;
  fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (it->is_symlink(ignored) || !it->is_directory(ignored)) continue;
    const bool is_ours = !except.empty() && fs::equivalent(it->path(), except, ignored);
    if (is_ours || it->path().filename().string().starts_with('.')) {
      it.disable_recursion_pending();
    } else {
      watch(it->path());
    }
  }
  thread_ = std::thread([this] { drain(); });
}

OpenedFiles::~OpenedFiles() { stop(); }

std::set<std::string> OpenedFiles::stop() {
  if (thread_.joinable()) {
    ends_ = true;
    const std::uint64_t one = 1;
    // A full counter wakes it as well.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  return lost_ ? std::set<std::string>() : opened_;
}

void OpenedFiles::watch(const fs::path& folder) {
  if (lost_ || watched_.size() >= kMostFolders) {
    lost_ = true;
    return;
  }
  const int id = ::inotify_add_watch(events_.get(), folder.c_str(), IN_OPEN | IN_ONLYDIR);
  if (id < 0) {
    lost_ = true;
    return;
  }
  const std::string path = folder.lexically_relative(folder_).string();
  watched_[id] = path == "." ? "" : path + "/";
}

void OpenedFiles::drain() {
  std::array<pollfd, 2> ready{{{events_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (!ends_) {
    ::poll(ready.data(), ready.size(), -1);
    read_events();
  }
  read_events();  // What came before the end.
}

void OpenedFiles::read_events() {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  ssize_t got = 0;
  while ((got = ::read(events_.get(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) lost_ = true;
      const auto folder = watched_.find(event.wd);
      if ((event.mask & IN_OPEN) == 0 || (event.mask & IN_ISDIR) != 0 || event.len == 0) continue;
      if (folder == watched_.end()) continue;
      opened_.insert(folder->second + name);
      if (opened_.size() > kMostFiles) lost_ = true;
    }
  }
}

}  // namespace amdahl::os
