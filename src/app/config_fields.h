// config_fields.h: reads one setting from TOML into its field, says what it wants, and shows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "app/config.h"
#include "base/units.h"

namespace amdahl::app::fields {

using launch::slurm::Settings;

using Field = std::variant<std::string Config::*, double Config::*, int Config::*, bool Config::*,
                           std::optional<double> Config::*, std::vector<int> Config::*,
                           std::string Settings::*, int Settings::*, bool Settings::*,
                           Nanos Settings::*, std::vector<std::string> Settings::*>;

// The field, wherever it is.
template <class T>
T& at(Config& config, T Config::*field) {
  return config.*field;
}
template <class T>
T& at(Config& config, T Settings::*field) {
  return config.slurm.*field;
}

constexpr std::int64_t kMostCpus = 65536;

inline bool read_slots(const toml::node& node, std::vector<int>& slots) {
  slots.clear();
  if (const auto count = node.value_exact<std::int64_t>()) {
    for (int cpu = 0; cpu < std::min(*count, kMostCpus); ++cpu) slots.push_back(cpu);
    return *count > 0;
  }
  const toml::array* list = node.as_array();
  if (!list) return false;
  for (const toml::node& item : *list) {
    const auto cpu = item.value_exact<std::int64_t>();
    if (!cpu || *cpu < 0) return false;
    slots.push_back(static_cast<int>(*cpu));
  }
  return !slots.empty();
}

struct ReadInto {
  const toml::node& node;
  Config& config;

  template <class Owner>
  bool operator()(std::string Owner::*field) const {
    const auto text = node.value_exact<std::string>();
    if (text) at(config, field) = *text;
    return text.has_value();
  }
  bool operator()(double Config::*field) const {
    const auto number = node.value<double>();
    if (number) config.*field = *number;
    return number.has_value() && node.is_number() && *number >= 0;
  }
  template <class Owner>
  bool operator()(int Owner::*field) const {
    const auto number = node.value_exact<std::int64_t>();
    if (number) at(config, field) = static_cast<int>(*number);
    return number.has_value() && *number >= 0 && std::in_range<int>(*number);
  }
  template <class Owner>
  bool operator()(bool Owner::*field) const {
    const auto truth = node.value_exact<bool>();
    if (truth) at(config, field) = *truth;
    return truth.has_value();
  }
  bool operator()(std::optional<double> Config::*field) const {
    const auto number = node.value<double>();
    if (number) config.*field = *number;
    return number.has_value() && node.is_number() && *number >= 0;
  }
  bool operator()(Nanos Settings::*field) const {
    const auto number = node.value<double>();
    if (number) at(config, field) = from_seconds(*number);
    return number.has_value() && node.is_number() && *number >= 0;
  }
  bool operator()(std::vector<std::string> Settings::*field) const {
    const toml::array* list = node.as_array();
    if (!list) return false;
    at(config, field).clear();
    for (const toml::node& item : *list) {
      const auto text = item.value_exact<std::string>();
      if (!text) return false;
      at(config, field).push_back(*text);
    }
    return true;
  }
  bool operator()(std::vector<int> Config::*field) const { return read_slots(node, config.*field); }
};

struct Wanted {
  template <class Owner>
  std::string operator()(std::string Owner::*) const {
    return "text in quotes";
  }
  template <class Owner>
  std::string operator()(int Owner::*) const {
    return "a whole number of at least 0";
  }
  template <class Owner>
  std::string operator()(bool Owner::*) const {
    return "true or false";
  }
  std::string operator()(std::vector<std::string> Settings::*) const {
    return "a list of texts in quotes";
  }
  std::string operator()(std::vector<int> Config::*) const {
    return "a count above 0 or a list of CPU numbers";
  }
  template <class Number>
  std::string operator()(Number) const {
    return "a number of at least 0";
  }
};

// As TOML; empty for what is not set.
struct Show {
  Config config;
  template <class Owner>
  std::string operator()(std::string Owner::*f) {
    return fmt::format("\"{}\"", at(config, f));
  }
  template <class Owner>
  std::string operator()(bool Owner::*f) {
    return at(config, f) ? "true" : "false";
  }
  std::string operator()(std::optional<double> Config::*f) {
    return config.*f ? fmt::format("{}", *(config.*f)) : "";
  }
  std::string operator()(std::vector<int> Config::*f) {
    return (config.*f).empty() ? "" : fmt::format("[{}]", fmt::join(config.*f, ", "));
  }
  std::string operator()(std::vector<std::string> Settings::*f) {
    std::string all;
    for (const std::string& text : at(config, f)) {
      all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", text);
    }
    return fmt::format("[{}]", all);
  }
  std::string operator()(Nanos Settings::*f) {
    return fmt::format("{}", to_seconds(at(config, f)));
  }
  template <class Number>
  std::string operator()(Number f) {
    return fmt::format("{}", at(config, f));
  }
};

// What could stand there, for settings that have no default.
struct Example {
  std::string operator()(std::vector<int> Config::*) const { return "2"; }
  template <class Any>
  std::string operator()(Any) const {
    return "100.0";
  }
};

}  // namespace amdahl::app::fields
