#include "model/flags.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::model {
namespace {

bool is_number(std::string_view text) { return to_number<double>(text).has_value(); }

bool is_flag(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && !is_number(word);
}

bool is_override(std::string_view flag) { return !flag.starts_with('-'); }

// The position of a flag in a command line.
struct Place {
  std::size_t index = 0;
  std::string prefix;                // "--batch" or "--batch=" or "-b": what precedes the value.
  std::optional<std::string> value;  // In the same word or the next one.
  bool joined = false;               // In the same word.
};

std::optional<Place> place_in_word(const std::string& word, const std::string& spelling) {
  if (!word.starts_with(spelling)) return std::nullopt;
  const std::string rest = word.substr(spelling.size());
  if (rest.empty()) {
    if (is_override(spelling)) return std::nullopt;
    return Place{0, spelling, std::nullopt, false};
  }
  if (rest.front() == '=') return Place{0, spelling + "=", rest.substr(1), true};
  const bool short_flag = spelling.size() == 2 && spelling.front() == '-' && spelling[1] != '-';
  if (short_flag && is_number(rest)) return Place{0, spelling, rest, true};
  return std::nullopt;
}

std::vector<Place> places(std::span<const std::string> argv, const Flag& flag) {
  std::vector<Place> found;
  for (std::size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    for (const std::string& spelling : flag.spellings) {
      std::optional<Place> place = place_in_word(argv[i], spelling);
      if (!place) continue;
      place->index = i;
      const bool next_may_be_value = i + 1 < argv.size() && !is_flag(argv[i + 1]);
      if (!place->joined && flag.takes != Flag::Takes::kNothing && next_may_be_value) {
        place->value = argv[i + 1];
      }
      found.push_back(*std::move(place));
      break;
    }
  }
  return found;
}

void erase(std::vector<std::string>& argv, const Place& place) {
  const auto first = argv.begin() + static_cast<std::ptrdiff_t>(place.index);
  argv.erase(first, first + (place.value && !place.joined ? 2 : 1));
}

void append(std::vector<std::string>& argv, const Flag& flag, const std::string& value) {
  const auto end = std::find(argv.begin(), argv.end(), "--");
  const std::string& name = flag.name();
  if (is_override(name)) {
    argv.insert(end, name + "=" + value);
  } else if (value.empty()) {
    argv.insert(end, name);
  } else if (is_flag(value) && name.starts_with("--")) {
    argv.insert(end, name + "=" + value);  // Apart, it would read as another flag.
  } else {
    argv.insert(end, {name, value});
  }
}

std::vector<std::string> words_for(const Place& place, const std::string& value) {
  if (place.joined && value.empty() && place.prefix.ends_with('=') && !is_override(place.prefix)) {
    return {place.prefix.substr(0, place.prefix.size() - 1)};
  }
  const bool short_and_joined = place.prefix.size() == 2 && place.prefix.front() == '-';
  if (place.joined && (!short_and_joined || is_number(value))) return {place.prefix + value};
  if (value.empty()) return {place.prefix};
  if (is_flag(value) && place.prefix.starts_with("--")) return {place.prefix + "=" + value};
  return {place.prefix, value};
}

}  // namespace

Flag flag_named(const Spec& spec, std::string_view spelling) {
  for (const auto& [name, knob] : spec.knobs) {
    const bool ours =
        !knob.arg.empty() &&
        (knob.arg == spelling || std::ranges::find(knob.aliases, spelling) != knob.aliases.end());
    if (!ours) continue;
    Flag flag{{knob.arg}, Flag::Takes::kUnknown};
    flag.spellings.insert(flag.spellings.end(), knob.aliases.begin(), knob.aliases.end());
    const bool valued =
        !knob.value.empty() || !knob.on.empty() || !knob.off.empty() || knob.min || knob.max;
    flag.takes = valued ? Flag::Takes::kValue : Flag::Takes::kUnknown;
    return flag;
  }
  return Flag{{std::string(spelling)}, Flag::Takes::kUnknown};
}

FlagAndValue split_flag(const Spec& spec, std::string_view flag,
                        const std::optional<std::string>& value) {
  while (!flag.empty() && (flag.front() == ' ' || flag.front() == '\t')) flag.remove_prefix(1);
  const bool whole = value && value->empty();  // Only then can the word hold the value too.
  const std::size_t end = flag.find_first_of("= \t");
  if (end != flag.npos && end != 0) {
    const std::string_view rest = flag.substr(end + 1);
    FlagAndValue apart{std::string(flag.substr(0, end)), value};
    if (whole) apart.value = std::string(flag[end] == '=' ? rest : trim(rest));
    return apart;
  }
  const std::string short_flag(flag.substr(0, 2));
  const bool joined = flag.size() > 2 && flag.front() == '-' && is_number(flag.substr(2));
  if (whole && joined && flag_named(spec, short_flag).takes == Flag::Takes::kValue) {
    return {short_flag, std::string(flag.substr(2))};
  }
  return {std::string(flag), value};
}

std::optional<std::string> value_in(std::span<const std::string> argv, const Flag& flag) {
  const std::vector<Place> found = places(argv, flag);
  if (found.empty()) return std::nullopt;
  return found.back().value.value_or("");
}

Result<> set_flag(std::vector<std::string>& argv, const Flag& flag,
                  const std::optional<std::string>& value) {
  Flag as_set = flag;
  if (value && value->empty()) as_set.takes = Flag::Takes::kNothing;  // It is set to be bare.
  if (flag.takes == Flag::Takes::kValue) as_set.takes = Flag::Takes::kValue;
  std::vector<Place> found = places(argv, as_set);
  if (!value) {
    for (const Place& place : found) {
      if (flag.takes == Flag::Takes::kUnknown && place.value && !place.joined) {
        return bad_input(
            fmt::format("cannot remove {}: \"{}\" may or may not be its value; add a knob for the "
                        "flag with its "
                        "value to the spec",
                        place.prefix, *place.value));
      }
    }
  }
  // From the back, so that earlier positions stay valid. The first one keeps its position.
  while (found.size() > (value ? 1U : 0U)) {
    erase(argv, found.back());
    found.pop_back();
  }
  if (!value) return Ok{};
  if (found.empty()) {
    append(argv, flag, *value);
    return Ok{};
  }
  const Place& place = found.front();
  erase(argv, place);
  const std::vector<std::string> words = words_for(place, *value);
  argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(place.index), words.begin(), words.end());
  return Ok{};
}

}  // namespace amdahl::model
