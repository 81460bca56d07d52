#include "os/host.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <pwd.h>
#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "os/cgroup.h"
#include "os/fake/fixed_random.h"
#include "os/files.h"

namespace amdahl::os {
namespace {

std::string trimmed_file(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : "";
}

std::optional<std::uint64_t> fixed_random;  // Nothing: the kernel's.

unsigned char random_byte() {
  unsigned char byte = 0;
  if (!fixed_random) {
    CHECK(::getrandom(&byte, 1, 0) == 1);
    return byte;
  }
  std::uint64_t mixed = *fixed_random += 0x9e3779b97f4a7c15U;  // SplitMix64.
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return static_cast<unsigned char>(mixed >> 56);
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string boot_id() { return trimmed_file("/proc/sys/kernel/random/boot_id"); }

std::string user_name() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found) {
    return found->pw_name;
  }
  return env_or("USER", std::to_string(::geteuid()));
}

std::string cpu_model() {
  const auto text = read_file("/proc/cpuinfo");
  if (!text) return "unknown CPU";
  for (const std::string_view line : split(*text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    // x86 has "model name", some ARM kernels only "Model" or "CPU part".
    if (key == "model name" || key == "Model") return std::string(trim(line.substr(colon + 1)));
  }
  return "unknown CPU";
}

std::vector<int> affinity_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> usable_cpus() {
  std::vector<int> cpus = affinity_cpus();
  const double quota = own_cgroup_limits().quota_cores;
  if (quota > 0 && quota < static_cast<double>(cpus.size())) {
    cpus.resize(std::max<std::size_t>(1, static_cast<std::size_t>(quota)));
  }
  return cpus;
}

bool can_use(const std::string& program) {
  constexpr std::string_view kCpu = "cpu:";
  if (program.starts_with(kCpu)) {
    const auto info = read_file("/proc/cpuinfo");
    const std::string flags = info ? *info : "";
    return std::ranges::any_of(split(program.substr(kCpu.size()), '|'), [&](std::string_view flag) {
      return flags.find(" " + std::string(flag) + " ") != flags.npos;
    });
  }
  if (program.starts_with('/')) return exists(program);
  if (program.starts_with("lib") && program.find(".so") != program.npos) {
    return !glob("/usr/lib/*/" + program).empty() || !glob("/usr/lib*/" + program).empty();
  }
  const std::string path = env_or("PATH", "/usr/bin:/bin");
  for (const std::string_view folder : split(path, ':')) {
    if (::access((std::string(folder) + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string self_path() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return "";
  path.resize(static_cast<std::size_t>(length));
  // Appended by the kernel if the file was replaced while we run; the new file has the old name.
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

void fix_random(std::uint64_t seed) { fixed_random = seed; }

std::string random_hex(int digits) {
  std::string text;
  for (int i = 0; i < digits; ++i) text += "0123456789abcdef"[random_byte() & 15U];
  return text;
}

std::string env_or(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value && *value ? value : fallback;
}

}  // namespace amdahl::os
