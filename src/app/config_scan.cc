#include "app/config_scan.h"

#include <algorithm>
#include <array>
#include <variant>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::app {
namespace {

using ingest::Origin;
using SourceField = std::variant<std::string Origin::*, double Origin::*, int Origin::*>;

struct SourceKey {
  std::string_view name;
  SourceField field;
};

constexpr auto kKeys = std::to_array<SourceKey>({
    {"token_env", &Origin::token_env},
    {"token_file", &Origin::token_file},
    {"user", &Origin::user},
    {"password_env", &Origin::password_env},
    {"password_file", &Origin::password_file},
    {"metric", &Origin::metric},
    {"limit_s", &Origin::limit_s},
    {"parallel", &Origin::parallel},
    {"fields", &Origin::fields},
    {"map", &Origin::map},
    {"time_zone", &Origin::time_zone},
    {"host", &Origin::host},
});

struct SourceReader {
  std::string_view where;

  Error wrong(const toml::node& node, std::string_view what) const {
    return bad_input(fmt::format("{}: line {}: {}", where, node.source().begin.line, what));
  }

  Result<> field(const SourceKey& key, const toml::node& node, Origin& source) const {
    bool done = false;
    if (const auto* text = std::get_if<std::string Origin::*>(&key.field)) {
      const auto value = node.value_exact<std::string>();
      if ((done = value.has_value())) source.** text = *value;
    } else if (const auto* real = std::get_if<double Origin::*>(&key.field)) {
      const auto value = node.value<double>();
      if ((done = value && *value > 0)) source.** real = *value;
    } else if (const auto* whole = std::get_if<int Origin::*>(&key.field)) {
      const auto value = node.value_exact<std::int64_t>();
      if ((done = value && *value > 0 && *value <= 64)) source.** whole = static_cast<int>(*value);
    }
    if (done) return Ok{};
    return wrong(node, fmt::format("scan.source.{} has a value of the wrong type", key.name));
  }

  Result<> headers(const toml::node& node, Origin& source) const {
    const toml::table* table = node.as_table();
    if (!table)
      return wrong(node, "scan.source.headers must be a table: { X-Scope-OrgID = \"t\" }");
    for (const auto& [name, value] : *table) {
      const auto text = value.value_exact<std::string>();
      if (!text) return wrong(value, "a header must be text in quotes");
      source.headers.push_back(fmt::format("{}: {}", name.str(), *text));
    }
    return Ok{};
  }

  Result<Origin> source(const toml::table& table) const {
    const auto read = table["read"].value_exact<std::string>();
    if (!read) {
      return wrong(table,
                   "a scan.source needs read = \"prometheus=http://host:9090\", "
                   "\"slurm\" or a path");
    }
    Origin source;
    const std::string_view kind = std::string_view(*read).substr(0, read->find('='));
    const bool named = kind == "slurm" || read->find('=') != read->npos;
    if (named) {
      auto parsed = ingest::parse_origin(*read);
      if (!parsed) return wrong(table, parsed.error().text);
      source = *std::move(parsed);
    } else {
      source.where = *read;
    }
    for (const auto& [name, node] : table) {
      if (name.str() == "read") continue;
      if (name.str() == "headers") {
        TRY(headers(node, source));
      } else if (name.str() == "step_s") {
        const auto step = node.value<double>();
        if (!step || *step <= 0) return wrong(node, "scan.source.step_s must be a number above 0");
        source.step = from_seconds(*step);
      } else {
        const auto key = std::ranges::find(kKeys, name.str(), &SourceKey::name);
        if (key == kKeys.end()) {
          return wrong(node, fmt::format("a scan.source has no '{}'", name.str()));
        }
        TRY(field(*key, node, source));
      }
    }
    return source;
  }

  Result<scan::FamilyRule> family(const toml::table& table) const {
    const auto pattern = table["pattern"].value_exact<std::string>();
    const auto name = table["family"].value_exact<std::string>();
    if (!pattern || !name || table.size() != 2) {
      return wrong(table, "a scan.family needs pattern = \"...\" and family = \"...\"");
    }
    return scan::FamilyRule{*pattern, *name};
  }
};

}  // namespace

bool is_scan_table(std::string_view name) {
  return name == "scan.source" || name == "scan.family" || name == "price.by_kind";
}

Result<> read_scan_table(std::string_view name, const toml::node& node, std::string_view where,
                         Config& config) {
  const SourceReader reader{where};
  if (name == "price.by_kind") {
    const toml::table* prices = node.as_table();
    if (!prices) return reader.wrong(node, "price.by_kind must be a table: [price.by_kind]");
    for (const auto& [kind, value] : *prices) {
      const auto usd = value.value<double>();
      if (!usd || *usd < 0) return reader.wrong(value, "a price must be a number of at least 0");
      config.price_by_kind[std::string(kind.str())] = *usd;
    }
    return Ok{};
  }
  const toml::array* rows = node.as_array();
  if (!rows) return reader.wrong(node, fmt::format("{0} must be a list: [[{0}]]", name));
  for (const toml::node& row : *rows) {
    const toml::table* table = row.as_table();
    if (!table) return reader.wrong(row, fmt::format("{0} must be a list: [[{0}]]", name));
    if (name == "scan.source") {
      config.scan_sources.push_back(TRY(reader.source(*table)));
    } else {
      config.family_rules.push_back(TRY(reader.family(*table)));
    }
  }
  return Ok{};
}

}  // namespace amdahl::app
