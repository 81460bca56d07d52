#include "os/bubblewrap.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "os/files.h"
#include "os/host.h"
#include "os/program.h"

namespace amdahl::os {
namespace {

namespace fs = std::filesystem;

enum class Show : std::uint8_t { kEmpty, kReadOnly, kWritable, kNothing };

// Sockets of services, scratch of others, and shared memory, which would carry data between runs.
constexpr auto kScratch = std::to_array<const char*>({"/tmp", "/var/tmp", "/run", "/dev/shm"});
// Of /run, what programs need: names of hosts and drivers.
constexpr auto kNeeded =
    std::to_array<const char*>({"/run/systemd/resolve", "/run/nvidia-persistenced"});
// Devices that compute and connect; disks and memory are left out, for root could write to them.
constexpr auto kDevices =
    std::to_array<std::string_view>({"nvidia", "dri", "kfd", "accel", "infiniband", "davinci",
                                     "hisi_hdc", "gdrdrv", "cpu_dma_latency"});
// Of the system, which root could read.
constexpr auto kSystemKeys = std::to_array<const char*>(
    {"/etc/shadow", "/etc/gshadow", "/etc/munge", "/etc/ssh", "/etc/amdahl"});
// Below the home folder.
constexpr auto kKeys = std::to_array<const char*>({".ssh",
                                                   ".aws",
                                                   ".azure",
                                                   ".gnupg",
                                                   ".kube",
                                                   ".claude",
                                                   ".codex",
                                                   ".config/gcloud",
                                                   ".config/gh",
                                                   ".config/amdahl",
                                                   ".config/git",
                                                   ".config/rclone",
                                                   ".config/containers",
                                                   ".docker",
                                                   ".netrc",
                                                   ".git-credentials",
                                                   ".pypirc",
                                                   ".pgpass",
                                                   ".npmrc",
                                                   ".claude.json",
                                                   ".cache/huggingface/token",
                                                   ".cache/huggingface/stored_tokens",
                                                   ".huggingface",
                                                   ".ngc",
                                                   ".kaggle",
                                                   ".vault-token",
                                                   ".s3cfg",
                                                   ".boto",
                                                   ".databrickscfg",
                                                   ".modal.toml",
                                                   ".password-store",
                                                   ".local/share/keyrings",
                                                   ".cargo/credentials.toml",
                                                   ".bash_history",
                                                   ".zsh_history"});

std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found.string();
}

struct Shown {
  Show show = Show::kEmpty;
  std::string source{};  // Of what is shown; empty: the path itself.
};
// By path: a folder comes before what is in it, and is mounted first.
using Mounts = std::map<std::string, Shown>;

// Whether the path lies in something that is empty inside, and not at it.
bool is_covered(const Mounts& mounts, const std::string& path) {
  for (const auto& [outer, mount] : mounts) {
    if (mount.show == Show::kEmpty && path.starts_with(outer + "/")) return true;
  }
  return false;
}

void add(Mounts& mounts, const std::vector<std::string>& paths, Show show) {
  for (const std::string& path : paths) {
    if (!path.empty() && exists(path)) mounts[canonical(path)] = {show};
  }
}

// What is shown where the path lies.
Show shown_at(const Mounts& mounts, const std::string& path) {
  Show show = Show::kReadOnly;
  std::size_t longest = 0;
  for (const auto& [outer, mount] : mounts) {
    if (outer.size() < longest || !path.starts_with(outer + "/")) continue;
    longest = outer.size();
    show = mount.show;
  }
  return show;
}

// A socket takes connections also where its folder is read-only, and in any network: services of
// the host would do what the job asks of them.
void hide_sockets(Mounts& mounts) {
  const auto table = read_file("/proc/net/unix");
  if (!table) return;
  for (const std::string_view line : split(*table, '\n')) {
    const std::size_t at = line.find(" /");
    if (at == line.npos) continue;
    const std::string path = canonical(std::string(line.substr(at + 1)));
    std::error_code ignored;
    if (!fs::is_socket(fs::symlink_status(path, ignored))) continue;
    const Show show = shown_at(mounts, path);
    if (show == Show::kReadOnly || show == Show::kWritable) mounts[path] = {Show::kNothing};
  }
}

Mounts mounts_of(const Jail& jail) {
  Mounts mounts;
  add(mounts, {kScratch.begin(), kScratch.end()}, Show::kEmpty);
  add(mounts, {kNeeded.begin(), kNeeded.end()}, Show::kReadOnly);
  if (const std::string home = env_or("HOME", ""); home.starts_with('/')) {
    for (const char* key : kKeys) add(mounts, {home + "/" + key}, Show::kNothing);
  }
  for (const char* key : kSystemKeys) add(mounts, {key}, Show::kNothing);
  add(mounts, jail.hidden, Show::kEmpty);
  for (const std::string& path : jail.readable) {
    if (is_covered(mounts, canonical(path))) add(mounts, {path}, Show::kReadOnly);
  }
  add(mounts, jail.writable, Show::kWritable);
  add(mounts, jail.fresh, Show::kEmpty);
  for (const auto& [path, source] : jail.replaced) {
    mounts[canonical(path)] = {Show::kWritable, canonical(source)};
  }
  hide_sockets(mounts);
  return mounts;
}

// A /dev of its own, with the devices of the host that a job may need.
std::vector<std::string> devices() {
  std::vector<std::string> words{"--dev", "/dev"};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename();
    for (const std::string_view start : kDevices) {
      if (!name.starts_with(start)) continue;
      words.insert(words.end(), {"--dev-bind", entry.path(), entry.path()});
      break;
    }
  }
  return words;
}

