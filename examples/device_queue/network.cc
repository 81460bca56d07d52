#include "device_queue/network.h"

#include <cblas.h>
#include <fmt/format.h>

#include "device_queue/kernels.h"

namespace device_queue {
namespace {

constexpr std::size_t kGroup = 64;
constexpr float kExactLimit = 16777216;  // Whole numbers beyond 2^24 are not exact in a float.

// Powers of two that bring each layer's sums back to about [0, 15].
constexpr std::array<float, 2> kScales = {1.0F / 16, 1.0F / 32};

template <class... Values>
void set_arguments(const Owner<cl_kernel>& kernel, const Values&... values) {
  cl_uint index = 0;
  const auto set = [&](const auto& value) {
    check(clSetKernelArg(kernel.get(), index++, sizeof value, &value), "setting an argument");
  };
  (set(values), ...);
}

struct Product {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  int m = 0;
  int n = 0;
  int k = 0;
};

// Called by the device's thread, from the queue.
void CL_CALLBACK run_product(void* argument) {
  const Product& p = *static_cast<const Product*>(argument);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p.m, p.n, p.k, 1.0F, p.a, p.k, p.b, p.n,
              0.0F, p.c, p.n);
}

std::vector<float> make_weights(int layer, std::size_t count) {
  std::vector<float> weights(count);
  std::uint32_t state = 2463534242U + static_cast<std::uint32_t>(layer);
  for (float& weight : weights) {  // xorshift32
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    weight = static_cast<float>(static_cast<int>((state >> 8) % 7) - 3);
  }
  return weights;
}

std::size_t count_of(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void write(const Device& device, const Floats& to, const std::vector<float>& values) {
  check(clEnqueueWriteBuffer(device.compute(), to.buffer.get(), CL_TRUE, 0,
                             sizeof(float) * values.size(), values.data(), 0, nullptr, nullptr),
        "writing to the device");
}

}  // namespace

Network::Network(Device& device, int batch) : device_(device), batch_(batch) {
  program_ = device.build(kKernels);
  const auto kernel = [&](const char* name) {
    cl_int status = CL_SUCCESS;
    Owner<cl_kernel> made(clCreateKernel(program_.get(), name, &status));
    check(status, name);
    return made;
  };
  quantise_ = kernel("quantise");
  range_check_ = kernel("range_check");
  best_class_ = kernel("best_class");
  sum_best_ = kernel("sum_best");
  if (!device.runs_our_functions()) {
    gemm_ = kernel("gemm");
  }
  for (int layer = 0; layer < 3; ++layer) {
    const int width_in = layer == 0 ? kFeatures : kHidden;
    const std::size_t count = count_of(width_in, width_out(layer));
    Floats& weights = weights_[static_cast<std::size_t>(layer)];
    weights = device.floats(count);
    write(device, weights, make_weights(layer, count));
  }
  beyond_ = device.buffer(sizeof(std::int32_t));
  sum_ = device.buffer(sizeof(std::int32_t));
  // Drivers compile for a launch at its first one: a batch of nothing, so that no step pays.
  Slot slot = make_slot();
  write(device, slot.input, slot.features);
  for (int layer = 0; layer < 3; ++layer) {
    run_layer(slot, layer);
    check_range(slot, layer);
    activate(slot, layer);
  }
  choose(slot);
  read_sum(slot);
}

Slot Network::make_slot() const {
  Slot slot;
  const auto items = static_cast<std::size_t>(batch_);
  slot.features.assign(items * kFeatures, 0.0F);
  slot.best.resize(items);
  slot.input = device_.floats(count_of(batch_, kFeatures));
  for (int layer = 0; layer < 3; ++layer) {
    slot.layers[static_cast<std::size_t>(layer)] =
        device_.floats(count_of(batch_, width_out(layer)));
  }
  slot.chosen = device_.buffer(sizeof(Best) * items);
  return slot;
}

void Network::launch(Slot& slot, const Owner<cl_kernel>& kernel, std::size_t threads) {
  const std::size_t group = kGroup;
  const std::size_t global = (threads + group - 1) / group * group;
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(device_.compute(), kernel.get(), 1, nullptr, &global, &group, 0,
                               nullptr, &event),
        "launching a kernel");
  slot.events.emplace_back(event);
}

