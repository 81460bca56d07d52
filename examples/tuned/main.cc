// Scores seeded vectors the way it should be done: large batches, one thread a slot, no waiting.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <cblas.h>
#include <fmt/format.h>

#include "report/report.h"

namespace tuned {
namespace {

constexpr int kWidth = 1024;
constexpr int kClasses = 32;

struct Options {
  std::string out = ".";
  int items = 24576;
  int batch = 512;
  int threads = 1;
};

constexpr std::string_view kUsage = "tuned_batch [--out DIR] [--items N] [--batch N] [--threads N]";

Options parse(int argc, char** argv) {
  Options options;
  if (const char* out = std::getenv("AMDAHL_OUT"); out != nullptr) {
    options.out = out;
  }
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      example::fail(fmt::format("{}: no value for it\n{}", flag, kUsage));
    }
    if (flag == "--out") {
      options.out = argv[i + 1];
    } else if (flag == "--items") {
      options.items = example::whole_number(flag, argv[i + 1], 1);
    } else if (flag == "--batch") {
      options.batch = example::whole_number(flag, argv[i + 1], 1);
    } else if (flag == "--threads") {
      options.threads = example::whole_number(flag, argv[i + 1], 1);
    } else {
      example::fail(fmt::format("{}: no such flag\n{}", flag, kUsage));
    }
  }
  return options;
}

// Small whole numbers, so that every sum is exact in a float and no order of adding changes it.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  void fill(std::vector<float>& values, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 16) {
      state_ ^= state_ << 13;  // xorshift64
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
      std::uint64_t bits = state_;
      for (std::size_t j = i; j < std::min(i + 16, count); ++j, bits >>= 4) {
        values[j] = static_cast<float>(static_cast<int>(bits & 7) - 3);
      }
    }
  }

 private:
  std::uint64_t state_;
};

void multiply(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c,
              int rows, int columns) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, kWidth, 1.0F, a.data(),
              kWidth, b.data(), columns, 0.0F, c.data(), columns);
}

// Rectify and bring back to [0, 15].
void activate(std::vector<float>& values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float scaled = values[i] * (1.0F / 64);
    values[i] = static_cast<float>(static_cast<int>(std::clamp(scaled, 0.0F, 15.0F)));
  }
}

class Scorer {
 public:
  explicit Scorer(int batch)
      : input_(size(batch, kWidth)),
        hidden_(size(batch, kWidth)),
        deeper_(size(batch, kWidth)),
        scores_(size(batch, kClasses)),
        first_(size(kWidth, kWidth)),
        second_(size(kWidth, kWidth)),
        last_(size(kWidth, kClasses)) {
    Numbers numbers(7);
    numbers.fill(first_, first_.size());
    numbers.fill(second_, second_.size());
    numbers.fill(last_, last_.size());
  }

  // Each item from its own seed: what an item is does not depend on the batch it is in.
  void load(int first, int items) {
    for (int i = 0; i < items; ++i) {
      Numbers numbers(1000 + static_cast<std::uint64_t>(first + i));
      numbers.fill(row_, kWidth);
      std::ranges::copy(row_, input_.begin() + static_cast<std::ptrdiff_t>(size(i, kWidth)));
    }
  }

  void score(int items, std::uint8_t* labels) {
    multiply(input_, first_, hidden_, items, kWidth);
    activate(hidden_, size(items, kWidth));
    multiply(hidden_, second_, deeper_, items, kWidth);
    activate(deeper_, size(items, kWidth));
    multiply(deeper_, last_, scores_, items, kClasses);
    for (int i = 0; i < items; ++i) {
      const auto row = scores_.begin() + static_cast<std::ptrdiff_t>(size(i, kClasses));
      labels[i] = static_cast<std::uint8_t>(std::max_element(row, row + kClasses) - row);
    }
  }

 private:
  static std::size_t size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  std::vector<float> row_ = std::vector<float>(kWidth);
  std::vector<float> input_, hidden_, deeper_, scores_;
  std::vector<float> first_, second_, last_;
};

int run(int argc, char** argv) {
  example::Report report;
  const double begin = example::unix_seconds();
  const Options options = parse(argc, argv);
  std::filesystem::create_directories(options.out);
  openblas_set_num_threads(options.threads);
  Scorer scorer(options.batch);
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(options.items));
  report.phase("startup", begin);

  report.restart_step();
  for (int first = 0; first < options.items; first += options.batch) {
    const int items = std::min(options.batch, options.items - first);
    scorer.load(first, items);
    report.step("input");
    scorer.score(items, labels.data() + first);
    report.step("compute");
  }

  const double ended = example::unix_seconds();
  const std::string path = options.out + "/labels.bin";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(labels.data(), 1, labels.size(), file) != labels.size() ||
      std::fclose(file) != 0) {
    example::fail(fmt::format("{}: cannot be written", path));
  }
  report.phase("teardown", ended);
  report.work(options.items);
  report.write();
  fmt::print("{} items, {:.2f} s\n", options.items, example::unix_seconds() - begin);
  return 0;
}

}  // namespace
}  // namespace tuned

int main(int argc, char** argv) { return tuned::run(argc, argv); }
