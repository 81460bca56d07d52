// files.h: finds the files of a scan's sources and how to read each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/source.h"
#include "ingest/ingest.h"
#include "ingest/origin.h"
#include "ingest/read.h"

namespace amdahl::ingest {

// A file of the scan and the source it came from.
struct Found {
  Input input;
  Origin source;
  fleet::ReaderOptions reader;
  fleet::Gives gives = fleet::Gives::kBoth;
  bool is_copy = false;   // Copy of a pipe.
  bool is_local = false;  // Its times have no zone, and none was given.
  std::size_t row = 0;    // Index in FleetAnswer::inputs plus one; 0: not read yet.

  bool is_pipe() const { return input.path == "-"; }
};

struct FindOptions {
  const fleet::Sources& sources;
  Nanos now{};
  int threads = 1;
  std::function<bool()> stop{};
  // Copies an input that can be read only once; returns the path of the copy.
  std::function<Result<std::string>(const std::string& path)> copy{};
};

// Accepts files, patterns, folders (recursively) and "-". Fails if a named file cannot be read.
// Empty files, and files in folders that are no input, are appended to `left_out`. A mapping or
// list of fields applies only to files that need one.
Result<> find_files(const Origin& source, const FindOptions& options, std::vector<Found>& files,
                    std::vector<InputRead>& left_out);

// Makes the scan independent of the order of files; a file named twice is read once.
void put_in_order(std::vector<Found>& files, std::vector<InputRead>& left_out);

}  // namespace amdahl::ingest
