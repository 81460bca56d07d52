// Builds ledgers of growing length and measures single reads, an append and verify.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "ledger_builder.h"
#include "os/clock.h"

namespace {

using namespace amdahl;
using ledger::Ledger;

constexpr bench::History kUsual;

// Median of many; stops the program if a read fails, because then its time means nothing.
double median_us(int times, const std::function<bool()>& work) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const Nanos start = os::real_clock().monotonic();
    CHECK(work());
    took.push_back(to_seconds(os::real_clock().monotonic() - start) * 1e6);
  }
  std::ranges::nth_element(took, took.begin() + times / 2);
  return took[static_cast<std::size_t>(times / 2)];
}

struct Column {
  const char* name;
  std::function<bool(Ledger&)> read;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = {
      {"tallies", [](Ledger& l) { return bool(l.tallies()); }},
      {"live x", [](Ledger& l) { return (*l.live_experiments()).size() == kUsual.waiting; }},
      {"in flight", [](Ledger& l) { return (*l.runs_in_flight()).empty(); }},
      {"live h", [](Ledger& l) { return (*l.hypotheses("", "live")).size() == kUsual.waiting; }},
      {"families", [](Ledger& l) { return (*l.families()).size() == kUsual.families; }},
      {"records", [](Ledger& l) { return (*l.track_records()).size() == kUsual.families; }},
      {"budgets", [](Ledger& l) { return bool(l.budgets()) && bool(l.campaign()); }},
      {"by key", [](Ledger& l) { return bool(*l.holder_of_key(std::string(64, '0'))); }},
      {"50 events", [](Ledger& l) { return (*l.events("", 0, 50)).size() == 50; }},
  };
  return kColumns;
}

Result<> measure(const std::string& folder, int hypotheses) {
  const Nanos start = os::real_clock().monotonic();
  bench::History history;
  history.hypotheses = hypotheses;
  TRY(bench::build_idle_ledger(folder, history));
  const std::string path = folder + "/ledger.db";
  const double build_s = to_seconds(os::real_clock().monotonic() - start);
  auto ledger = TRY(ledger::open_sqlite(path));
  std::string row = fmt::format("{:>10} {:>9}", hypotheses, (*ledger->events("", 0, 1)).at(0).seq);
  // All of them through a handle that was just opened.
  row += fmt::format(" {:>10.0f}", median_us(50, [&] {
                       auto fresh = ledger::open_sqlite(path);
                       if (!fresh) return false;
                       const auto opened = *std::move(fresh);
                       return std::ranges::all_of(columns(),
                                                  [&](const Column& c) { return c.read(*opened); });
                     }));
  row += fmt::format(" {:>8.0f}", median_us(50, [&] { return bool(ledger::open_sqlite(path)); }));
  for (const Column& column : columns()) {
    row += fmt::format(" {:>9.0f}", median_us(50, [&] { return column.read(*ledger); }));
  }
  row += fmt::format(
      " {:>9.0f}", median_us(50, [&] {
        return bool(ledger->append(std::vector<ledger::Draft>{{"cycle.noted", "bench", "c", {}}}));
      }));
  row += fmt::format(" {:>8.1f}", build_s);
  const Nanos began = os::real_clock().monotonic();
  const auto report = TRY(ledger->verify());
  CHECK(report.ok());
  row += fmt::format(" {:>9.1f}", to_seconds(os::real_clock().monotonic() - began));
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("{} {:>7.0f}\n", row, size);
  std::fflush(stdout);
  return Ok{};
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? to_number<int>(argv[1]).value_or(100'000) : 100'000;
  const std::filesystem::path folder =
      argc > 2 ? std::filesystem::path(argv[2])
               : std::filesystem::temp_directory_path() / fmt::format("ledger_bench-{}", getpid());
  std::filesystem::create_directories(folder);
  fmt::print("median microseconds; build and verify in seconds; file in MB\n");
  fmt::print("{:>10} {:>9} {:>10} {:>8}", "hypotheses", "events", "all reads", "open");
  for (const Column& column : columns()) fmt::print(" {:>9}", column.name);
  fmt::print(" {:>9} {:>8} {:>9} {:>7}\n", "append 1", "build s", "verify s", "file");
  int failures = 0;
  for (int hypotheses = 1000; hypotheses <= most; hypotheses *= 10) {
    const std::string place = (folder / fmt::to_string(hypotheses)).string();
    if (const auto done = measure(place, hypotheses); !done) {
      fmt::print(stderr, "{}: {}\n", place, done.error().text);
      ++failures;
    }
  }
  if (argc <= 2) std::filesystem::remove_all(folder);
  return failures == 0 ? 0 : 1;
}
