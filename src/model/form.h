// form.h: reads a TOML table field by field, with errors that name the line. For spec.cc only.
#pragma once

#include <cmath>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "base/text.h"

namespace amdahl::model {

// The first error; empty if there is none.
struct Problem {
  std::string text;

  void at(const toml::source_region& source, std::string_view why) {
    if (text.empty()) text = fmt::format("line {}: {}", source.begin.line, why);
  }
  void in_all(std::string_view why) {
    if (text.empty()) text = why;
  }
  bool found() const { return !text.empty(); }
};

inline std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

class Form {
 public:
  // `path` is the prefix of keys in errors: "metric.", "knobs.threads.".
  Form(const toml::table& table, std::string path, Problem& problem)
      : table_{table}, path_{std::move(path)}, problem_{problem} {}

  // Call before reading any field, so that a typo is reported as such and not as a missing field.
  void allow(std::initializer_list<std::string_view> keys) {
    const toml::key* first = nullptr;
    for (const auto& [key, node] : table_) {
      const bool known = std::find(keys.begin(), keys.end(), key.str()) != keys.end();
      const bool earlier = !first || key.source().begin.line < first->source().begin.line;
      if (!known && earlier) first = &key;
    }
    if (first) unknown("key", *first, std::vector<std::string_view>(keys));
  }
  void unknown(std::string_view what, const toml::key& key,
               const std::vector<std::string_view>& candidates) {
    const auto near = did_you_mean(key.str(), candidates);
    problem_.at(key.source(), fmt::format("unknown {} \"{}{}\"{}", what, path_, key.str(),
                                          near ? fmt::format(", did you mean \"{}\"?", *near)
                                               : "; see docs/format/spec.md"));
  }

  void fail(std::string_view key, std::string_view why) {
    const std::string text = fmt::format("{}{} {}", path_, key, why);
    const toml::node* node = table_.get(key);
    node ? problem_.at(node->source(), text) : problem_.in_all(text);
  }
  bool has(std::string_view key) const { return table_.get(key) != nullptr; }
  void must(std::string_view key) {
    if (has(key)) return;
    if (path_.empty()) return problem_.in_all(fmt::format("{} is missing", key));
    problem_.at(table_.source(), fmt::format("{}{} is missing", path_, key));
  }

  void text(std::string_view key, std::string& out) {
    if (const toml::node* node = get(key, &toml::node::is_string, "a string")) {
      out = node->as_string()->get();
    }
  }
  void truth(std::string_view key, bool& out) {
    if (const toml::node* node = get(key, &toml::node::is_boolean, "true or false")) {
      out = node->as_boolean()->get();
    }
  }
  void whole(std::string_view key, int& out, int least) {
    const toml::node* node = get(key, &toml::node::is_integer, "a whole number");
    if (!node) return;
    const std::int64_t value = node->as_integer()->get();
    if (value < least || value > 1'000'000) {
      return fail(key, fmt::format("must be {} to 1000000, not {}", least, value));
    }
    out = static_cast<int>(value);
  }
  std::optional<double> number(std::string_view key) {
    const toml::node* node = get(key, &toml::node::is_number, "a number");
    if (!node) return std::nullopt;
    const double value = *node->value<double>();
    if (!std::isfinite(value)) {
      fail(key, "must be a finite number");
      return std::nullopt;
    }
    return value;
  }
  std::optional<double> positive(std::string_view key) {
    const std::optional<double> value = number(key);
    if (value && *value <= 0) fail(key, fmt::format("must be greater than 0, not {}", *value));
    return value;
  }
  // Reads a string, or a number or boolean as written on a command line.
  void word(std::string_view key, std::string& out) {
    const toml::node* node = table_.get(key);
    if (!node) return;
    if (node->is_boolean()) {
      out = node->as_boolean()->get() ? "true" : "false";
    } else if (node->is_integer()) {
      out = fmt::format("{}", node->as_integer()->get());
    } else if (node->is_floating_point()) {
      out = fmt::format("{}", node->as_floating_point()->get());
    } else if (node->is_string()) {
      out = node->as_string()->get();
    } else {
      fail(key, fmt::format("must be a string, a number or a boolean, not {}", kind_of(*node)));
    }
  }
  void texts(std::string_view key, std::vector<std::string>& out) {
    const toml::node* node = get(key, &toml::node::is_array, "a list of strings");
    if (!node) return;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_string()) {
        return problem_.at(item.source(),
                           fmt::format("{}{} must be a list of strings, but contains {}", path_,
                                       key, kind_of(item)));
      }
      out.push_back(item.as_string()->get());
    }
  }
  const toml::table* table(std::string_view key) {
    const toml::node* node = get(key, &toml::node::is_table, "a table");
    return node ? node->as_table() : nullptr;
  }
  // Calls `each` for every table of `[[key]]`.
  void tables(std::string_view key, const std::function<void(Form&)>& each) {
    const toml::node* node = get(key, &toml::node::is_array, "a list of tables");
    if (!node) return;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) {
        return problem_.at(
            item.source(),
            fmt::format("{} must be a list of tables, but contains {}", key, kind_of(item)));
      }
      Form form(*item.as_table(), fmt::format("{}{}.", path_, key), problem_);
      each(form);
    }
  }

 private:
  const toml::node* get(std::string_view key, bool (toml::node::*right)() const noexcept,
                        std::string_view wanted) {
    const toml::node* node = table_.get(key);
    if (!node || (node->*right)()) return node;
    fail(key, fmt::format("must be {}, not {}", wanted, kind_of(*node)));
    return nullptr;
  }

  const toml::table& table_;
  std::string path_;
  Problem& problem_;
};

}  // namespace amdahl::model
