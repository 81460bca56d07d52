#include "fleet/slurm/tres.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.h"
#include "fleet/mig.h"

namespace amdahl::fleet::slurm {
namespace {

// What sites call their accelerators in GresTypes.
bool is_accelerator(std::string_view name) {
  constexpr std::string_view kNames[] = {"gpu", "npu", "tpu", "hpu", "dcu", "mlu", "gcu", "xpu"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// A count, also as "4K"; negative and unreadable ones are nothing.
std::optional<double> read_count(std::string_view text) {
  double factor = 1;
  if (text.ends_with('K') || text.ends_with('k')) {
    factor = 1024;
    text.remove_suffix(1);
  }
  const double count = to_number<double>(text).value_or(-1);
  if (count >= 0 && count <= 1e9) return count * factor;
  return std::nullopt;
}

double count_of(std::string_view text) { return read_count(text).value_or(0); }

struct Tally {
  double untyped = 0;
  double typed = 0;
  double weight = 0;  // Of the typed ones, in whole devices.
  double most = 0;
  std::string_view kind;

  void add(std::string_view type, double count) {
    if (type.empty()) {
      untyped += count;
      return;
    }
    const double share = mig_share(type);
    typed += count;
    weight += count * (share > 0 ? share : 1);
    if (count <= most) return;
    most = count;
    kind = type;
  }
};

// Calls `use` with each piece of `list` between commas that stand outside parentheses.
template <class Use>
void for_each_piece(std::string_view list, Use use) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      if (i > begin) use(trim(list.substr(begin, i - begin)));
      begin = i + 1;
    } else if (list[i] == '(' || list[i] == '[') {
      ++depth;
    } else if (list[i] == ')' || list[i] == ']') {
      --depth;
    }
  }
}

}  // namespace

Devices devices_of_tres(std::string_view tres) {
  Tally tally;
  double hundredths = 0;
  Devices devices;
  for_each_piece(tres, [&](std::string_view piece) {
    if (!piece.starts_with("gres/")) return;
    const std::size_t equals = piece.find('=');
    if (equals == piece.npos) return;
    const std::string_view name = piece.substr(5, equals - 5);
    const auto read = read_count(piece.substr(equals + 1));
    const double count = read.value_or(0);
    const std::size_t colon = name.find(':');
    const std::string_view base = name.substr(0, colon);
    const std::string_view type = colon == name.npos ? std::string_view() : name.substr(colon + 1);
    if (is_accelerator(base)) tally.add(type, count);
    if (is_accelerator(base) && !read) devices.is_bad = true;
    if (base == "mps" && type.empty()) hundredths += count;
    if (base == "shard" && type.empty()) devices.shards += count;
  });
  // Where a site does not account every type, the untyped count has them all.
  devices.count = tally.weight + std::max(0.0, tally.untyped - tally.typed);
  devices.kind = tally.kind;
  if (devices.count == 0) devices.count = hundredths / 100;
  if (devices.count > 0) devices.shards = 0;
  return devices;
}

Devices TresMemory::devices_of(std::string_view tres) {
  Known& known = known_[std::hash<std::string_view>{}(tres) % known_.size()];
  if (known.tres != tres || tres.empty()) {
    known.tres = tres;
    known.devices = devices_of_tres(tres);
    known.kind_size = known.devices.kind.size();
    known.kind_at = known.kind_size == 0
                        ? 0
                        : static_cast<std::size_t>(known.devices.kind.data() - tres.data());
  }
  Devices devices = known.devices;
  devices.kind = tres.substr(known.kind_at, known.kind_size);
  return devices;
}

std::vector<Gres> accelerators_of_gres(std::string_view gres) {
  std::vector<Gres> found;
  for_each_piece(gres, [&](std::string_view piece) {
    for (const std::string_view prefix : {"gres/", "gres:"}) {
      if (piece.starts_with(prefix)) piece.remove_prefix(prefix.size());
    }
    Gres one;
    if (const std::size_t open = piece.find('('); open != piece.npos) {
      std::string_view remark = piece.substr(open + 1);
      if (remark.ends_with(')')) remark.remove_suffix(1);
      if (remark.starts_with("IDX:")) one.indices = remark.substr(4);
      piece = piece.substr(0, open);
    }
    const auto words = split(piece, ':');
    if (!is_accelerator(words.front())) return;
    // "gpu", "gpu:2", "gpu:a100", "gpu:a100:2".
    const bool counted = words.size() > 1 && to_number<double>(words.back()).has_value();
    one.count = words.size() == 1 || !counted ? 1 : static_cast<int>(count_of(words.back()));
    if (words.size() > (counted ? 2U : 1U)) one.kind = words[1];
    found.push_back(one);
  });
  return found;
}

Devices devices_of_gres(std::string_view gres) {
  Tally tally;
  for (const Gres& one : accelerators_of_gres(gres)) tally.add(one.kind, one.count);
  Devices devices{.count = tally.untyped + tally.weight, .kind = tally.kind};
  for_each_piece(gres, [&](std::string_view piece) {
    for (const std::string_view prefix : {"gres/", "gres:"}) {
      if (piece.starts_with(prefix)) piece.remove_prefix(prefix.size());
    }
    if (!piece.starts_with("shard:")) return;
    piece = piece.substr(0, piece.find('('));
    devices.shards += count_of(piece.substr(piece.rfind(':') + 1));
  });
  return devices;
}

}  // namespace amdahl::fleet::slurm
