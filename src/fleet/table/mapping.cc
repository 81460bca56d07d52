#include "fleet/table/mapping.h"

#include <algorithm>
#include <span>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "base/text.h"
#include "fleet/metrics.h"

namespace amdahl::fleet::table {
namespace {

enum class Type : std::uint8_t { kText, kTime, kDuration, kNumber, kShare, kState, kHosts };

constexpr unsigned bit(Row row) { return 1U << static_cast<unsigned>(row); }
constexpr unsigned kJobs = bit(Row::kJob);
constexpr unsigned kSamples = bit(Row::kSample);
constexpr unsigned kPlaces = bit(Row::kPlace);
constexpr unsigned kCapacities = bit(Row::kCapacity);
constexpr unsigned kOccupancies = bit(Row::kOccupancy);
constexpr unsigned kDevices = bit(Row::kDevice);

struct FieldRow {
  Field field;
  std::string_view name;
  Type type;
  unsigned rows;      // That may have it.
  unsigned required;  // That must.
};
constexpr auto kFields = std::to_array<FieldRow>({
    {Field::kId, "id", Type::kText, kJobs, kJobs},
    {Field::kRaw, "raw", Type::kText, kJobs, 0},
    {Field::kName, "name", Type::kText, kJobs, 0},
    {Field::kUser, "user", Type::kText, kJobs, 0},
    {Field::kAccount, "account", Type::kText, kJobs, 0},
    {Field::kPartition, "partition", Type::kText, kJobs | kCapacities | kOccupancies, 0},
    {Field::kKind, "kind", Type::kText, kJobs | kSamples | kCapacities, 0},
    {Field::kScript, "script", Type::kText, kJobs, 0},
    {Field::kHosts, "hosts", Type::kHosts, kJobs, 0},
    {Field::kState, "state", Type::kState, kJobs, 0},
    {Field::kSubmit, "submit", Type::kTime, kJobs, 0},
    {Field::kStart, "start", Type::kTime, kJobs, kJobs},
    {Field::kEnd, "end", Type::kTime, kJobs, 0},
    {Field::kElapsed, "elapsed", Type::kDuration, kJobs, 0},
    {Field::kAccelerators, "accelerators", Type::kNumber, kJobs | kCapacities, kJobs | kCapacities},
    {Field::kHostCount, "host_count", Type::kNumber, kJobs, 0},
    {Field::kUtilisation, "utilisation", Type::kShare, kJobs, 0},
    {Field::kTime, "time", Type::kTime, kSamples | kOccupancies, kSamples | kOccupancies},
    {Field::kHost, "host", Type::kText, kSamples | kPlaces | kCapacities | kDevices, kPlaces},
    {Field::kAccelerator, "accelerator", Type::kText, kJobs | kSamples | kPlaces | kDevices,
     kPlaces | kDevices},
    {Field::kUuid, "uuid", Type::kText, kSamples | kDevices, kDevices},
    {Field::kSlice, "slice", Type::kText, kSamples | kDevices, 0},
    {Field::kJob, "job", Type::kText, kSamples | kPlaces, kPlaces},
    {Field::kMetric, "metric", Type::kText, kSamples, 0},
    {Field::kValue, "value", Type::kShare, kSamples, 0},
    {Field::kTotal, "total", Type::kNumber, kOccupancies, kOccupancies},
    {Field::kAllocated, "allocated", Type::kNumber, kOccupancies, 0},
    {Field::kIdle, "idle", Type::kNumber, kOccupancies, 0},
    {Field::kDown, "down", Type::kNumber, kOccupancies, 0},
    {Field::kHeld, "held", Type::kDuration, kOccupancies, kOccupancies},
});
static_assert(kFields.size() == kFieldCount);

constexpr auto kRows =
    std::to_array<std::string_view>({"job", "sample", "place", "capacity", "occupancy", "device"});
constexpr auto kTop =
    std::to_array<std::string_view>({"row", "delimiter", "decimal", "header", "comment", "time",
                                     "time_base", "time_zone", "columns", "value", "where"});
constexpr auto kColumnKeys =
    std::to_array<std::string_view>({"column", "constant", "from", "times", "scale", "unit", "time",
                                     "words", "metric", "separator", "cut", "after", "and"});
constexpr auto kValueKeys = std::to_array<std::string_view>(
    {"column", "metric", "host", "accelerator", "unit", "scale", "split", "labels"});
constexpr auto kWhereKeys = std::to_array<std::string_view>({"column", "is", "is_not"});

Error at(const toml::node& node, std::string_view what) {
  return bad_input(fmt::format("line {}: {}", node.source().begin.line, what));
}

Result<> check_keys(const toml::table& table, std::span<const std::string_view> known,
                    std::string_view within) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const auto near = did_you_mean(key.str(), known);
    const std::vector<std::string> names(known.begin(), known.end());
    return bad_input(fmt::format("line {}: {} has no key '{}'{}", key.source().begin.line, within,
                                 key.str(),
                                 near ? fmt::format("; did you mean '{}'?", *near)
                                      : fmt::format(", there are {}", join(names, ", "))));
  }
  return Ok{};
}

