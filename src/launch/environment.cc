#include "launch/environment.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/redact.h"
#include "os/files.h"

namespace amdahl::launch {
namespace {

// Variables of shells, sessions and allocations. AMDAHL_ is ours: state folder and test switches.
constexpr auto kLivePrefixes = std::to_array<std::string_view>(
    {"AMDAHL_", "SLURM_", "SLURMD_", "PBS_", "LSB_", "SSH_", "XDG_", "DBUS_", "TMUX", "TERM",
     "COLORTERM", "GPG_", "VSCODE_", "GIT_ASKPASS"});
constexpr auto kLive = std::to_array<std::string_view>({"_",
                                                        "PWD",
                                                        "OLDPWD",
                                                        "SHLVL",
                                                        "COLUMNS",
                                                        "LINES",
                                                        "DISPLAY",
                                                        "WAYLAND_DISPLAY",
                                                        "XAUTHORITY",
                                                        "WINDOWID",
                                                        "STY",
                                                        "PS1",
                                                        "PROMPT_COMMAND",
                                                        "HISTFILE",
                                                        "KRB5CCNAME",
                                                        "INVOCATION_ID",
                                                        "JOURNAL_STREAM",
                                                        "NOTIFY_SOCKET",
                                                        "MAINPID",
                                                        "SYSTEMD_EXEC_PID",
                                                        "MAIL",
                                                        "LS_COLORS",
                                                        "CUDA_VISIBLE_DEVICES",
                                                        "ROCR_VISIBLE_DEVICES",
                                                        "HIP_VISIBLE_DEVICES",
                                                        "GPU_DEVICE_ORDINAL",
                                                        "ZE_AFFINITY_MASK",
                                                        "NVIDIA_VISIBLE_DEVICES"});

std::string path_of(const std::string& state_dir, const std::string& digest) {
  return fmt::format("{}/environments/{}.json", state_dir, digest);
}

Environment pinned(const Environment& environment) {
  Environment kept;
  for (const auto& [name, value] : environment) {
    if (is_pinned(name) && redact(value) == value) kept.emplace(name, value);
  }
  return kept;
}

}  // namespace

Environment own_environment() {
  Environment all;
  for (char** at = environ; at && *at; ++at) {
    const std::string_view row(*at);
    const std::size_t equals = row.find('=');
    if (equals == row.npos || equals == 0) continue;
    all.emplace(row.substr(0, equals), row.substr(equals + 1));
  }
  return all;
}

bool is_pinned(std::string_view variable) {
  const bool live =
      std::ranges::find(kLive, variable) != kLive.end() ||
      std::ranges::any_of(kLivePrefixes, [&](auto prefix) { return variable.starts_with(prefix); });
  return !live && !names_a_secret(variable);
}

std::string digest(const Environment& environment) {
  return sha256_hex(dump_json(Json(pinned(environment)))).substr(0, 16);
}

Result<> keep_environment(const std::string& state_dir, const Environment& environment) {
  const std::string path = path_of(state_dir, digest(environment));
  if (os::exists(path)) return Ok{};
  TRY(os::make_dirs(state_dir + "/environments"));
  return os::write_file(path, pretty_json(Json(pinned(environment))));
}

Result<Environment> kept_environment(const std::string& state_dir, const std::string& digest) {
  const std::string path = path_of(state_dir, digest);
  const std::string text = TRY(os::read_file(path));
  const Json json = TRY(parse_json(text).in(path));
  Environment kept;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) kept.emplace(name, value.get<std::string>());
  }
  if (launch::digest(kept) != digest) return bad_input(path + " was changed after it was written");
  return kept;
}

Environment with_live(Environment kept, const Environment& now) {
  for (const auto& [name, value] : now) {
    if (!is_pinned(name) || redact(value) != value) kept.insert_or_assign(name, value);
  }
  return kept;
}

std::vector<std::string> differences(const Environment& a, const Environment& b) {
  const Environment before = pinned(a);
  const Environment after = pinned(b);
  std::vector<std::string> names;
  for (const auto& [name, value] : before) {
    const auto other = after.find(name);
    if (other == after.end() || other->second != value) names.push_back(name);
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace amdahl::launch
