// prometheus.h: queries a Prometheus server for a window of samples and keeps the answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fleet/prometheus/query.h"
#include "fleet/source.h"
#include "ingest/origin.h"
#include "os/clock.h"
#include "os/http.h"

namespace amdahl::ingest {

struct PrometheusAsk {
  Origin source{};
  fleet::prometheus::Window window{};
  std::string folder{};  // Finished pieces are kept below it.
  bool fresh = false;    // Query everything again.
  os::RetryPolicy patience{};
};

// A period that the server did not return.
struct MissingPiece {
  std::string metric;
  Nanos from{};
  Nanos to{};
  std::string why;
  Nanos step{};  // Between points.
};

struct PrometheusSaid {
  std::vector<fleet::prometheus::Selection> selections;
  // Journals in time order: files, or bytes if the folder is not writable.
  struct Segment {
    std::string path;
    std::string bytes;
  };
  std::vector<Segment> segments;
  std::uint64_t pieces = 0;
  std::uint64_t kept = 0;   // Of these, from an earlier scan.
  std::uint64_t bytes = 0;  // Over the network.
  std::vector<MissingPiece> missing;
  std::string not_kept;               // Why pieces could not be kept; empty: they were.
  std::vector<std::string> warnings;  // Deduplicated; each may mean missing data.
};

struct PrometheusProgress {
  std::uint64_t done = 0;
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;
};

// Finished pieces are kept even if the rest fails, so that the next attempt queries only what is
// missing. Pieces that may still grow are queried again. Fails if the server cannot be queried,
// has no metric that we can read, or on `stop`.
Result<PrometheusSaid> ask_prometheus(const PrometheusAsk& ask, os::Clock& clock,
                                      const os::Stop& stop,
                                      const std::function<void(PrometheusProgress)>& progress);

// Replays all of it into the intake, including what is missing.
Result<> replay(const PrometheusSaid& said, fleet::Intake& intake, bool troubles);

}  // namespace amdahl::ingest
