#include "observe/bpf/kernel.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include("waits.skel.h")
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "waits.skel.h"
#endif

#include "base/text.h"
#include "observe/bpf/privilege.h"

namespace amdahl::observe {

#if __has_include("waits.skel.h")

namespace {

constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";
// Of each CPU. A prime number a second, so as not to beat with what a job does every so often.
constexpr std::uint64_t kSampleEvery = 1'000'000'000 / 47;

// libbpf's last message: its error numbers alone do not explain the cause.
std::string& complaint() {
  thread_local std::string text;
  return text;
}

int keep_complaint(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 400> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  if (complaint().empty()) complaint() = trim(line.data());
  return 0;
}

Error refused(const char* what, int code) {
  const bool not_permitted = code == -EPERM || code == -EACCES;
  std::string text = fmt::format("the kernel refused {}: {}", what, std::strerror(-code));
  if (not_permitted) {
    text += "; " + remedy(own_privilege());
  } else if (!complaint().empty()) {
    text += fmt::format(" ({})", clip(complaint(), 200));
  }
  return {Error::Kind::kUnsupported, text};
}

std::uint32_t own_namespace() {
  struct stat seen {};
  return ::stat("/proc/self/ns/pid", &seen) == 0 ? static_cast<std::uint32_t>(seen.st_ino) : 0;
}

// Whether sched_switch hands over the state of the thread that leaves (since Linux 5.18). Its type
// is a pointer to a function that takes the program's context first.
bool tells_state() {
  btf* types = btf__load_vmlinux_btf();
  if (!types) return true;
  const auto id = btf__find_by_name_kind(types, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
  const btf_type* type = id > 0 ? btf__type_by_id(types, static_cast<__u32>(id)) : nullptr;
  if (type) type = btf__type_by_id(types, type->type);
  if (type) type = btf__type_by_id(types, type->type);
  const bool has = !type || !btf_is_func_proto(type) || btf_vlen(type) >= 5;
  btf__free(types);
  return has;
}

int on_ring(void* context, void* data, std::size_t bytes) {
  (*static_cast<OnEvent*>(context))({static_cast<const std::byte*>(data), bytes});
  return 0;
}

template <class Key, class Value>
std::vector<std::pair<Key, Value>> all_of(int map) {
  std::vector<std::pair<Key, Value>> found;
  Key key{};
  Key next{};
  for (Key* last = nullptr; bpf_map_get_next_key(map, last, &next) == 0; last = &key) {
    Value value{};
    if (bpf_map_lookup_elem(map, &next, &value) == 0) found.emplace_back(next, value);
    key = next;
  }
  return found;
}

struct CloseSkeleton {
  void operator()(waits_bpf* skeleton) const { waits_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<waits_bpf, CloseSkeleton>;

struct CloseLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Link = std::unique_ptr<bpf_link, CloseLink>;

// A timer per CPU that calls the program; none if the kernel refuses.
std::vector<Link> sample_cpus(const bpf_program* program) {
  std::vector<Link> links;
  perf_event_attr clock{};
  clock.size = sizeof(clock);
  clock.type = PERF_TYPE_SOFTWARE;
  clock.config = PERF_COUNT_SW_CPU_CLOCK;
  clock.sample_period = kSampleEvery;
  const int cpus = libbpf_num_possible_cpus();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const auto event =
        static_cast<int>(::syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0) continue;  // The CPU is switched off.
    Link link{bpf_program__attach_perf_event(program, event)};
    if (!link) {
      ::close(event);  // A link closes it itself.
      continue;
    }
    links.push_back(std::move(link));
  }
  return links;
}

struct Ways {
  bool count_syscalls = false;
  bool count_block_io = true;
};

Result<Skeleton> open_and_load(Ways ways) {
  complaint().clear();
  Skeleton skeleton{waits_bpf__open()};
  if (!skeleton) return refused("the BPF object", -errno);
  skeleton->rodata->has_prev_state = tells_state();
  skeleton->rodata->pid_namespace = own_namespace();
  bpf_program__set_autoload(skeleton->progs.on_syscall, ways.count_syscalls);
  bpf_program__set_autoload(skeleton->progs.on_issue, ways.count_block_io);
  bpf_program__set_autoload(skeleton->progs.on_complete, ways.count_block_io);
  if (const int code = waits_bpf__load(skeleton.get()); code != 0) {
    return refused("to load the BPF program", code);
  }
  if (const int code = waits_bpf__attach(skeleton.get()); code != 0) {
    return refused("to attach the BPF program", code);
  }
  return skeleton;
}

}  // namespace

struct Kernel::Loaded {
  OnEvent on_event;
  Skeleton skeleton;
  ring_buffer* ring = nullptr;
  std::vector<Link> samples;

  ~Loaded() { ring_buffer__free(ring); }
};

Kernel::Kernel(std::unique_ptr<Loaded> loaded) : loaded_{std::move(loaded)} {}
Kernel::~Kernel() = default;

Result<std::unique_ptr<Kernel>> Kernel::load(bool count_syscalls, OnEvent on_event) {
  if (::access(kTypes, R_OK) != 0) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("the kernel has no BTF type information ({}: {})", kTypes,
                             std::strerror(errno))};
  }
  libbpf_set_print(keep_complaint);
  auto loaded = std::make_unique<Loaded>();
  auto skeleton = open_and_load({count_syscalls, true});
  // Kernels before 5.11 have other arguments there; the rest works without.
  if (!skeleton && ::geteuid() == 0) skeleton = open_and_load({count_syscalls, false});
  if (!skeleton) return skeleton.error();
  loaded->skeleton = *std::move(skeleton);
  loaded->on_event = std::move(on_event);
  loaded->ring = ring_buffer__new(bpf_map__fd(loaded->skeleton->maps.ring), on_ring,
                                  &loaded->on_event, nullptr);
  if (!loaded->ring) return refused("the ring of events", -errno);
  loaded->samples = sample_cpus(loaded->skeleton->progs.on_sample);
  return std::unique_ptr<Kernel>(new Kernel(std::move(loaded)));
}

void Kernel::follow_children_of(std::uint32_t tid) { loaded_->skeleton->bss->parent_tid = tid; }

void Kernel::set_smallest_event(std::uint64_t nanoseconds) {
  loaded_->skeleton->data->smallest_event = nanoseconds;
}

bool Kernel::adopt(const waits_task& task) {
  const int map = bpf_map__fd(loaded_->skeleton->maps.tasks);
  const std::uint32_t number = task.tid;
  const int code = bpf_map_update_elem(map, &number, &task, BPF_NOEXIST);
  return code == 0 || code == -EEXIST;
}

void Kernel::drain() { ring_buffer__consume(loaded_->ring); }
void Kernel::detach() {
  loaded_->samples.clear();
  waits_bpf__detach(loaded_->skeleton.get());
}

std::uint64_t Kernel::sample_every() const { return loaded_->samples.empty() ? 0 : kSampleEvery; }

void Kernel::set_python(std::uint32_t process, const waits_python& python) {
  // Where there is no room its lines are not told; its waits are.
  bpf_map_update_elem(bpf_map__fd(loaded_->skeleton->maps.pythons), &process, &python, BPF_ANY);
}

bool Kernel::read_task(std::uint32_t number, waits_task& task) const {
  return bpf_map_lookup_elem(bpf_map__fd(loaded_->skeleton->maps.tasks), &number, &task) == 0;
}

void Kernel::remove_task(std::uint32_t number) {
  bpf_map_delete_elem(bpf_map__fd(loaded_->skeleton->maps.tasks), &number);
}

std::vector<std::pair<std::uint32_t, waits_task>> Kernel::tasks() const {
  return all_of<std::uint32_t, waits_task>(bpf_map__fd(loaded_->skeleton->maps.tasks));
}

std::vector<std::pair<std::uint32_t, waits_site>> Kernel::sites() const {
  std::vector<std::pair<std::uint32_t, waits_site>> found;
  const int map = bpf_map__fd(loaded_->skeleton->maps.sites);
  const std::uint32_t used = loaded_->skeleton->bss->sites_used;
  const std::uint32_t end = std::min(used + 1, bpf_map__max_entries(loaded_->skeleton->maps.sites));
  for (std::uint32_t number = 1; number < end; ++number) {
    waits_site site{};
    if (bpf_map_lookup_elem(map, &number, &site) == 0) found.emplace_back(number, site);
  }
  return found;
}

std::vector<std::pair<waits_wake_key, waits_wake>> Kernel::wakes() const {
  return all_of<waits_wake_key, waits_wake>(bpf_map__fd(loaded_->skeleton->maps.wakes));
}

std::vector<waits_device> Kernel::devices() const {
  std::vector<waits_device> found;
  for (const auto& [number, device] :
       all_of<std::uint32_t, waits_device>(bpf_map__fd(loaded_->skeleton->maps.devices))) {
    found.push_back(device);
  }
  return found;
}

Kernel::Lost Kernel::lost() const {
  const auto* counted = loaded_->skeleton->bss;
  Lost lost{counted->lost_tasks, counted->lost_sites,      counted->lost_events,
            counted->lost_wakes, counted->mended_switches, 0};
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, loaded_->skeleton->obj) {
    bpf_prog_info info{};
    __u32 bytes = sizeof(info);
    const int file = bpf_program__fd(program);
    if (file < 0 || bpf_obj_get_info_by_fd(file, &info, &bytes) != 0) continue;
    lost.calls += info.recursion_misses;
  }
  return lost;
}

