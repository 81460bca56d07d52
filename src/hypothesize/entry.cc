#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/embedded.h"
#include "base/text.h"
#include "hypothesize/operation.h"
#include "hypothesize/playbook.h"

namespace amdahl {
std::span<const Embedded> embedded_playbook();  // Made by amdahl_embed.
}

namespace amdahl::hypothesize {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"title", "bottleneck", "when", "explains", "touches", "effectiveness", "prior", "mechanism",
     "source", "needs", "effect", "commit", "race", "change"});
constexpr auto kChangeKeys =
    std::to_array<std::string_view>({"knobs", "env", "resources", "wrap", "inject"});
constexpr auto kEffects = std::to_array<std::string_view>({"exact", "tolerant", "semantic"});
constexpr auto kResources = std::to_array<std::string_view>({"accelerators"});

std::string place(const toml::source_region& source) {
  return fmt::format("line {}", source.begin.line);
}

Error at(const toml::source_region& source, std::string_view what) {
  return bad_input(fmt::format("{}: {}", place(source), what));
}

Result<> check_keys(const toml::table& table, std::span<const std::string_view> known,
                    std::string_view within) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    std::string hint;
    if (const auto near = did_you_mean(key.str(), known)) {
      hint = fmt::format("; did you mean '{}'?", *near);
    } else {
      std::vector<std::string> names(known.begin(), known.end());
      hint = fmt::format("; known keys: {}", join(names, ", "));
    }
    return at(key.source(), fmt::format("unknown key '{}' in {}{}", key.str(), within, hint));
  }
  return Ok{};
}

Result<std::string> text_of(const toml::table& table, std::string_view key, bool required = true) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    if (!required) return std::string{};
    return bad_input(fmt::format("{} is missing", key));
  }
  const auto text = node->value_exact<std::string>();
  if (!text || trim(*text).empty()) {
    return at(node->source(), fmt::format("{} must be a non-empty string", key));
  }
  return std::string(trim(*text));
}

Result<double> share_of(const toml::table& table, std::string_view key, double otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const auto number = node->value<double>();
  if (!number || !(*number > 0 && *number <= 1)) {
    return at(node->source(), fmt::format("{} must be a number above 0 and at most 1", key));
  }
  return *number;
}

struct Item {
  std::string text;
  toml::source_region source;
};

Result<std::vector<Item>> list_of(const toml::table& table, std::string_view key) {
  std::vector<Item> items;
  const toml::node* node = table.get(key);
  if (node == nullptr) return items;
  const auto wrong = fmt::format("{} must be a list of strings", key);
  if (!node->is_array()) return at(node->source(), wrong);
  for (const toml::node& element : *node->as_array()) {
    const auto text = element.value_exact<std::string>();
    if (!text || text->empty()) return at(element.source(), wrong);
    items.push_back({*text, element.source()});
  }
  return items;
}

std::vector<std::string> texts(std::span<const Item> items) {
  std::vector<std::string> result;
  for (const Item& item : items) result.push_back(item.text);
  return result;
}

// A table of texts; `check` returns what is wrong with a value.
template <class Check>
Result<std::map<std::string, std::string>> map_of(const toml::table& table, std::string_view key,
                                                  const Check& check) {
  std::map<std::string, std::string> values;
  const toml::node* node = table.get(key);
  if (node == nullptr) return values;
  if (!node->is_table()) return at(node->source(), fmt::format("change.{} must be a table", key));
  for (const auto& [name, value] : *node->as_table()) {
    const auto text = value.template value_exact<std::string>();
    if (!text || text->empty()) {
      return at(value.source(),
                fmt::format("change.{}.{} must be a quoted string", key, name.str()));
    }
    if (const Result<> fine = check(*text); !fine) {
      return at(value.source(),
                fmt::format("change.{}.{}: {}", key, name.str(), fine.error().text));
    }
    values.emplace(std::string(name.str()), *text);
  }
  return values;
}

Result<> check_operation(const std::string& text) {
  TRY(parse_operation(text));
  return Ok{};
}

Result<> check_resource(const std::string& text) {
  using Kind = Operation::Kind;
  const Operation operation = TRY(parse_operation(text));
  const bool counts = operation.kind == Kind::kDivide || operation.kind == Kind::kSubtract ||
                      (operation.kind == Kind::kSet && to_number<int>(operation.text));
  if (counts) return Ok{};
  return bad_input(fmt::format("'{}' does not release accelerators; write /2, -1 or =1", text));
}

Result<> check_nothing(const std::string&) { return Ok{}; }

