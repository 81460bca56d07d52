// cuts.cc: names of groupings and orders, as typed after --by and --order.
#include <algorithm>
#include <array>

#include "scan/report.h"

namespace amdahl::scan {
namespace {

constexpr std::array<std::string_view, kCuts.size()> kCutNames = {
    "job", "family", "user", "account", "partition", "node", "state", "kind"};
constexpr std::array<std::string_view, 5> kOrderNames = {"recoverable", "wasted", "allocated",
                                                         "lost", "queue"};

template <class Named, std::size_t kCount>
std::optional<Named> find_name(const std::array<std::string_view, kCount>& names,
                               std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Named>(at - names.begin());
}

}  // namespace

std::string_view name(By by) { return kCutNames[static_cast<std::size_t>(by)]; }
std::optional<By> cut_named(std::string_view name) { return find_name<By>(kCutNames, name); }
std::string_view name(Order order) { return kOrderNames[static_cast<std::size_t>(order)]; }
std::optional<Order> order_named(std::string_view name) {
  return find_name<Order>(kOrderNames, name);
}

}  // namespace amdahl::scan
