// Speaks NVML's ABI for tests: GPU k is busy FAKE_NVML_BUSY's k-th percentage ("70,20").
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
  return there ? 0 : 2;
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
