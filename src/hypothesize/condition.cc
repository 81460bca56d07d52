#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "hypothesize/playbook.h"

namespace amdahl::hypothesize {
namespace {

struct Comparison {
  std::string_view op;
  bool (*holds)(double value, double number);
};

constexpr auto kComparisons = std::to_array<Comparison>({
    {"<", [](double value, double number) { return value < number; }},
    {"<=", [](double value, double number) { return value <= number; }},
    {">", [](double value, double number) { return value > number; }},
    {">=", [](double value, double number) { return value >= number; }},
    {"==", [](double value, double number) { return value == number; }},
    {"!=", [](double value, double number) { return value != number; }},
    {"not", [](double value, double number) { return value != number; }},
});

const Comparison* comparison_named(std::string_view op) {
  for (const Comparison& row : kComparisons) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

bool holds(const Condition& condition, const std::map<std::string, double>& evidence) {
  const auto found = evidence.find(condition.evidence);
  if (condition.op == "missing") return found == evidence.end();
  if (found == evidence.end()) return condition.op == "not";
  if (condition.op == "exists") return true;
  if (std::isnan(found->second)) return false;
  const Comparison* row = comparison_named(condition.op);
  CHECK(row != nullptr);
  return row->holds(found->second, condition.number);
}

std::string shown(const std::string& name, const std::map<std::string, double>& evidence) {
  const auto found = evidence.find(name);
  if (found == evidence.end() || std::isnan(found->second)) return "unknown";
  return show_number(found->second);
}

}  // namespace

Result<Condition> parse_condition(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  const auto wrong = [&](std::string_view what) {
    return bad_input(fmt::format(
        "condition '{}' {}; write it like 'input_wait_share > 0.05' or 'knob.batch_size exists'",
        text, what));
  };
  if (words.size() < 2) return wrong("has no operator");
  Condition condition{std::string(words[0]), std::string(words[1]), 0};
  if (condition.op == "exists" || condition.op == "missing") {
    if (words.size() > 2) return wrong("has extra words after the operator");
    return condition;
  }
  if (comparison_named(condition.op) == nullptr) {
    return wrong(fmt::format(
        "has the unknown operator '{}' (known: < <= > >= == != not exists missing)", condition.op));
  }
  if (words.size() != 3) return wrong("needs one number after the operator");
  const auto number = to_number<double>(words[2]);
  if (!number) return wrong(fmt::format("compares with '{}', which is not a number", words[2]));
  condition.number = *number;
  return condition;
}

std::string describe(const Condition& condition) {
  if (comparison_named(condition.op) == nullptr) {
    return fmt::format("{} {}", condition.evidence, condition.op);
  }
  return fmt::format("{} {} {}", condition.evidence, condition.op, condition.number);
}

bool applies(const Entry& entry, const model::Profile& profile, std::string& because) {
  std::vector<std::string> numbers;
  for (const Condition& condition : entry.when) {
    if (!holds(condition, profile.evidence)) {
      because = fmt::format("condition {} does not hold ({})", describe(condition),
                            shown(condition.evidence, profile.evidence));
      return false;
    }
    if (condition.op == "missing") continue;
    const std::string number =
        fmt::format("{} {}", condition.evidence, shown(condition.evidence, profile.evidence));
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
  because = join(numbers, ", ");
  return true;
}

}  // namespace amdahl::hypothesize
