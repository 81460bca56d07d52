#include "base/json_schema.h"

#include <exception>

#include <fmt/core.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace amdahl {

std::vector<std::string> schema_faults(const Json& value, const Json& schema) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  try {
    valijson::Schema parsed;
    valijson::SchemaParser().populateSchema(Adapter(schema), parsed);
    valijson::ValidationResults results;
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    if (validator.validate(parsed, Adapter(value), &results)) return {};
    std::vector<std::string> faults;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
      std::string place;
      for (const std::string& part : error.context) place += part == "<root>" ? "" : part;
      faults.push_back(
          fmt::format("{}: {}", place.empty() ? "the whole" : place, error.description));
    }
    return faults;
  } catch (const std::exception& e) {
    return {e.what()};
  }
}

}  // namespace amdahl
