#include "observe/nvml.h"

#include <algorithm>
#include <array>
#include <span>

#include <dlfcn.h>
#include <fmt/core.h>

#include "base/text.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

// Our own declarations of NVML's stable ABI; every function returns 0 when it worked.
struct NvmlUtilisation {
  unsigned gpu;
  unsigned memory;
};
using Init = int (*)();
using GetCount = int (*)(unsigned*);
using GetHandle = int (*)(unsigned, void**);
using GetUtilisation = int (*)(void*, NvmlUtilisation*);
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(NvmlMemory) == 24 && sizeof(NvmlProcess) == 24);
using GetMemory = int (*)(void*, NvmlMemory*);
using GetPower = int (*)(void*, unsigned*);
using GetProcesses = int (*)(void*, unsigned*, NvmlProcess*);
using GetText = int (*)(void*, char*, unsigned);

constexpr int kTooSmall = 7;  // NVML_ERROR_INSUFFICIENT_SIZE.
constexpr unsigned kMostProcesses = 4096;

std::string describe_error(int error) {
  switch (error) {
    case 0:
      return "";
    case 3:
      return "not supported (a MIG slice, or a board without it)";
    case 4:
      return "no permission";
    case 15:
      return "the GPU is lost";
    default:
      return fmt::format("NVML error {}", error);
  }
}

std::string text_of(void* function, void* device) {
  std::array<char, 128> text{};
  const auto get = reinterpret_cast<GetText>(function);
  if (!get || !device || get(device, text.data(), text.size() - 1) != 0) return "";
  return text.data();
}

}  // namespace

Nvml::Nvml() {
  const std::string path = os::env_or("AMDAHL_NVML_LIB", "libnvidia-ml.so.1");
  library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library_) {
    why_not_ = fmt::format("{} cannot be loaded: no NVIDIA driver is installed", path);
    return;
  }
  const auto init = reinterpret_cast<Init>(symbol("nvmlInit_v2"));
  const auto get_count = reinterpret_cast<GetCount>(symbol("nvmlDeviceGetCount_v2"));
  get_handle_ = symbol("nvmlDeviceGetHandleByIndex_v2");
  get_utilisation_ = symbol("nvmlDeviceGetUtilizationRates");
  get_name_ = symbol("nvmlDeviceGetName");
  get_uuid_ = symbol("nvmlDeviceGetUUID");
  if (!why_not_.empty()) return;
  get_memory_ = symbol("nvmlDeviceGetMemoryInfo", false);
  get_power_ = symbol("nvmlDeviceGetPowerUsage", false);
  get_processes_ = symbol("nvmlDeviceGetComputeRunningProcesses_v3", false);
  // The same under its older name; the one before that has a shorter row.
  if (!get_processes_) get_processes_ = symbol("nvmlDeviceGetComputeRunningProcesses_v2", false);
  unsigned count = 0;
  if (const int error = init()) {
    why_not_ = fmt::format("{}: nvmlInit_v2 failed with error {}", path, error);
  } else if (const int count_error = get_count(&count)) {
    why_not_ = fmt::format("{}: nvmlDeviceGetCount_v2 failed with error {}", path, count_error);
  } else if (count == 0) {
    why_not_ = fmt::format("{} sees no GPU", path);
  }
  count_ = static_cast<int>(count);
}

void* Nvml::symbol(const char* name, bool needed) {
  void* found = ::dlsym(library_, name);
  if (!found && needed && why_not_.empty()) why_not_ = fmt::format("NVML has no {}: too old", name);
  return found;
}

void* Nvml::handle_of(int index) const {
  void* device = nullptr;
  if (index < 0 || index >= count_) return nullptr;
  const auto get = reinterpret_cast<GetHandle>(get_handle_);
  return get(static_cast<unsigned>(index), &device) == 0 ? device : nullptr;
}

std::string Nvml::name(int index) const { return text_of(get_name_, handle_of(index)); }

std::optional<double> Nvml::utilisation(int index) const {
  void* device = handle_of(index);
  NvmlUtilisation rates{};
  const auto get = reinterpret_cast<GetUtilisation>(get_utilisation_);
  if (!device || get(device, &rates) != 0 || rates.gpu > 100) return std::nullopt;
  return rates.gpu / 100.0;
}

std::optional<GpuMemory> Nvml::memory(int index) const {
  void* device = handle_of(index);
  NvmlMemory memory{};
  const auto get = reinterpret_cast<GetMemory>(get_memory_);
  if (!get || !device || get(device, &memory) != 0 || memory.used > memory.total) {
    return std::nullopt;
  }
  return GpuMemory{static_cast<std::int64_t>(memory.used), static_cast<std::int64_t>(memory.total)};
}

std::optional<double> Nvml::power_w(int index) const {
  void* device = handle_of(index);
  unsigned milliwatts = 0;
  const auto get = reinterpret_cast<GetPower>(get_power_);
  if (!get || !device || get(device, &milliwatts) != 0) return std::nullopt;
  return milliwatts / 1000.0;
}

std::optional<std::vector<GpuProcess>> Nvml::processes(int index) const {
  void* device = handle_of(index);
  const auto get = reinterpret_cast<GetProcesses>(get_processes_);
  if (!get || !device) return std::nullopt;
  std::vector<NvmlProcess> rows(64);
  auto count = static_cast<unsigned>(rows.size());
  int error = get(device, &count, rows.data());
  if (error == kTooSmall) {
    rows.resize(std::min(kMostProcesses, count + 64));
    count = static_cast<unsigned>(rows.size());
    error = get(device, &count, rows.data());
  }
  if (error != 0 || count > rows.size()) return std::nullopt;
  std::vector<GpuProcess> found;
  for (const NvmlProcess& row : std::span(rows).first(count)) {
    GpuProcess process{row.pid, std::nullopt};
    if (row.used <= static_cast<unsigned long long>(INT64_MAX)) {
      process.memory_bytes = static_cast<std::int64_t>(row.used);
    }
    found.push_back(process);
  }
  return found;
}

std::string Nvml::uuid(int index) const { return text_of(get_uuid_, handle_of(index)); }

std::string Nvml::trouble(int index) const {
  void* device = nullptr;
  const auto get_device = reinterpret_cast<GetHandle>(get_handle_);
  if (index < 0 || index >= count_) return "there is no such GPU";
  if (const int error = get_device(static_cast<unsigned>(index), &device)) {
    return describe_error(error);
  }
  NvmlUtilisation rates{};
  return describe_error(reinterpret_cast<GetUtilisation>(get_utilisation_)(device, &rates));
}

std::optional<int> Nvml::index_of(const std::string& uuid) const {
  for (int i = 0; i < count_; ++i) {
    if (text_of(get_uuid_, handle_of(i)).starts_with(uuid)) return i;
  }
  return std::nullopt;
}

std::vector<int> gpus_for(const Nvml& nvml, const std::optional<std::string>& visible, int wanted) {
  std::vector<int> gpus;
  if (!visible) {
    for (int i = 0; i < std::min(wanted, nvml.count()); ++i) gpus.push_back(i);
    return gpus;
  }
  // As CUDA reads it: the first word that names no device ends the list.
  for (const std::string_view word : split(*visible, ',')) {
    const std::string_view name = trim(word);
    const auto index =
        name.starts_with("GPU-") ? nvml.index_of(std::string(name)) : to_number<int>(name);
    if (!index || *index < 0 || *index >= nvml.count()) break;
    if (static_cast<int>(gpus.size()) < wanted) gpus.push_back(*index);
  }
  return gpus;
}

}  // namespace amdahl::observe