Result<std::string> text_of(const toml::table& table, std::string_view key,
                            std::string_view otherwise = "") {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::string(otherwise);
  const auto text = node->value_exact<std::string>();
  if (!text) return at(*node, fmt::format("{} must be text", key));
  return *text;
}

Result<char> character_of(const toml::table& table, std::string_view key, char otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const std::string text = TRY(text_of(table, key));
  if (text == "tab") return '\t';
  if (text.size() != 1) return at(*node, fmt::format("{} must be one character, or 'tab'", key));
  return text.front();
}

Result<double> number_of(const toml::table& table, std::string_view key, double otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const auto number = node->value<double>();
  if (!number || !(*number > 0) || *number > 1e18) {
    return at(*node, fmt::format("{} must be a number above 0", key));
  }
  return *number;
}

Result<std::vector<std::string>> texts_of(const toml::table& table, std::string_view key) {
  std::vector<std::string> texts;
  const toml::node* node = table.get(key);
  if (node == nullptr) return texts;
  const auto one = [&](const toml::node& item) -> Result<> {
    const auto text = item.value_exact<std::string>();
    if (!text) return at(item, fmt::format("{} must be text or a list of texts", key));
    texts.push_back(*text);
    return Ok{};
  };
  if (!node->is_array()) {
    TRY(one(*node));
    return texts;
  }
  for (const toml::node& item : *node->as_array()) TRY(one(item));
  return texts;
}

// How many of our unit one of theirs is.
struct UnitSize {
  std::string_view name;
  Type type;
  double in_ours;
};
constexpr UnitSize kUnitSizes[] = {
    {"fraction", Type::kShare, 1},     {"percent", Type::kShare, 0.01},
    {"permille", Type::kShare, 0.001}, {"ns", Type::kDuration, 1e-9},
    {"us", Type::kDuration, 1e-6},     {"ms", Type::kDuration, 1e-3},
    {"seconds", Type::kDuration, 1},   {"minutes", Type::kDuration, 60},
    {"hours", Type::kDuration, 3600},  {"days", Type::kDuration, 86400},
};

// 0 if the key is absent.
Result<double> unit_of(const toml::table& table, Type type) {
  const toml::node* node = table.get("unit");
  if (node == nullptr) return 0.0;
  const std::string word = TRY(text_of(table, "unit"));
  std::vector<std::string> names;
  for (const UnitSize& unit : kUnitSizes) {
    if (unit.type != type) continue;
    if (unit.name == word) return unit.in_ours;
    names.emplace_back(unit.name);
  }
  if (names.empty()) return at(*node, "unit is for durations and utilisation");
  return at(*node, fmt::format("unit '{}' is none of {}", word, join(names, ", ")));
}