#else

struct Kernel::Loaded {};
Kernel::Kernel(std::unique_ptr<Loaded> loaded) : loaded_{std::move(loaded)} {}
Kernel::~Kernel() = default;

Result<std::unique_ptr<Kernel>> Kernel::load(bool, OnEvent) {
  return Error{Error::Kind::kUnsupported,
               "this program was built without BPF support (no clang, no bpftool, or not x86-64)"};
}

void Kernel::follow_children_of(std::uint32_t) {}
bool Kernel::adopt(const waits_task&) { return false; }
void Kernel::set_smallest_event(std::uint64_t) {}
void Kernel::set_python(std::uint32_t, const waits_python&) {}
std::uint64_t Kernel::sample_every() const { return 0; }
void Kernel::drain() {}
void Kernel::detach() {}
bool Kernel::read_task(std::uint32_t, waits_task&) const { return false; }
void Kernel::remove_task(std::uint32_t) {}
std::vector<std::pair<std::uint32_t, waits_task>> Kernel::tasks() const { return {}; }
std::vector<std::pair<std::uint32_t, waits_site>> Kernel::sites() const { return {}; }
std::vector<std::pair<waits_wake_key, waits_wake>> Kernel::wakes() const { return {}; }
std::vector<waits_device> Kernel::devices() const { return {}; }
Kernel::Lost Kernel::lost() const { return {}; }

#endif

}  // namespace amdahl::observe
