#include "trace/ncu/ncu.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/ncu/csv_rows.h"
#include "trace/ncu/number.h"

namespace amdahl::trace::ncu {
namespace {

using model::LossKind;

constexpr std::size_t kLongestText = 4096;

// What describes a launch; on the raw page all other columns are metrics.
constexpr auto kDescribing = std::to_array<std::string_view>(
    {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
     "Stream", "Block Size", "Grid Size", "Device", "CC", "Invocations",
     "thread Domain:Push/Pop_Range", "Id:Domain:Start/Stop_Range"});

enum class Page { kNone, kDetails, kSummary, kRaw };

// The columns of a page by their names.
class Header {
 public:
  // Nothing if this row is no header.
  static std::optional<Header> of(std::span<const std::string> fields) {
    Header header;
    for (std::size_t i = 0; i < fields.size(); ++i) header.columns_.emplace(fields[i], i);
    const auto has = [&](const char* name) { return header.columns_.contains(name); };
    if (!has("Kernel Name")) return std::nullopt;
    if (has("Metric Name") && has("Metric Value")) {
      header.page_ = Page::kDetails;
    } else if (has("Metric Name") && has("Average")) {
      header.page_ = Page::kSummary;
    } else if (has("ID")) {
      header.page_ = Page::kRaw;
      header.names_.assign(fields.begin(), fields.end());
    } else {
      return std::nullopt;
    }
    return header;
  }

  Page page() const { return page_; }
  // A field that the row is too short for is empty.
  std::string_view field(std::span<const std::string> row, const char* name) const {
    const auto found = columns_.find(name);
    if (found == columns_.end() || found->second >= row.size()) return {};
    return row[found->second];
  }
  std::span<const std::string> names() const { return names_; }

  std::vector<std::uint32_t> units;  // Of the raw page, from its second row.

 private:
  Page page_ = Page::kNone;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> names_;
};

class Pages {
 public:
  Pages(const Limits& limits, model::TraceBuilder& builder, std::uint32_t source)
      : limits_(limits), builder_(builder), source_(source) {}

  void take(std::span<const std::string> row) {
    if (auto header = Header::of(row)) {
      header_ = std::move(header);
      return;
    }
    if (!header_ || is_full_) return;
    // Between the rows are lines of the profiler (==PROF==) and of the program itself.
    if (row.size() < 4) return;
    switch (header_->page()) {
      case Page::kDetails:
        take_details(row);
        break;
      case Page::kSummary:
        take_summary(row);
        break;
      case Page::kRaw:
        take_raw(row);
        break;
      case Page::kNone:
        break;
    }
    keep_bounds();
  }

  bool found_header() const { return header_.has_value(); }

  // Ambiguous numbers are resolved once the whole file has been read.
  void finish() {
    const bool comma = commas_ > points_;
    auto& metrics = builder_.trace().kernel_metrics;
    for (const Ambiguous& open : ambiguous_) {
      metrics[open.row].value = number_of(open.text, comma).value_or(0);
    }
  }

 private:
  struct Ambiguous {
    std::size_t row = 0;
    std::string text;
  };

  std::uint32_t intern(std::string_view text) {
    if (text.size() > kLongestText) {
      builder_.lose(source_, LossKind::kTooLong, 1, text.substr(0, 40));
      text = text.substr(0, kLongestText);
    }
    return builder_.intern(text);
  }

  void keep_bounds() {
    const model::Trace& trace = builder_.trace();
    const std::uint64_t used = sizeof(model::KernelMetric) * trace.kernel_metrics.size() +
                               sizeof(model::KernelAdvice) * trace.kernel_advice.size();
    if (used < limits_.memory_bytes) return;
    is_full_ = true;
    builder_.lose(source_, LossKind::kBudget, 1, "the rest of the rows");
  }

  // Only numbers.
  void add_metric(model::KernelMetric metric, std::string_view text) {
    const Mark mark = mark_of(text);
    const bool comma = mark == Mark::kComma;
    const auto value = number_of(text, comma);
    if (!value) return;
    metric.value = *value;
    points_ += mark == Mark::kPoint ? 1U : 0U;
    commas_ += comma ? 1U : 0U;
    auto& metrics = builder_.trace().kernel_metrics;
    const bool is_open = mark == Mark::kNone && text.find_first_of(".,") != text.npos;
    if (is_open) ambiguous_.push_back({metrics.size(), std::string(text)});
    metrics.push_back(metric);
  }

  std::optional<std::uint32_t> launch_of(std::span<const std::string> row) {
    const auto id = to_number<std::uint32_t>(header_->field(row, "ID"));
    if (!id) {
      builder_.lose(source_, LossKind::kUnreadable, 1,
                    fmt::format("a row that begins with '{}'", clip(row[0], 40)));
    }
    return id;
  }

  void keep_host(std::span<const std::string> row) {
    std::string& host = builder_.trace().sources[source_].host;
    if (host.empty()) host = std::string(header_->field(row, "Host Name").substr(0, kLongestText));
  }