// Values of `metric` in a unit of 0..1 come to the metric's own by this factor.
Result<double> scale_for(const toml::node& node, std::string_view metric, double unit) {
  const UsageMetric* known = find_usage_metric(metric);
  if (known != nullptr) return unit > 0 ? unit * known->whole : 1;
  std::vector<std::string> names;
  for (const UsageMetric& each : usage_metrics()) names.emplace_back(each.name);
  return at(node, fmt::format("metric '{}' does not measure how busy an accelerator is: {}", metric,
                              join(names, ", ")));
}

struct Times {
  std::string format = "auto";
  Nanos base{};
};

class Parser {
 public:
  Result<Mapping> read(const toml::table& table) {
    TRY(check_keys(table, kTop, "a mapping"));
    TRY(read_row(table));
    mapping_.delimiter = TRY(character_of(table, "delimiter", '\0'));
    if (const toml::node* node = table.get("header")) {
      const auto header = node->value_exact<bool>();
      if (!header) return at(*node, "header must be true or false");
      mapping_.header = *header;
    }
    mapping_.comment = TRY(text_of(table, "comment"));
    mapping_.decimal = TRY(character_of(table, "decimal", '.'));
    if (mapping_.decimal != '.' && mapping_.decimal != ',') {
      return at(*table.get("decimal"), "decimal must be '.' or ','");
    }
    TRY(read_times(table));
    TRY(read_columns(table));
    TRY(read_values(table));
    TRY(read_where(table));
    TRY(check());
    return std::move(mapping_);
  }

 private:
  Result<> read_row(const toml::table& table) {
    const std::string row = TRY(text_of(table, "row"));
    const auto found = std::ranges::find(kRows, row);
    if (found == kRows.end()) {
      return bad_input(fmt::format(
          "row must say what a line is about: job, sample, place, capacity or occupancy{}",
          row.empty() ? "" : fmt::format("; it is '{}'", row)));
    }
    mapping_.row = static_cast<Row>(found - kRows.begin());
    return Ok{};
  }

  Result<> read_times(const toml::table& table) {
    times_.format = TRY(text_of(table, "time", "auto"));
    const std::string base = TRY(text_of(table, "time_base"));
    if (!base.empty()) {
      const Instant zero = read_time(base, Zone{});
      if (!zero.known()) return at(*table.get("time_base"), "time_base is not a time");
      times_.base = zero.at;
    }
    const std::string zone = TRY(text_of(table, "time_zone"));
    if (zone.empty()) return Ok{};
    if (!zone_file(zone).empty()) {
      return at(*table.get("time_zone"),
                fmt::format("the rules of '{}' are in a file: give it as --time-zone {}, or write "
                            "'+02:00' or 'CET-1CEST,M3.5.0,M10.5.0/3' here",
                            zone, zone));
    }
    mapping_.zone = TRY(zone_named(zone));
    return Ok{};
  }

  Result<> read_columns(const toml::table& table) {
    const toml::node* node = table.get("columns");
    if (node == nullptr || !node->is_table()) return bad_input("[columns] is missing");
    std::vector<std::string_view> known;
    for (const FieldRow& row : kFields) {
      if ((row.rows & bit(mapping_.row)) != 0) known.push_back(row.name);
    }
    const std::string of = fmt::format("a {}", kRows[static_cast<std::size_t>(mapping_.row)]);
    TRY(check_keys(*node->as_table(), known, of));
    for (const FieldRow& row : kFields) {
      const toml::node* spec = node->as_table()->get(row.name);
      if (spec == nullptr) continue;
      mapping_.from[static_cast<std::size_t>(row.field)] = TRY(read_from(*spec, row));
    }
    return Ok{};
  }

