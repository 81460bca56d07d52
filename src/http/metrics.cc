#include "http/metrics.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::http {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

struct Sample {
  Labels labels;
  double value = 0;
};

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// Families of one format: OpenMetrics names a counter without the "_total" of its samples.
class Text {
 public:
  explicit Text(bool open_metrics) : open_metrics_{open_metrics} {}

  void add(std::string_view name, std::string_view help, const std::vector<Sample>& samples) {
    const bool counts = name.ends_with("_total");
    std::string_view family = name;
    if (counts && open_metrics_) family.remove_suffix(std::string_view("_total").size());
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family, help, family,
                        counts ? "counter" : "gauge");
    for (const Sample& sample : samples) {
      out_ += name;
      for (std::size_t i = 0; i < sample.labels.size(); ++i) {
        out_ += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", sample.labels[i].first,
                            escaped(sample.labels[i].second));
      }
      out_ += fmt::format("{} {}\n", sample.labels.empty() ? "" : "}", sample.value);
    }
  }
  void add(std::string_view name, std::string_view help, double value) {
    add(name, help, {{{}, value}});
  }
  std::string take() { return std::move(out_) + (open_metrics_ ? "# EOF\n" : ""); }

 private:
  bool open_metrics_;
  std::string out_{};
};

// Tallies with this prefix, by the rest of their name: "verdict.refuted".
std::vector<Sample> tallies(const app::Status& status, std::string_view start,
                            std::string_view label) {
  std::vector<Sample> samples;
  for (const auto& [name, count] : status.tallies) {
    if (!name.starts_with(start)) continue;
    samples.push_back({{{label, name.substr(start.size())}}, static_cast<double>(count)});
  }
  return samples;
}

void add_loop(Text& text, const app::Status& status) {
  text.add("amdahl_hypotheses", "Hypotheses by the state they are in.",
           tallies(status, "hypothesis.", "state"));
  text.add("amdahl_verdicts_total", "Verdicts by kind.", tallies(status, "verdict.", "verdict"));
  std::map<std::string, double> stages;
  const loop::State& state = status.snapshot.experiments.state();
  for (const loop::ExperimentState& x : state.experiments) {
    stages[std::string(x.parked ? "parked" : model::name(x.stage))] += 1;
  }
  std::vector<Sample> live;
  for (const auto& [stage, count] : stages) live.push_back({{{"stage", stage}}, count});
  text.add("amdahl_experiments", "Experiments under test by stage.", live);
  text.add("amdahl_hypotheses_queued", "Hypotheses that wait for a test.",
           static_cast<double>(state.queued.size()));
  text.add("amdahl_runs_in_flight", "Pairs that are reserved or running.",
           static_cast<double>(status.snapshot.in_flight.size()));
  text.add("amdahl_gate_pending", "Claims that wait for a person.",
           static_cast<double>(status.pending.size()));
  text.add("amdahl_rollbacks_proposed", "Promoted changes that a canary proposes to roll back.",
           static_cast<double>(status.rollbacks.size()));
  text.add("amdahl_families_skipped", "Families that cannot take part in the loop now.",
           static_cast<double>(status.snapshot.skipped.size()));
  text.add("amdahl_lease_held", "1 while a cycle holds the lease.", status.lease ? 1 : 0);
}

void add_budgets(Text& text, const app::Status& status) {
  std::vector<Sample> spent;
  std::vector<Sample> committed;
  std::vector<Sample> limits;
  for (const ledger::Budget& b : status.budgets) {
    spent.push_back({{{"resource", b.resource}}, b.spent + b.overrun});
    committed.push_back({{{"resource", b.resource}}, b.committed});
    if (b.limit) limits.push_back({{{"resource", b.resource}}, *b.limit});
  }
  text.add("amdahl_budget_spent", "Spent so far, in the unit of the resource.", spent);
  text.add("amdahl_budget_committed", "Reserved by runs in flight.", committed);
  text.add("amdahl_budget_limit", "The limit; no sample: none is set.", limits);
}

struct MoneyRow {
  std::string_view name;
  std::string_view help;
  double (*value)(const app::RoiRow&);
};

constexpr auto kMoney = std::to_array<MoneyRow>({
    {"amdahl_spent_accelerator_seconds_total", "Accelerator time of experiments and profiles.",
     [](const app::RoiRow& row) { return row.spent_accelerator_s; }},
    {"amdahl_spent_usd_total", "The same in US dollars, as charged.",
     [](const app::RoiRow& row) { return row.spent_usd; }},
    {"amdahl_volume_accelerator_seconds_per_day", "What the family runs a day.",
     [](const app::RoiRow& row) { return row.volume_accelerator_h_per_day * 3600; }},
    {"amdahl_saved_accelerator_seconds_per_day", "Saved by promoted changes a day.",
     [](const app::RoiRow& row) { return row.saved_accelerator_h_per_day * 3600; }},
    {"amdahl_saved_usd_per_month", "The same in US dollars, in 30 days.",
     [](const app::RoiRow& row) { return row.saved_usd_per_month; }},
    {"amdahl_promoted_changes", "Changes in the family's stack.",
     [](const app::RoiRow& row) { return static_cast<double>(row.promoted); }},
});

void add_traffic(Text& text, const Traffic& traffic) {
  std::vector<Sample> responses;
  for (const auto& [code, count] : traffic.responses) {
    responses.push_back({{{"code", std::to_string(code)}}, static_cast<double>(count)});
  }
  text.add("amdahl_http_responses_total", "Responses of this server by status.", responses);
  text.add("amdahl_http_connections", "Open connections.",
           static_cast<double>(traffic.connections));
  text.add("amdahl_http_event_streams", "Clients that follow events.",
           static_cast<double>(traffic.event_streams));
  text.add("amdahl_http_refused_connections_total", "Connections above the limit.",
           static_cast<double>(traffic.refused_connections));
  text.add("amdahl_webhook_failures_total", "Workers for webhooks that could not be started.",
           static_cast<double>(traffic.webhook_failures));
}

}  // namespace

Response metrics(const app::Status& status, const app::Roi& roi, const Traffic& traffic,
                 const Program& program, std::string_view accept) {
  const bool open_metrics = contains(accept, "application/openmetrics-text");
  Text text(open_metrics);
  text.add("amdahl_build_info", "The program that answers.",
           {{{{"version", program.version}, {"revision", program.revision}}, 1}});
  add_loop(text, status);
  add_budgets(text, status);
  for (const MoneyRow& row : kMoney) {
    std::vector<Sample> samples;
    for (const app::RoiRow& family : roi.rows) {
      samples.push_back({{{"family", family.family}}, row.value(family)});
    }
    text.add(row.name, row.help, samples);
  }
  add_traffic(text, traffic);
  return {.type = open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                               : "text/plain; version=0.0.4; charset=utf-8",
          .body = text.take()};
}

}  // namespace amdahl::http
