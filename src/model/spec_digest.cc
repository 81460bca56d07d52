#include "model/spec_digest.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "model/codec.h"

namespace amdahl::model {
namespace {

constexpr std::size_t kDigits = 12;

// Where the ledger's name is not the one that people write.
constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"lower_is_better", "metric direction"},
    {"work_unit", "unit of work"},
    {"work_pattern", "pattern of the work"},
    {"fixed_work", "fixed work"},
    {"time_limit_ns", "time limit"},
    {"memory_limit_mb", "memory limit"},
});

std::string words_for(const std::string& field) {
  for (const auto& [name, words] : kNames) {
    if (name == field) return std::string(words);
  }
  return field;
}

}  // namespace

std::map<std::string, std::string> field_digests(const Spec& spec) {
  const Json plain = encode(Spec{});
  const Json json = encode(spec);
  std::map<std::string, std::string> digests;
  for (const auto& [field, value] : json.items()) {
    if (plain.contains(field) && plain.at(field) == value) continue;
    digests[field] = sha256_hex(dump_json(value)).substr(0, kDigits);
  }
  return digests;
}

std::vector<std::string> changed_fields(const std::map<std::string, std::string>& digests,
                                        const Spec& now) {
  const std::map<std::string, std::string> present = field_digests(now);
  std::set<std::string> fields;
  for (const auto& [field, digest] : digests) fields.insert(field);
  for (const auto& [field, digest] : present) fields.insert(field);
  std::vector<std::string> changed;
  for (const std::string& field : fields) {
    const auto before = digests.find(field);
    const auto after = present.find(field);
    const bool same = before != digests.end() && after != present.end()
                          ? before->second == after->second
                          : before == digests.end() && after == present.end();
    if (!same) changed.push_back(words_for(field));
  }
  return changed;
}

std::string setup_of(const Spec& spec, const Plan& baseline) {
  return sha256_hex(dump_json(encode(spec)) + digest(baseline)).substr(0, 16);
}

}  // namespace amdahl::model
