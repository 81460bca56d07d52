#include "code/options.h"

#include <array>

#include "base/text.h"
#include "code/tree.h"

namespace amdahl::code {
namespace {

// The content of a plain string literal; nothing for f-strings and bytes.
std::optional<std::string> literal_text(TSNode node, std::string_view bytes) {
  if (type_of(node) != "string") return std::nullopt;
  std::string_view text = text_of(node, bytes);
  if (text.size() < 2 || (text.front() != '"' && text.front() != '\'')) return std::nullopt;
  const std::size_t quotes = text.starts_with("\"\"\"") || text.starts_with("'''") ? 3 : 1;
  if (text.size() < 2 * quotes) return std::nullopt;
  return std::string(text.substr(quotes, text.size() - 2 * quotes));
}

// A number, a truth value or a text, as it would be typed.
std::optional<std::string> literal_value(TSNode node, std::string_view bytes) {
  const std::string_view type = type_of(node);
  if (type == "string") return literal_text(node, bytes);
  const bool is_number = type == "integer" || type == "float" || type == "unary_operator";
  if (is_number || type == "true" || type == "false") return std::string(text_of(node, bytes));
  return std::nullopt;
}

std::vector<std::string> literal_values(TSNode node, std::string_view bytes) {
  std::vector<std::string> values;
  const std::string_view type = type_of(node);
  if (type != "list" && type != "tuple" && type != "set") return values;
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) {
    const auto value = literal_value(ts_node_named_child(node, i), bytes);
    if (!value) return {};  // Built at run time: its values are unknown.
    values.push_back(*value);
  }
  return values;
}

void read_keyword(TSNode node, std::string_view bytes, ProgramOption& option) {
  const std::string_view name = text_of(child(node, "name"), bytes);
  const TSNode value = child(node, "value");
  if (name == "default") option.fallback = literal_value(value, bytes);
  if (name == "choices") option.choices = literal_values(value, bytes);
  if (name == "is_flag") option.is_switch = text_of(value, bytes) == "True";
  if (name == "type" && type_of(value) == "call") {  // click.Choice(["a", "b"])
    const TSNode arguments = child(value, "arguments");
    const bool has = !ts_node_is_null(arguments) && ts_node_named_child_count(arguments) > 0;
    if (has && text_of(child(value, "function"), bytes).ends_with("Choice")) {
      option.choices = literal_values(ts_node_named_child(arguments, 0), bytes);
    }
  }
  if (name != "action") return;
  const std::string action = literal_text(value, bytes).value_or("");
  option.is_switch = action.starts_with("store_") || action == "count";
}

// flags.DEFINE_integer("batch_size", 32, "..."): the first two words are the name and the default.
void read_absl(const std::vector<TSNode>& words, std::string_view function, std::string_view bytes,
               ProgramOption& option) {
  if (words.empty()) return;
  if (const auto name = literal_text(words[0], bytes)) option.names.push_back("--" + *name);
  if (words.size() > 1 && !option.fallback) option.fallback = literal_value(words[1], bytes);
  option.is_switch = function.ends_with("DEFINE_bool") || function.ends_with("DEFINE_boolean");
  if (function.ends_with("DEFINE_enum") && words.size() > 2) {
    option.choices = literal_values(words[2], bytes);
  }
}

std::optional<ProgramOption> read_call(TSNode node, std::string_view bytes) {
  const std::string_view function = text_of(child(node, "function"), bytes);
  const bool is_absl = function.find("DEFINE_") != function.npos;
  const bool is_known = function.ends_with("add_argument") || function == "click.option" ||
                        function == "option" || is_absl;
  const TSNode arguments = child(node, "arguments");
  if (!is_known || ts_node_is_null(arguments)) return std::nullopt;
  ProgramOption option;
  option.line = range_of(node).line;
  std::vector<TSNode> words;
  for (std::uint32_t i = 0; i < ts_node_named_child_count(arguments); ++i) {
    const TSNode argument = ts_node_named_child(arguments, i);
    const std::string_view type = type_of(argument);
    if (type == "keyword_argument") read_keyword(argument, bytes, option);
    if (type != "keyword_argument" && type != "comment") words.push_back(argument);
  }
  if (is_absl) {
    read_absl(words, function, bytes, option);
  } else {
    for (const TSNode word : words) {
      const auto name = literal_text(word, bytes);
      if (name && name->starts_with('-')) option.names.push_back(*name);
    }
  }
  return option.names.empty() ? std::nullopt : std::optional(option);
}

}  // namespace

Result<std::vector<ProgramOption>> options_of(std::string_view python) {
  const Tree tree = TRY(parse(Language::kPython, python));
  std::vector<ProgramOption> options;
  walk(
      ts_tree_root_node(tree.get()),
      [&](TSNode node, std::string_view) {
        if (type_of(node) != "call") return;
        if (auto option = read_call(node, python)) options.push_back(*std::move(option));
      },
      [](TSNode) {});
  return options;
}

bool trains(std::string_view python) {
  return python.find(".backward(") != python.npos || python.find("optimizer.step(") != python.npos;
}

}  // namespace amdahl::code
