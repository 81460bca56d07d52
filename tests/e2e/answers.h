// answers.h: whether an answer of --json keeps to its schema in docs/format/answers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace amdahl::e2e {

// The schema of what `amdahl WORDS` answers, which takes more than the words where one verb has two
// kinds of answer: "ledger-list". Empty if there is none.
std::string schema_of(const std::vector<std::string>& words, const nlohmann::json& answer);

// What is wrong with the answer by this schema, a line each; empty if nothing is.
std::string problems_of(const nlohmann::json& answer, const std::string& schema);

// Every schema that there is, and those that problems_of() was asked for in this process.
std::set<std::string> all_schemas();
const std::set<std::string>& schemas_used();

}  // namespace amdahl::e2e
