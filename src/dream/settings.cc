#include "dream/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"

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
  if (value.size() == 1) return value[0] >= '0' && value[0] <= '9';
  const std::string word = lower(value);
  return value.find("..") == std::string_view::npos && word != "value" && word != "num";
}

std::string_view name_before(std::string_view text, std::size_t equals) {
  std::size_t start = equals;
  while (start > 0 && is_name(text[start - 1])) --start;
  // Part of a longer word, such as "my_OMP_X" or "$OMP_X".
  if (start > 0) {
    const char before = text[start - 1];
    if ((before >= 'a' && before <= 'z') || before == '$' || before == '{') return {};
  }
  return text.substr(start, equals - start);
}

std::string_view value_after(std::string_view text, std::size_t equals) {
  std::size_t start = equals + 1;
  if (start < text.size() && (text[start] == '"' || text[start] == '\'')) ++start;
  std::size_t end = start;
  while (end < text.size() && is_value(text[end])) ++end;
  // It goes on with something we do not run: a path, a substitution, a placeholder.
  if (end < text.size() &&
      std::string_view("/$({<*[|\\").find(text[end]) != std::string_view::npos) {
    return {};
  }
  while (end > start && std::string_view(".,:=-").find(text[end - 1]) != std::string_view::npos)
    --end;
  return text.substr(start, end - start);
}

std::string line_around(std::string_view text, std::size_t at) {
  const std::size_t newline = text.rfind('\n', at);
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::string line(trim(text.substr(start, text.find('\n', at) - start)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return clip(line, 160);
}

}  // namespace

std::vector<Setting> settings_in(std::string_view text) {
  std::vector<Setting> settings;
  for (std::size_t at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
    const std::string_view variable = name_before(text, at);
    const Tuner* tuner = tuner_of(variable);
    if (tuner == nullptr) continue;
    const std::string_view value = value_after(text, at);
    if (!is_concrete(variable, value)) continue;
    settings.push_back({std::string(variable), std::string(value), tuner->against,
                        tuner->also_against, line_around(text, at)});
  }
  return settings;
}

}  // namespace amdahl::dream
