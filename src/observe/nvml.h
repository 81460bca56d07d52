// nvml.h: NVIDIA's management library, loaded at run time so that no GPU is needed to build or
// test.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace amdahl::observe {

class Nvml {
 public:
  // Loads libnvidia-ml.so.1 (or AMDAHL_NVML_LIB) and initialises it; once loaded it stays. Where
  // there is none, count() is 0 and why_not() says what is missing.
  Nvml();

  int count() const { return count_; }
  const std::string& why_not() const { return why_not_; }
  std::string name(int index) const;
  // Share of the driver's last sample period in which a kernel ran, 0 to 1.
  std::optional<double> utilisation(int index) const;
  // The device with this UUID ("GPU-1b2c…", or a unique beginning of it).
  std::optional<int> index_of(const std::string& uuid) const;

 private:
  void* symbol(const char* name);
  void* handle_of(int index) const;

  void* library_ = nullptr;
  int count_ = 0;
  std::string why_not_;
  void* get_handle_ = nullptr;
  void* get_utilisation_ = nullptr;
  void* get_name_ = nullptr;
  void* get_uuid_ = nullptr;
};

// Which GPUs a job with `wanted` accelerators gets: those of `visible` (CUDA_VISIBLE_DEVICES) if it
// is set, else the first ones. Empty where there are none or the job hides them.
std::vector<int> gpus_for(const Nvml& nvml, const std::optional<std::string>& visible, int wanted);

}  // namespace amdahl::observe
