#include "cli/outputs.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "app/door.h"

namespace amdahl::cli {
namespace {

namespace fs = std::filesystem;

bool is_where_text_goes(const std::string& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

// The value of a file option of this verb; empty if it has none.
std::string value_of(std::string_view verb, const Flags& flags, std::string_view option) {
  for (const Option& row : options()) {
    if (row.name != option || (!row.verb.empty() && row.verb != verb)) continue;
    if (const auto* text = std::get_if<std::string Flags::*>(&row.field)) return flags.*(*text);
  }
  return "";
}

std::vector<std::string> inputs_of(std::string_view verb, const Flags& flags) {
  std::vector<std::string> files = flags.words;
  if (const auto* scan = dynamic_cast<const ScanFlags*>(&flags)) {
    for (const std::string& source : scan->sources) {
      files.push_back(source.substr(source.find('=') + 1));
    }
  }
  for (const char* option : {"--map", "--spec", "--config", "--token-file"}) {
    files.push_back(value_of(verb, flags, option));
  }
  std::erase(files, "");
  return files;
}

Result<> check_output(std::string_view verb, const Flags& flags, const char* option) {
  const std::string path = value_of(verb, flags, option);
  if (path.empty()) return Ok{};
  if (is_where_text_goes(path)) {
    return bad_input(fmt::format("{} {}: give the name of a file", option, path));
  }
  for (const std::string& input : inputs_of(verb, flags)) {
    std::error_code error;
    if (!fs::is_regular_file(input, error) || !fs::equivalent(path, input, error)) continue;
    return bad_input(
        fmt::format("{} {}: the output would overwrite an input; name another file", option, path));
  }
  return Ok{};
}

}  // namespace

Result<> check_outputs(std::string_view verb, const Flags& flags) {
  TRY(check_output(verb, flags, "--output"));
  TRY(check_output(verb, flags, "--html"));
  if (flags.html.empty()) return Ok{};
  std::error_code error;
  const fs::path folder = fs::absolute(flags.html, error).parent_path();
  if (fs::exists(folder, error)) return Ok{};
  return Error{Error::Kind::kNotFound,
               fmt::format("--html: there is no folder {}; make it first", folder.string())};
}

Result<> write_page(const Flags& flags, std::string_view page) {
  TRY(app::write_output(flags.html, page).in("--html"));
  fmt::print(stderr, "page: {}\n", flags.html);
  return Ok{};
}

}  // namespace amdahl::cli
