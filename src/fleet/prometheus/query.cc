#include "fleet/prometheus/query.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace amdahl::fleet::prometheus {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr auto kCadences = std::to_array<int>({1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900});
// Lengths of pieces that divide the day, so that cuts are the same every day.
constexpr auto kLengths = std::to_array<Nanos>(
    {minutes(1), minutes(2), minutes(5), minutes(10), minutes(15), minutes(30), hours(1), hours(2),
     hours(3), hours(4), hours(6), hours(12), hours(24), hours(48), hours(96)});

// Unix seconds with milliseconds, as the API reads them.
std::string time_text(Nanos time) {
  const auto ms = std::chrono::duration_cast<milliseconds>(time).count();
  return ms % 1000 == 0 ? fmt::format("{}", ms / 1000)
                        : fmt::format("{}.{:03}", ms / 1000, ms % 1000);
}

Nanos floor_to(Nanos time, Nanos unit) { return time - time % unit; }
Nanos ceil_to(Nanos time, Nanos unit) { return floor_to(time + unit - Nanos(1), unit); }

void put_encoded(std::string& out, std::string_view text) {
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

// For PromQL: RE2 inside a quoted string.
std::string regex_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += "\\\\";
    if (c == '"') out += '\\';
    out.push_back(c);
  }
  return out;
}

Nanos probe_step(const Window& window) {
  return std::max<Nanos>(ceil_to((window.to - window.from) / 24, minutes(1)), minutes(1));
}

// The last point is the end of the window: what began shortly before it is seen.
Request range_request(const Window& window, Nanos step, std::string expression) {
  const Nanos last = window.to - milliseconds(1);
  const Nanos first = last - floor_to(std::max(last - window.from, Nanos{}), step);
  return {"/api/v1/query_range",
          {{"query", std::move(expression)},
           {"start", time_text(first)},
           {"end", time_text(last)},
           {"step", time_text(step)}}};
}

Request hourly_request(const Window& window, std::string expression) {
  return range_request(window, std::max<Nanos>(probe_step(window), hours(1)),
                       std::move(expression));
}

Request instant_request(Nanos at, std::string expression) {
  return {"/api/v1/query", {{"query", std::move(expression)}, {"time", time_text(at)}}};
}

// "DCGM_FI_DEV_GPU_UTIL" of "DCGM_FI_DEV_GPU_UTIL{gpu="0"}".
std::string_view name_of(std::string_view metric) { return metric.substr(0, metric.find('{')); }

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

Nanos piece_length(const Selection& selection, const Limits& limits) {
  const Nanos step = selection.step;
  const double by_samples = std::max(1.0, limits.samples / std::max(1.0, selection.series));
  const auto points = std::min(limits.points, static_cast<std::int64_t>(by_samples));
  const Nanos most = step * points;
  Nanos length = step;
  for (const Nanos candidate : kLengths) {
    if (candidate <= most) length = std::max(candidate, step);
  }
  return length;
}

Result<Json> read_data(std::string_view body) {
  const Json answer = TRY(parse_json(body));
  if (!answer.is_object() || answer.value("status", "") != "success" || !answer.contains("data")) {
    const std::string error = read_error(body);
    return external(error.empty() ? "not an answer of a Prometheus server" : error);
  }
  return answer["data"];
}

Result<Json> read_result(std::string_view body) {
  const Json data = TRY(read_data(body));
  Json result = data.is_object() ? data.value("result", Json::array()) : Json::array();
  if (!result.is_array()) return external("the answer is not a list of series");
  for (const Json& series : result) {
    if (!series.is_object()) return external("the answer is not a list of series");
  }
  return result;
}

// Those with a time and a finite value.
std::vector<Peak> points_of(const Json& series) {
  std::vector<Peak> points;
  for (const Json& point : series.value("values", Json::array())) {
    if (!point.is_array() || point.size() != 2) continue;
    if (!point[0].is_number() || !point[1].is_string()) continue;
    const auto number = to_number<double>(point[1].get<std::string>());
    if (!number || !std::isfinite(*number)) continue;
    points.push_back({from_seconds(point[0].get<double>()), *number});
  }
  return points;
}

}  // namespace

