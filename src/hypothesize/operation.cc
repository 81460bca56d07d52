#include "hypothesize/operation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::hypothesize {
namespace {

using Kind = Operation::Kind;

struct Word {
  std::string_view text;
  Kind kind;
};

constexpr auto kWords = std::to_array<Word>({
    {"on", Kind::kOn},
    {"off", Kind::kOff},
    {"=accelerators", Kind::kAccelerators},
    {"=cpus", Kind::kCpus},
});

struct Sign {
  char sign;
  Kind kind;
};

constexpr auto kSigns = std::to_array<Sign>({
    {'x', Kind::kMultiply},
    {'/', Kind::kDivide},
    {'+', Kind::kAdd},
    {'-', Kind::kSubtract},
});

Error unknown_operation(std::string_view text) {
  std::string hint;
  std::array<std::string_view, kWords.size()> words;
  std::ranges::transform(kWords, words.begin(), &Word::text);
  if (const auto near = did_you_mean(text, words))
    hint = fmt::format("; did you mean '{}'?", *near);
  return bad_input(fmt::format(
      "unknown operation '{}'; write x4, /2, +2, -1, =VALUE, =accelerators, =cpus, on or off{}",
      text, hint));
}

}  // namespace

Result<Operation> parse_operation(std::string_view text) {
  for (const Word& word : kWords) {
    if (text == word.text) return Operation{word.kind, 0, {}};
  }
  if (text.starts_with('=') && text.size() > 1) {
    // A slip of the fingers would set the knob to that very word.
    if (did_you_mean(text, std::array{kWords[2].text})) return unknown_operation(text);
    return Operation{Kind::kSet, 0, std::string(text.substr(1))};
  }
  for (const Sign& sign : kSigns) {
    if (!text.starts_with(sign.sign)) continue;
    const auto number = to_number<double>(text.substr(1));
    if (number && *number > 0 && std::isfinite(*number)) return Operation{sign.kind, *number, {}};
  }
  return unknown_operation(text);
}

std::optional<double> calculate(const Operation& operation, double present, const Bounds& bounds) {
  const bool whole = present == std::floor(present);
  const bool down = operation.kind == Kind::kDivide || operation.kind == Kind::kSubtract ||
                    (operation.kind == Kind::kMultiply && operation.number < 1);
  double result = present;
  double least = 0;
  switch (operation.kind) {
    case Kind::kMultiply:
      result = present * operation.number;
      break;
    case Kind::kDivide:
      result = present / operation.number;
      if (whole) least = 1;
      break;
    case Kind::kAdd:
      result = present + operation.number;
      break;
    case Kind::kSubtract:
      result = present - operation.number;
      break;
    default:
      return std::nullopt;
  }
  if (whole) result = std::floor(result);
  if (down) result = std::max(result, bounds.min.value_or(least));
  if (!down && bounds.max) result = std::min(result, *bounds.max);
  if (down ? result >= present : result <= present) return std::nullopt;
  return result;
}

std::string spell(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) {
    return fmt::format("{}", static_cast<long long>(number));
  }
  return fmt::format("{}", number);
}

}  // namespace amdahl::hypothesize
