// Pairs to a verdict against other methods, at equal error and on the same sequences, and how many
// hypotheses a second the loop decides: verify [SEQUENCES] [SEED]
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/host.h"
#include "sim/tables.h"

namespace {

using namespace amdahl;

void print(const sim::Table& table) {
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const sim::Cell& cell : row) lines.back().push_back(cell.text);
  }
  fmt::print("{}\n\n", table.title);
  for (const auto& line : lines) {
    for (const std::string& text : line) fmt::print("{:<15}", text);
    fmt::print("\n");
  }
  for (const std::string& note : table.notes) fmt::print("{}\n", note);
}

void time_campaigns(const sim::Options& options) {
  constexpr int kCampaigns = 40;
  sim::Setup setup = options.setup;
  setup.mix = sim::mixed_campaign();
  const Nanos begin = os::real_clock().monotonic();
  for_all(kCampaigns, options.watch,
          [&](int unit) { sim::run_campaign(setup, sim::unit_seed(options, 99, unit)); });
  const double seconds = to_seconds(os::real_clock().monotonic() - begin);
  fmt::print("\n{} hypotheses through the loop in {:.1f} s with {} threads: {:.0f} a second\n",
             kCampaigns * setup.hypotheses, seconds, options.watch.threads,
             kCampaigns * setup.hypotheses / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  sim::Options options;
  options.watch.threads = static_cast<int>(os::usable_cpus().size());
  if (argc > 1) options.size = std::atoi(argv[1]);
  if (argc > 2) options.seed = to_number<std::uint64_t>(argv[2]).value_or(1);
  print(sim::methods_table(options));
  time_campaigns(options);
  return 0;
}
