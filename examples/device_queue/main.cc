// Scores seeded records on an accelerator's queue: hashed n-grams through a small int4 network.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <cblas.h>
#include <fmt/format.h>
#include <unistd.h>

#include "device_queue/device.h"
#include "device_queue/features.h"
#include "device_queue/network.h"
#include "report/report.h"

namespace device_queue {
namespace {

struct Options {
  std::string out = ".";
  int items = 24576;
  int batch = 32;
  int metric_every = 1;
  int range_check_every = 1;
  int queue_depth = 1;
  std::string kernel_cache;  // Empty: a new directory, as in a container that is thrown away.
  bool overlap_copies = false;
};

constexpr std::string_view kUsage =
    "device_queue [--out DIR] [--items N] [--batch N] [--metric-every N] [--range-check-every N]\n"
    "             [--queue-depth N] [--kernel-cache DIR] [--overlap-copies]";

Options parse(int argc, char** argv) {
  Options options;
  if (const char* out = std::getenv("AMDAHL_OUT"); out != nullptr) {
    options.out = out;
  }
  struct Number {
    std::string_view flag;
    int* value;
    int least;
  };
  const Number numbers[] = {
      {"--items", &options.items, 1},
      {"--batch", &options.batch, 1},
      {"--metric-every", &options.metric_every, 0},
      {"--range-check-every", &options.range_check_every, 0},
      {"--queue-depth", &options.queue_depth, 1},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--overlap-copies") {
      options.overlap_copies = true;
      continue;
    }
    if (i + 1 == argc) {
      example::fail(fmt::format("{}: no such flag, or no value for it\n{}", flag, kUsage));
    }
    const std::string_view value = argv[++i];
    bool known = true;
    if (flag == "--out") {
      options.out = value;
    } else if (flag == "--kernel-cache") {
      options.kernel_cache = value;
    } else {
      known = false;
    }
    for (const Number& number : numbers) {
      if (flag == number.flag) {
        *number.value = example::whole_number(flag, value, number.least);
        known = true;
      }
    }
    if (!known) {
      example::fail(fmt::format("{}: no such flag\n{}", flag, kUsage));
    }
  }
  return options;
}

// Where the driver keeps compiled kernels; ours to remove if nobody named one.
class KernelCache {
 public:
  explicit KernelCache(const std::string& named) {
    if (named.empty()) {
      std::string pattern = (std::filesystem::temp_directory_path() / "kernels.XXXXXX").string();
      if (mkdtemp(pattern.data()) == nullptr) {
        example::fail(fmt::format("{}: cannot make a directory", pattern));
      }
      temporary_ = pattern;
    } else {
      std::filesystem::create_directories(named);
    }
    setenv("POCL_CACHE_DIR", (named.empty() ? temporary_ : named).c_str(), 1);
  }
  ~KernelCache() {
    std::error_code ignored;
    if (!temporary_.empty()) {
      std::filesystem::remove_all(temporary_, ignored);
    }
  }
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

 private:
  std::string temporary_;
};

class Scoring {
 public:
  Scoring(const Options& options, Device& device, Network& network, example::Report& report)
      : options_(options), device_(device), network_(network), report_(report) {
    for (int i = 0; i < options.queue_depth; ++i) {
      slots_.push_back(network.make_slot());
    }
    results_.resize(static_cast<std::size_t>(options.items));
    staged_.resize(slots_.front().features.size());
    log_ = std::fopen((options.out + "/steps.log").c_str(), "w");
    if (log_ == nullptr) {
      example::fail(fmt::format("{}/steps.log: cannot be written", options.out));
    }
  }
  ~Scoring() { std::fclose(log_); }
  Scoring(const Scoring&) = delete;
  Scoring& operator=(const Scoring&) = delete;

  const std::vector<Best>& run() {
    report_.restart_step();
    for (int first = 0; first < options_.items; first += options_.batch) {
      prepare(first);
      report_.step("input");
      Slot& slot = slots_[static_cast<std::size_t>(step_) % slots_.size()];
      retire(slot);
      report_.step("compute");
      slot.first = first;
      slot.items = std::min(options_.batch, options_.items - first);
      std::swap(slot.features, staged_);
      upload(slot);
      report_.step("copy");
      ++step_;
      submit(slot);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      retire(slots_[(static_cast<std::size_t>(step_) + i) % slots_.size()]);
    }
    report_.step("compute");
    return results_;
  }

