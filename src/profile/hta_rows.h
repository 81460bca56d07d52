// hta_rows.h: a trace as the table that Holistic Trace Analysis builds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace.h"
#include "profile/hta.h"

namespace amdahl::profile {

enum class HtaKind : std::uint8_t { kCommunication, kMemory, kComputation, kOther };

struct HtaRow {
  double ts = 0;  // Microseconds.
  double dur = 0;
  std::int64_t stream = -1;       // -1: host.
  std::int64_t correlation = -1;  // -1: none.
  std::string_view name;
  HtaKind kind = HtaKind::kOther;
  bool works = false;     // A kernel, a copy or a set.
  bool has_peer = false;  // The file has the launch of this kernel, or the kernel of this launch.
  std::optional<double> launched;  // Launch time, for device rows whose launch is in the table.

  double end() const { return ts + dur; }
};

// Device rows first, each in file order.
std::vector<HtaRow> hta_rows(const model::Trace& trace, std::uint32_t source,
                             const HtaOptions& options);

// The permutation of numpy's argsort(): an introsort, which is not stable but deterministic.
std::vector<std::size_t> numpy_order(const std::vector<double>& keys);

}  // namespace amdahl::profile
