#include "profile/pipeline_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/html.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/cause_kinds.h"
#include "profile/causes.h"

namespace amdahl::profile {
namespace {

constexpr std::size_t kTableRows = 8;   // Of a table.
constexpr std::size_t kMapRows = 16;    // Of the map in text,
constexpr std::size_t kHtmlRows = 128;  // and on the page.
constexpr std::size_t kHtmlSteps = 256;

std::string factor_of(double factor) { return fmt::format("{:.3f}x", factor); }

std::string name_of(const Slowdown& row, std::string_view what) {
  return row.number < 0 ? row.name : fmt::format("{} {}", what, row.number);
}

// Tenths above an even step: 0 is less than a tenth.
char digit_of(double factor) {
  const double tenths = std::floor((factor - 1) * 10 + 1e-9);
  return static_cast<char>('0' + std::clamp(tenths, 0.0, 9.0));
}

std::string head_of(const Pipeline& pipeline) {
  return fmt::format("Pipeline: {} ranks of {} stages, {} steps, {} operations", pipeline.replicas,
                     pipeline.stages, pipeline.steps.size(), pipeline.operations);
}

std::string summary_of(const Pipeline& pipeline) {
  return fmt::format(
      "A step takes {} on average. With equally long operations of each kind it would take {}: "
      "slowdown {}. Between operations, {} of a step pass with nothing recorded. An even step "
      "still has a bubble of {}: a worker computes nothing.",
      show_duration(pipeline.measured), show_duration(pipeline.even), factor_of(pipeline.slowdown),
      show_duration(pipeline.measured - pipeline.replayed),
      show_percent(std::max(0.0, pipeline.bubble)));
}

constexpr std::string_view kMeaning =
    "Slowdown of a row: the mean step if only its operations took as long as recorded, by the mean "
    "even step.";

void append_table(std::string_view title, std::string_view what, const std::vector<Slowdown>& rows,
                  std::vector<std::string>& out) {
  std::vector<TableRow> cells;
  for (const Slowdown& row : rows) {
    if (cells.size() == kTableRows) break;
    const auto worst = std::ranges::max_element(row.by_step);
    cells.push_back({name_of(row, what), factor_of(row.factor),
                     worst == row.by_step.end() ? "" : factor_of(*worst)});
  }
  out.emplace_back();
  for (std::string& line : table_lines({std::string(title), "slowdown", "worst step"}, cells)) {
    out.push_back(std::move(line));
  }
  if (rows.size() > cells.size()) {
    out.push_back(fmt::format("and {} more (--json has all)", rows.size() - cells.size()));
  }
}

void append_map(const Pipeline& pipeline, std::size_t width, std::vector<std::string>& out) {
  constexpr std::size_t kLabel = 12;
  const std::size_t room = width > kLabel + 8 ? width - kLabel : 8;
  const std::size_t steps = std::min(pipeline.steps.size(), room);
  out.emplace_back();
  out.push_back(fmt::format("Ranks by steps ({} to {}), slowest rank first",
                            pipeline.steps.front().number, pipeline.steps[steps - 1].number));
  std::size_t shown = 0;
  for (const Slowdown& row : pipeline.by_replica) {
    if (shown++ == kMapRows) break;
    std::string line = fmt::format("{:<{}}", fmt::format("rank {}", row.number), kLabel);
    for (std::size_t i = 0; i < steps; ++i) line += digit_of(row.by_step[i]);
    out.push_back(std::move(line));
  }
  std::string note =
      "A digit is the slowdown of that step by that rank: 0 below 10 %, 1 from 10 %, "
      "9 from 90 %.";
  const std::size_t left =
      pipeline.by_replica.size() - std::min(kMapRows, pipeline.by_replica.size());
  if (left > 0 || steps < pipeline.steps.size()) {
    note += fmt::format(" Not shown: {} ranks, {} steps (--json has all).", left,
                        pipeline.steps.size() - steps);
  }
  for (std::string& line : wrap_lines(note, width)) out.push_back(std::move(line));
}

std::string table_html(std::string_view title, std::string_view what,
                       const std::vector<Slowdown>& rows) {
  static constexpr HtmlColumn kColumns[] = {{"", true}, {"slowdown"}, {"worst step"}};
  HtmlTable table(kColumns);
  for (const Slowdown& row : rows) {
    const auto worst = std::ranges::max_element(row.by_step);
    table.row({escape_html(name_of(row, what)), factor_of(row.factor),
               worst == row.by_step.end() ? "" : factor_of(*worst)});
  }
  return fmt::format("<h2>{}</h2>\n{}", title, table.take());
}

// Cells from white at an even step to the full colour at twice its length.
std::string map_html(const Pipeline& pipeline) {
  const std::size_t rows = std::min(kHtmlRows, pipeline.by_replica.size());
  const std::size_t steps = std::min(kHtmlSteps, pipeline.steps.size());
  std::string out =
      "<h2>Ranks by steps</h2>\n<div class=\"scroll\"><table class=\"heat\">\n<tr><th></th>";
  for (std::size_t i = 0; i < steps; ++i) {
    out += fmt::format("<th title=\"step {0}: {1}\">{0}</th>", pipeline.steps[i].number,
                       factor_of(pipeline.steps[i].factor));
  }
  out += "</tr>\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const Slowdown& rank = pipeline.by_replica[row];
    out += fmt::format("<tr><th>rank&nbsp;{}</th>", rank.number);
    for (std::size_t i = 0; i < steps; ++i) {
      const double depth = std::clamp(rank.by_step[i] - 1, 0.0, 1.0);
      const int shade = kDepthStep * static_cast<int>(std::lround(100 * depth / kDepthStep));
      out += fmt::format("<td class=\"d{}\" title=\"rank {}, step {}: {}\"></td>", shade,
                         rank.number, pipeline.steps[i].number, factor_of(rank.by_step[i]));
    }
    out += "</tr>\n";
  }
  out +=
      "</table></div>\n<p class=\"try\">Slowdown of a step by one rank alone: no colour at an even "
      "step, full colour at twice its length.";
  if (rows < pipeline.by_replica.size() || steps < pipeline.steps.size()) {
    out += fmt::format(" Not shown: {} ranks, {} steps (--json has all).",
                       pipeline.by_replica.size() - rows, pipeline.steps.size() - steps);
  }
  return out + "</p>\n";
}

void add_cause(const CauseKind& kind, model::Bottleneck bottleneck, const Pipeline& pipeline,
               Nanos lost, std::string because, TraceReport& report) {
  const double share = to_seconds(lost) / to_seconds(pipeline.measured);
  if (share < kSmallestCause) return;
  model::Cause cause;
  set_kind(cause, kind);
  cause.bottleneck = bottleneck;
  cause.share = share;
  const double workers = double{1} * pipeline.replicas * pipeline.stages;
  cause.accelerator_seconds =
      to_seconds(lost) * static_cast<double>(pipeline.steps.size()) * workers;
  // Nobody knows whether unexplained time can be removed.
  cause.ceiling = bottleneck == model::Bottleneck::kUnknown ? 1 : 1 / (1 - share);
  cause.because = std::move(because);
  report.profile.causes.push_back(std::move(cause));
}

}  // namespace

