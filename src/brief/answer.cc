#include "brief/answer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/embedded.h"
#include "base/json_schema.h"
#include "base/text.h"
#include "refute/check.h"

namespace amdahl {
std::span<const Embedded> embedded_answer_schemas();
}

namespace amdahl::brief {
namespace {

constexpr std::size_t kMostProblems = 10;
constexpr int kDeepest = 32;

// Copies and checks of a document follow its depth: a hostile one must not reach them.
bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

Json answer_schema(Role role) {
  const std::string file = fmt::format("{}.json", name(role));
  const auto found = std::ranges::find(embedded_answer_schemas(), file, &Embedded::path);
  CHECK(found != embedded_answer_schemas().end());
  auto parsed = parse_json(found->bytes);
  CHECK(parsed);
  Json schema = *std::move(parsed);
  if (role == Role::kAttack) {
    Json& check = schema["properties"]["check"];
    for (const refute::Check& row : refute::checks()) check["enum"].push_back(row.id);
    check["enum"].push_back("");  // Of an abstention.
  }
  return schema;
}

Result<> check_answer(Role role, const Json& answer) {
  std::vector<std::string> faults = schema_faults(answer, answer_schema(role));
  if (faults.empty()) return Ok{};
  faults.resize(std::min(faults.size(), kMostProblems));
  return bad_input("the answer does not fit its schema:\n" + join(faults, "\n") + "\n");
}

Result<Json> answer_in(std::string_view text) {
  std::string_view body = trim(text);
  const std::size_t fence = body.starts_with('{') ? std::string_view::npos : body.find("```");
  if (fence != std::string_view::npos) {
    const std::size_t begin = body.find('\n', fence);
    const std::size_t end = begin == std::string_view::npos ? begin : body.find("```", begin);
    if (end == std::string_view::npos) return bad_input("the answer's code block has no end");
    if (body.find("```", end + 3) != std::string_view::npos) {
      return bad_input("the answer has several code blocks; one JSON object was asked for");
    }
    body = trim(body.substr(begin, end - begin));
  }
  if (!body.starts_with('{')) return bad_input("the answer is no JSON object");
  if (is_deep(body)) return bad_input("the answer is nested too deeply");
  Json answer = TRY(parse_json(body).in("the answer"));
  if (!answer.is_object()) return bad_input("the answer is no JSON object");
  return answer;
}

}  // namespace amdahl::brief
