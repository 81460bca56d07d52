#include "fleet/table/devices.h"

#include <algorithm>

#include "base/text.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {

std::optional<double> devices_by_number(std::string_view cell) {
  double most = 0;
  for (const std::string_view piece : split(cell, ',')) {
    const std::size_t equals = piece.find('=');
    const auto id = to_number<int>(trim(piece.substr(0, equals)));
    if (equals == piece.npos || !id) return std::nullopt;
    const auto count = to_number<double>(trim(piece.substr(equals + 1)));
    if (*id > 1000 && count && *count <= 1e6) most = std::max(most, *count);
  }
  return most;
}

std::string_view accelerator_index(std::string_view cell) {
  cell = without_fraction(cell);
  const std::size_t last = cell.find_last_not_of("0123456789");
  if (last == cell.npos || last + 1 == cell.size() || cell.size() > 20) return cell;
  const std::string before = lower(trim(cell.substr(0, last + 1)));
  for (const std::string_view name : {"gpu", "card", "nvidia", "/dev/nvidia", "cuda",
                                      "cuda:", "gpu:", "gpu_", "gpu-", "device"}) {
    if (before == name) return cell.substr(last + 1);
  }
  return cell;
}

std::string_view host_of_slot(std::string_view cell) {
  const std::size_t mark = cell.find_last_of("@*");
  return mark == cell.npos ? cell : cell.substr(mark + 1);
}

}  // namespace amdahl::fleet::table
