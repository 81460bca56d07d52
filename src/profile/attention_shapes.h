// attention_shapes.h: how long the sequences of a trace's attention are, and whether it is masked.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace amdahl::profile {

// Of calls of scaled dot-product attention whose inputs were recorded.
struct AttentionShapes {
  std::uint64_t calls = 0;
  std::uint64_t masked = 0;  // With a mask or bias, as padded batches need.
  double shortest = 0;       // Queries of a sequence.
  double longest = 0;
  double mean = 0;
};

AttentionShapes attention_shapes(const model::Trace& trace);

}  // namespace amdahl::profile
