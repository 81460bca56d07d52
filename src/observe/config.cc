#include "observe/config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/text.h"
#include "observe/config_format.h"
#include "os/files.h"
#include "os/private.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

Result<const ConfigFormat*> format_of(const std::string& file) {
  const auto formats = config_formats();
  const std::string suffix = fs::path(file).extension().string();
  const auto row = std::ranges::find(formats, suffix, &ConfigFormat::suffix);
  if (row != formats.end()) return &*row;
  std::vector<std::string> known;
  for (const ConfigFormat& format : formats) known.emplace_back(format.suffix);
  return Error{Error::Kind::kUnsupported,
               fmt::format("{}: only {} files can be changed", file, join(known, ", "))};
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
    const ConfigFormat* format = TRY(format_of(file));
    const std::string source = (fs::path(workdir) / file).lexically_normal().string();
    const std::string text =
        TRY(os::read_file(source).in(fmt::format("{}#{}", file, keys.begin()->first)));
    const std::string changed = TRY(format->set(text, keys).in(file));
    // Two files may have one name in two folders.
    const std::string folder = sha256_hex(file).substr(0, 8);
    const std::string copy = (fs::path(out_dir) / "config" / folder / name).string();
    TRY(os::make_dirs(fs::path(copy).parent_path().string()));
    TRY(os::write_like(source, copy, changed));
    if (replace_words(argv, workdir, file, copy) == 0) {
      return bad_input(fmt::format(
          "{}: the command does not reference this file, so the job would not read a changed copy",
          file));
    }
  }
  return Ok{};
}

}  // namespace amdahl::observe
