#include "observe/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "model/pattern.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kMaxLine = 1024 * 1024;
constexpr std::size_t kMaxSpans = 100'000;
constexpr double kUnixTimes = 1e9;  // Seconds above this are since 1970, below since the start.

class Reader {
 public:
  explicit Reader(const ReportContext& context) : context_{context} {}

  void line(std::string_view text, int number, std::size_t end) {
    number_ = number;
    arrived_ = arrival(end);
    if (trim(text).empty()) return;
    if (text.size() > kMaxLine) return problem("longer than 1 MiB");
    const auto parsed = parse_json(text);
    if (!parsed) return problem("not JSON");
    if (!parsed->is_object()) return problem("not an object");
    const Json& json = *parsed;
    bool known = false;
    for (const Key& key : kKeys) {
      if (!json.contains(key.name)) continue;
      known = true;
      (this->*key.take)(json);
    }
    if (!known) problem("has none of work, metric, phase, accelerator, step");
  }

  Report finish() {
    close_open_phase(context_.wall);
    const std::vector<double>& done = report_.steps.work;
    if (!report_.work && !done.empty()) {
      report_.work = std::accumulate(done.begin(), done.end(), 0.0);
    }
    std::stable_sort(report_.phases.begin(), report_.phases.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    return std::move(report_);
  }

  void problem(std::string_view what) {
    if (report_.problems.size() >= kMaxProblems) return;
    report_.problems.push_back(fmt::format("line {}: {}", number_, what));
  }

 private:
  struct Key {
    const char* name;
    void (Reader::*take)(const Json&);
  };
  static const Key kKeys[5];

  void take_work(const Json& json) {
    if (json.contains("step")) return;  // That step's, not the job's so far.
    const auto value = number(json, "work");
    if (!value) return problem("work is not a number");
    if (*value < 0) return problem("work is negative");
    report_.work = *value;
  }

  void take_metrics(const Json& json) {
    const Json& metrics = json.at("metric");
    if (!metrics.is_object()) return problem("metric is not an object of names and numbers");
    for (const auto& [name, unused] : metrics.items()) {
      if (const auto value = number(metrics, name)) {
        report_.metrics[name] = *value;
      } else {
        problem(fmt::format("metric {} is not a number", clip(name, 40)));
      }
    }
  }

  void take_phase(const Json& json) {
    if (!json.at("phase").is_string()) return problem("phase is not a string");
    if (report_.phases.size() >= kMaxSpans) return problem("too many phases");
    const std::string name = json.at("phase").get<std::string>();
    if (json.contains("start") || json.contains("end")) {
      const auto start = time(json, "start");
      const auto end = time(json, "end");
      if (!start || !end) return problem("a phase needs a start and an end, both in seconds");
      if (*end < *start) return problem("the phase ends before it starts");
      report_.phases.push_back({name, *start, *end - *start});
      return;
    }
    if (json.contains("at") && !time(json, "at")) return problem("at is not a time in seconds");
    const Nanos begins = time(json, "at").value_or(arrived_);
    close_open_phase(begins);
    open_ = model::Span{name, begins, {}};
  }

  void take_busy(const Json& json) {
    const Json& which = json.at("accelerator");
    const auto from = time(json, "from");
    const auto to = time(json, "to");
    const auto busy = number(json, "busy");
    if (!which.is_number_integer() || !from || !to || !busy) {
      return problem("an accelerator line needs accelerator, from, to and busy, all numbers");
    }
    const auto index = which.get<std::int64_t>();
    if (index < 0 || index >= context_.accelerators) {
      return problem(
          fmt::format("accelerator {} is not one of the job's {}", index, context_.accelerators));
    }
    if (*to < *from) return problem("to is before from");
    if (*busy < 0 || *busy > 1) return problem("busy is not between 0 and 1");
    if (report_.busy.size() >= kMaxSpans) return problem("too many accelerator lines");
    report_.busy.push_back({static_cast<int>(index), *from, *to, *busy});
  }

  // In order and without gaps; otherwise steps could not be matched to the schedule.
  void take_step(const Json& json) {
    model::StepReports& steps = report_.steps;
    const Json& which = json.at("step");
    if (!which.is_number_integer()) return problem("step is not a whole number");
    if (which != steps.arms.size()) {
      return problem(fmt::format("step {} is out of order: expected step {}", which.dump(),
                                 steps.arms.size()));
    }
    const auto arm = json.find("arm");
    if (arm == json.end() || (*arm != "A" && *arm != "B")) return problem("arm is not A or B");
    const auto seconds = number(json, "seconds");
    if (!seconds || *seconds <= 0) return problem("seconds is not a positive number");
    const auto work = json.contains("work") ? number(json, "work") : 1.0;
    if (!work || *work <= 0) return problem("the step's work is not a positive number");
    if (steps.arms.size() >= kMaxSpans) return problem("too many steps");
    steps.arms += *arm == "A" ? 'A' : 'B';
    steps.seconds.push_back(*seconds);
    steps.work.push_back(*work);
  }

  void close_open_phase(Nanos at) {
    if (!open_) return;
    open_->duration = std::max(Nanos{0}, at - open_->start);
    report_.phases.push_back(*std::move(open_));
    open_.reset();
  }

  static std::optional<double> number(const Json& json, const std::string& key) {
    if (!json.contains(key) || !json.at(key).is_number()) return std::nullopt;
    const double value = json.at(key).get<double>();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }

  std::optional<Nanos> time(const Json& json, const std::string& key) const {
    const auto seconds = number(json, key);
    // A century and a half: more does not fit into nanoseconds since 1970.
    if (!seconds || *seconds < 0 || *seconds > 5e9) return std::nullopt;
    if (*seconds <= kUnixTimes) return from_seconds(*seconds);
    return std::max(Nanos{0}, from_seconds(*seconds) - context_.started);
  }

  // Lines come in order, so the place in the growth only moves on.
  Nanos arrival(std::size_t end) {
    while (grown_ < context_.growth.size() && context_.growth[grown_].bytes < end) ++grown_;
    return grown_ < context_.growth.size() ? context_.growth[grown_].at : context_.wall;
  }

  const ReportContext& context_;
  Report report_;
  std::optional<model::Span> open_;
  std::size_t grown_ = 0;
  int number_ = 0;
  Nanos arrived_{};
};

const Reader::Key Reader::kKeys[5] = {
    {"work", &Reader::take_work},   {"metric", &Reader::take_metrics},
    {"phase", &Reader::take_phase}, {"accelerator", &Reader::take_busy},
    {"step", &Reader::take_step},
};

// The last number that the pattern finds, at least `least`; `what` names the pattern in problems.
std::optional<double> last_in_output(std::string_view text, const std::string& pattern,
                                     std::string_view what, double least,
                                     std::vector<std::string>& problems) {
  std::optional<double> number;
  const auto problem = [&](std::string said) {
    if (problems.size() < kMaxProblems) problems.push_back(std::move(said));
  };
  const auto wanted = model::WorkPattern::make(pattern);
  if (!wanted) {
    problem(fmt::format("{} \"{}\" {}", what, clip(pattern, 80), wanted.error().text));
    return number;
  }
  for (const std::string_view line : split(text, '\n')) {
    for (const std::string_view shown : split(line, '\r')) {
      const auto found = wanted->find(shown);
      if (!found) continue;
      const auto value = to_number<double>(trim(*found));
      if (value && std::isfinite(*value) && *value >= least) {
        number = *value;
      } else {
        problem(fmt::format("{} matched \"{}\", which is not a valid {}", what, clip(*found, 40),
                            least == 0 ? "amount of work" : "number"));
      }
    }
  }
  return number;
}

}  // namespace

Report read_report(std::string_view text, bool cut_short, const ReportContext& context) {
  Reader reader(context);
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at), ++number, std::min(end + 1, text.size()));
    at = end + 1;
  }
  Report report = reader.finish();
  if (cut_short) {
    report.work.reset();
    report.metrics.clear();
    report.steps = {};
    if (report.problems.size() >= kMaxProblems) report.problems.pop_back();
    report.problems.insert(report.problems.begin(),
                           "the report is longer than 64 MiB: its work and metrics are unknown");
  }
  return report;
}

std::optional<double> work_in_output(std::string_view text, const std::string& pattern,
                                     std::vector<std::string>& problems) {
  return last_in_output(text, pattern, "work_pattern", 0, problems);
}

std::optional<double> number_in_output(std::string_view text, const std::string& pattern,
                                       std::vector<std::string>& problems) {
  return last_in_output(text, pattern, "a quality's pattern",
                        -std::numeric_limits<double>::infinity(), problems);
}

}  // namespace amdahl::observe
