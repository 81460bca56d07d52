#include "fleet/table/paths.h"

#include <algorithm>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/table/column.h"
#include "fleet/table/synonyms.h"
#include "fleet/table/wide.h"

namespace amdahl::fleet::table {
namespace {

// "gpu001" is the name of a host, "samples" and "2026" are not.
bool is_host(std::string_view word) {
  return std::ranges::any_of(word, is_digit) && !word.empty() && !is_digit(word.front());
}

}  // namespace

std::string host_in(std::string_view path) {
  const std::string by_file = nvidia_smi::host_in_path(path);
  if (is_host(by_file)) return by_file;
  const std::string by_folder =
      nvidia_smi::host_in_path(path.substr(0, path.find_last_of('/') + 1));
  return is_host(by_folder) ? by_folder : std::string();
}

std::string stem_of(std::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  return std::string(path.substr(0, path.find('.')));
}

std::string_view metric_in_path(std::string_view path) {
  const std::string stem = stem_of(path);
  if (const std::string_view metric = metric_of(stem); !metric.empty()) return metric;
  if (is_of_others(plain_name(stem))) return {};
  std::string_view best;
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < stem.size() && begin < 200; ++begin) {
    if (begin > 0 && std::string_view(" -_").find(stem[begin - 1]) == std::string_view::npos) {
      continue;
    }
    for (std::size_t end = begin; end < stem.size();) {
      end = std::min(stem.find_first_of(" -_", end + 1), stem.size());
      const std::string part = lower(std::string_view(stem).substr(begin, end - begin));
      const bool is_plain = part.find("gpu") == part.npos && part.find("util") == part.npos &&
                            part.find("active") == part.npos;
      if (is_plain || part.size() <= longest || metric_of(part).empty()) continue;
      best = metric_of(part);
      longest = part.size();
    }
  }
  return best;
}

PathPlace place_in_path(std::string_view path) {
  const std::string stem = stem_of(path);
  const std::string small = lower(stem);
  for (const std::string_view word : {"gpu", "card", "nvidia", "device"}) {
    const std::size_t at = small.rfind(word);
    if (at == small.npos) continue;
    const std::size_t begin = small.find_first_not_of("_-", at + word.size());
    const bool is_number = begin != small.npos && small.size() - begin <= 2 &&
                           std::ranges::all_of(small.substr(begin), is_digit);
    if (!is_number) continue;
    if (at == 0) {  // The folder is of the host.
      const std::string_view folder = path.substr(0, path.find_last_of('/') + 1);
      const std::string host = nvidia_smi::host_in_path(folder);
      return {is_host(host) ? host : std::string(), stem.substr(begin)};
    }
    if (const auto place = place_in(stem)) {
      return {std::string(short_host(place->host)), std::string(place->accelerator)};
    }
  }
  return {};
}

}  // namespace amdahl::fleet::table
