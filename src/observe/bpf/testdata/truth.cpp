// Loads with known waits. Prints its own measurements, one "name value" per line, times in
// nanoseconds. CPU time and run-queue delay of the waiting thread are subtracted by the kernel's
// own clocks, so that the values hold on a busy machine too.
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

long long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

long long own_cpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

void spin(long long nanoseconds) {
  const long long end = own_cpu() + nanoseconds;
  while (own_cpu() < end) {
  }
}

// What this thread has been given and denied so far.
struct Seen {
  long long at = 0, cpu = 0, delay = 0;
};

Seen look() {
  Seen seen;
  FILE* file = std::fopen("/proc/thread-self/schedstat", "r");
  if (!file) std::exit(2);
  long long stale_cpu = 0;  // Of the last tick.
  if (std::fscanf(file, "%lld %lld", &stale_cpu, &seen.delay) != 2) std::exit(2);
  std::fclose(file);
  seen.cpu = own_cpu();
  seen.at = now();
  return seen;
}

void say(const char* name, long long value) { std::printf("%s %lld\n", name, value); }

// The time since `from` in which this thread was off the CPU.
void say_stretch(const char* name, const Seen& from) {
  const Seen to = look();
  const std::string own = name;
  say((own + ".tid").c_str(), syscall(SYS_gettid));
  say((own + ".wall").c_str(), to.at - from.at);
  say((own + ".cpu").c_str(), to.cpu - from.cpu);
  say((own + ".delay").c_str(), to.delay - from.delay);
  say((own + ".from").c_str(), from.at);
  say((own + ".to").c_str(), to.at);
  say((own + ".off").c_str(), (to.at - from.at) - (to.cpu - from.cpu));
}

// How long until the other side finished what is waited for, as both sides saw it.
long long waiting = 0;

// Inlined, to appear as a separate line inside its caller.
__attribute__((always_inline)) inline void note_wait(long long from, long long ready) {
  if (ready > from) waiting += ready - from;
}

void name_thread(const char* name) { prctl(PR_SET_NAME, name); }

void must(bool is_well, const char* what) {
  if (is_well) return;
  std::perror(what);
  std::exit(2);
}

void sleeps() {
  const Seen from = look();
  for (int i = 0; i < 60; ++i) {
    timespec time{0, 10'000'000};
    nanosleep(&time, nullptr);
    waiting += 10'000'000;
  }
  say_stretch("sleep", from);
  say("sleep.waiting", waiting);
}

// Both wait through one function and at one depth of the stack: only the callers differ.
__attribute__((noinline)) void nap() {
  timespec time{0, 2'000'000};
  nanosleep(&time, nullptr);
}
__attribute__((noinline)) void seldom() {
  nap();
  asm volatile("");
}
__attribute__((noinline)) void often() {
  nap();
  asm volatile("");
}

void callers() {
  const Seen from = look();
  seldom();
  for (int i = 0; i < 30; ++i) often();
  say_stretch("callers", from);
}

// The consumer waits for a producer that computes; a separate function, to be visible on its
// stack.
struct Shared {
  std::mutex mutex;
  std::condition_variable ready;
  int made = 0;
  long long at = 0;
};

__attribute__((noinline)) void wait_for_item(Shared& shared, int taken) {
  const long long from = now();
  std::unique_lock lock(shared.mutex);
  shared.ready.wait(lock, [&] { return shared.made > taken; });
  note_wait(from, shared.at);
}

void futexes() {
  Shared shared;
  const Seen from = look();
  std::thread producer([&] {
    name_thread("producer");
    for (int i = 0; i < 40; ++i) {
      spin(10'000'000);
      {
        const std::lock_guard lock(shared.mutex);
        ++shared.made;
        shared.at = now();
      }
      shared.ready.notify_one();
    }
  });
  for (int taken = 0; taken < 40; ++taken) wait_for_item(shared, taken);
  say_stretch("futex", from);
  say("futex.waiting", waiting);
  producer.join();
}

void polls() {
  int ends[2];
  must(pipe(ends) == 0, "pipe");
  std::thread writer([&] {
    name_thread("writer");
    for (int i = 0; i < 40; ++i) {
      timespec time{0, 10'000'000};
      nanosleep(&time, nullptr);
      const long long at = now();
      must(write(ends[1], &at, sizeof(at)) == sizeof(at), "write");
    }
  });
  const Seen from = look();
  for (int i = 0; i < 40; ++i) {
    const long long start = now();
    pollfd wanted{ends[0], POLLIN, 0};
    poll(&wanted, 1, -1);
    long long at = 0;
    must(read(ends[0], &at, sizeof(at)) == sizeof(at), "read");
    note_wait(start, at);
  }
  say_stretch("poll", from);
  say("poll.waiting", waiting);
  writer.join();
}

// A child that is forked and not executed, as a loader's worker is.
void pipes() {
  int ends[2];
  must(pipe(ends) == 0, "pipe");
  const pid_t child = fork();
  if (child == 0) {
    name_thread("worker");
    for (int i = 0; i < 40; ++i) {
      spin(8'000'000);
      const long long at = now();
      must(write(ends[1], &at, sizeof(at)) == sizeof(at), "write");
    }
    _exit(0);
  }
  const Seen from = look();
  for (int i = 0; i < 40; ++i) {
    const long long start = now();
    long long at = 0;
    must(read(ends[0], &at, sizeof(at)) == sizeof(at), "read");
    note_wait(start, at);
  }
  say_stretch("pipe", from);
  say("pipe.waiting", waiting);
  say("pipe.child", child);
  waitpid(child, nullptr, 0);
}