  Result<From> read_from(const toml::node& node, const FieldRow& row) {
    From from;
    from.time = TRY(time_format(times_.format, times_.base));
    if (const auto name = node.value_exact<std::string>()) {
      from.what = From::What::kColumn;
      from.column = *name;
    } else if (const toml::table* table = node.as_table()) {
      TRY(check_keys(*table, kColumnKeys, row.name));
      TRY(read_origin(*table, node, row, from));
      TRY(read_details(*table, row, from));
    } else {
      return at(node, fmt::format("{} must be a column's name, or a table", row.name));
    }
    if (row.field == Field::kUtilisation && !from.has_unit) {
      return at(node, "utilisation must say its unit: percent or fraction");
    }
    return from;
  }

  Result<> read_origin(const toml::table& table, const toml::node& node, const FieldRow& row,
                       From& from) {
    const std::string column = TRY(text_of(table, "column"));
    const std::string origin = TRY(text_of(table, "from"));
    const toml::node* constant = table.get("constant");
    const int given = (column.empty() ? 0 : 1) + (origin.empty() ? 0 : 1) + (constant ? 1 : 0);
    if (given != 1) {
      return at(node, fmt::format("{} needs one of column, constant and from", row.name));
    }
    if (!column.empty()) {
      from.what = From::What::kColumn;
      from.column = column;
    } else if (constant != nullptr) {
      from.what = From::What::kConstant;
      if (const auto text = constant->value_exact<std::string>()) {
        from.constant = *text;
      } else if (const auto number = constant->value<double>()) {
        from.constant = fmt::format("{}", *number);
      } else {
        return at(*constant, "constant must be text or a number");
      }
    } else if (origin == "line" || origin == "file") {
      from.what = origin == "line" ? From::What::kLine : From::What::kFile;
    } else {
      return at(node, "from must be 'line' or 'file'");
    }
    return Ok{};
  }

  Result<> read_details(const toml::table& table, const FieldRow& row, From& from) {
    from.times = TRY(text_of(table, "times"));
    from.separator = TRY(character_of(table, "separator", ','));
    from.cut = TRY(character_of(table, "cut", '\0'));
    from.after = TRY(character_of(table, "after", '\0'));
    from.also = TRY(text_of(table, "and"));
    if (!from.also.empty() && row.field != Field::kId && row.type != Type::kTime) {
      return at(*table.get("and"), "and is for ids, and for the time of day beside a date");
    }
    if (table.get("time") != nullptr) {
      const std::string format = TRY(text_of(table, "time"));
      from.time = TRY(time_format(format, times_.base));
    }
    double scale = TRY(number_of(table, "scale", 1));
    const double unit = TRY(unit_of(table, row.type));
    from.has_unit = unit > 0;
    if (row.field == Field::kUtilisation || row.field == Field::kValue) {
      const std::string metric = TRY(text_of(table, "metric"));
      if (row.field == Field::kUtilisation) {
        mapping_.metric = metric.empty() ? from.column : metric;
      } else if (!metric.empty()) {
        scale *= TRY(scale_for(*table.get("metric"), metric, unit));
        auto& constant = mapping_.from[static_cast<std::size_t>(Field::kMetric)];
        constant.what = From::What::kConstant;
        constant.constant = metric;
        from.scale = scale;
        return Ok{};
      } else if (unit > 0) {
        return at(*table.get("unit"), "a unit needs to know the metric: metric = \"...\"");
      }
    }
    from.scale = unit > 0 ? scale * unit : scale;
    if (const toml::node* words = table.get("words")) {
      if (!words->is_table()) return at(*words, "words must be a table of states");
      for (const auto& [theirs, ours] : *words->as_table()) {
        const auto text = ours.value_exact<std::string>();
        if (!text) return at(ours, "words must be a table of texts");
        from.words.emplace(theirs.str(), *text);
      }
    }
    return Ok{};
  }

