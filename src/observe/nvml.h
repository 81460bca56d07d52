// nvml.h: NVIDIA's management library, loaded at run time: no GPU is needed to build or test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace amdahl::observe {

struct GpuMemory {
  std::int64_t used_bytes = 0;
  std::int64_t total_bytes = 0;
};

// A compute process on a GPU; the pid is that of the root namespace.
struct GpuProcess {
  std::int64_t pid = 0;
  // Nothing if the driver does not report it (MIG, WDDM).
  std::optional<std::int64_t> memory_bytes;
};

class Nvml {
 public:
  // Loads libnvidia-ml.so.1 (or AMDAHL_NVML_LIB) and initialises it; it is never unloaded. Without
  // it, count() is 0 and why_not() gives the reason.
  Nvml();

  int count() const { return count_; }
  const std::string& why_not() const { return why_not_; }
  std::string name(int index) const;
  // Share of the driver's last sample period in which a kernel ran, 0 to 1.
  std::optional<double> utilisation(int index) const;
  // Nothing if the driver is too old, the board has no sensor, or the GPU is lost.
  std::optional<GpuMemory> memory(int index) const;
  std::optional<double> power_w(int index) const;
  std::optional<std::vector<GpuProcess>> processes(int index) const;
  std::string uuid(int index) const;
  // Why its utilisation is not available: "the GPU is lost"; empty if it is.
  std::string trouble(int index) const;
  // The device with this UUID ("GPU-1b2c…", or a unique prefix of it).
  std::optional<int> index_of(const std::string& uuid) const;

 private:
  void* symbol(const char* name, bool needed = true);
  void* handle_of(int index) const;

  void* library_ = nullptr;
  int count_ = 0;
  std::string why_not_;
  void* get_handle_ = nullptr;
  void* get_utilisation_ = nullptr;
  void* get_name_ = nullptr;
  void* get_uuid_ = nullptr;
  void* get_memory_ = nullptr;
  void* get_power_ = nullptr;
  void* get_processes_ = nullptr;
};

// The GPUs for a job with `wanted` accelerators: those in `visible` (CUDA_VISIBLE_DEVICES) if set,
// else the first ones. Empty if there are none or the job hides them.
std::vector<int> gpus_for(const Nvml& nvml, const std::optional<std::string>& visible, int wanted);

}  // namespace amdahl::observe
