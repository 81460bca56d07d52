#include "observe/inputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "os/fd.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSampledFrom = 64 * 1024 * 1024;
constexpr std::size_t kSample = 1024 * 1024;

std::string in_folder(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).lexically_normal().string();
}

// The file itself, or all files below the folder, sorted.
std::vector<std::string> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::int64_t nanos(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

std::string sampled_digest(const std::string& path, const struct stat& info) {
  const os::Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  Sha256 hash;
  std::string piece(kSample, '\0');
  for (const std::int64_t part : {0, 1, 2}) {
    const off_t from = (info.st_size - static_cast<off_t>(kSample)) * part / 2;
    const ssize_t got = ::pread(fd.get(), piece.data(), piece.size(), from);
    if (got > 0) hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  hash.update(std::to_string(nanos(info.st_mtim)));
  return hex(hash.finish());
}

// Digests by "path size mtime ctime".
class Cache {
 public:
  explicit Cache(std::string path) : path_{std::move(path)} {
    if (path_.empty()) return;
    const auto text = os::read_file(path_);
    if (!text) return;
    const auto json = parse_json(*text);
    if (!json || !json->is_object()) return;
    for (const auto& [key, value] : json->items()) {
      if (value.is_string()) known_[key] = value.get<std::string>();
    }
  }

  std::string digest(const std::string& path, const struct stat& info) {
    const std::string key =
        fmt::format("{} {} {} {}", path, info.st_size, nanos(info.st_mtim), nanos(info.st_ctim));
    std::string& digest = used_[key];
    const auto at = known_.find(key);
    if (at != known_.end()) {
      digest = at->second;
      return digest;
    }
    changed_ = true;
    if (info.st_size >= kSampledFrom) {
      digest = sampled_digest(path, info);
    } else {
      const auto content = os::sha256_of_file(path);
      digest = content ? *content : "unreadable";
    }
    return digest;
  }

  // A cache that cannot be written costs time, not truth: its error is no one's business.
  void save() {
    if (path_.empty() || !changed_) return;
    const auto written = os::write_file(path_, dump_json(Json(used_)));
    if (!written) return;
  }

 private:
  std::string path_;
  std::map<std::string, std::string> known_;
  std::map<std::string, std::string> used_;
  bool changed_ = false;
};

std::string digest_of_all(const std::string& path, std::int64_t& bytes) {
  const auto files = files_at(path);
  const bool folder = files.size() != 1 || files.front() != path;
  Sha256 all;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
    const auto digest = os::sha256_of_file(file);
    if (!folder) return digest ? *digest : "";
    all.update(fmt::format("{}\n{}\n", fs::path(file).lexically_relative(path).string(),
                           digest ? *digest : "unreadable"));
  }
  return hex(all.finish());
}

}  // namespace

Fingerprint fingerprint(const std::vector<std::string>& patterns, const std::string& workdir,
                        const std::string& cache_path) {
  Fingerprint result;
  if (patterns.empty()) return result;
  Cache cache(cache_path);
  std::map<std::string, std::string> lines;  // By path: a file that matches twice counts once.
  for (const std::string& pattern : patterns) {
    const auto matches = os::glob(in_folder(workdir, pattern));
    if (matches.empty()) {
      lines[pattern] = "missing";
      result.problems.push_back(fmt::format("inputs: nothing matches {}", pattern));
    }
    for (const std::string& match : matches) {
      for (const std::string& file : files_at(match)) {
        struct stat info {};
        if (lines.contains(file) || ::stat(file.c_str(), &info) != 0) continue;
        result.bytes += info.st_size;
        lines[file] = fmt::format("{} {}", info.st_size, cache.digest(file, info));
      }
    }
  }
  Sha256 all;
  for (const auto& [path, line] : lines) {
    // Relative, so that a copy of the folder elsewhere is the same input.
    const std::string shown = fs::path(path).lexically_relative(workdir).string();
    all.update(fmt::format("{}\n{}\n", shown.empty() ? path : shown, line));
  }
  result.sha256 = hex(all.finish());
  cache.save();
  return result;
}

std::vector<model::FileDigest> digest_outputs(const std::vector<std::string>& patterns,
                                              const OutputPlace& place,
                                              std::vector<std::string>& problems) {
  // The kernel stamps files with a clock that lags the real one by up to a tick.
  constexpr Nanos kLag = std::chrono::milliseconds(20);
  std::vector<model::FileDigest> digests;
  for (const std::string& pattern : patterns) {
    std::string whole = pattern;
    const std::size_t word = whole.find("{out}");
    if (word != whole.npos) whole.replace(word, 5, place.out_dir);
    const auto matches = os::glob(in_folder(place.workdir, whole));
    if (matches.empty()) digests.push_back({pattern, "", 0});
    for (const std::string& match : matches) {
      std::string shown = pattern;
      if (matches.size() > 1 || match != in_folder(place.workdir, whole)) {
        shown = match;
        if (shown.starts_with(place.out_dir)) shown.replace(0, place.out_dir.size(), "{out}");
      }
      struct stat info {};
      ::stat(match.c_str(), &info);
      if (Nanos(nanos(info.st_mtim)) < place.started - kLag) {
        problems.push_back(
            fmt::format("output {} is older than the run: not written by it", shown));
        digests.push_back({shown, "", 0});
        continue;
      }
      model::FileDigest row{shown, "", 0};
      row.sha256 = digest_of_all(match, row.bytes);
      digests.push_back(row);
    }
  }
  return digests;
}

}  // namespace amdahl::observe
