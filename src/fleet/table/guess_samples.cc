#include "fleet/table/guess_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/metrics.h"
#include "fleet/table/paths.h"
#include "fleet/table/synonyms.h"
#include "fleet/table/wide.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {
namespace {

// Times, and no numbers that may be something else.
bool is_clock(const Column& column) {
  return column.filled > 0 && column.is_time() && !column.from_zero;
}

// Columns that are alike but for a number: the accelerators.
struct Wide {
  std::string pattern;  // "gpu*_util".
  std::string_view metric;
  std::vector<const Column*> columns;
};

void add_patterns(const Column& column, std::map<std::string, Wide>& found) {
  const std::string& name = column.name;
  for (std::size_t at = 0; at < name.size();) {
    if (!is_digit(name[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    const std::string rest = name.substr(0, at) + name.substr(end);
    const std::string plain = plain_name(rest);
    const std::string_view metric = metric_of(rest);
    const bool bare = plain.empty() || plain == "gpu" || plain == "accelerator" ||
                      plain == "device" || plain == "card" || plain == "gpuid";
    if ((!metric.empty() || bare) && name.find('*') == name.npos) {
      const std::string pattern = name.substr(0, at) + "*" + name.substr(end);
      Wide& wide = found[pattern];
      wide.pattern = pattern;
      wide.metric = metric;
      wide.columns.push_back(&column);
    }
    at = end;
  }
}

Wide find_wide(const MappingBuilder& builder) {
  std::map<std::string, Wide> found;
  for (const Column& column : builder.columns()) {
    if (!builder.is_used(column) && may_be_number(column)) add_patterns(column, found);
  }
  Wide best;
  for (auto& [pattern, wide] : found) {
    if (wide.metric.empty() && wide.columns.size() < 2) continue;
    const bool better =
        best.columns.empty() || (best.metric.empty() && !wide.metric.empty()) ||
        (best.metric.empty() == wide.metric.empty() && wide.columns.size() > best.columns.size());
    if (better) best = std::move(wide);
  }
  return best;
}

// Columns that are named after a host and an accelerator, if nearly all free ones are.
struct Named {
  struct One {
    const Column* column = nullptr;
    NamedPlace place;
  };
  std::vector<One> columns;
  std::string between;  // The same in all: "-", " GPU "; empty: they differ.
};

Named find_named(const MappingBuilder& builder) {
  Named named;
  std::size_t others = 0;
  for (const Column& column : builder.columns()) {
    if (builder.is_used(column) || says(column, Field::kTime)) continue;
    if (column.plain.empty() && column.name.empty()) continue;  // Numbers of lines.
    const auto place = place_in(column.name);
    if (place && may_be_number(column)) {
      named.columns.push_back({&column, *place});
    } else {
      ++others;
    }
  }
  if (named.columns.size() < 2 || named.columns.size() < 9 * others) return {};
  named.between = named.columns.front().place.between;
  for (const Named::One& one : named.columns) {
    if (one.place.between != named.between) named.between.clear();
  }
  return named;
}

// Columns that are named by labels, as Grafana does: by metric, those without a name under "".
std::map<std::string, std::vector<const Column*>> find_labelled(const MappingBuilder& builder) {
  std::map<std::string, std::vector<const Column*>> found;
  for (const Column& column : builder.columns()) {
    if (builder.is_used(column) || !may_be_number(column)) continue;
    if (const auto metric = metric_in_labels(column.name)) found[*metric].push_back(&column);
  }
  std::erase_if(found,
                [](const auto& one) { return !one.first.empty() && metric_of(one.first).empty(); });
  return found;
}

std::vector<const Column*> usage_columns(const MappingBuilder& builder) {
  std::vector<const Column*> columns;
  for (const Column& column : builder.columns()) {
    if (builder.is_used(column) || !may_be_number(column) || says(column, Field::kTime)) continue;
    if (!metric_of(column.name).empty()) columns.push_back(&column);
  }
  return columns;
}

// One column has the names of metrics, another their values.
const Column* metric_column(const MappingBuilder& builder) {
  if (!builder.find(Field::kValue, may_be_number)) return nullptr;
  return builder.find(Field::kMetric, [&](const Column& column) {
    return column.example.find('_') != std::string::npos ||
           std::ranges::any_of(builder.rows(), [&](const std::vector<std::string>& row) {
             return !metric_of(row[builder.index_of(column)]).empty();
           });
  });
}

// One column has values, of one metric that is named elsewhere: "Time,Hostname,gpu,Value".
const Column* lone_value(const MappingBuilder& builder) {
  const bool placed = builder.find(Field::kAccelerator) || builder.find(Field::kUuid);
  return placed ? builder.find(Field::kValue, may_be_number) : nullptr;
}

class SampleGuess {
 public:
  SampleGuess(MappingBuilder& builder, std::string_view path, std::string_view host)
      : builder_{builder}, path_{path}, host_{host} {}

  void run() {
    if (builder_.take_time(Field::kTime) == nullptr) builder_.miss("time", "when it was measured");
    const Column* metric = metric_column(builder_);
    const std::vector<const Column*> usage =
        metric ? std::vector<const Column*>() : usage_columns(builder_);
    for (const Column* column : usage) builder_.use(*column);
    if (metric != nullptr) by_metric(*metric);
    const Column* lone = metric == nullptr && usage.empty() ? lone_value(builder_) : nullptr;
    if (lone != nullptr) builder_.use(*lone);
    const bool is_long = metric != nullptr || !usage.empty() || lone != nullptr;
    const Column* device = is_long ? builder_.take(Field::kAccelerator) : nullptr;
    const Column* uuid = builder_.take(Field::kUuid);
    builder_.take(Field::kSlice);
    const Column* job = builder_.take(Field::kJob);
    const Column* host = builder_.take(Field::kHost);
    builder_.take(Field::kKind, [](const Column& column) { return !column.is_number(); });
    bool named = host != nullptr;
    if (is_long) {
      for (const Column* column : usage) add(*column);
      if (lone != nullptr) add_lone(*lone);
      if (device == nullptr && uuid == nullptr) named = by_path(named) || named;
    } else {
      named = wide() || named;
    }
    if (!named && uuid == nullptr) owner(job != nullptr);
  }

  // Columns without names: one time, numbers from 0 on for the accelerators, and one share.
  void unnamed() {
    const auto is_free = [&](const Column& column) {
      return !builder_.is_used(column) && column.filled > 0;
    };
    std::vector<const Column*> shares;
    const Column* device = nullptr;
    for (const Column& column : builder_.columns()) {
      if (!is_free(column)) continue;
      if (is_clock(column)) {
        builder_.give_time(Field::kTime, column, "its cells are times");
      } else if (column.example.starts_with("GPU-")) {
        builder_.give(Field::kUuid, column, "", "its cells are");
        device = &column;
      } else if (device == nullptr && is_numbering(column)) {
        builder_.give(Field::kAccelerator, column, "", "it counts from 0");
        device = &column;
      } else if (column.is_number() && column.least >= 0 && column.most <= 100.5) {
        shares.push_back(&column);
      }
    }
    if (device == nullptr)
      builder_.miss("accelerator", "which accelerator of its host it is about");
    if (shares.size() == 1) {
      builder_.use(*shares.front());
      if (const auto told = share_of_all(shares, "", shares.front()->name, true)) {
        builder_.value(
            fmt::format("column = {}\n{}", toml_quoted(shares.front()->name), told->toml),
            fmt::format("{} = {}, {}", told->metric, toml_quoted(shares.front()->name), told->why));
      }
    } else {
      builder_.miss("value", "how busy the accelerator was");
    }
    owner(false);
  }

 private:
  void add(const Column& column) {
    const std::string_view metric = metric_of(column.name);
    const Share share = share_of(column, metric);
    if (share.unit.empty()) {
      return builder_.note(fmt::format("{} is not used: {}", toml_quoted(column.name), share.why));
    }
    if (!share.is_sure) builder_.judge_unit_by_values();
    builder_.value(
        fmt::format("column = {}\nmetric = \"{}\"\nunit = \"{}\"\n", toml_quoted(column.name),
                    metric, share.unit),
        fmt::format("{} = {}, {}: {}", metric, toml_quoted(column.name), share.unit, share.why));
  }

  // Metrics that no exporter calls so are read as utilisation in percent, whatever they are in.
  void by_metric(const Column& metric) {
    const Column* value = builder_.find(Field::kValue, may_be_number);
    builder_.give(Field::kMetric, metric);
    Column shares = *value;
    shares.numbers = shares.filled = 0;
    shares.most = 0;
    shares.fractions = false;
    for (const std::vector<std::string>& row : builder_.rows()) {
      const std::string& name = row[builder_.index_of(metric)];
      const Value number = read_value(row[builder_.index_of(*value)]);
      if (is_exporters(name) || metric_of(name) != "gpu_util" || !number) continue;
      ++shares.numbers;
      ++shares.filled;
      shares.most = std::max(shares.most, number.number);
      shares.fractions = shares.fractions || number.number != std::floor(number.number);
    }
    const Share share = share_of(shares, "gpu_util");
    if (shares.numbers > 0 && share.unit == "fraction") {
      return builder_.give(Field::kValue, *value, "scale = 100", share.why + ", shown in percent");
    }
    builder_.give(Field::kValue, *value);
  }

  // Whether the file's name says the host, besides the accelerator.
  bool by_path(bool has_host) {
    const PathPlace place = place_in_path(path_);
    if (place.accelerator.empty()) {
      builder_.miss("accelerator", "which accelerator of its host it is about; or uuid");
      return false;
    }
    const auto constant = [&](std::string_view field, const std::string& value) {
      builder_.line(field, fmt::format("{{ constant = {} }}", toml_quoted(value)),
                    "by the file's name");
    };
    constant("accelerator", place.accelerator);
    if (has_host || !host_.empty() || place.host.empty()) return false;
    constant("host", place.host);
    return true;
  }

  // Its metric is in the file's name, or must be given.
  void add_lone(const Column& column) {
    const auto told = share_of_all({&column}, "", toml_quoted(column.name), false);
    if (!told) return;
    builder_.value(fmt::format("column = {}\n{}", toml_quoted(column.name), told->toml),
                   fmt::format("{} = {}, by the file's name, {}", told->metric,
                               toml_quoted(column.name), told->why));
  }

  // Whether the columns' names say the host.
  bool wide() {
    if (const auto labelled = find_labelled(builder_); !labelled.empty())
      return by_labels(labelled);
    const Wide wide = find_wide(builder_);
    const Named named = find_named(builder_);
    if (named.columns.size() > wide.columns.size()) return by_names(named);
    if (wide.columns.empty()) {
      builder_.miss("value", "how busy the accelerator was, with its metric");
      return false;
    }
    for (const Column* column : wide.columns) builder_.use(*column);
    const auto told = share_of_all(wide.columns, wide.metric, wide.pattern, true);
    if (!told) return false;
    builder_.value(fmt::format("column = {}\n{}", toml_quoted(wide.pattern), told->toml),
                   fmt::format("{} = {} columns {}, {}", told->metric, wide.columns.size(),
                               toml_quoted(wide.pattern), told->why));
    return false;
  }

  bool by_labels(const std::map<std::string, std::vector<const Column*>>& labelled) {
    for (const auto& [metric, columns] : labelled) {
      for (const Column* column : columns) builder_.use(*column);
      const auto told = share_of_all(columns, metric_of(metric), columns.front()->name, true);
      if (!told) continue;
      builder_.value("labels = true\n" + told->toml,
                     fmt::format("{} = {} columns named by labels, {}", told->metric,
                                 columns.size(), told->why));
    }
    return true;
  }

  bool by_names(const Named& named) {
    std::vector<const Column*> columns;
    std::string_view metric = named.columns.front().place.metric;
    for (const Named::One& one : named.columns) {
      builder_.use(*one.column);
      columns.push_back(one.column);
    }
    const std::string pattern = "*" + named.between + "*";
    const auto told = share_of_all(columns, metric, pattern, !metric.empty());
    if (!told) return true;
    const std::string note = fmt::format("{} = {} columns {}, {}", told->metric, columns.size(),
                                         toml_quoted(columns.front()->name), told->why);
    if (!named.between.empty()) {
      builder_.value(
          fmt::format("column = \"*\"\nsplit = {}\n{}", toml_quoted(named.between), told->toml),
          note);
      return true;
    }
    for (const Named::One& one : named.columns) {
      builder_.value(
          fmt::format("column = {}\nhost = {}\naccelerator = {}\n{}", toml_quoted(one.column->name),
                      toml_quoted(one.place.host), toml_quoted(one.place.accelerator), told->toml),
          &one == &named.columns.front() ? note : "");
    }
    return true;
  }

  struct MetricAndUnit {
    std::string toml;
    std::string metric;
    std::string why;
  };

  // The metric and unit of columns that hold the same of several accelerators. Nothing if they
  // cannot be told, and that is said. `or_usage`: without a metric they may be utilisation.
  std::optional<MetricAndUnit> share_of_all(const std::vector<const Column*>& columns,
                                            std::string_view metric, std::string_view pattern,
                                            bool or_usage) {
    std::string why;
    if (metric.empty()) metric = metric_in_path(path_);
    const Column all = together(columns);
    if (metric.empty() && or_usage && all.most <= 100.5) {
      metric = "gpu_util";
      why = "assumed to be utilisation, because no other metric is named; ";
    }
    if (metric.empty()) {
      builder_.miss("value",
                    fmt::format("the metric of the {} columns {}", columns.size(), pattern));
      return std::nullopt;
    }
    const Share share = share_of(all, metric);
    if (share.unit.empty()) {
      builder_.miss("value", fmt::format("{}: {}", pattern, share.why));
      return std::nullopt;
    }
    if (!share.is_sure) builder_.judge_unit_by_values();
    return MetricAndUnit{fmt::format("metric = \"{}\"\nunit = \"{}\"\n", metric, share.unit),
                         std::string(metric), fmt::format("{}: {}{}", share.unit, why, share.why)};
  }

  static Column together(const std::vector<const Column*>& columns) {
    Column all = *columns.front();
    for (const Column* column : columns) {
      if (column->numbers == 0) continue;
      all.least = all.numbers == 0 ? column->least : std::min(all.least, column->least);
      all.most = all.numbers == 0 ? column->most : std::max(all.most, column->most);
      all.fractions = all.fractions || column->fractions;
      all.numbers += column->numbers;
      all.filled += column->filled;
    }
    return all;
  }

  // 0, 1, 2, ... and none left out.
  bool is_numbering(const Column& column) const {
    if (!column.is_whole() || column.least != 0 || column.most > 63) return false;
    std::set<std::string> seen;
    for (const std::vector<std::string>& row : builder_.rows())
      seen.insert(row[builder_.index_of(column)]);
    return static_cast<double>(seen.size()) == column.most + 1;
  }

  // No column says whose samples these are.
  void owner(bool has_job) {
    const std::string stem = stem_of(path_);
    const std::size_t dash = stem.find('-');
    const bool numbered = dash != stem.npos && dash >= 4 && dash + 1 < stem.size() &&
                          std::ranges::all_of(stem.substr(0, dash), is_digit);
    if (!host_.empty()) {
      builder_.note(fmt::format("host = {}: as given", toml_quoted(host_)));
    } else if (numbered && !has_job) {  // "5174220-r9189566-n911952.csv"
      builder_.line("job", "{ from = \"file\", cut = \"-\" }", "the number in the file's name");
      builder_.line("host", "{ from = \"file\", after = \"-\" }", "the rest of the file's name");
    } else if (const std::string host = host_in(path_); !host.empty()) {
      builder_.line("host", fmt::format("{{ constant = {} }}", toml_quoted(host)),
                    "by the file's name");
    } else if (!has_job) {
      builder_.miss("host", "the host of these accelerators; or add: --host NAME");
    }
  }

  MappingBuilder& builder_;
  std::string_view path_;
  std::string_view host_;
};

}  // namespace

Share share_of(const Column& column, std::string_view metric) {
  const UsageMetric* known = metric.empty() ? nullptr : find_usage_metric(metric);
  const std::string_view named = share_unit(column);
  if (!named.empty() && (named == "percent" || column.most <= 1.5)) {
    return {std::string(named), "its name says so", true};
  }
  if (column.most > 100.5) {
    return {"", fmt::format("has values up to {}, so it is no share", show_number(column.most)),
            false};
  }
  if (column.most > 1.5) {
    return {"percent", fmt::format("there are values up to {}", show_number(column.most)), false};
  }
  if (is_exporters(column.name) && known != nullptr) {
    return {known->whole > 1 ? "percent" : "fraction", "as its exporter writes it", true};
  }
  if (column.fractions) return {"fraction", "no value is above 1, and some are not whole", false};
  if (known == nullptr && column.numbers > 0) {
    return {"", "its first values do not say whether it is in percent or from 0 to 1", false};
  }
  return {known == nullptr || known->whole > 1 ? "percent" : "fraction",
          "its first values leave it open, so as it is usual", false};
}

bool is_long_by_metric(const MappingBuilder& builder) {
  return builder.find(Field::kTime, may_be_time) && metric_column(builder);
}

bool tells_of_samples(const MappingBuilder& builder) {
  return builder.find(Field::kTime, may_be_time) && has_usage(builder);
}

bool has_usage(const MappingBuilder& builder) {
  return metric_column(builder) || lone_value(builder) || !usage_columns(builder).empty() ||
         !find_labelled(builder).empty() || !find_wide(builder).columns.empty() ||
         !find_named(builder).columns.empty();
}

bool has_one_time(const MappingBuilder& builder) {
  return std::ranges::count_if(builder.columns(), is_clock) == 1;
}

void guess_unnamed_samples(MappingBuilder& builder, std::string_view path, std::string_view host) {
  SampleGuess(builder, path, host).unnamed();
}

void guess_samples(MappingBuilder& builder, std::string_view path, std::string_view host) {
  SampleGuess(builder, path, host).run();
}

}  // namespace amdahl::fleet::table
