// flags.h: finds and sets the flags of a command line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/spec.h"

namespace amdahl::model {

// A flag with all its spellings. A spelling without a leading "-" is a Hydra-style override,
// "train.batch=32", which always has its value in the same word.
struct Flag {
  std::vector<std::string> spellings;  // The first one is stored.
  // Whether the next word is the flag's value, according to the spec.
  enum class Takes { kValue, kNothing, kUnknown } takes = Takes::kUnknown;

  const std::string& name() const { return spellings.front(); }
};

// The flag with any of its spellings, and what the spec's knobs say about it.
Flag flag_named(const Spec& spec, std::string_view spelling);

// Splits one word into flag and value: "--batch=32", "--batch 32", or "-b32" if the spec knows -b.
// The value is kept byte for byte.
struct FlagAndValue {
  std::string flag;
  std::optional<std::string> value;
};
FlagAndValue split_flag(const Spec& spec, std::string_view flag,
                        const std::optional<std::string>& value);

// The value of the last occurrence, "" if it has none; nothing if the flag does not occur.
std::optional<std::string> value_in(std::span<const std::string> argv, const Flag& flag);

// Sets the flag where it occurs, in the spelling found there, or appends it (before a "--"). A
// value of nothing removes the flag; fails if the next word may or may not belong to the removed
// flag.
Result<> set_flag(std::vector<std::string>& argv, const Flag& flag,
                  const std::optional<std::string>& value);

}  // namespace amdahl::model
