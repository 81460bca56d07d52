// pipeline_page.h: what a pipeline's operations say, for people and as a conclusion.
#pragma once

#include <string>
#include <vector>

#include "profile/pipeline.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// Lines of at most `width` columns: what explains the slowdown, by kind, stage and rank, and a map
// of ranks and steps with tenths of slowdown as digits.
std::vector<std::string> pipeline_lines(const Pipeline& pipeline, std::size_t width);

// Of the shades of the map's cells, in percent: their classes are d0, d5, ..., d100.
inline constexpr int kDepthStep = 5;
// The same as tables, with the map in colours.
std::string pipeline_html(const Pipeline& pipeline);

// Causes, class and evidence of a trace that has nothing but operations.
void conclude_pipeline(const Pipeline& pipeline, TraceReport& report);

}  // namespace amdahl::profile
