#include "api/machine.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/document.h"

namespace amdahl::api {
namespace {

// Numbers, texts and lists are written alike in TOML and JSON.
Json json_of(const app::SettingRow& row) {
  const auto value = parse_json(row.value);
  return {{"name", row.name},
          {"value", value ? *value : Json()},
          {"from", row.from},
          {"meaning", row.meaning}};
}

// Without the hash.
Json json_of(const app::Token& token) {
  return {{"id", token.id},
          {"name", token.name},
          {"role", app::name(token.role)},
          {"made_ns", token.made.count()},
          {"expires_ns", token.expires == Nanos{} ? Json() : Json(token.expires.count())}};
}

Json json_of(const sim::Table& table) {
  Json rows = Json::array();
  for (const std::vector<sim::Cell>& cells : table.rows) {
    Json row = Json::array();
    for (const sim::Cell& cell : cells) {
      if (!cell.figure) {
        row.push_back(cell.text);
        continue;
      }
      row.push_back({{"value", cell.figure->value}, {"error", cell.figure->error}});
    }
    rows.push_back(std::move(row));
  }
  return {{"name", table.name},
          {"title", table.title},
          {"columns", table.columns},
          {"rows", rows},
          {"notes", table.notes}};
}

}  // namespace

Json doctor(const std::vector<app::Symptom>& symptoms) {
  Json list = Json::array();
  for (const app::Symptom& s : symptoms) {
    list.push_back({{"name", s.name}, {"state", s.state}, {"detail", s.detail}, {"fix", s.fix}});
  }
  return document({{"ok", app::is_well(symptoms)}, {"symptoms", list}});
}

Json launcher(const app::LauncherCheck& check) {
  Json rules = Json::array();
  for (const launch::Rule& rule : launch::rules()) {
    const auto breach = std::ranges::find(check.breaches, rule.id, &launch::Breach::rule);
    const bool kept = breach == check.breaches.end();
    rules.push_back({{"id", rule.id},
                     {"says", rule.says},
                     {"kept", kept},
                     {"instead", kept ? "" : breach->what}});
  }
  return document(
      {{"plug_in", check.plug_in}, {"ok", check.breaches.empty()}, {"rules", std::move(rules)}});
}

Json setting(const app::SettingRow& row) { return document(json_of(row)); }

Json settings(const app::Config& config) {
  Json list = Json::array();
  for (const app::SettingRow& row : app::settings(config)) list.push_back(json_of(row));
  return document({{"file", config.from.empty() ? Json() : Json(config.from)}, {"settings", list}});
}

Json cleaned(const app::Cleaned& done, bool dry_run) {
  Json parts = Json::array();
  for (const app::Cleaned::Part& part : done.parts) {
    parts.push_back({{"folder", part.folder},
                     {"removed", part.removed},
                     {"removed_bytes", part.removed_bytes},
                     {"kept", part.kept},
                     {"kept_bytes", part.kept_bytes}});
  }
  return document({{"dry_run", dry_run}, {"folders", parts}, {"failed", done.failed}});
}

Json initialised(const app::Initialised& done) {
  return document({{"state_dir", done.config.state_dir},
                   {"config", done.file},
                   {"config_written", done.written}});
}

Json token_added(const app::IssuedToken& issued) {
  Json json = json_of(issued.token);
  json["token"] = issued.text;
  return document(std::move(json));
}

Json tokens(const std::vector<app::Token>& tokens) {
  Json list = Json::array();
  for (const app::Token& token : tokens) list.push_back(json_of(token));
  return document({{"tokens", list}});
}

Json token_revoked(const app::Token& token) { return document(json_of(token)); }

Json version(const std::string& version, const std::string& revision) {
  return document(
      {{"version", version}, {"revision", revision}, {"ledger_schema", ledger::schema_version()}});
}

Json simulated(const app::SimulateQuestion& question, const app::SimulateAnswer& answer) {
  Json tables = Json::array();
  for (const sim::Table& table : answer.tables) tables.push_back(json_of(table));
  return document({{"seed", question.seed},
                   {"fitted", answer.fitted},
                   {"interrupted", answer.interrupted},
                   {"tables", tables}});
}

}  // namespace amdahl::api
