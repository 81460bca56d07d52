// Flushes of stdout are left out, but for one a second: it is a file that nobody waits for. What is
// buffered is written at the end, before a fork, before others write to the file, and on a crash.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"

namespace {

using amdahl::preload::next;

amdahl::preload::Fix fix("native-stdout");
std::atomic<bool> active{false};
std::atomic<bool> pending{false};  // Something was not flushed.
std::atomic<long> flushed_at{0};
void* cout_stream = nullptr;
constexpr std::size_t kBuffer = 1 << 20;
char buffer[kBuffer];
constexpr int kFatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL,
                          SIGTERM, SIGINT,  SIGHUP, SIGPIPE};

long seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec;
}

void flush_cout() {
  static auto* const flush = next<void*(void*)>("_ZNSo5flushEv");
  if (cout_stream != nullptr && flush != nullptr) flush(cout_stream);
}

void flush_all() {
  static auto* const flush = next<int(FILE*)>("fflush");
  if (!pending.exchange(false)) return;
  flush_cout();
  flush(stdout);
}

// Whether there is something to write. Of std::cout, which may have a buffer of its own, it cannot
// be seen: the flushes at the end of a program, which any makes, are not counted.
bool would_write(bool is_cout) {
  constexpr int kAtEnd = 2;
  static std::atomic<int> unseen{0};
  if (::__fpending(stdout) > 0) return true;
  return is_cout && unseen.fetch_add(1, std::memory_order_relaxed) >= kAtEnd;
}

// True if this flush can be left out.
bool leave_out(const char* what, bool is_cout = false) {
  if (!active.load(std::memory_order_relaxed)) return false;
  if (would_write(is_cout)) fix.engaged(what);
  const long now = seconds();
  if (flushed_at.exchange(now, std::memory_order_relaxed) != now) {
    pending = false;
    return false;
  }
  pending.store(true, std::memory_order_relaxed);
  return true;
}

// The default action follows.
void on_fatal(int signal) {
  active = false;
  if (pending.exchange(false)) {
    ::fflush_unlocked(stdout);  // Takes no lock: its holder may be who crashed.
    flush_cout();
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void before_fork() { flush_all(); }
// A child may become another program at any time, which loses what is buffered.
void in_child() { active = false; }

const char* why_not() {
  struct stat out {};
  struct stat err {};
  if (::fstat(STDOUT_FILENO, &out) != 0) return "stdout is closed";
  if (::fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino) {
    return "stdout and stderr are one file, whose lines would change their order";
  }
  if (S_ISREG(out.st_mode)) return nullptr;
  // A pipe to whoever watches the run; any other may have a reader that answers each line.
  char name[64];
  std::snprintf(name, sizeof name, "%lu:%lu", static_cast<unsigned long>(out.st_dev),
                static_cast<unsigned long>(out.st_ino));
  const char* watched = std::getenv("AMDAHL_STDOUT");
  if (watched != nullptr && std::strcmp(watched, name) == 0) return nullptr;
  return "stdout is a terminal or is read by another program";
}

__attribute__((constructor)) void install() {
  if (!fix.is_wanted()) return;
  if (const char* why = why_not()) {
    fix.refuse(why);
    return;
  }
  cout_stream = ::dlsym(RTLD_DEFAULT, "_ZSt4cout");
  next<int(FILE*, char*, int, std::size_t)>("setvbuf")(stdout, buffer, _IOFBF, kBuffer);
  ::pthread_atfork(before_fork, nullptr, in_child);
  for (const int signal : kFatal) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    ::signal(signal, on_fatal);
  }
  flushed_at = seconds();
  active = true;
}

__attribute__((destructor)) void end() {
  active = false;  // What is flushed later is flushed.
  flush_all();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int fflush(FILE* stream) {
  static auto* const real = next<int(FILE*)>("fflush");
  return stream == stdout && leave_out("fflush(stdout)") ? 0 : real(stream);
}

int fflush_unlocked(FILE* stream) {
  static auto* const real = next<int(FILE*)>("fflush_unlocked");
  return stream == stdout && leave_out("fflush(stdout)") ? 0 : real(stream);
}

// std::ostream::flush, which std::endl and std::flush call.
void* _ZNSo5flushEv(void* stream) {
  static auto* const real = next<void*(void*)>("_ZNSo5flushEv");
  if (stream == cout_stream && leave_out("std::cout.flush()", true)) return stream;
  return real(stream);
}

int setvbuf(FILE* stream, char* own, int mode, std::size_t size) {
  static auto* const real = next<int(FILE*, char*, int, std::size_t)>("setvbuf");
  if (stream == stdout && mode != _IOFBF && leave_out("setvbuf(stdout)")) return 0;
  if (stream == stdout && active) return 0;
  return real(stream, own, mode, size);
}

void setbuf(FILE* stream, char* own) {
  setvbuf(stream, own, own != nullptr ? _IOFBF : _IONBF, BUFSIZ);
}

void setlinebuf(FILE* stream) { setvbuf(stream, nullptr, _IOLBF, 0); }

ssize_t write(int file, const void* bytes, std::size_t size) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  if (file == STDOUT_FILENO && pending.load(std::memory_order_relaxed)) flush_all();
  return real(file, bytes, size);
}

int dup2(int from, int to) {
  static auto* const real = next<int(int, int)>("dup2");
  if (to == STDOUT_FILENO) flush_all();
  return real(from, to);
}

int close(int file) {
  static auto* const real = next<int(int)>("close");
  if (file == STDOUT_FILENO) flush_all();
  return real(file);
}

int system(const char* command) {
  static auto* const real = next<int(const char*)>("system");
  flush_all();
  return real(command);
}

FILE* popen(const char* command, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("popen");
  flush_all();
  return real(command, mode);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const env[]) {
  static auto* const real = next<decltype(posix_spawn)>("posix_spawn");
  flush_all();
  return real(pid, path, actions, attributes, argv, env);
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const env[]) {
  static auto* const real = next<decltype(posix_spawnp)>("posix_spawnp");
  flush_all();
  return real(pid, file, actions, attributes, argv, env);
}

int execve(const char* path, char* const argv[], char* const env[]) {
  static auto* const real = next<decltype(execve)>("execve");
  flush_all();
  return real(path, argv, env);
}

int execv(const char* path, char* const argv[]) { return execve(path, argv, environ); }

int execvp(const char* file, char* const argv[]) {
  static auto* const real = next<decltype(execvp)>("execvp");
  flush_all();
  return real(file, argv);
}

void _exit(int code) {
  static auto* const real = next<void(int)>("_exit");
  flush_all();
  amdahl::preload::write_accounts();
  real(code);
  __builtin_unreachable();
}

}  // extern "C"
#pragma GCC visibility pop