 private:
  bool due(int every) const { return every > 0 && step_ % every == 0; }

  void prepare(int first) {
    const std::span<float> all = staged_;
    for (int i = 0; i < options_.batch && first + i < options_.items; ++i) {
      make_record(first + i, record_);
      hash_features(record_, all.subspan(static_cast<std::size_t>(i) * kFeatures, kFeatures));
    }
  }

  void upload(Slot& slot) {
    const std::size_t bytes = sizeof(float) * slot.features.size();
    cl_event event = nullptr;
    const bool beside = options_.overlap_copies;
    check(clEnqueueWriteBuffer(beside ? device_.copies() : device_.compute(),
                               slot.input.buffer.get(), beside ? CL_FALSE : CL_TRUE, 0, bytes,
                               slot.features.data(), 0, nullptr, &event),
          "copying a batch to the device");
    slot.events.emplace_back(event);
    if (beside) {
      check(clFlush(device_.copies()), "starting the copy");
      check(clEnqueueBarrierWithWaitList(device_.compute(), 1, &event, nullptr),
            "waiting for the copy");
    }
  }

  void submit(Slot& slot) {
    const bool checked = due(options_.range_check_every);
    for (int layer = 0; layer < 3; ++layer) {
      network_.run_layer(slot, layer);
      report_.step("launch");
      if (checked) {
        network_.check_range(slot, layer);
        report_.step("range_check");
      }
      network_.activate(slot, layer);
    }
    network_.choose(slot);
    report_.step("launch");
    if (due(options_.metric_every)) {
      const std::int32_t sum = network_.read_sum(slot);
      report_.step("sync");
      fmt::print(log_, "step {} mean best score {:.3f}\n", step_,
                 static_cast<double>(sum) / slot.items);
      std::fflush(log_);
      report_.step("logging");
    }
    network_.read_best(slot);
    check(clFlush(device_.compute()), "starting the batch");
    report_.step("launch");
  }

  // Waits for the batch that used the slot, and takes its result.
  void retire(Slot& slot) {
    if (slot.items == 0) {
      return;
    }
    const cl_event last = slot.events.back().get();
    check(clWaitForEvents(1, &last), "waiting for a batch");
    for (const Event& event : slot.events) {
      device_.tell_busy(report_, event);
    }
    slot.events.clear();
    std::copy_n(slot.best.begin(), slot.items, results_.begin() + slot.first);
    slot.items = 0;
  }

  const Options& options_;
  Device& device_;
  Network& network_;
  example::Report& report_;
  std::vector<Slot> slots_;
  std::vector<float> staged_;
  std::vector<Best> results_;
  std::string record_;
  std::FILE* log_ = nullptr;
  int step_ = 0;
};

void write_scores(const std::string& path, const std::vector<Best>& results) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr ||
      std::fwrite(results.data(), sizeof(Best), results.size(), file) != results.size() ||
      std::fclose(file) != 0) {
    example::fail(fmt::format("{}: cannot be written", path));
  }
}

int run(int argc, char** argv) {
  example::Report report;
  double started = example::unix_seconds();
  const double begin = started;
  const Options options = parse(argc, argv);
  std::filesystem::create_directories(options.out);
  openblas_set_num_threads(1);
  const KernelCache cache(options.kernel_cache);
  Device device;
  device.calibrate();
  report.phase("startup", started);

  started = example::unix_seconds();
  Network network(device, options.batch);
  report.phase("jit", started);

  Scoring scoring(options, device, network, report);
  const std::vector<Best>& results = scoring.run();

  started = example::unix_seconds();
  write_scores(options.out + "/scores.bin", results);
  report.phase("teardown", started);
  report.work(options.items);
  report.write();
  fmt::print("{} items on {}, {:.2f} s\n", options.items, device.name(),
             example::unix_seconds() - begin);
  return 0;
}

}  // namespace
}  // namespace device_queue

int main(int argc, char** argv) { return device_queue::run(argc, argv); }
