// network.h: the scored network on the device: three layers of small whole numbers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device_queue/device.h"
#include "device_queue/features.h"

namespace device_queue {

inline constexpr int kHidden = 1024;
inline constexpr int kClasses = 16;

struct Best {
  std::int32_t label = 0;
  std::int32_t score = 0;
};

// One batch in flight: its host memory, its device memory, and its commands, first to last.
struct Slot {
  std::vector<float> features;
  std::vector<Best> best;
  Floats input;
  std::array<Floats, 3> layers;
  Buffer chosen;
  std::vector<Event> events;
  int first = 0;  // Index of the first item.
  int items = 0;  // 0: the slot is free. A last batch may be smaller than the others.
};

class Network {
 public:
  // Compiles the kernels: seconds, or next to nothing where the driver finds them in its cache.
  Network(Device& device, int batch);

  Slot make_slot() const;

  // Queues a layer; its output stays on the device. `layer` is 0 to 2.
  void run_layer(Slot& slot, int layer);
  // Rectifies the layer's output in place; the last layer has none.
  void activate(Slot& slot, int layer);
  // Waits until the device has counted the layer's values out of range: ends the job if any is.
  void check_range(Slot& slot, int layer);
  void choose(Slot& slot);
  // Waits for the sum of the batch's best scores.
  std::int32_t read_sum(Slot& slot);
  // Queues the copy of the chosen classes to the host; the slot's last event is its end.
  void read_best(Slot& slot);

 private:
  void launch(Slot& slot, const Owner<cl_kernel>& kernel, std::size_t threads);
  void multiply(Slot& slot, const Floats& a, const Floats& b, const Floats& c, int n, int k);
  int width_out(int layer) const { return layer == 2 ? kClasses : kHidden; }

  Device& device_;
  int batch_ = 0;
  Owner<cl_program> program_;
  Owner<cl_kernel> quantise_;
  Owner<cl_kernel> range_check_;
  Owner<cl_kernel> best_class_;
  Owner<cl_kernel> sum_best_;
  Owner<cl_kernel> gemm_;
  std::array<Floats, 3> weights_;
  Buffer beyond_;
  Buffer sum_;
};

}  // namespace device_queue
