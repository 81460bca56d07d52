#include "ingest/files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "fleet/local_times.h"
#include "fleet/times.h"
#include "os/files.h"

namespace amdahl::ingest {
namespace {

Result<fleet::ReaderOptions> reader_options(const Origin& source, const std::string& path,
                                            Nanos now, int threads) {
  fleet::ReaderOptions options;
  if (path != "-") options.path = path;
  options.host = source.host;
  options.fields = source.fields;
  options.time_zone = source.time_zone;
  options.now = now;
  options.threads = threads;
  if (const std::string file = fleet::zone_file(source.time_zone); !file.empty()) {
    auto rules = os::read_file(file);
    if (!rules) {
      return bad_input(
          fmt::format("--time-zone: expected a zone like Europe/Oslo or +02:00, not '{}': {}",
                      source.time_zone, rules.error().text));
    }
    options.zone_rules = *std::move(rules);
  }
  if (!source.map.empty()) options.mapping = TRY(os::read_file(source.map).in("--map"));
  return options;
}

bool is_folder(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

// Files below a folder, except hidden ones; `closed` gets folders that cannot be opened.
void add_files_below(const std::string& folder, std::vector<std::string>& files,
                     std::vector<std::string>& closed) {
  std::error_code failed;
  std::vector<std::string> folders;
  for (std::filesystem::directory_iterator it(folder, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code unknown;
    const bool is_hidden = it->path().filename().string().starts_with('.');
    if (it->is_directory(unknown) && !it->is_symlink(unknown)) {
      folders.push_back(it->path().string());
    } else if (!is_hidden && it->is_regular_file(unknown)) {
      files.push_back(it->path().string());
    }
  }
  if (failed) closed.push_back(fmt::format("{}: {}", folder, failed.message()));
  for (const std::string& below : folders) add_files_below(below, files, closed);
}

// The error for a path that matches nothing.
Error not_there(const std::string& path) {
  std::error_code failed;
  static_cast<void>(std::filesystem::status(path, failed));
  if (failed == std::errc::permission_denied) {
    return Error{Error::Kind::kExternal, fmt::format("{}: permission denied", path)};
  }
  return Error{Error::Kind::kNotFound,
               fmt::format("{}: no such file or folder; scan takes files or folders of usage "
                           "records, accounting and telemetry, and --source: amdahl scan --help",
                           path)};
}

bool is_standard_input(const std::string& path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

// Neither a file nor a folder: a pipe with a name, what <(...) of a shell is.
bool is_read_once(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  return !failed && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

bool is_empty_file(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed) &&
         std::filesystem::file_size(path, failed) == 0 && !failed;
}

// Whether its times are local and neither a person, a mapping nor its format gives the zone.
bool says_no_zone(const Found& found) {
  const bool is_said = !found.reader.time_zone.empty() || found.input.source.says_zone ||
                       found.reader.mapping.find("time_zone") != std::string::npos;
  return !is_said && fleet::has_local_times(found.input.head);
}

Result<Found> find(const Origin& source, const std::string& named, const FindOptions& options) {
  const std::string path = is_standard_input(named) ? "-" : named;
  Found found;
  found.source = source;
  found.reader = TRY(reader_options(source, path, options.now, options.threads));
  found.is_copy = path != "-" && options.copy && is_read_once(path);
  std::string from = path;
  if (found.is_copy) from = TRY(options.copy(path));
  found.input = TRY(recognise(from, source.kind, options.sources, found.reader));
  if (found.reader.mapping.empty()) found.source.map.clear();
  found.gives = found.input.said.gives;
  found.is_local = says_no_zone(found);
  if (found.is_copy) found.input.name = path;
  return found;
}

bool is_same(const Found& a, const Found& b) {
  return os::absolute(a.input.path) == os::absolute(b.input.path) &&
         a.input.source.name == b.input.source.name && a.source.map == b.source.map &&
         a.source.host == b.source.host && a.source.fields == b.source.fields;
}

}  // namespace

Result<> find_files(const Origin& source, const FindOptions& options, std::vector<Found>& files,
                    std::vector<InputRead>& left_out) {
  const auto leave_out = [&](const std::string& path, const std::string& why) {
    InputRead& left = left_out.emplace_back();
    left.name = path;
    // Details are shown only if this file alone is requested.
    left.left_out = why.substr(0, why.find('\n'));
  };
  const auto is_stopped = [&] { return options.stop && options.stop(); };
  // Invalid options are invalid for all files.
  TRY(reader_options(source, source.where, options.now, options.threads));
  const auto add_below = [&](const std::string& folder) {
    std::vector<std::string> paths;
    std::vector<std::string> closed;
    add_files_below(folder, paths, closed);
    std::ranges::sort(paths);
    for (const std::string& why : closed) leave_out(why.substr(0, why.rfind(": ")), why);
    for (const std::string& path : paths) {
      if (is_stopped()) return;
      // Not even opened: reading a kernel pseudo-file may block forever.
      if (is_empty_file(path)) {
        leave_out(path, path + ": is empty");
        continue;
      }
      auto found = find(source, path, options);
      if (found) {
        files.push_back(*std::move(found));
      } else {
        leave_out(path, found.error().text);
      }
    }
  };
  if (is_folder(source.where)) {
    add_below(source.where);
    return Ok{};
  }
  std::vector<std::string> matches = {source.where};
  if (!is_standard_input(source.where)) matches = os::glob(source.where);
  if (matches.empty()) return not_there(source.where);
  for (const std::string& path : matches) {
    if (is_stopped()) return external("interrupted");
    if (is_folder(path)) {
      add_below(path);
    } else if (is_empty_file(path) && !is_standard_input(path)) {
      leave_out(path, path + ": is empty");
    } else {
      files.push_back(TRY(find(source, path, options)));
    }
  }
  return Ok{};
}

void put_in_order(std::vector<Found>& files, std::vector<InputRead>& left_out) {
  std::ranges::stable_sort(files, [](const Found& a, const Found& b) {
    return std::pair(a.is_pipe(), os::absolute(a.input.path)) <
           std::pair(b.is_pipe(), os::absolute(b.input.path));
  });
  std::vector<Found> kept;
  for (Found& file : files) {
    if (kept.empty() || !is_same(kept.back(), file)) {
      kept.push_back(std::move(file));
      continue;
    }
    InputRead& twice = left_out.emplace_back();
    twice.name = file.input.name;
    twice.left_out = fmt::format("{}: given more than once, read once", twice.name);
  }
  files = std::move(kept);
}

}  // namespace amdahl::ingest
