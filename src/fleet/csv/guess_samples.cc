#include "fleet/csv/guess_samples.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "fleet/csv/words.h"
#include "fleet/metrics.h"
#include "fleet/nvidia_smi/nvidia_smi.h"

namespace amdahl::fleet::csv {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number(const Column& column) { return column.filled == 0 || column.is_number(); }
bool is_time(const Column& column) {
  return column.filled == 0 || column.is_time() || !column.unclear.empty();
}

// "gpu001" is the name of a host, "samples" and "2026" are not.
bool is_host(std::string_view word) {
  return std::ranges::any_of(word, is_digit) && !word.empty() && !is_digit(word.front());
}

// "gpu001.csv" and "gpu001/samples.csv" are of gpu001; empty if nothing in the path is a host.
std::string host_in(std::string_view path) {
  const std::string by_file = nvidia_smi::host_in_path(path);
  if (is_host(by_file)) return by_file;
  const std::string by_folder =
      nvidia_smi::host_in_path(path.substr(0, path.find_last_of('/') + 1));
  return is_host(by_folder) ? by_folder : std::string();
}

std::string stem_of(std::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  return std::string(path.substr(0, path.find('.')));
}

// "GPU_UTIL-2023-07.csv" is named after its metric.
std::string_view metric_in_path(std::string_view path) {
  std::string letters;
  for (const char c : stem_of(path)) {
    if (!is_digit(c)) letters += c;
  }
  while (!letters.empty() && (letters.back() == '-' || letters.back() == '_')) letters.pop_back();
  return metric_of(letters);
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

Wide find_wide(const Desk& desk) {
  std::map<std::string, Wide> found;
  for (const Column& column : desk.columns()) {
    if (!desk.is_used(column) && is_number(column)) add_patterns(column, found);
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

// "10.140.1.10-3", "gpu001:3", "node7_gpu3": what stands between host and accelerator, if nearly
// all free columns are named so.
std::string find_split(const Desk& desk) {
  for (const std::string_view split : {" GPU ", " gpu ", "_gpu", "-gpu", ".gpu", "/gpu", ":gpu",
                                       " gpu", "_GPU", "-GPU", "-", ":", "/", "_"}) {
    std::size_t fits = 0;
    std::size_t others = 0;
    for (const Column& column : desk.columns()) {
      if (desk.is_used(column) || says(column, Field::kTime)) continue;
      const std::size_t at = column.name.rfind(split);
      const std::string_view device = at == column.name.npos
                                          ? std::string_view()
                                          : std::string_view(column.name).substr(at + split.size());
      const bool pair = at != column.name.npos && at > 0 && !device.empty() && device.size() <= 3 &&
                        std::ranges::all_of(device, is_digit) && is_number(column);
      ++(pair ? fits : others);
    }
    if (fits >= 2 && fits >= 9 * others) return std::string(split);
  }
  return {};
}

std::vector<const Column*> usage_columns(const Desk& desk) {
  std::vector<const Column*> columns;
  for (const Column& column : desk.columns()) {
    if (desk.is_used(column) || !is_number(column) || says(column, Field::kTime)) continue;
    if (!metric_of(column.name).empty()) columns.push_back(&column);
  }
  return columns;
}

// One column has the names of metrics, another their values.
const Column* metric_column(const Desk& desk) {
  if (!desk.find(Field::kValue, is_number)) return nullptr;
  return desk.find(Field::kMetric, [](const Column& column) {
    return find_usage_metric(column.example) != nullptr ||
           column.example.find('_') != std::string::npos;
  });
}

class SampleGuess {
 public:
  SampleGuess(Desk& desk, std::string_view path, std::string_view host)
      : desk_{desk}, path_{path}, host_{host} {}

  void run() {
    if (desk_.take_time(Field::kTime) == nullptr) desk_.miss("time", "when it was measured");
    const Column* metric = metric_column(desk_);
    const std::vector<const Column*> usage =
        metric ? std::vector<const Column*>() : usage_columns(desk_);
    for (const Column* column : usage) desk_.use(*column);
    if (metric != nullptr) {
      desk_.give(Field::kMetric, *metric);
      desk_.take(Field::kValue, is_number);
    }
    const bool is_long = metric != nullptr || !usage.empty();
    const Column* device = is_long ? desk_.take(Field::kAccelerator) : nullptr;
    const Column* uuid = desk_.take(Field::kUuid);
    desk_.take(Field::kSlice);
    const Column* job = desk_.take(Field::kJob);
    const Column* host = desk_.take(Field::kHost);
    desk_.take(Field::kKind, [](const Column& column) { return !column.is_number(); });
    bool named = host != nullptr;
    if (is_long) {
      for (const Column* column : usage) add(*column);
      if (device == nullptr && uuid == nullptr) {
        desk_.miss("accelerator", "which accelerator of its host it is about; or uuid");
      }
    } else {
      named = wide() || named;
    }
    if (!named && uuid == nullptr) owner(job != nullptr);
  }

 private:
  void add(const Column& column) {
    const std::string_view metric = metric_of(column.name);
    const Share share = share_of(column, metric);
    if (share.unit.empty()) {
      return desk_.note(fmt::format("{} is not used: {}", quoted(column.name), share.why));
    }
    if (!share.is_sure) desk_.judge_unit_by_values();
    desk_.value(fmt::format("column = {}\nmetric = \"{}\"\nunit = \"{}\"\n", quoted(column.name),
                            metric, share.unit),
                fmt::format("{} = {}, {}: {}", metric, quoted(column.name), share.unit, share.why));
  }

  // Whether the columns' names say the host.
  bool wide() {
    const Wide wide = find_wide(desk_);
    const std::string split = wide.columns.empty() ? find_split(desk_) : "";
    std::vector<const Column*> columns = wide.columns;
    if (!split.empty()) {
      for (const Column& column : desk_.columns()) {
        if (!desk_.is_used(column) && column.name.rfind(split) != column.name.npos) {
          columns.push_back(&column);
        }
      }
    }
    if (columns.empty()) {
      desk_.miss("value", "how busy the accelerator was, with its metric");
      return false;
    }
    for (const Column* column : columns) desk_.use(*column);
    const std::string pattern = split.empty() ? wide.pattern : "*" + split + "*";
    std::string why;
    std::string_view metric = wide.metric;
    if (metric.empty()) metric = metric_in_path(path_);
    const Column all = together(columns);
    if (metric.empty() && split.empty() && all.most <= 100.5) {
      metric = "gpu_util";
      why = "taken for utilisation, as nothing else is named; ";
    }
    if (metric.empty()) {
      desk_.miss("value", fmt::format("the metric of the {} columns {}", columns.size(), pattern));
      return !split.empty();
    }
    const Share share = share_of(all, metric);
    if (share.unit.empty()) desk_.miss("value", fmt::format("{}: {}", pattern, share.why));
    if (!share.is_sure) desk_.judge_unit_by_values();
    desk_.value(fmt::format("column = {}\n{}metric = \"{}\"\nunit = \"{}\"\n",
                            quoted(split.empty() ? pattern : "*"),
                            split.empty() ? "" : fmt::format("split = {}\n", quoted(split)), metric,
                            share.unit.empty() ? "percent" : share.unit),
                fmt::format("{} = {} columns {}, {}: {}{}", metric, columns.size(), quoted(pattern),
                            share.unit, why, share.why));
    return !split.empty();
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

  // No column says whose samples these are.
  void owner(bool has_job) {
    const std::string stem = stem_of(path_);
    const std::size_t dash = stem.find('-');
    const bool numbered = dash != stem.npos && dash >= 4 && dash + 1 < stem.size() &&
                          std::ranges::all_of(stem.substr(0, dash), is_digit);
    if (!host_.empty()) {
      desk_.note(fmt::format("host = {}: as given", quoted(host_)));
    } else if (numbered && !has_job) {  // "5174220-r9189566-n911952.csv"
      desk_.line("job", "{ from = \"file\", cut = \"-\" }", "the number in the file's name");
      desk_.line("host", "{ from = \"file\", after = \"-\" }", "the rest of the file's name");
    } else if (const std::string host = host_in(path_); !host.empty()) {
      desk_.line("host", fmt::format("{{ constant = {} }}", quoted(host)), "by the file's name");
    } else if (!has_job) {
      desk_.miss("host", "whose accelerators these are; or add: --host NAME");
    }
  }

  Desk& desk_;
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

bool tells_of_samples(const Desk& desk) {
  return desk.find(Field::kTime, is_time) && has_usage(desk);
}

bool has_usage(const Desk& desk) {
  return metric_column(desk) || !usage_columns(desk).empty() || !find_wide(desk).columns.empty() ||
         !find_split(desk).empty();
}

void guess_samples(Desk& desk, std::string_view path, std::string_view host) {
  SampleGuess(desk, path, host).run();
}

}  // namespace amdahl::fleet::csv
