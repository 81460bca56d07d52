#include "scan/alerts.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/amount.h"
#include "fleet/metrics.h"

namespace amdahl::scan {
namespace {

// Which label of an exporter names the job.
struct Exporter {
  std::string_view prefix;
  std::string_view job;
};
constexpr auto kExporters = std::to_array<Exporter>({{"DCGM_", "hpc_job"},
                                                     {"nvidia_gpu_", "jobid"},
                                                     {"gpu_gfx_", "job_id"},
                                                     {"amd_gpu_", "job_id"},
                                                     {"slurm_job_", "slurmjobid"}});

struct Rule {
  std::string_view action;  // The id of the action that it is against.
  std::string_view alert;
  std::string_view expression;  // {m}: the metric; {l}: the label; {t}: threshold; {d}: timeout.
  std::string_view hold;        // Minutes that it must hold, as Prometheus writes it.
  std::string_view summary;
};
constexpr auto kRules = std::to_array<Rule>({
    {"end-idle-sessions", "AcceleratorsHeldIdle",
     "max by ({l}) (max_over_time({m}{{{l}!=\"\"}}[{d}])) <= {t}", "5m",
     "All accelerators of job {{{{ $labels.{l} }}}} have been idle for {d}"},
    {"give-back-unused", "AcceleratorsPartlyUnused",
     "count by ({l}) (max_over_time({m}{{{l}!=\"\"}}[1h]) <= {t}) > 0 and on ({l}) "
     "max by ({l}) (max_over_time({m}{{{l}!=\"\"}}[1h])) > {t}",
     "1h",
     "{{{{ $value }}}} accelerators of job {{{{ $labels.{l} }}}} do nothing while others work"},
    {"more-work-per-accelerator", "AcceleratorsLittleUsed",
     "avg by ({l}) (avg_over_time({m}{{{l}!=\"\"}}[6h])) < {w}", "1h",
     "Job {{{{ $labels.{l} }}}} has used less than a third of its accelerators for 6 hours"},
    {"move-to-smaller", "AcceleratorTooLarge",
     "max by ({l}) (max_over_time({m}{{{l}!=\"\"}}[6h])) < {w}", "1h",
     "Job {{{{ $labels.{l} }}}} has never used a third of its accelerator in 6 hours"},
});

}  // namespace

Result<std::string> alert_rules(const Report& report) {
  const auto& metrics = report.utilisation.metrics;
  if (metrics.empty()) {
    return bad_input("--alerts: nothing was observed, so there is no metric to alert on");
  }
  const std::string& metric = metrics.front().name;
  const auto exporter = std::ranges::find_if(
      kExporters, [&](const Exporter& one) { return metric.starts_with(one.prefix); });
  const fleet::UsageMetric* usage = fleet::find_usage_metric(metric);
  if (exporter == kExporters.end() || !usage) {
    return bad_input(
        fmt::format("--alerts: '{}' is not a metric that an exporter serves to Prometheus; scan "
                    "with --source prometheus=URL",
                    metric));
  }
  const Replay* chosen = report.policies.idle_timeout();
  const std::string timeout = timeout_text(chosen ? chosen->limit : Nanos{std::chrono::hours{2}});
  std::string text = fmt::format(
      "# Alert rules from amdahl scan. Check them: promtool check rules FILE\n"
      "# The label {} names the job; idle {}.\ngroups:\n- name: amdahl-scan\n  rules:\n",
      exporter->job, describe_idle(report.idle_below));
  std::size_t count = 0;
  for (const Rule& rule : kRules) {
    const auto found = std::ranges::find(report.actions, rule.action, &Action::id);
    if (found == report.actions.end()) continue;
    ++count;
    const auto fill = [&](std::string_view form) {
      return fmt::format(fmt::runtime(form), fmt::arg("m", metric), fmt::arg("l", exporter->job),
                         fmt::arg("t", report.idle_below * usage->whole),
                         fmt::arg("w", fmt::format("{:.4g}", usage->whole / 3)),
                         fmt::arg("d", timeout));
    };
    text += fmt::format(
        "  - alert: {}\n    expr: '{}'\n    for: {}\n    labels: {{severity: info}}\n"
        "    annotations:\n      summary: '{}'\n      description: 'In the scan: {} "
        "accelerator-hours wasted in this way.'\n",
        rule.alert, fill(rule.expression), rule.hold, fill(rule.summary),
        show_amount(in_hours(found->wasted)));
  }
  if (count == 0) return bad_input("--alerts: the scan found no waste that a rule could show");
  return text;
}

}  // namespace amdahl::scan
