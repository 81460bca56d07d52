// hta_rows.h: a trace as the table that Holistic Trace Analysis makes of it.
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
  std::int64_t stream = -1;       // -1: of the host.
  std::int64_t correlation = -1;  // -1: it has none.
  std::string_view name;
  HtaKind kind = HtaKind::kOther;
  bool works = false;     // A kernel, a copy or a set.
  bool has_peer = false;  // A launch has its kernel, a kernel its launch, in the whole file.
  std::optional<double> launched;  // When, for a row of a device whose launch is in the table.

  double end() const { return ts + dur; }
};

// Rows of devices first, each in order of the file.
std::vector<HtaRow> hta_rows(const model::Trace& trace, std::uint32_t source,
                             const HtaOptions& options);

// Positions of `keys` in the order that numpy's argsort() gives: an introsort, which does not keep
// the order of equal keys, but always changes it in the same way.
std::vector<std::size_t> numpy_order(const std::vector<double>& keys);

}  // namespace amdahl::profile
