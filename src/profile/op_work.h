// op_work.h: how much an operator computes and moves, from the recorded shapes of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/device_peaks.h"

namespace amdahl::profile {

struct OpWork {
  double flops = 0;  // A multiplication and an addition are two; 0: unknown.
  double bytes = 0;  // The least that must be moved: each input and output once; 0: unknown.
  Precision precision = Precision::kSingle;
  bool is_precision_known = false;  // The types of the inputs were recorded.
  // How many times fewer FLOPs may do: Winograd's and Fourier's convolutions multiply less.
  double saves = 1;
};

// Work of operators by what was recorded of them. Known are products of matrices, convolutions,
// scaled dot-product attention, and what Inductor compiles (bytes only, unless it is a product).
class OpWorks {
 public:
  // Reads the shapes of all operators. Files before PyTorch 2.1 have no strides: the size of a
  // convolution's output is then taken from a backward pass with the same input and weight.
  explicit OpWorks(const model::Trace& trace);  // Keeps a reference.

  // The innermost operator around a launch whose work is known, as an index into host_events, and
  // that work; nothing if there is none.
  struct Around {
    std::uint32_t op = model::kNone;
    const OpWork* work = nullptr;
  };
  std::optional<Around> around(std::uint32_t launch) const;

  bool empty() const { return works_.empty(); }

 private:
  const model::Trace& trace_;
  // By name of the operator and of its inputs.
  std::map<std::pair<std::uint32_t, std::uint32_t>, OpWork> works_;
};

// The sizes of each input, from model::HostEvent::inputs; a scalar or a list has none.
std::vector<std::vector<double>> input_dims(std::string_view inputs);

// What was recorded of a collective by its operator (record_param_comms).
struct CollectiveInputs {
  std::string_view name;  // "allreduce"; empty: none.
  std::string_view element_type;
  std::uint64_t elements = 0;
  std::uint32_t group_size = 0;
};

// Of the innermost operator around a launch that has any.
CollectiveInputs collective_around(const model::Trace& trace, std::uint32_t launch);

}  // namespace amdahl::profile
