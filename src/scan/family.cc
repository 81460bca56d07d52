#include "scan/family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fmt/core.h>
#include <re2/re2.h>

#include "base/amount.h"
#include "base/hash.h"
#include "base/text.h"

namespace amdahl::scan {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// Bytes of UTF-8 beyond ASCII are letters of somebody's alphabet.
bool is_word(char c) { return is_digit(c) || is_letter(c) || static_cast<signed char>(c) < 0; }
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_hex(char c) {
  const char low = to_lower(c);
  return is_digit(c) || (low >= 'a' && low <= 'f');
}

bool same_but_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, to_lower);
}

// Words whose number is part of what is run: models, data sets, precisions, hardware, tools.
constexpr auto kNumbered = std::to_array<std::string_view>(
    {"a",         "albert",    "alexnet", "bert",        "bf",       "bloom",    "cifar",
     "clip",      "cuda",      "deberta", "deepseek",    "densenet", "dino",     "dinov",
     "esm",       "falcon",    "fp",      "gemma",       "glm",      "gpt",      "h",
     "imagenet",  "inception", "int",     "l",           "llama",    "mistral",  "mixtral",
     "mobilenet", "mpt",       "nf",      "opt",         "phi",      "python",   "pythia",
     "qwen",      "resnet",    "resnext", "roberta",     "swin",     "t",        "tf",
     "unet",      "v",         "vgg",     "vit",         "whisper",  "wikitext", "wideresnet",
     "xlnet",     "yolo",      "yolov",   "efficientnet"});

bool is_size(std::string_view token);

// "resnet50", "v2", "a100", "llama70b": letters that are known to carry a number, then at most
// three digits or a size.
bool is_numbered_word(std::string_view token) {
  const auto digits = std::ranges::find_if(token, is_digit);
  const auto letters = static_cast<std::size_t>(digits - token.begin());
  if (letters == 0 || letters == token.size()) return false;
  const bool is_number = token.size() - letters <= 3 && std::all_of(digits, token.end(), is_digit);
  if (!is_number && !is_size(token.substr(letters))) return false;
  const std::string_view word = token.substr(0, letters);
  return std::ranges::any_of(kNumbered,
                             [&](std::string_view known) { return same_but_case(word, known); });
}

// "7b", "350m", "3d", "1k", "8x7b": a size that tells one model or task from another.
bool is_size(std::string_view token) {
  const std::size_t times = token.find_first_of("xX");
  if (times > 0 && times <= 2 && std::all_of(token.begin(), token.begin() + times, is_digit)) {
    token.remove_prefix(times + 1);
  }
  if (token.size() < 2 || token.size() > 4) return false;
  const char unit = to_lower(token.back());
  return std::string_view("bdkm").find(unit) != std::string_view::npos &&
         std::all_of(token.begin(), token.end() - 1, is_digit);
}

bool is_hash(std::string_view token) {
  return token.size() >= 6 && std::ranges::all_of(token, is_hex) &&
         std::ranges::any_of(token, is_digit) && std::ranges::any_of(token, is_letter);
}

// Where the number that starts at `i` ends: digits, and an exponent ("1e4").
std::size_t number_end(std::string_view token, std::size_t i) {
  const auto digits = [&] {
    while (i < token.size() && is_digit(token[i])) ++i;
  };
  digits();
  if (i + 1 < token.size() && to_lower(token[i]) == 'e' && is_digit(token[i + 1])) {
    ++i;
    digits();
  }
  return i;
}

// One token, letters and digits without a separator.
void append_token(std::string& pattern, std::string_view token) {
  if (is_numbered_word(token) || is_size(token)) {
    pattern += token;
    return;
  }
  if (is_hash(token)) {
    pattern += '*';
    return;
  }
  const std::size_t before = pattern.size();
  int numbers = 0;
  for (std::size_t i = 0; i < token.size();) {
    if (is_digit(token[i])) {
      pattern += '*';
      ++numbers;
      i = number_end(token, i);
    } else {
      pattern += token[i++];
    }
  }
  // Two numbers among letters are an id or a date with its time, not a word.
  if (numbers > 1) pattern.replace(before, std::string::npos, "*");
}