void Network::multiply(Slot& slot, const Floats& a, const Floats& b, const Floats& c, int n,
                       int k) {
  cl_event event = nullptr;
  if (device_.runs_our_functions()) {
    Product product{a.address, b.address, c.address, batch_, n, k};
    check(clEnqueueNativeKernel(device_.compute(), run_product, &product, sizeof product, 0,
                                nullptr, nullptr, 0, nullptr, &event),
          "launching a product");
  } else {
    set_arguments(gemm_, a.buffer.get(), b.buffer.get(), c.buffer.get(), batch_, n, k);
    const std::size_t global[] = {static_cast<std::size_t>(n), static_cast<std::size_t>(batch_)};
    check(clEnqueueNDRangeKernel(device_.compute(), gemm_.get(), 2, nullptr, global, nullptr, 0,
                                 nullptr, &event),
          "launching a product");
  }
  slot.events.emplace_back(event);
}

void Network::run_layer(Slot& slot, int layer) {
  const auto i = static_cast<std::size_t>(layer);
  const Floats& input = layer == 0 ? slot.input : slot.layers[i - 1];
  multiply(slot, input, weights_[i], slot.layers[i], width_out(layer),
           layer == 0 ? kFeatures : kHidden);
}

void Network::activate(Slot& slot, int layer) {
  if (layer == 2) {
    return;
  }
  const auto i = static_cast<std::size_t>(layer);
  const cl_int count = batch_ * kHidden;
  set_arguments(quantise_, slot.layers[i].buffer.get(), count, kScales[i]);
  launch(slot, quantise_, static_cast<std::size_t>(count));
}

void Network::check_range(Slot& slot, int layer) {
  const Buffer& values = slot.layers[static_cast<std::size_t>(layer)].buffer;
  const cl_int count = batch_ * width_out(layer);
  std::int32_t beyond = 0;
  check(clEnqueueWriteBuffer(device_.compute(), beyond_.get(), CL_FALSE, 0, sizeof beyond, &beyond,
                             0, nullptr, nullptr),
        "clearing the range check");
  set_arguments(range_check_, values.get(), count, kExactLimit, beyond_.get());
  launch(slot, range_check_, static_cast<std::size_t>(count));
  std::int32_t found = 0;
  check(clEnqueueReadBuffer(device_.compute(), beyond_.get(), CL_TRUE, 0, sizeof found, &found, 0,
                            nullptr, nullptr),
        "reading the range check");
  if (found != 0) {
    example::fail(
        fmt::format("item {}: {} values of layer {} are out of range", slot.first, found, layer));
  }
}

void Network::choose(Slot& slot) {
  set_arguments(best_class_, slot.layers[2].buffer.get(), batch_, kClasses, slot.chosen.get());
  launch(slot, best_class_, static_cast<std::size_t>(batch_));
}

std::int32_t Network::read_sum(Slot& slot) {
  set_arguments(sum_best_, slot.chosen.get(), slot.items, sum_.get());
  check(clSetKernelArg(sum_best_.get(), 3, kGroup * sizeof(std::int32_t), nullptr),
        "setting an argument");
  launch(slot, sum_best_, kGroup);
  std::int32_t sum = 0;
  check(clEnqueueReadBuffer(device_.compute(), sum_.get(), CL_TRUE, 0, sizeof sum, &sum, 0, nullptr,
                            nullptr),
        "reading the metric");
  return sum;
}

void Network::read_best(Slot& slot) {
  cl_event event = nullptr;
  check(clEnqueueReadBuffer(device_.compute(), slot.chosen.get(), CL_FALSE, 0,
                            sizeof(Best) * slot.best.size(), slot.best.data(), 0, nullptr, &event),
        "reading the classes");
  slot.events.emplace_back(event);
}

}  // namespace device_queue
