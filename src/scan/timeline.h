// timeline.h: spans that overlap or nest into a timeline where each moment has one phase.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::scan {

// The phase of a moment that no span covers.
inline constexpr std::string_view kUnnamed = "(unnamed)";

// Covers 0 to `wall` without gap or overlap, in order, neighbours of one name merged. Where spans
// overlap, the moment is charged to the innermost: the one that started last, and of those that
// started together the one that ends first. What lies outside 0 to `wall` is cut off. Empty if no
// span is left: a job that reported no phases has no timeline.
std::vector<model::Span> flatten(std::span<const model::Span> spans, Nanos wall);

}  // namespace amdahl::scan
