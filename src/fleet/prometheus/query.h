// query.h: what to ask a Prometheus server, in pieces that it can answer.
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
  Nanos to{};    // Not in it.
};

// One request, below the server's address. POST where there is a form.
struct Request {
  std::string path;  // "/api/v1/query_range".
  std::vector<std::pair<std::string, std::string>> form;
  bool post = true;
};
std::string encode_form(const Request& request);  // "query=up&start=1507680000".

// Which of these metrics the server has any series of; read by read_values().
Request ask_metrics(const Window& window, std::span<const std::string> names);
// The values of one label of one metric; read by read_values().
Request ask_label(const Window& window, std::string_view metric, std::string_view label);
// How many samples one series has in an hour at most, and how many series there are at once, over
// the window; read by read_peak().
Request ask_cadence(const Window& window, std::string_view metric);
Request ask_series_count(const Window& window, std::string_view metric);
// The series with most samples in the hour before `at`, read by read_labels(), and its samples,
// read by read_distance().
Request ask_busiest(Nanos at, std::string_view metric);
Request ask_hour_of(Nanos at, std::string_view metric, const Labels& labels);
// At which of some times of the window each value of a label had samples; by read_presence().
Request ask_presence(const Window& window, std::string_view metric, std::string_view label);

Result<std::vector<std::string>> read_values(std::string_view body);
struct Peak {
  Nanos at{};
  double value = 0;
};
// The largest value in the answer, the last of several; nothing if it is empty.
Result<std::optional<Peak>> read_peak(std::string_view body);
Result<Labels> read_labels(std::string_view body);  // Of the first series; empty if there is none.
// From one sample to the next, usually; 0 if there is but one.
Result<Nanos> read_distance(std::string_view body);
using Presence = std::map<std::string, std::size_t, std::less<>>;  // At how many times.
Result<Presence> read_presence(std::string_view body, std::string_view label);

// What `samples_an_hour` says of the time between scrapes, to the next usual one: 237 are 15 s.
Nanos cadence_of(double samples_an_hour);

// One thing that is asked for the whole window.
struct Selection {
  std::string metric;
  std::string expression;  // "last_over_time(DCGM_FI_DEV_GPU_UTIL[14999ms])".
  std::string says;        // For people: "DCGM_FI_DEV_GPU_UTIL of 3 hosts without a better one".
  Nanos step{};            // Between points: the time between scrapes.
  double series = 0;       // At once, about.
};

// The value that each scrape left, and no older one: range = one step less a millisecond, for the
// plain selector would hold a value for five minutes after its accelerator fell silent.
std::string expression_of(std::string_view metric, std::string_view matchers, Nanos step);
// The same with the label kJobFromValue, which the server makes of the value of nvidia_gpu_jobId.
std::string expression_with_job_values(std::string_view metric, std::string_view matchers,
                                       Nanos step);
// Matchers that select these hosts alone: `Hostname=~"gpu1|gpu2"`.
std::string matcher_of(std::string_view label, std::span<const std::string> hosts);

struct Limits {
  std::int64_t points = 10'000;  // Of one series; the server refuses more than 11,000.
  double samples = 250'000;      // Of one answer: about 6 MB.
};

struct Piece {
  std::size_t selection = 0;  // Of those planned.
  std::string expression;
  Nanos from{};
  Nanos to{};
  Nanos step{};
};

// In the order of time. Cut at round times, so that a later scan of another window asks for the
// same pieces again; the first piece of a window longer than it begins before the window does.
std::vector<Piece> plan(std::span<const Selection> selections, const Window& window,
                        const Limits& limits = {});
Request request_of(const Piece& piece);
// For a server that finds it too large; empty if it is one point.
std::vector<Piece> halves(const Piece& piece);

// How the body of an error ({"status":"error",...}) reads: "bad_data: ..."; empty if it is none.
std::string read_error(std::string_view body);

}  // namespace amdahl::fleet::prometheus
