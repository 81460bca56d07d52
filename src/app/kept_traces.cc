#include "app/kept_traces.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kLongestTraceName = 64;
constexpr std::string_view kDocument = ".json";

bool is_trace_name(std::string_view name) {
  const auto fine = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestTraceName && name.front() != '.' &&
         std::ranges::all_of(name, fine);
}

std::string trace_folder(const Config& config) { return config.state_dir + "/traces"; }

}  // namespace

Result<> keep_trace(const Config& config, const std::string& name, const Json& document) {
  if (!is_trace_name(name)) {
    return bad_input(
        "--keep must be a name of at most 64 letters, digits, '.', '-' and '_', not beginning with "
        "'.'");
  }
  TRY(make_state(trace_folder(config)));
  return os::write_file(fmt::format("{}/{}{}", trace_folder(config), name, kDocument),
                        dump_json(document) + "\n");
}

std::vector<std::string> kept_traces(const Config& config) {
  std::vector<std::string> names;
  for (const std::string& file : os::list(trace_folder(config))) {
    if (!file.ends_with(kDocument)) continue;
    names.push_back(file.substr(0, file.size() - kDocument.size()));
  }
  std::ranges::sort(names);
  return names;
}

Result<Json> kept_trace(const Config& config, const std::string& name) {
  const std::string path = fmt::format("{}/{}{}", trace_folder(config), name, kDocument);
  if (!is_trace_name(name) || !os::exists(path)) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("no trace '{}' is kept; type: amdahl profile FILE... --keep {}",
                             clip(name, 60), is_trace_name(name) ? name : "NAME")};
  }
  return parse_json(TRY(os::read_file(path))).in(path);
}

}  // namespace amdahl::app
