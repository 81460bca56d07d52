#include "answers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "harness.h"

namespace amdahl::e2e {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

const std::string kFolder = source_path("/docs/format/answers/");
const std::string kEnding = ".schema.json";

std::set<std::string>& used() {
  static std::set<std::string> names;
  return names;
}

Json read(const std::string& file) {
  std::ifstream in(kFolder + file);
  return Json::parse(in);
}

const valijson::Schema& schema_named(const std::string& name) {
  static std::map<std::string, std::unique_ptr<valijson::Schema>> read_before;
  std::unique_ptr<valijson::Schema>& schema = read_before[name];
  if (!schema) {
    schema = std::make_unique<valijson::Schema>();
    const Json text = read(name + kEnding);
    const auto fetch = [](const std::string& file) { return new Json(read(file)); };
    const auto free = [](const Json* document) { delete document; };
    valijson::SchemaParser().populateSchema(Adapter(text), *schema, fetch, free);
  }
  return *schema;
}

// Words before "--" that are neither options nor the values of those that may stand before a verb.
std::vector<std::string> plain_words(const std::vector<std::string>& words) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--state" || words[i] == "--config") {
      ++i;
    } else if (!words[i].starts_with("-")) {
      plain.push_back(words[i]);
    }
  }
  return plain;
}

}  // namespace

std::string schema_of(const std::vector<std::string>& words, const Json& answer) {
  const std::vector<std::string> plain = plain_words(words);
  if (plain.empty()) return "";
  const std::string& verb = plain[0];
  const std::string second = plain.size() > 1 ? plain[1] : "";
  if (verb == "profile" && answer.contains("moved")) return "profile-diff";
  if (verb == "profile") return answer.contains("sources") ? "profile-traces" : "profile-job";
  if (verb == "scan" && answer.contains("worst")) return "scan-of";
  if (verb == "scan" && answer.contains("months")) return "scan-months";
  if (verb == "scan") return answer.contains("parts") ? "anatomy" : "scan";
  if (verb == "config") return answer.contains("settings") ? "config" : "config-setting";
  if (verb == "gate" || verb == "canary") {
    if (answer.contains("outcome")) return "outcome";
    return answer.contains("packet") ? "gate-show" : verb;
  }
  if (verb == "serve") return answer.contains("tokens") ? "serve-tokens" : "serve-token";
  if (verb != "ledger") return verb;
  if (answer.contains("votes")) return "ledger-show";
  if (second == "show") return "ledger-log";
  if (second == "export") return "";
  for (const char* named : {"log", "pairs", "search", "verify", "reopen", "copy", "calibration"}) {
    if (second == named) return "ledger-" + second;
  }
  return "ledger-list";
}

std::string problems_of(const Json& answer, const std::string& name) {
  used().insert(name);
  if (!std::filesystem::exists(kFolder + name + kEnding)) return "there is no schema " + name;
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(schema_named(name), Adapter(answer), &results)) return "";
  std::string text;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    text += name + ": ";
    for (const std::string& part : error.context) text += part;
    text += ": " + error.description + "\n";
  }
  return text;
}

std::set<std::string> all_schemas() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename().string();
    if (file == "parts" + kEnding || !file.ends_with(kEnding)) continue;
    names.insert(file.substr(0, file.size() - kEnding.size()));
  }
  return names;
}

const std::set<std::string>& schemas_used() { return used(); }

}  // namespace amdahl::e2e
