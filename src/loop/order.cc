#include "loop/order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/core.h>

#include "base/hash.h"

namespace amdahl::loop {

model::Change selecting(const model::Stratum& stratum) {
  model::Change change;
  change.env.insert(stratum.env.begin(), stratum.env.end());
  change.args.insert(stratum.args.begin(), stratum.args.end());
  return change;
}

std::string next_stratum(const model::Spec& spec, const std::map<std::string, int>& dealt) {
  int all = 1;
  for (const auto& [name, count] : dealt) all += count;
  const model::Stratum* furthest = nullptr;
  double behind = 0;
  for (const model::Stratum& stratum : spec.strata) {
    const auto it = dealt.find(stratum.name);
    const double owed = stratum.weight * all - (it == dealt.end() ? 0 : it->second);
    if (furthest && owed <= behind) continue;
    furthest = &stratum;
    behind = owed;
  }
  return furthest ? furthest->name : "";
}

std::string stratum_at(const model::Spec& spec, int index) {
  std::map<std::string, int> dealt;
  for (int i = 1; i < index; ++i) ++dealt[next_stratum(spec, dealt)];
  return next_stratum(spec, dealt);
}

std::string smallest_stratum(const model::Spec& spec) {
  if (spec.strata.empty()) return "";
  return std::ranges::min_element(spec.strata, {}, &model::Stratum::size)->name;
}

std::vector<int> block_order(std::string_view seed, std::string_view label, int index, int arms) {
  std::vector<int> order(static_cast<std::size_t>(arms));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    // 60 bits against at most 5 places: the bias is below 1e-17.
    const std::string hash = sha256_hex(fmt::format("{}|block|{}|{}|{}", seed, label, index, i));
    const std::uint64_t draw = std::stoull(hash.substr(0, 15), nullptr, 16);
    std::swap(order[i], order[draw % (i + 1)]);
  }
  return order;
}

}  // namespace amdahl::loop
