#include "dream/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dream/prose.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

struct Tuner {
  std::string_view start;  // Of the variable's name.
  Bottleneck against;
  Bottleneck also_against;
};

// The first row that fits.
constexpr auto kTuners = std::to_array<Tuner>({
    {"OMP_WAIT_POLICY", Bottleneck::kWakeups, Bottleneck::kContention},
    {"GOMP_SPINCOUNT", Bottleneck::kWakeups, Bottleneck::kContention},
    {"KMP_BLOCKTIME", Bottleneck::kWakeups, Bottleneck::kContention},
    {"OMP_", Bottleneck::kContention, Bottleneck::kWakeups},
    {"GOMP_", Bottleneck::kContention, Bottleneck::kWakeups},
    {"KMP_", Bottleneck::kContention, Bottleneck::kWakeups},
    {"MKL_", Bottleneck::kContention, Bottleneck::kSerial},
    {"OPENBLAS_", Bottleneck::kContention, Bottleneck::kSerial},
    {"BLIS_", Bottleneck::kContention, Bottleneck::kSerial},
    {"TOKENIZERS_PARALLELISM", Bottleneck::kContention, Bottleneck::kInput},
    {"MALLOC_", Bottleneck::kSerial, Bottleneck::kContention},
    {"GLIBC_TUNABLES", Bottleneck::kSerial, Bottleneck::kContention},
    {"NCCL_", Bottleneck::kCommunication, Bottleneck::kSync},
    {"CUDA_DEVICE_MAX_CONNECTIONS", Bottleneck::kCommunication, Bottleneck::kSync},
    {"CUDA_MODULE_LOADING", Bottleneck::kLifecycle, Bottleneck::kSerial},
    {"PYTORCH_CUDA_ALLOC_CONF", Bottleneck::kSync, Bottleneck::kSerial},
    {"PYTHONNOUSERSITE", Bottleneck::kLifecycle, Bottleneck::kSerial},
});

// Parts of names that load code, read or write files, print, or check.
constexpr auto kForbidden = std::to_array<std::string_view>(
    {"PATH",   "FILE",  "DIR",     "_LIB",    "PLUGIN", "TOOL",    "MODULE_NAME", "DEBUG",
     "TRACE",  "DUMP",  "VERBOSE", "DISPLAY", "CHECK",  "PERTURB", "SETTINGS",    "AFFINITY_FORMAT",
     "TARGET", "GRAPH", "HOSTID",  "COMM_ID", "NET"});

bool is_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool is_value(char c) {
  return (c >= 'a' && c <= 'z') || is_name(c) ||
         std::string_view(".,:+^-=").find(c) != std::string_view::npos;
}

const Tuner* tuner_of(std::string_view variable) {
  const bool forbidden = std::ranges::any_of(kForbidden, [&](std::string_view part) {
    return variable.find(part) != std::string_view::npos;
  });
  if (forbidden) return nullptr;
  for (const Tuner& row : kTuners) {
    if (variable.starts_with(row.start)) return &row;
  }
  return nullptr;
}

// "4", "passive", "glibc.malloc.hugetlb=1"; not "N", "VALUE" or an ellipsis.
bool is_concrete(std::string_view variable, std::string_view value) {
  if (value.empty() || value.size() > 64) return false;
  if (variable == "GLIBC_TUNABLES") {
    return value.starts_with("glibc.malloc.") && value.find(':') == std::string_view::npos;
  }
  const bool number = value.find_first_not_of("0123456789") == std::string_view::npos;
  if (value.size() == 1 || variable.ends_with("THREADS")) return number;
  const std::string word = lower(value);
  return value.find("..") == std::string_view::npos && word != "value" && word != "num";
}

// Part of a longer word or of a substitution, such as "my_OMP_X", "$OMP_X" and "${OMP_X}".
bool continues(char before) {
  return (before >= 'a' && before <= 'z') || before == '$' || before == '{' || is_name(before);
}

bool is_one_of(char c, std::string_view chars) { return chars.find(c) != std::string_view::npos; }

std::size_t skip(std::string_view text, std::size_t at, std::string_view chars) {
  while (at < text.size() && is_one_of(text[at], chars)) ++at;
  return at;
}

// The value at `start`; empty if it continues with something that we do not run: a path, a
// substitution, a placeholder.
std::string_view value_from(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_value(text[end])) ++end;
  if (end < text.size() && is_one_of(text[end], "/$({<*[|\\")) return {};
  while (end > start && is_one_of(text[end - 1], ".,:=-")) --end;
  return text.substr(start, end - start);
}

// Words that these variables take; after a mere "to" or ":" any other may be prose.
bool is_usual(std::string_view value) {
  constexpr auto kUsual = std::to_array<std::string_view>(
      {"passive", "active", "true", "false", "close", "spread", "cores", "threads", "sockets",
       "tree", "ring", "lazy", "eager", "infinite"});
  const bool number =
      !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  return number || std::ranges::find(kUsual, lower(value)) != kUsual.end();
}

// The text after a name: "=1", " = 1", "\"] = \"1\"", ": '1'", " to 1", "` to `1`".
std::string_view value_after(std::string_view text, std::size_t name_end) {
  std::size_t at = name_end;
  if (at < text.size() && text[at] == '=') return value_from(text, skip(text, at + 1, "\"'"));
  at = skip(text, at, "\"'`]* ");
  const bool assigned = at < text.size() && text[at] == '=' && text.substr(at, 2) != "==";
  if (assigned || (at < text.size() && text[at] == ':')) {
    ++at;
  } else if (text.substr(at).starts_with("to ")) {
    at += 3;
  } else {
    return {};
  }
  const std::string_view value = value_from(text, skip(text, at, "\"'`* "));
  return is_usual(value) ? value : std::string_view{};
}

}  // namespace

std::vector<Setting> settings_in(std::string_view text) {
  std::vector<Setting> settings;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view variable = text.substr(at, end - at);
    const Tuner* tuner = at > 0 && continues(text[at - 1]) ? nullptr : tuner_of(variable);
    const std::string_view value = tuner ? value_after(text, end) : std::string_view{};
    if (is_concrete(variable, value)) {
      settings.push_back(
          {std::string(variable), std::string(value), tuner->against, tuner->also_against, at});
    }
    at = std::max(end, at + 1);
  }
  return settings;
}

bool only_tunes(std::string_view variable) { return tuner_of(variable) != nullptr; }

std::vector<std::string> names_of_tuners() {
  std::vector<std::string> names;
  for (const Tuner& row : kTuners) names.emplace_back(trim(folded(row.start)));
  return names;
}

}  // namespace amdahl::dream
