#include "fleet/mig.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

// "3g.20gb" within `text`, empty if there is none.
std::string_view profile_in(std::string_view text) {
  for (std::size_t at = text.find("g."); at != text.npos; at = text.find("g.", at + 1)) {
    std::size_t end = at + 2;
    while (end < text.size() && is_digit(text[end])) ++end;
    const bool sized = end > at + 2 && text.substr(end).starts_with("gb");
    const bool counted = at > 0 && is_digit(text[at - 1]) && (at < 2 || !is_digit(text[at - 2]));
    if (sized && counted) return text.substr(at - 1, end + 2 - (at - 1));
  }
  return {};
}

// Profiles of devices that are cut in four; no other device has these names.
bool is_of_four(std::string_view profile) {
  constexpr std::string_view kNames[] = {"1g.6gb", "2g.12gb", "4g.24gb", "2g.48gb", "4g.96gb"};
  return std::ranges::find(kNames, profile) != std::end(kNames);
}

}  // namespace

double mig_share(std::string_view text, std::string_view model) {
  const std::string small = lower(text);
  const std::string_view profile = profile_in(small);
  if (profile.empty()) return 0;
  const int slices = profile.front() - '0';
  const std::string device = lower(model) + " " + small;
  const bool four = is_of_four(profile) || device.find("a30") != device.npos ||
                    device.find("rtx pro 6000") != device.npos;
  const int all = four ? 4 : 7;
  return slices >= 1 && slices <= all ? static_cast<double>(slices) / all : 0;
}

}  // namespace amdahl::fleet
