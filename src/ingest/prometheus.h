// prometheus.h: asks a Prometheus server for a window of samples, and keeps what it got.
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
  std::string folder{};  // Below which finished pieces are kept.
  bool fresh = false;    // Ask for all again.
  os::RetryPolicy patience{};
};

// What the server did not give.
struct MissingPiece {
  std::string metric;
  Nanos from{};
  Nanos to{};
  std::string why;
  Nanos step{};  // Between its points.
};

struct PrometheusSaid {
  std::vector<fleet::prometheus::Selection> selections;
  // Journals in the order of time: files, or bytes where the folder could not be written.
  struct Segment {
    std::string path;
    std::string bytes;
  };
  std::vector<Segment> segments;
  std::uint64_t pieces = 0;
  std::uint64_t kept = 0;   // Of them from an earlier scan.
  std::uint64_t bytes = 0;  // That came over the network.
  std::vector<MissingPiece> missing;
  std::string not_kept;               // Why pieces could not be kept; empty: they were.
  std::vector<std::string> warnings;  // Each once; each may hide missing data.
};

struct PrometheusProgress {
  std::uint64_t done = 0;
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;
};

// Finished pieces stay in the folder whatever becomes of the rest, so that the next try asks only
// for what is missing. Pieces that the server could still add to are asked for again. An error if
// the server cannot be asked at all, or has nothing that we know how to read, or on `stop`.
Result<PrometheusSaid> ask_prometheus(const PrometheusAsk& ask, os::Clock& clock,
                                      const os::Stop& stop,
                                      const std::function<void(PrometheusProgress)>& progress);

// Tells the intake all of it again, and of what is missing.
Result<> replay(const PrometheusSaid& said, fleet::Intake& intake, bool troubles);

}  // namespace amdahl::ingest
