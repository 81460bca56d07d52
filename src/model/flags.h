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

// A flag and all its spellings. One that does not start with "-" is a Hydra-style override,
// "train.batch=32", which always carries its value in the same word.
struct Flag {
  std::vector<std::string> spellings;  // The first is the one to store.
  // Whether a word after it is its value, as far as the spec tells.
  enum class Takes { kValue, kNothing, kUnknown } takes = Takes::kUnknown;

  const std::string& name() const { return spellings.front(); }
};

// The flag by any of its spellings, with what the spec's knobs know of it.
Flag flag_named(const Spec& spec, std::string_view spelling);

// "--batch=32", "--batch 32", or "-b32" where the spec knows -b, given as one word: the flag and
// the value apart, every byte of the value kept.
struct FlagAndValue {
  std::string flag;
  std::optional<std::string> value;
};
FlagAndValue split_flag(const Spec& spec, std::string_view flag,
                        const std::optional<std::string>& value);

// What the last occurrence sets it to, "" for a bare flag; nothing if it does not occur.
std::optional<std::string> value_in(std::span<const std::string> argv, const Flag& flag);

// Sets the flag in its place and spelling, or appends it (before a "--"); nothing takes it away.
// Fails if it cannot know whether the next word belongs to the flag that goes.
Result<> set_flag(std::vector<std::string>& argv, const Flag& flag,
                  const std::optional<std::string>& value);

}  // namespace amdahl::model
