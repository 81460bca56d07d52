// trace_files.h: files of profilers, packed or not, into one trace.
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
  std::string format;  // A reader's name; empty: by content.
  trace::Limits limits;
};

// The limits for a machine that can give so much memory; 0: nobody knows.
trace::Limits limits_here(trace::Limits limits, std::uint64_t available);

// All files on one timeline, in the order given, within `limits_here`. An error names the file;
// what a reader lost is in the trace. Files are streamed: none is held whole. `raw` is shown the
// rows in the order of the files, before they are sorted and joined.
using RawRows = std::function<void(const model::Trace& rows)>;
Result<model::Trace> read_traces(const TraceFiles& files, const RawRows& raw = {});

// Whether a word on the command line names trace files rather than a family: it is a file.
bool is_trace_file(const std::string& word);

}  // namespace amdahl::app