  void take_details(std::span<const std::string> row) {
    const auto launch = launch_of(row);
    if (!launch) return;
    keep_host(row);
    const std::uint32_t kernel = intern(header_->field(row, "Kernel Name"));
    if (const auto metric = header_->field(row, "Metric Name"); !metric.empty()) {
      // Sections use one name for different things: memory throughput is a share and a rate.
      add_metric({.kernel = kernel,
                  .launch = *launch,
                  .metric = intern(metric),
                  .unit = intern(header_->field(row, "Metric Unit"))},
                 header_->field(row, "Metric Value"));
    }
    take_rule(row, kernel, *launch);
  }

  void take_rule(std::span<const std::string> row, std::uint32_t kernel, std::uint32_t launch) {
    const auto type = header_->field(row, "Rule Type");
    // Remarks advise nothing.
    if (type != "OPT" && type != "WRN") return;
    model::KernelAdvice advice{.kernel = kernel, .launch = launch};
    advice.rule = intern(header_->field(row, "Rule Name"));
    advice.text = intern(header_->field(row, "Rule Description"));
    const auto text = header_->field(row, "Estimated Speedup");
    // Never thousands: a mark in it is the fraction's.
    const auto percent = number_of(text, text.find(',') != text.npos);
    if (percent && *percent > 0 && *percent <= 100) advice.speedup_percent = *percent;
    advice.global = header_->field(row, "Estimated Speedup Type") == "global";
    builder_.trace().kernel_advice.push_back(advice);
  }

  // One row for all launches of a kernel with one shape: they get a number together.
  void take_summary(std::span<const std::string> row) {
    const auto name = header_->field(row, "Metric Name");
    if (name.empty()) return;
    keep_host(row);
    const auto kernel = header_->field(row, "Kernel Name");
    const std::string shape =
        fmt::format("{}\n{}\n{}\n{}", kernel, header_->field(row, "Block Size"),
                    header_->field(row, "Grid Size"), header_->field(row, "Device"));
    const auto [group, is_new] =
        groups_.try_emplace(shape, static_cast<std::uint32_t>(groups_.size()));
    model::KernelMetric metric{.kernel = intern(kernel), .launch = group->second};
    if (is_new) {
      metric.metric = intern("Invocations");
      add_metric(metric, header_->field(row, "Invocations"));
    }
    metric.metric = intern(name);
    metric.unit = intern(header_->field(row, "Metric Unit"));
    add_metric(metric, header_->field(row, "Average"));
  }

  void take_raw(std::span<const std::string> row) {
    const auto names = header_->names();
    if (header_->field(row, "ID").empty() && header_->units.empty()) {
      for (const std::string& unit : row) header_->units.push_back(intern(unit));
      return;
    }
    const auto launch = launch_of(row);
    if (!launch) return;
    keep_host(row);
    const std::uint32_t kernel = intern(header_->field(row, "Kernel Name"));
    for (std::size_t i = 0; i < std::min(row.size(), names.size()); ++i) {
      if (std::ranges::find(kDescribing, names[i]) != kDescribing.end()) continue;
      add_metric({.kernel = kernel,
                  .launch = *launch,
                  .metric = intern(names[i]),
                  .unit = i < header_->units.size() ? header_->units[i] : 0},
                 row[i]);
    }
  }

  const Limits& limits_;
  model::TraceBuilder& builder_;
  std::uint32_t source_;
  std::optional<Header> header_;
  std::map<std::string, std::uint32_t> groups_;
  std::vector<Ambiguous> ambiguous_;
  std::uint64_t points_ = 0;
  std::uint64_t commas_ = 0;
  bool is_full_ = false;
};

}  // namespace

bool claims(std::string_view head) {
  std::vector<std::string> fields;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (line.find("Kernel Name") != line.npos) {
      split_csv(trim(line), fields);
      if (Header::of(fields)) return true;
    }
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return false;
}

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  model::TraceSource about;
  about.file = input.name;
  about.format = "ncu";
  const std::uint32_t source = builder.source(std::move(about));
  Pages pages(limits, builder, source);
  CsvRows rows([&](std::span<const std::string> row) { pages.take(row); });
  std::string room(std::size_t{256} << 10U, '\0');
  std::uint64_t bytes = 0;
  while (true) {
    const std::size_t got = TRY(input.next(room));
    if (got == 0) break;
    bytes += got;
    rows.feed(std::string_view(room).substr(0, got));
  }
  rows.finish();
  pages.finish();
  builder.trace().sources[source].bytes = bytes;
  if (rows.too_long() > 0) {
    builder.lose(source, LossKind::kUnreadable, rows.too_long(), "an unclosed quote");
  }
  const model::Trace& trace = builder.trace();
  if (!pages.found_header()) {
    return bad_input("has no Nsight Compute header; export it again: ncu --import REPORT --csv");
  }
  if (trace.kernel_metrics.empty() && trace.kernel_advice.empty()) {
    return bad_input("has an Nsight Compute header but no readable row");
  }
  return Ok{};
}

}  // namespace amdahl::trace::ncu
