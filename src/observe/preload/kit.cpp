#include "kit.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace amdahl::preload {
namespace {

constexpr std::size_t kPathLength = 4096;

Fix* first = nullptr;
std::atomic_flag changing = ATOMIC_FLAG_INIT;

// Of the process that loaded the library; a forked child that reports nothing leaves no file.
void at_exit() __attribute__((destructor));
void at_exit() { write_accounts(); }

}  // namespace

// A program without C++ may load the C++ library later, for a part of its own: its functions then
// call ours, but do not come next.
void* find_next(const char* name) {
  if (void* const found = ::dlsym(RTLD_NEXT, name)) return found;
  void* const runtime = ::dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return runtime == nullptr ? nullptr : ::dlsym(runtime, name);
}

// The variable is a JSON object of texts; names of fixes need no escapes.
bool Fix::is_wanted() const {
  const char* fixes = std::getenv("AMDAHL_FIXES");
  if (fixes == nullptr) return false;
  char key[128];
  std::snprintf(key, sizeof key, "\"%s\":", name_);
  return std::strstr(fixes, key) != nullptr;
}

void Fix::list() {
  if (listed_.exchange(true)) return;
  while (changing.test_and_set()) {
  }
  next_ = first;
  first = this;
  changing.clear();
}

void Fix::engaged(const char* what) {
  list();
  const long times = times_.fetch_add(1, std::memory_order_relaxed) + 1;
  // The process may be killed: written after 1, 2, 4, 8 ... actions.
  if ((times & (times - 1)) != 0) return;
  what_ = what;
  write_accounts();
}

void Fix::refuse(const char* why) {
  list();
  refused_ = why;
  write_accounts();
}

void write_accounts() {
  const char* out = std::getenv("AMDAHL_FIXES_OUT");
  if (out == nullptr || *out == '\0' || first == nullptr) return;
  char path[kPathLength];
  char beside[kPathLength + 8];
  ::mkdir(out, 0777);
  std::snprintf(path, sizeof path, "%s/%d.native.json", out, static_cast<int>(::getpid()));
  std::snprintf(beside, sizeof beside, "%s.new", path);
  char text[kPathLength];
  int size = 0;
  for (Fix* fix = first; fix != nullptr && size < static_cast<int>(sizeof text); fix = fix->next_) {
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size),
                          "%s\"%s\":{\"times\":%ld,\"where\":[\"%s\"],\"refused\":\"%s\"}",
                          fix == first ? "{" : ",", fix->name_, fix->times_.load(),
                          fix->what_.load(), fix->refused_.load());
  }
  if (size + 1 >= static_cast<int>(sizeof text)) return;
  text[size++] = '}';
  const int file = ::open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return;
  const bool written = ::write(file, text, static_cast<std::size_t>(size)) == size;
  ::close(file);
  if (written) ::rename(beside, path);
}

}  // namespace amdahl::preload
