#include "profile/attention_shapes.h"

#include <algorithm>

#include "profile/op_work.h"

namespace amdahl::profile {

AttentionShapes attention_shapes(const model::Trace& trace) {
  constexpr std::string_view kOp = "aten::scaled_dot_product_attention";
  constexpr std::size_t kMask = 3;
  AttentionShapes found;
  double sum = 0;
  for (const model::HostEvent& event : trace.host_events) {
    if (event.inputs == 0 || !trace.name(event).starts_with(kOp)) continue;
    const auto dims = input_dims(trace.names[event.inputs]);
    if (dims.empty() || dims[0].size() < 2) continue;
    const double length = dims[0][dims[0].size() - 2];
    found.shortest = found.calls == 0 ? length : std::min(found.shortest, length);
    found.longest = std::max(found.longest, length);
    sum += length;
    ++found.calls;
    if (dims.size() > kMask && !dims[kMask].empty()) ++found.masked;
  }
  if (found.calls > 0) found.mean = sum / static_cast<double>(found.calls);
  return found;
}

}  // namespace amdahl::profile
