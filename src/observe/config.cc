#include "observe/config.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

// A number, true, false or null as such, unless the file has a string there now.
Json typed(const std::string& value, const Json& now) {
  if (now.is_string()) return value;
  const auto parsed = parse_json(value);
  return parsed ? *parsed : Json(value);
}

Result<> set_key(Json& document, const std::string& key, const std::string& value) {
  Json* at = &document;
  const auto steps = split(key, '.');
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string step(steps[i]);
    const bool last = i + 1 == steps.size();
    if (!at->is_object() || (!last && !at->contains(step))) {
      return bad_input(fmt::format("there is no {} to set", key));
    }
    at = &(*at)[step];
  }
  *at = typed(value, *at);
  return Ok{};
}

int replace_words(std::vector<std::string>& argv, const std::string& workdir,
                  const std::string& file, const std::string& copy) {
  const auto resolve = [&](const std::string& path) {
    return (fs::path(workdir) / path).lexically_normal();
  };
  int replaced = 0;
  for (std::string& word : argv) {
    const std::size_t equals = word.starts_with("-") ? word.find('=') : word.npos;
    const std::size_t from = equals == word.npos ? 0 : equals + 1;
    if (word.size() == from || resolve(word.substr(from)) != resolve(file)) continue;
    word.replace(from, word.npos, copy);
    ++replaced;
  }
  return replaced;
}

}  // namespace

Result<> apply_config(const std::map<std::string, std::string>& changes, const std::string& workdir,
                      const std::string& out_dir, std::vector<std::string>& argv) {
  std::map<std::string, std::map<std::string, std::string>> by_file;
  for (const auto& [place, value] : changes) {
    const std::size_t hash = place.find('#');
    if (hash == place.npos || hash == 0 || hash + 1 == place.size()) {
      return bad_input(fmt::format("config \"{}\" is not FILE#KEY", place));
    }
    by_file[place.substr(0, hash)][place.substr(hash + 1)] = value;
  }
  for (const auto& [file, keys] : by_file) {
    const fs::path name = fs::path(file).filename();
    if (name.extension() != ".json") {
      return Error{Error::Kind::kUnsupported,
                   fmt::format("{}: only JSON configuration files can be changed so far", file)};
    }
    const std::string text =
        TRY(os::read_file((fs::path(workdir) / file).lexically_normal().string()));
    Json document = TRY(parse_json(text).in(file));
    for (const auto& [key, value] : keys) TRY(set_key(document, key, value).in(file));
    // Two files may have one name in two folders.
    const std::string folder = sha256_hex(file).substr(0, 8);
    const std::string copy = (fs::path(out_dir) / "config" / folder / name).string();
    TRY(os::make_dirs(fs::path(copy).parent_path().string()));
    TRY(os::write_file(copy, pretty_json(document) + "\n"));
    if (replace_words(argv, workdir, file, copy) == 0) {
      return bad_input(fmt::format(
          "{}: no word of the command names it, so the job would not read a changed copy", file));
    }
  }
  return Ok{};
}

}  // namespace amdahl::observe
