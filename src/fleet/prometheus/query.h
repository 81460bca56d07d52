// query.h: builds queries for a Prometheus server, in pieces that it can answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fleet/prometheus/labels.h"

namespace amdahl::fleet::prometheus {

struct Window {
  Nanos from{};  // Unix time.
  Nanos to{};    // Exclusive.
};

// One request, relative to the server's address. POST if there is a form.
struct Request {
  std::string path;  // "/api/v1/query_range".
  std::vector<std::pair<std::string, std::string>> form;
  bool post = true;
};
std::string encode_form(const Request& request);  // "query=up&start=1507680000".

// Which of these metrics have any series; read with read_values().
Request ask_metrics(const Window& window, std::span<const std::string> names);
// The values of a label of a metric; read with read_values().
Request ask_label(const Window& window, std::string_view metric, std::string_view label);
// Maximum samples of one series per hour, and number of concurrent series, over the window; read
// with read_peak().
Request ask_cadence(const Window& window, std::string_view metric);
Request ask_series_count(const Window& window, std::string_view metric);
// The series with the most samples in the hour before `at`, read with read_labels(), and its
// samples, read with read_distance().
Request ask_busiest(Nanos at, std::string_view metric);
Request ask_hour_of(Nanos at, std::string_view metric, const Labels& labels);
// At which of some sampled times each value of a label had samples; read with read_presence().
Request ask_presence(const Window& window, std::string_view metric, std::string_view label);

Result<std::vector<std::string>> read_values(std::string_view body);
struct Peak {
  Nanos at{};
  double value = 0;
};
// The largest value in the answer, the last one if tied; nothing if empty.
Result<std::optional<Peak>> read_peak(std::string_view body);
Result<Labels> read_labels(std::string_view body);  // Of the first series; empty if none.
// Typical distance between samples; 0 if there is only one.
Result<Nanos> read_distance(std::string_view body);
using Presence = std::map<std::string, std::size_t, std::less<>>;  // Number of sampled times.
Result<Presence> read_presence(std::string_view body, std::string_view label);

// The scrape interval for `samples_an_hour`, rounded to a common one: 237 means 15 s.
Nanos cadence_of(double samples_an_hour);

// One query over the whole window.
struct Selection {
  std::string metric;
  std::string expression;  // "last_over_time(DCGM_FI_DEV_GPU_UTIL[14999ms])".
  std::string says;        // For people: "DCGM_FI_DEV_GPU_UTIL of 3 hosts without a better one".
  Nanos step{};            // Between points: the scrape interval.
  double series = 0;       // Concurrent series, approximately.
};

// The value of each scrape, never an older one: the range is one step minus a millisecond. A plain
// selector would repeat a value for five minutes after its accelerator fell silent.
std::string expression_of(std::string_view metric, std::string_view matchers, Nanos step);
// The same with the label kJobFromValue, which the server creates from the value of
// nvidia_gpu_jobId.
std::string expression_with_job_values(std::string_view metric, std::string_view matchers,
                                       Nanos step);
// Matchers for these hosts only: `Hostname=~"gpu1|gpu2"`.
std::string matcher_of(std::string_view label, std::span<const std::string> hosts);

struct Limits {
  std::int64_t points = 10'000;  // Per series; the server refuses more than 11,000.
  double samples = 250'000;      // Per answer: about 6 MB.
};

struct Piece {
  std::size_t selection = 0;  // Index into the planned selections.
  std::string expression;
  Nanos from{};
  Nanos to{};
  Nanos step{};
};

// Ordered by time. Cut at round times, so that a later scan of another window queries the same
// pieces; the first piece may start before the window.
std::vector<Piece> plan(std::span<const Selection> selections, const Window& window,
                        const Limits& limits = {});
Request request_of(const Piece& piece);
// For a server that refuses the piece as too large; empty if it is a single point.
std::vector<Piece> halves(const Piece& piece);

// The text of an error body ({"status":"error",...}): "bad_data: ..."; empty if it is not an
// error.
std::string read_error(std::string_view body);

}  // namespace amdahl::fleet::prometheus