Result<> read_change(const toml::table& root, Entry& entry) {
  const toml::node* node = root.get("change");
  if (node == nullptr) return bad_input("change is missing: add a table such as [change.knobs]");
  if (!node->is_table()) return at(node->source(), "change must be a table");
  const toml::table& change = *node->as_table();
  TRY(check_keys(change, kChangeKeys, "change"));
  if (const toml::node* resources = change.get("resources"); resources && resources->is_table()) {
    TRY(check_keys(*resources->as_table(), kResources, "change.resources"));
  }
  entry.knobs = TRY(map_of(change, "knobs", check_operation));
  entry.env = TRY(map_of(change, "env", check_nothing));
  entry.resources = TRY(map_of(change, "resources", check_resource));
  entry.wrap = texts(TRY(list_of(change, "wrap")));
  entry.inject = TRY(map_of(change, "inject", check_nothing));
  for (auto& [fix, value] : entry.inject) {
    if (value == "on") value.clear();
  }
  if (entry.knobs.empty() && entry.env.empty() && entry.resources.empty() && entry.wrap.empty() &&
      entry.inject.empty()) {
    return at(node->source(), "change is empty: add knobs, env, resources, wrap or inject");
  }
  return Ok{};
}

// An injection must state its effect on the results, and what to commit if it wins.
Result<> read_effect(const toml::table& root, Entry& entry) {
  const bool injects = !entry.inject.empty();
  entry.effect = TRY(text_of(root, "effect", injects));
  entry.commit = TRY(text_of(root, "commit", injects));
  if (entry.effect.empty() || std::ranges::find(kEffects, entry.effect) != kEffects.end()) {
    return Ok{};
  }
  return at(root.get("effect")->source(),
            fmt::format("effect must be exact, tolerant or semantic, not '{}'", entry.effect));
}

// Further values only make sense of a single setting.
Result<> read_race(const toml::table& root, Entry& entry) {
  for (const Item& item : TRY(list_of(root, "race"))) {
    const bool single = entry.knobs.size() + entry.env.size() + entry.inject.size() == 1 &&
                        entry.resources.empty() && entry.wrap.empty();
    if (!single) return at(item.source, "race needs a change of one knob, variable or fix alone");
    if (!entry.knobs.empty()) TRY(check_operation(item.text).in(place(item.source)));
    entry.race.push_back(item.text);
  }
  return Ok{};
}

Result<> read_bottleneck(const toml::table& root, Entry& entry) {
  const std::string word = TRY(text_of(root, "bottleneck"));
  entry.bottleneck = model::bottleneck_named(word);
  if (entry.bottleneck != model::Bottleneck::kUnknown) return Ok{};
  std::vector<std::string_view> names;
  std::vector<std::string> list;
  for (int value = 0; value < static_cast<int>(model::Bottleneck::kUnknown); ++value) {
    names.push_back(model::name(static_cast<model::Bottleneck>(value)));
    list.emplace_back(names.back());
  }
  const auto near = did_you_mean(word, names);
  return at(root.get("bottleneck")->source(),
            fmt::format("unknown bottleneck '{}'{}", word,
                        near ? fmt::format("; did you mean '{}'?", *near)
                             : fmt::format("; known: {}", join(list, ", "))));
}

Result<Entry> read_entry(const toml::table& root) {
  Entry entry;
  TRY(check_keys(root, kKeys, "a playbook entry"));
  entry.title = TRY(text_of(root, "title"));
  TRY(read_bottleneck(root, entry));
  for (const Item& item : TRY(list_of(root, "when"))) {
    entry.when.push_back(TRY(parse_condition(item.text).in(place(item.source))));
  }
  entry.explains = texts(TRY(list_of(root, "explains")));
  entry.touches = texts(TRY(list_of(root, "touches")));
  entry.effectiveness = TRY(share_of(root, "effectiveness", entry.effectiveness));
  entry.prior = TRY(share_of(root, "prior", entry.prior));
  entry.mechanism = TRY(text_of(root, "mechanism"));
  entry.source = TRY(text_of(root, "source"));
  entry.needs = texts(TRY(list_of(root, "needs")));
  TRY(read_change(root, entry));
  TRY(read_effect(root, entry));
  TRY(read_race(root, entry));
  if (entry.explains.empty() && entry.resources.empty()) {
    return bad_input("explains is missing: name the evidence of the time that the change can save");
  }
  return entry;
}

std::string entry_id(std::string_view where) {
  std::string_view name = where.substr(where.find_last_of('/') + 1);
  if (name.ends_with(".toml")) name.remove_suffix(5);
  return std::string(name);
}

}  // namespace

Result<Entry> parse_entry(std::string_view toml, std::string_view where) {
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    return Result<Entry>(at(error.source(), error.description())).in(where);
  }
  Result<Entry> entry = read_entry(root).in(where);
  if (!entry) return entry;
  Entry named = *std::move(entry);
  named.id = entry_id(where);
  return named;
}

Result<std::vector<Entry>> embedded_playbook() {
  std::vector<Entry> entries;
  for (const Embedded& file : ::amdahl::embedded_playbook()) {
    entries.push_back(TRY(parse_entry(file.bytes, file.path).in("playbook")));
  }
  std::ranges::sort(entries, {}, &Entry::id);
  return entries;
}

}  // namespace amdahl::hypothesize