std::vector<std::string> pipeline_lines(const Pipeline& pipeline, std::size_t width) {
  std::vector<std::string> out = {"", head_of(pipeline)};
  for (std::string& line : wrap_lines(summary_of(pipeline), width, 2))
    out.push_back(std::move(line));
  for (const std::string& advice : pipeline.advice) {
    for (std::string& line : wrap_lines("try: " + advice, width, 2)) out.push_back(std::move(line));
  }
  append_table("Operation", "", pipeline.by_kind, out);
  append_table("Stage", "stage", pipeline.by_stage, out);
  append_table("Rank", "rank", pipeline.by_replica, out);
  for (std::string& line : wrap_lines(kMeaning, width)) out.push_back(std::move(line));
  append_map(pipeline, width, out);
  return out;
}

std::string pipeline_html(const Pipeline& pipeline) {
  std::string out = fmt::format("<h2>Pipeline</h2>\n<p>{}. {}</p>\n", head_of(pipeline).substr(10),
                                summary_of(pipeline));
  for (const std::string& advice : pipeline.advice) {
    out += fmt::format("<p class=\"try\">try: {}</p>\n", escape_html(advice));
  }
  out += map_html(pipeline);
  out += table_html("By kind of operation", "", pipeline.by_kind);
  out += table_html("By stage", "stage", pipeline.by_stage);
  out += table_html("By rank", "rank", pipeline.by_replica);
  return out + fmt::format("<p class=\"try\">{}</p>\n", kMeaning);
}

void conclude_pipeline(const Pipeline& pipeline, TraceReport& report) {
  using model::Bottleneck;
  model::Profile& profile = report.profile;
  report.wall = pipeline.measured * static_cast<std::int64_t>(pipeline.steps.size());
  profile.wall = report.wall;
  profile.accelerators = pipeline.replicas * pipeline.stages;
  profile.evidence["pipeline.slowdown"] = pipeline.slowdown;
  profile.evidence["pipeline.bubble_share"] = std::max(0.0, pipeline.bubble);
  profile.evidence["pipeline.step_s"] = to_seconds(pipeline.measured);
  profile.evidence["pipeline.even_step_s"] = to_seconds(pipeline.even);
  profile.evidence["pipeline.ranks"] = pipeline.replicas;
  profile.evidence["pipeline.stages"] = pipeline.stages;
  add_cause(
      causes::kStragglers, Bottleneck::kCommunication, pipeline, pipeline.replayed - pipeline.even,
      fmt::format("an even step takes {} instead of {}; most by {} ({}), stage {} ({}) and "
                  "rank {} ({})",
                  show_duration(pipeline.even), show_duration(pipeline.replayed),
                  pipeline.by_kind.front().name, factor_of(pipeline.by_kind.front().factor),
                  pipeline.by_stage.front().number, factor_of(pipeline.by_stage.front().factor),
                  pipeline.by_replica.front().number,
                  factor_of(pipeline.by_replica.front().factor)),
      report);
  add_cause(causes::kUnexplained, Bottleneck::kUnknown, pipeline,
            pipeline.measured - pipeline.replayed,
            "between operations, where nothing is recorded (such as loading data)", report);
  std::ranges::stable_sort(profile.causes, std::ranges::greater{}, &model::Cause::share);
  const model::Cause* largest = profile.causes.empty() ? nullptr : &profile.causes.front();
  profile.bottleneck = Bottleneck::kUnknown;
  if (largest != nullptr && largest->share >= kCauseThatCounts) {
    profile.bottleneck = largest->bottleneck;
    profile.rule = fmt::format("largest cause: {} {} ({})", largest->name,
                               show_percent(largest->share), largest->because);
  } else {
    profile.rule = fmt::format(
        "unknown: no cause reaches {}; operations say nothing of how well "
        "devices compute",
        show_percent(kCauseThatCounts));
  }
  if (pipeline.steps_left_out > 0) {
    profile.missing.push_back(fmt::format(
        "steps: {} were left out, because not all ranks have the same operations in them",
        pipeline.steps_left_out));
  }
}

}  // namespace amdahl::profile
