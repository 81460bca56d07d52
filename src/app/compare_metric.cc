#include "app/compare_metric.h"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "base/text.h"
#include "model/pattern.h"
#include "observe/report.h"
#include "os/files.h"
#include "os/left.h"

namespace amdahl::app {
namespace {

// Numbers that every receipt has.
struct Own {
  std::string_view typed;   // After --metric.
  std::string_view stored;  // As the spec and the receipt name it.
  std::string_view spoken;
  std::string_view unit;
  std::string_view better;
  std::string_view worse;
  double (*of)(const model::Receipt&);
};

double cpu_seconds(const model::Receipt& r) { return to_seconds(r.cpu_user + r.cpu_system); }
double peak_megabytes(const model::Receipt& r) {
  return static_cast<double>(r.peak_rss_bytes) / 1e6;
}

constexpr auto kOwn = std::to_array<Own>({
    {"cpu", "cpu_seconds", "CPU time", "s", "needs less CPU time", "needs more CPU time",
     cpu_seconds},
    {"memory", "peak_memory_mb", "peak memory", "MB", "needs less memory", "needs more memory",
     peak_megabytes},
});

const Own* own_named(std::string_view typed) {
  for (const Own& own : kOwn) {
    if (own.typed == typed) return &own;
  }
  return nullptr;
}

bool is_cost(const CompareQuestion& q) { return q.metric.empty() || q.metric == "wall"; }
bool is_pattern(const std::string& metric) { return metric.find('(') != metric.npos; }

Result<> check_pattern(std::string_view flag, const std::string& pattern) {
  if (pattern.empty()) return Ok{};
  const auto made = model::WorkPattern::make(pattern);
  if (made) return Ok{};
  return bad_input(fmt::format("{} '{}' {}", flag, pattern, made.error().text));
}

}  // namespace

Result<> set_metric(CompareQuestion& q) {
  if (!q.work.empty()) {
    TRY(check_pattern("--work", q.work));
    q.a.work_pattern = q.b.work_pattern = q.work;
    q.a.fixed_work.reset();
    q.b.fixed_work.reset();
  }
  if (is_cost(q)) {
    if (!q.higher_is_better) return Ok{};
    return bad_input(
        "--higher is for a number that the job reports or prints; name it: --metric NAME");
  }
  if (is_pattern(q.metric)) TRY(check_pattern("--metric", q.metric));
  const Own* own = own_named(q.metric);
  for (model::Spec* spec : {&q.a, &q.b}) {
    spec->metric = own ? std::string(own->stored) : q.metric;
    spec->lower_is_better = !q.higher_is_better;
  }
  return Ok{};
}

compare::MetricText metric_text_of(const CompareQuestion& q) {
  compare::MetricText metric_text;
  metric_text.lower_is_better = q.a.lower_is_better;
  const bool reported = q.a.metric != model::Spec{}.metric;
  if (const Own* own = own_named(q.metric)) {
    metric_text.metric = own->spoken;
    metric_text.unit = own->unit;
    metric_text.better = own->better;
    metric_text.worse = own->worse;
  } else if (reported) {
    metric_text.metric = q.a.metric;
    metric_text.unit = "";
    metric_text.better = "is better";
    metric_text.worse = "is worse";
  } else if (!q.typed || q.a.accelerators != 1 || q.b.accelerators != 1) {
    metric_text.metric = fmt::format("accelerator-seconds per {}", q.typed ? "run" : q.a.work_unit);
    metric_text.better = "is cheaper";
    metric_text.worse = "is dearer";
  } else if (!q.work.empty()) {
    metric_text.metric = "wall time per unit of work";
  }
  return metric_text;
}

void measure(const CompareQuestion& q, const std::string& out_dir, model::Receipt& receipt) {
  if (const Own* own = own_named(q.metric)) {
    const double work = receipt.work.value_or(1);
    receipt.metrics[std::string(own->stored)] = own->of(receipt) / work;
  } else if (is_pattern(q.metric) && !is_cost(q) && os::is_plain(out_dir + "/stdout")) {
    const auto text = os::read_tail(out_dir + "/stdout", observe::kMaxReportBytes);
    if (!text) return;
    const auto value = observe::work_in_output(*text, q.metric, receipt.report_problems);
    if (value) receipt.metrics[q.metric] = *value;
  }
}

std::string complaint(const CompareQuestion& q, const model::Spec& spec,
                      const model::Receipt& receipt) {
  if (receipt.ending == model::Ending::kNotStarted) {
    return fmt::format("cannot be started: {}", receipt.reason);
  }
  if (!succeeded(receipt)) {
    const auto words = trim(receipt.stderr_tail);
    return fmt::format("fails: {}{}", describe_ending(receipt),
                       words.empty() ? " and prints nothing on stderr"
                                     : fmt::format("; last line of its stderr: {}",
                                                   clip(split(words, '\n').back(), 200)));
  }
  const bool cost = spec.metric == model::Spec{}.metric;
  if (!cost && !receipt.metrics.contains(spec.metric)) {
    if (is_pattern(q.metric)) return fmt::format("prints nothing that matches '{}'", q.metric);
    std::vector<std::string> reported;
    for (const auto& [name, value] : receipt.metrics) reported.push_back(name);
    return fmt::format("does not report '{}' to $AMDAHL_REPORT; it reports {}", spec.metric,
                       reported.empty() ? "nothing" : join(reported, ", "));
  }
  if (!cost && !(receipt.metrics.at(spec.metric) > 0)) {
    return fmt::format("gives {} for '{}', which must be above 0 to be compared by ratio",
                       receipt.metrics.at(spec.metric), spec.metric);
  }
  if (!spec.work_pattern.empty() && !receipt.work) {
    return fmt::format("prints no units of work that match '{}'", spec.work_pattern);
  }
  return "";
}

}  // namespace amdahl::app
