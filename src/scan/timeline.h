// timeline.h: flattens overlapping or nested spans into a timeline with one phase at a time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::scan {

// The phase of time that no span covers.
inline constexpr std::string_view kUnnamed = "(unnamed)";

// Covers 0 to `wall` in order, without gaps or overlaps; neighbours of one name are merged. Where
// spans overlap, the innermost wins: the one that started last; if they started together, the one
// that ends first. Anything outside 0 to `wall` is cut off. Empty if no span is left: a job
// without phases has no timeline.
std::vector<model::Span> flatten(std::span<const model::Span> spans, Nanos wall);

}  // namespace amdahl::scan