std::string encode_form(const Request& request) {
  std::string out;
  for (const auto& [name, value] : request.form) {
    if (!out.empty()) out.push_back('&');
    put_encoded(out, name);
    out.push_back('=');
    put_encoded(out, value);
  }
  return out;
}

Request ask_metrics(const Window& window, std::span<const std::string> names) {
  std::string any;
  for (const std::string& name : names) any += (any.empty() ? "" : "|") + regex_quoted(name);
  return {"/api/v1/label/__name__/values",
          {{"match[]", fmt::format("{{__name__=~\"{}\"}}", any)},
           {"start", time_text(window.from)},
           {"end", time_text(window.to)}},
          false};
}

Request ask_label(const Window& window, std::string_view metric, std::string_view label) {
  return {fmt::format("/api/v1/label/{}/values", label),
          {{"match[]", std::string(metric)},
           {"start", time_text(window.from)},
           {"end", time_text(window.to)}},
          false};
}

Request ask_cadence(const Window& window, std::string_view metric) {
  return hourly_request(window, fmt::format("max(count_over_time({}[1h]))", metric));
}

Request ask_busiest(Nanos at, std::string_view metric) {
  return instant_request(at, fmt::format("topk(1, count_over_time({}[1h]))", metric));
}

Request ask_hour_of(Nanos at, std::string_view metric, const Labels& labels) {
  std::string matchers;
  for (const auto& [name, value] : labels) {
    if (name == "__name__") continue;
    matchers += fmt::format("{}{}={}", matchers.empty() ? "" : ",", name, in_quotes(value));
  }
  return instant_request(at, fmt::format("{}{{{}}}[1h]", name_of(metric), matchers));
}

Request ask_presence(const Window& window, std::string_view metric, std::string_view label) {
  const Nanos step = probe_step(window);
  const auto seen = std::chrono::duration_cast<seconds>(std::min<Nanos>(step, hours(1))).count();
  return range_request(
      window, step, fmt::format("count by ({}) (count_over_time({}[{}s]))", label, metric, seen));
}

Request ask_series_count(const Window& window, std::string_view metric) {
  return hourly_request(window, fmt::format("count(count_over_time({}[1h]))", metric));
}

Result<std::vector<std::string>> read_values(std::string_view body) {
  const Json data = TRY(read_data(body));
  std::vector<std::string> values;
  if (!data.is_array()) return external("the answer is not a list of values");
  for (const Json& value : data) {
    if (value.is_string()) values.push_back(value.get<std::string>());
  }
  std::ranges::sort(values);
  return values;
}

Result<std::optional<Peak>> read_peak(std::string_view body) {
  std::optional<Peak> peak;
  for (const Json& series : TRY(read_result(body))) {
    for (const Peak& point : points_of(series)) {
      if (!peak || point.value >= peak->value) peak = point;
    }
  }
  return peak;
}

Result<Labels> read_labels(std::string_view body) {
  Labels labels;
  for (const Json& series : TRY(read_result(body))) {
    const Json metric = series.value("metric", Json::object());
    for (const auto& [name, value] : metric.items()) {
      if (value.is_string()) labels.emplace_back(name, value.get<std::string>());
    }
    break;
  }
  return labels;
}

Result<Nanos> read_distance(std::string_view body) {
  std::vector<Nanos> distances;
  for (const Json& series : TRY(read_result(body))) {
    const std::vector<Peak> points = points_of(series);
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i].at > points[i - 1].at) distances.push_back(points[i].at - points[i - 1].at);
    }
  }
  if (distances.empty()) return Nanos{};
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return *middle;
}