// The length of a UUID that `text` begins with; 0 if it does not.
std::size_t uuid_length(std::string_view text) {
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() < kShape.size()) return 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '-' ? text[i] != '-' : !is_hex(text[i])) return 0;
  }
  return kShape.size();
}

// The length of "e-4" after a digit, as in "lr1e-4" at the e; 0 if it is not there.
std::size_t exponent_length(std::string_view name, std::size_t i) {
  if (i == 0 || i + 2 >= name.size() || !is_digit(name[i - 1])) return 0;
  if (to_lower(name[i]) != 'e' || (name[i + 1] != '-' && name[i + 1] != '+')) return 0;
  std::size_t end = i + 2;
  while (end < name.size() && is_digit(name[end])) ++end;
  const bool whole = end > i + 2 && (end == name.size() || !is_word(name[end]));
  return whole ? end - i : 0;
}

// "2024-05-01" came out as "*-*-*": one star says as much.
std::string merge_stars(std::string_view pattern) {
  std::string merged;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool star_after = i + 1 < pattern.size() && pattern[i + 1] == '*';
    const bool separates = !merged.empty() && merged.back() == '*' && !is_word(pattern[i]);
    if (separates && (pattern[i] == '*' || star_after)) continue;
    merged += pattern[i];
  }
  return merged;
}

