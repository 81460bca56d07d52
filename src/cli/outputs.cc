#include "cli/outputs.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "os/files.h"

namespace amdahl::cli {
namespace {

namespace fs = std::filesystem;

bool is_where_text_goes(const std::string& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

std::vector<std::string> inputs_of(const Flags& flags) {
  std::vector<std::string> files = flags.words;
  for (const std::string& source : flags.sources)
    files.push_back(source.substr(source.find('=') + 1));
  for (const std::string* one : {&flags.map, &flags.spec, &flags.config, &flags.token_file}) {
    files.push_back(*one);
  }
  std::erase(files, "");
  return files;
}

Result<> check_output(const Flags& flags, const char* option, const std::string& path) {
  if (path.empty()) return Ok{};
  if (is_where_text_goes(path)) {
    return bad_input(fmt::format("{} {}: give the name of a file", option, path));
  }
  for (const std::string& input : inputs_of(flags)) {
    std::error_code error;
    if (!fs::is_regular_file(input, error) || !fs::equivalent(path, input, error)) continue;
    return bad_input(fmt::format("{} {}: that is a file to read, and would be lost; name another",
                                 option, path));
  }
  return Ok{};
}

}  // namespace

Result<> check_outputs(const Flags& flags) {
  TRY(check_output(flags, "--output", flags.output));
  TRY(check_output(flags, "--html", flags.html));
  if (flags.html.empty()) return Ok{};
  const std::string folder = fs::path(os::absolute(flags.html)).parent_path().string();
  if (os::exists(folder)) return Ok{};
  return Error{Error::Kind::kNotFound,
               fmt::format("--html: there is no folder {}; make it first", folder)};
}

}  // namespace amdahl::cli