Result<Presence> read_presence(std::string_view body, std::string_view label) {
  Presence presence;
  for (const Json& series : TRY(read_result(body))) {
    const Json metric = series.value("metric", Json::object());
    const Json value = metric.value(std::string(label), Json());
    if (value.is_string()) presence[value.get<std::string>()] += points_of(series).size();
  }
  return presence;
}

Nanos cadence_of(double samples_an_hour) {
  const double apart = 3600 / std::max(samples_an_hour, 1.0);
  int best = kCadences.front();
  for (const int usual : kCadences) {
    if (std::abs(std::log(usual / apart)) < std::abs(std::log(best / apart))) best = usual;
  }
  const bool near = std::abs(std::log(best / apart)) < 0.18;
  return near ? Nanos(seconds(best)) : Nanos(seconds(std::llround(std::ceil(apart))));
}

std::string expression_of(std::string_view metric, std::string_view matchers, Nanos step) {
  const auto ms = std::chrono::duration_cast<milliseconds>(step).count();
  return fmt::format("last_over_time({}{}{}{}[{}ms])", metric, matchers.empty() ? "" : "{",
                     matchers, matchers.empty() ? "" : "}", std::max<std::int64_t>(ms - 1, 1));
}

std::string expression_with_job_values(std::string_view metric, std::string_view matchers,
                                       Nanos step) {
  const std::string busy = expression_of(metric, matchers, step);
  // The new label must sort after these: Prometheus 2.42 appends it to them in place and sorts, so
  // that from the second point on it would group by others.
  constexpr std::string_view kOn = "instance, minor_number, uuid";
  return fmt::format(
      "({0} * on ({1}) group_left ({3}) count_values by ({1}) (\"{3}\", {2})) or on ({1}) {0}",
      busy, kOn, expression_of(kJobByValue, "", step), kJobFromValue);
}

std::string matcher_of(std::string_view label, std::span<const std::string> hosts) {
  std::string any;
  for (const std::string& host : hosts) any += (any.empty() ? "" : "|") + regex_quoted(host);
  return fmt::format("{}=~\"{}\"", label, any);
}

std::vector<Piece> plan(std::span<const Selection> selections, const Window& window,
                        const Limits& limits) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const Nanos step = selections[i].step;
    const Nanos length = piece_length(selections[i], limits);
    // A window that moves on from scan to scan begins within a piece that is known already.
    const bool is_long = window.to - window.from >= length;
    for (Nanos from = is_long ? floor_to(window.from, length) : window.from; from < window.to;) {
      const Nanos to = std::min(floor_to(from, length) + length, window.to);
      if (ceil_to(from, step) < to) pieces.push_back({i, selections[i].expression, from, to, step});
      from = to;
    }
  }
  std::ranges::stable_sort(pieces, {}, &Piece::from);
  return pieces;
}

Request request_of(const Piece& piece) {
  // The points are multiples of the step, so that neighbouring pieces neither share nor miss one.
  const Nanos first = ceil_to(piece.from, piece.step);
  const Nanos last = ceil_to(piece.to, piece.step) - piece.step;
  return {"/api/v1/query_range",
          {{"query", piece.expression},
           {"start", time_text(first)},
           {"end", time_text(std::max(first, last))},
           {"step", time_text(piece.step)}}};
}

std::vector<Piece> halves(const Piece& piece) {
  const Nanos first = ceil_to(piece.from, piece.step);
  const std::int64_t points = (ceil_to(piece.to, piece.step) - first) / piece.step;
  if (points < 2) return {};
  Piece left = piece;
  Piece right = piece;
  left.to = right.from = first + piece.step * (points / 2);
  return {left, right};
}

std::string read_error(std::string_view body) {
  const auto answer = parse_json(body);
  if (!answer || !answer->is_object() || answer->value("status", Json()) != "error") return "";
  const auto text = [&](const char* key) {
    const Json value = answer->value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return fmt::format("{}: {}", text("errorType"), text("error"));
}

}  // namespace amdahl::fleet::prometheus