std::string_view last_part(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// What may stand in a family's name: lower-case letters and digits, "-" between them. Words in
// other letters than these are told apart by a hash.
std::string slug_of(std::string_view text) {
  std::string slug;
  bool is_ascii = true;
  for (const char c : text) {
    is_ascii = is_ascii && static_cast<signed char>(c) >= 0;
    const char low = to_lower(c);
    if (is_digit(low) || (low >= 'a' && low <= 'z')) {
      slug += low;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  if (slug.ends_with('-')) slug.pop_back();
  if (is_ascii) return slug;
  return slug + (slug.empty() ? "" : "-") + sha256_hex(text).substr(0, 6);
}

// The command without its arguments; of "python train.py" the script is what tells jobs apart.
std::string_view program_of(std::string_view script) {
  std::string_view best;
  while (!script.empty()) {
    const std::size_t space = script.find(' ');
    const std::string_view word = last_part(script.substr(0, space));
    script = space == std::string_view::npos ? "" : script.substr(space + 1);
    if (best.empty()) best = word;
    if (word.starts_with('-')) continue;
    if (word.ends_with(".py") || word.ends_with(".sh") || word.ends_with(".jl")) return word;
  }
  return best;
}

}  // namespace

std::string pattern_of(std::string_view text) {
  const std::string_view name = last_part(text);
  std::string pattern;
  for (std::size_t i = 0; i < name.size();) {
    if (const std::size_t uuid = uuid_length(name.substr(i)); uuid > 0) {
      pattern += '*';
      i += uuid;
      continue;
    }
    std::size_t end = i;
    std::size_t exponent = 0;
    while (end < name.size() && is_word(name[end]) && exponent == 0) {
      exponent = exponent_length(name, end);
      if (exponent == 0) ++end;
    }
    if (end > i) append_token(pattern, name.substr(i, end - i));
    end += exponent;
    if (exponent == 0 && end < name.size()) pattern += name[end++];
    i = end;
  }
  return merge_stars(pattern);
}

double size_class(double accelerators) {
  if (!(accelerators >= 1)) return 0;
  int power = 0;
  const double part = std::frexp(accelerators, &power);  // 0.5 is a power of two itself.
  return std::ldexp(1.0, part == 0.5 ? power - 1 : power);
}

std::string why(const Family& family) {
  const auto plural = [](double n) { return n == 1 ? "accelerator" : "accelerators"; };
  if (family.fewest == family.most) {
    return fmt::format("{}, {} {}", family.what, show_size(family.most), plural(family.most));
  }
  return fmt::format("{}, {} to {} {}", family.what, show_size(family.fewest),
                     show_size(family.most), plural(family.most));
}

Recogniser::Recogniser(std::vector<Rule> rules) : rules_{std::move(rules)} {}
Recogniser::Recogniser(Recogniser&&) noexcept = default;
Recogniser& Recogniser::operator=(Recogniser&&) noexcept = default;
Recogniser::~Recogniser() = default;

Result<Recogniser> Recogniser::make(std::span<const FamilyRule> rules) {
  std::vector<Rule> compiled;
  for (const FamilyRule& rule : rules) {
    const std::string place = fmt::format("families: rule {}: ", compiled.size() + 1);
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    auto pattern = std::make_unique<const re2::RE2>(rule.pattern, options);
    if (!pattern->ok()) {
      return bad_input(fmt::format("{}'{}' is not a regular expression (RE2 syntax): {}", place,
                                   rule.pattern, pattern->error()));
    }
    std::string problem;
    if (rule.family.empty()) problem = "the family's name is empty";
    if (problem.empty()) pattern->CheckRewriteString(rule.family, &problem);
    if (!problem.empty()) return bad_input(fmt::format("{}{}", place, problem));
    compiled.push_back({std::move(pattern), rule.family});
  }
  return Recogniser(std::move(compiled));
}

Recogniser::Stem Recogniser::recognised(const JobTraits& job) {
  const std::string named = pattern_of(job.name);
  const std::string runs = pattern_of(program_of(job.script));
  Stem stem{.name = slug_of(named), .what = fmt::format("jobs named {}", named)};
  if (const std::string script = slug_of(runs); !script.empty() && script != stem.name) {
    stem.what = stem.name.empty() ? fmt::format("jobs without a name that run {}", runs)
                                  : fmt::format("{} that run {}", stem.what, runs);
    stem.name += (stem.name.empty() ? "" : ".") + script;
  }
  if (stem.name.empty()) {
    stem.name = "unnamed";
    if (named.empty()) stem.what = "jobs without a name or script";
  }
  return stem;
}

std::optional<Recogniser::Stem> Recogniser::ruled(std::string_view text) const {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    std::string family;
    const re2::StringPiece piece(text.data(), text.size());
    if (!re2::RE2::Extract(piece, *rules_[i].pattern, rules_[i].family, &family)) continue;
    if (family.empty()) continue;  // Made of a group that matched nothing.
    return Stem{.name = std::move(family),
                .what = fmt::format("jobs that match {} (rule {} of the configuration)",
                                    rules_[i].pattern->pattern(), i + 1),
                .is_whole = true};
  }
  return std::nullopt;
}

std::uint32_t Recogniser::stem_of(const JobTraits& job) {
  std::optional<Stem> stem;
  if (!job.family.empty()) {
    stem = Stem{.name = std::string(job.family),
                .what = fmt::format("jobs recorded as family {}", job.family),
                .is_whole = true};
  }
  for (const std::string_view text : {job.name, job.script}) {
    if (!stem && !rules_.empty() && !text.empty()) stem = ruled(text);
  }
  if (!stem) stem = recognised(job);
  const auto id = static_cast<std::uint32_t>(stems_.size());
  const auto [at, fresh] = by_stem_.try_emplace(stem->name + '\n' + stem->what, id);
  if (fresh) stems_.push_back(*std::move(stem));
  return at->second;
}

std::uint32_t Recogniser::of(std::uint32_t stem, std::string_view user, double accelerators) {
  Family family{.name = stems_[stem].name, .what = stems_[stem].what};
  if (!stems_[stem].is_whole) {
    if (const std::string slug = slug_of(user); !slug.empty()) family.name += "." + slug;
    if (!user.empty()) family.what += fmt::format(", user {}", user);
    const double size = size_class(accelerators);
    family.name += size < 1 ? ".share" : fmt::format(".x{:.0f}", size);
  }
  const auto id = static_cast<std::uint32_t>(families_.size());
  const auto [at, fresh] = by_name_.try_emplace(family.name, id);
  if (fresh) {
    family.fewest = family.most = accelerators;
    families_.push_back(std::move(family));
    return id;
  }
  again(at->second, accelerators);
  Family& kept = families_[at->second];
  // The least of several, so that the order of jobs is no matter.
  if (family.what < kept.what) kept.what = std::move(family.what);
  return at->second;
}

void Recogniser::again(std::uint32_t family, double accelerators) {
  Family& kept = families_[family];
  kept.fewest = std::min(kept.fewest, accelerators);
  kept.most = std::max(kept.most, accelerators);
}

}  // namespace amdahl::scan
