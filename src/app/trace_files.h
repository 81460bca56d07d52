// trace_files.h: reads profilers' files, packed or not, into one trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "trace/reader.h"

namespace amdahl::app {

struct TraceFiles {
  std::vector<std::string> files;
  std::string format;  // Reader's name; empty: detect.
  trace::Limits limits;
};

// The limits for a machine with this much available memory; 0: unknown.
trace::Limits limits_here(trace::Limits limits, std::uint64_t available);

// All files on one timeline, in the given order, within `limits_here`. An error names the file;
// losses are in the trace. Files are streamed. `raw` gets the rows in file order, before they are
// sorted and joined.
using RawRows = std::function<void(const model::Trace& rows)>;
Result<model::Trace> read_traces(const TraceFiles& files, const RawRows& raw = {});

// Whether a command-line word is a trace file and not a family: it exists as a file.
bool is_trace_file(const std::string& word);

}  // namespace amdahl::app