// Empty if bubblewrap works with these options.
std::string problem_with(const std::vector<std::string>& options) {
  if (!can_use("bwrap")) return "bubblewrap is not installed";
  std::vector<std::string> argv{"bwrap"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--ro-bind", "/", "/", "--proc", "/proc", "true"});
  const auto tried = run_program({.argv = std::move(argv), .limit = std::chrono::seconds(20)},
                                 [](std::string_view) -> Result<> { return Ok{}; }, {});
  return tried ? "" : tried.error().text;
}

}  // namespace

bool has_bubblewrap(std::string* why_not) {
  static const std::string problem = problem_with({"--unshare-pid"});
  if (why_not) *why_not = problem;
  return problem.empty();
}

bool can_jail(std::string* why_not) {
  static const std::string problem = problem_with({"--unshare-pid", "--unshare-net"});
  if (why_not) *why_not = problem;
  return problem.empty();
}

std::vector<std::string> jailed(const Jail& jail, const std::vector<std::string>& argv,
                                const std::string& workdir) {
  std::vector<std::string> all{"bwrap",         "--die-with-parent",
                               "--unshare-pid", "--unshare-ipc",
                               "--unshare-uts", "--unshare-cgroup-try",
                               "--cap-drop",    "ALL"};  // Or root could mount it all again.
  if (!jail.network) all.emplace_back("--unshare-net");
  all.insert(all.end(), {"--ro-bind", "/", "/", "--proc", "/proc"});
  // The owner of the kernel's settings needs no right to change them.
  all.insert(all.end(), {"--remount-ro", "/proc"});
  const std::vector<std::string> nodes = devices();
  all.insert(all.end(), nodes.begin(), nodes.end());
  for (const auto& [path, mount] : mounts_of(jail)) {
    const std::string& source = mount.source.empty() ? path : mount.source;
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    switch (mount.show) {
      case Show::kEmpty:
        all.insert(all.end(), {"--tmpfs", path});
        break;
      case Show::kReadOnly:
        all.insert(all.end(), {"--ro-bind", path, path});
        break;
      case Show::kWritable:
        all.insert(all.end(), {"--bind", source, path});
        break;
      case Show::kNothing:
        if (is_folder) all.insert(all.end(), {"--tmpfs", path});
        if (!is_folder) all.insert(all.end(), {"--ro-bind", "/dev/null", path});
        break;
    }
  }
  all.insert(all.end(), {"--chdir", canonical(workdir), "--"});
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

}  // namespace amdahl::os
