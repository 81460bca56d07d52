#include "sim/tables.h"

#include <algorithm>
#include <array>

namespace amdahl::sim {
namespace {

constexpr auto kTables = std::to_array<TableRow>({
    {"campaign", "a campaign with adversaries: what is promoted, found and spent", campaign_table},
    {"decisions", "ours against any lower number, a fixed 1 % and t tests", decisions_table},
    {"errors", "false wins when nothing is there, looking after every pair", errors_table},
    {"power", "wins found and pairs taken, by noise and saving", power_table},
    {"methods", "pairs to a verdict against group-sequential and fixed t tests", methods_table},
    {"classes", "how far each kind of win and adversary gets", classes_table},
    {"fdr", "false discoveries of sparse campaigns", fdr_table},
    {"budget", "hours given back by hours spent, policy by policy", budget_table},
    {"blocks", "runs saved where variants of a job share its baseline", blocks_table},
});

}  // namespace

std::span<const TableRow> tables() { return kTables; }

const TableRow* find_table(std::string_view name) {
  const auto it = std::ranges::find(kTables, name, &TableRow::name);
  return it == kTables.end() ? nullptr : &*it;
}

std::uint64_t unit_seed(const Options& options, std::uint64_t table, int unit) {
  return Stream(options.seed, table, static_cast<std::uint64_t>(unit)).bits();
}

}  // namespace amdahl::sim
