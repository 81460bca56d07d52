// Speaks NVML's ABI for tests: GPU k is busy FAKE_NVML_BUSY's k-th percentage ("70,20"; 115: it is
// lost), holds 1 + k of 80 GB and draws 100 + k W. The processes in FAKE_NVML_PIDS ("12,900") are
// on GPU 0 with 500 MB each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int busy_of(unsigned index, bool* there) {
  const char* text = std::getenv("FAKE_NVML_BUSY");
  *there = false;
  for (unsigned i = 0; text; ++i) {
    if (i == index) {
      *there = true;
      return std::atoi(text);
    }
    text = std::strchr(text, ',');
    if (text) ++text;
  }
  return 0;
}

unsigned index_of(void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("FAKE_NVML_BROKEN") ? 999 : 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  bool there = true;
  for (*count = 0;; ++*count) {
    busy_of(*count, &there);
    if (!there) return 0;
  }
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  bool there = false;
  rates[0] = static_cast<unsigned>(busy_of(index_of(device), &there));
  rates[1] = 5;
  if (rates[0] == 115) return 15;
  return there ? 0 : 2;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  bool there = false;
  if (busy_of(index_of(device), &there) == 115) return 15;
  memory[0] = 80'000'000'000ULL;
  memory[2] = (1 + index_of(device)) * 1'000'000'000ULL;
  memory[1] = memory[0] - memory[2];
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  bool there = false;
  if (busy_of(index_of(device), &there) == 115) return 15;
  *milliwatts = (100 + index_of(device)) * 1000;
  return 0;
}

struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* rows) {
  const char* text = std::getenv("FAKE_NVML_PIDS");
  unsigned found = 0;
  for (; text && index_of(device) == 0; ++found) {
    if (found < *count)
      rows[found] = {static_cast<unsigned>(std::atoi(text)), 500'000'000, ~0U, ~0U};
    text = std::strchr(text, ',');
    if (text) ++text;
  }
  const bool fits = found <= *count;
  *count = found;
  return fits ? 0 : 7;
}

int nvmlDeviceGetName(void*, char* name, unsigned size) {
  std::snprintf(name, size, "NVIDIA Fake 100");
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  std::snprintf(uuid, size, "GPU-%08x-0000", index_of(device));
  return 0;
}
}