  // [[value]] and [[where]]
  template <class Read>
  Result<> each(const toml::table& table, std::string_view key, Read read) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return Ok{};
    if (!node->is_array()) return at(*node, fmt::format("write [[{}]], as often as needed", key));
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) return at(item, fmt::format("write [[{}]]", key));
      TRY(read(*item.as_table(), item));
    }
    return Ok{};
  }

  Result<> read_values(const toml::table& table) {
    return each(table, "value", [&](const toml::table& item, const toml::node& node) -> Result<> {
      TRY(check_keys(item, kValueKeys, "[[value]]"));
      ValueColumn value;
      value.column = TRY(text_of(item, "column"));
      value.metric = TRY(text_of(item, "metric"));
      value.host = TRY(text_of(item, "host"));
      value.accelerator = TRY(text_of(item, "accelerator"));
      value.split = TRY(text_of(item, "split"));
      if (const toml::node* labels = item.get("labels")) {
        const auto is = labels->value_exact<bool>();
        if (!is) return at(*labels, "labels must be true or false");
        value.by_labels = *is;
      }
      if (value.by_labels && value.column.empty()) value.column = "*";
      if (value.column.empty()) return at(node, "[[value]] needs a column");
      if (!value.split.empty() && value.column.find('*') == std::string::npos) {
        return at(node, "split is for a column with a '*'");
      }
      if (value.metric.empty()) value.metric = value.column;
      const double unit = TRY(unit_of(item, Type::kShare));
      const double scale = TRY(number_of(item, "scale", 1));
      value.scale = scale * TRY(scale_for(node, value.metric, unit));
      value.in_fraction = unit == 1;
      mapping_.values.push_back(std::move(value));
      return Ok{};
    });
  }

  Result<> read_where(const toml::table& table) {
    return each(table, "where", [&](const toml::table& item, const toml::node& node) -> Result<> {
      TRY(check_keys(item, kWhereKeys, "[[where]]"));
      Filter filter;
      filter.column = TRY(text_of(item, "column"));
      filter.is = TRY(texts_of(item, "is"));
      filter.is_not = TRY(texts_of(item, "is_not"));
      if (filter.column.empty() || (filter.is.empty() && filter.is_not.empty())) {
        return at(node, "[[where]] needs a column, and 'is' or 'is_not'");
      }
      mapping_.where.push_back(std::move(filter));
      return Ok{};
    });
  }

  Result<> check() const {
    const std::string_view row = kRows[static_cast<std::size_t>(mapping_.row)];
    for (const FieldRow& field : kFields) {
      // A line with one accelerator of a job need not say how many.
      const bool is_one = field.field == Field::kAccelerators && is_placed(mapping_);
      if ((field.required & bit(mapping_.row)) != 0 && !mapping_[field.field].given() && !is_one) {
        return bad_input(fmt::format("a {} needs [columns] {}", row, field.name));
      }
    }
    if (mapping_.row == Row::kJob && !mapping_[Field::kEnd].given() &&
        !mapping_[Field::kElapsed].given()) {
      return bad_input("a job needs [columns] end or elapsed");
    }
    if (mapping_.row == Row::kOccupancy && !mapping_[Field::kAllocated].given() &&
        !mapping_[Field::kIdle].given()) {
      return bad_input("an occupancy needs [columns] allocated or idle");
    }
    if (mapping_.row != Row::kSample) return Ok{};
    if (mapping_.values.empty() == !mapping_[Field::kValue].given()) {
      return bad_input("a sample needs either [columns] value or [[value]]");
    }
    if (mapping_[Field::kValue].given() && !mapping_[Field::kMetric].given()) {
      return bad_input("a sample needs a metric: value = { column = ..., metric = ... }");
    }
    return Ok{};
  }

  Mapping mapping_;
  Times times_;
};

}  // namespace

std::string_view name(Field field) { return kFields[static_cast<std::size_t>(field)].name; }

Result<Mapping> parse_mapping(std::string_view text) {
  try {
    const toml::table table = toml::parse(text);
    return Parser().read(table).in("mapping");
  } catch (const toml::parse_error& error) {
    return bad_input(
        fmt::format("mapping: line {}: {}", error.source().begin.line, error.description()));
  }
}

}  // namespace amdahl::fleet::table