void sockets() {
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  std::thread sender([&] {
    name_thread("sender");
    for (int i = 0; i < 40; ++i) {
      timespec time{0, 8'000'000};
      nanosleep(&time, nullptr);
      const long long at = now();
      must(send(ends[1], &at, sizeof(at), 0) == sizeof(at), "send");
    }
  });
  const Seen from = look();
  for (int i = 0; i < 40; ++i) {
    const long long start = now();
    long long at = 0;
    must(recv(ends[0], &at, sizeof(at), 0) == sizeof(at), "recv");
    note_wait(start, at);
  }
  say_stretch("net", from);
  say("net.waiting", waiting);
  sender.join();
}

void children() {
  const pid_t child = fork();
  if (child == 0) {
    timespec time{0, 300'000'000};
    nanosleep(&time, nullptr);
    _exit(0);
  }
  const Seen from = look();
  waitpid(child, nullptr, 0);
  say_stretch("child", from);
}

// Direct reads: each goes to the disk and takes long compared to a context switch.
void disk_reads(const char* path) {
  constexpr size_t kBytes = 8 << 20;
  const int file = open(path, O_RDONLY | O_DIRECT);
  must(file >= 0, "open");
  void* buffer = nullptr;
  must(posix_memalign(&buffer, 4096, kBytes) == 0, "memory");
  std::memset(buffer, 0, kBytes);
  struct stat seen {};
  fstat(file, &seen);
  const Seen from = look();
  long long reads = 0;
  for (int round = 0; round < 8; ++round) {
    for (off_t at = 0; at + static_cast<off_t>(kBytes) <= seen.st_size; at += kBytes) {
      must(pread(file, buffer, kBytes, at) == kBytes, "pread");
      ++reads;
    }
  }
  say_stretch("read", from);
  say("read.count", reads);
}

// Pages that another thread provides, after a while: how long each fault lasted is known.
void faults() {
  constexpr size_t kPage = 4096;
  constexpr int kPages = 40;
  const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
  if (faults < 0) {
    say("fault.refused", errno);
    return;
  }
  uffdio_api api{UFFD_API, 0, 0};
  must(ioctl(faults, UFFDIO_API, &api) == 0, "userfaultfd");
  auto* bytes = static_cast<char*>(
      mmap(nullptr, kPage * kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  must(bytes != MAP_FAILED, "mmap");
  uffdio_register range{
      {reinterpret_cast<__u64>(bytes), kPage * kPages}, UFFDIO_REGISTER_MODE_MISSING, 0};
  must(ioctl(faults, UFFDIO_REGISTER, &range) == 0, "register");
  std::thread provider([&] {
    name_thread("provider");
    for (int i = 0; i < kPages; ++i) {
      uffd_msg message{};
      must(read(faults, &message, sizeof(message)) == sizeof(message), "read");
      timespec time{0, 8'000'000};
      nanosleep(&time, nullptr);
      alignas(4096) static char page[kPage];
      const long long at = now();
      std::memcpy(page, &at, sizeof(at));
      uffdio_copy copy{message.arg.pagefault.address & ~(kPage - 1), reinterpret_cast<__u64>(page),
                       kPage, 0, 0};
      must(ioctl(faults, UFFDIO_COPY, &copy) == 0, "copy");
    }
  });
  const Seen from = look();
  for (int i = 0; i < kPages; ++i) {
    const long long start = now();
    long long at = 0;
    std::memcpy(&at, bytes + static_cast<size_t>(i) * kPage, sizeof(at));
    note_wait(start, at);
  }
  say_stretch("fault", from);
  say("fault.waiting", waiting);
  provider.join();
}

void syncs(const char* path) {
  const std::string name = std::string(path) + ".sync";
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  must(file >= 0, "open");
  constexpr size_t kBytes = 24 << 20;
  const std::string bytes(kBytes, 'x');
  const Seen from = look();
  for (int i = 0; i < 10; ++i) {
    must(pwrite(file, bytes.data(), kBytes, 0) == kBytes, "pwrite");
    must(fsync(file) == 0, "fsync");
  }
  say_stretch("sync", from);
  unlink(name.c_str());
}

// Two threads that want one CPU: one runs, the other waits for it.
void crowd() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  must(sched_setaffinity(0, sizeof(one), &one) == 0, "affinity");
  std::thread rival([] {
    name_thread("rival");
    spin(400'000'000);
  });
  const Seen from = look();
  spin(400'000'000);
  say_stretch("crowd", from);
  rival.join();
}

void round_trips(long long count) {
  int there[2];
  int back[2];
  must(pipe(there) == 0 && pipe(back) == 0, "pipe");
  const pid_t child = fork();
  char byte = 'x';
  if (child == 0) {
    for (long long i = 0; i < count; ++i) {
      if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  const Seen from = look();
  for (long long i = 0; i < count; ++i) {
    must(write(there[1], &byte, 1) == 1, "write");
    must(read(back[0], &byte, 1) == 1, "read");
  }
  say_stretch("pingpong", from);
  say("pingpong.count", count);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* more = argc > 2 ? argv[2] : "";
  // The first reads of the loader and of /proc are not measured.
  look();
  if (what == "sleep") sleeps();
  if (what == "callers") callers();
  if (what == "futex") futexes();
  if (what == "poll") polls();
  if (what == "pipe") pipes();
  if (what == "net") sockets();
  if (what == "child") children();
  if (what == "read") disk_reads(more);
  if (what == "fault") faults();
  if (what == "sync") syncs(more);
  if (what == "crowd") crowd();
  if (what == "pingpong") round_trips(std::atoll(more));
  if (what == "spin") spin(std::atoll(more));
  return 0;
}
