// files.h: finds the files that a source of a scan names, and says how each is to be read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/source.h"
#include "ingest/ingest.h"
#include "ingest/origin.h"
#include "ingest/read.h"

namespace amdahl::ingest {

// A file of the scan with the source that named it.
struct Found {
  Input input;
  Origin source;
  fleet::ReaderOptions reader;
  fleet::Gives gives = fleet::Gives::kBoth;
  bool is_copy = false;   // Of a pipe.
  bool is_local = false;  // Its times do not say their zone, and nobody did.
  std::size_t row = 0;    // Its place in FleetAnswer::inputs, plus one; 0: not read yet.

  bool is_pipe() const { return input.path == "-"; }
};

struct FindOptions {
  const fleet::Sources& sources;
  Nanos now{};
  int threads = 1;
  std::function<bool()> stop{};
  // Copies what can be read but once, and says where to.
  std::function<Result<std::string>(const std::string& path)> copy{};
};

// Files, patterns, folders with all below them, "-". An error where a person named what cannot be
// read; what is empty, or lies in a folder and is no input, is appended to `left_out`. A mapping,
// or a list of fields, is for those files that need one.
Result<> find_files(const Origin& source, const FindOptions& options, std::vector<Found>& files,
                    std::vector<InputRead>& left_out);

// The same files in another order are the same scan; one that is named twice is read once.
void put_in_order(std::vector<Found>& files, std::vector<InputRead>& left_out);

}  // namespace amdahl::ingest
