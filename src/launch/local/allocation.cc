#include "launch/local/allocation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "base/text.h"
#include "os/host.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

constexpr auto kDevices = std::to_array<const char*>(
    {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
     "ZE_AFFINITY_MASK", "NVIDIA_VISIBLE_DEVICES"});

}  // namespace

bool has_modules() { return !os::env_or("AMDAHL_MODULES", "").empty(); }

Result<> take_environment(const std::string& state_dir, const PairRequest& request) {
  if (request.environment.empty()) return Ok{};
  const Environment here = own_environment();
  Environment wanted = TRY(kept_environment(state_dir, request.environment));
  if (has_modules()) {
    for (const auto& [name, value] : here) wanted.insert_or_assign(name, value);
  } else {
    wanted = with_live(std::move(wanted), here);
  }
  ::clearenv();
  for (const auto& [name, value] : wanted) ::setenv(name.c_str(), value.c_str(), 1);
  return Ok{};
}

std::vector<int> cpus_for(const PairRequest& request, std::vector<int> usable, int job) {
  const auto most = static_cast<std::size_t>(std::max(1, most_cpus(request)));
  if (usable.size() <= most) return usable;
  bool alike = request.a.cpus == request.b.cpus || request.profile || request.steps;
  for (const model::Plan& plan : request.more) alike &= plan.cpus == request.a.cpus;
  if (alike && !request.contended) return {};
  const auto first = static_cast<std::size_t>(std::max(0, job)) * most % usable.size();
  std::ranges::rotate(usable, usable.begin() + static_cast<std::ptrdiff_t>(first));
  usable.resize(most);
  std::ranges::sort(usable);
  return usable;
}

int limit_devices(const Environment& environment, model::Plan& plan) {
  int there = 0;
  const auto most = static_cast<std::size_t>(std::max(0, plan.accelerators));
  for (const char* variable : kDevices) {
    const auto own = plan.env.find(variable);
    const auto given = environment.find(variable);
    const bool set = own != plan.env.end() || given != environment.end();
    if (!set) continue;
    const std::string& all = own != plan.env.end() ? own->second : given->second;
    const auto devices = split(all, ',');
    if (devices.size() <= most) continue;
    there = std::max(there, static_cast<int>(devices.size()));
    std::vector<std::string> first;
    for (std::size_t i = 0; i < most; ++i) first.emplace_back(trim(devices[i]));
    plan.env[variable] = join(first, ",");
  }
  return there;
}

std::string make_scratch(const std::string& name) {
  for (const char* variable : {"SLURM_TMPDIR", "TMPDIR"}) {
    const std::string base = os::env_or(variable, "");
    if (base.empty()) continue;
    const std::string path = fmt::format("{}/amdahl-{}-{}", base, name, os::random_hex(6));
    std::error_code error;
    if (fs::create_directory(path, error)) return path;
  }
  const std::string path = fmt::format("/tmp/amdahl-{}-{}", name, os::random_hex(6));
  std::error_code error;
  return fs::create_directory(path, error) ? path : "";
}

Result<> keep_scratch(const std::string& scratch, const std::string& run_dir) {
  if (scratch.empty()) return Ok{};
  std::error_code error;
  fs::copy(scratch, run_dir,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing |
               fs::copy_options::copy_symlinks,
           error);
  if (error) return external(fmt::format("{}: cannot be kept: {}", scratch, error.message()));
  fs::remove_all(scratch, error);
  return Ok{};
}

}  // namespace amdahl::launch::local
