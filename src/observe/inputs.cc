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
#include "os/left.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSampledFrom = 64 * 1024 * 1024;
constexpr std::size_t kSample = 1024 * 1024;
constexpr std::size_t kHexDigits = 64;  // Of a digest.

std::string in_folder(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).lexically_normal().string();
}

struct Found {
  std::vector<std::string> files;  // Sorted.
  std::string unreadable;          // One of those that cannot be read, and why; empty if all can.
  bool stale = false;              // All are older than the run.
};

// The file itself, or all files below the folder. Pipes would block the reader, and links to
// folders are not followed: only their presence is recorded.
Found files_at(const std::string& path) {
  std::error_code error;
  Found found;
  const auto take = [&](const fs::path& file) {
    std::error_code unknown;
    if (fs::is_regular_file(file, unknown)) {
      found.files.push_back(file.string());
    } else {
      found.unreadable = file.string() + " is neither a file nor a folder";
    }
  };
  if (!fs::is_directory(path, error)) {
    take(path);
    return found;
  }
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code unknown;
    if (at->is_symlink(unknown) || !at->is_directory(unknown)) take(at->path());
  }
  if (error) found.unreadable = fmt::format("{}: {}", path, error.message());
  std::sort(found.files.begin(), found.files.end());
  return found;
}

std::int64_t nanos(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

Result<std::string> sampled_digest(const std::string& path, const struct stat& info) {
  const os::Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  Sha256 hash;
  std::string piece(kSample, '\0');
  for (const std::int64_t part : {0, 1, 2}) {
    const off_t from = (info.st_size - static_cast<off_t>(kSample)) * part / 2;
    const ssize_t got = ::pread(fd.get(), piece.data(), piece.size(), from);
    if (got <= 0) return external(path + ": cannot be read");
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  hash.update(std::to_string(nanos(info.st_mtim)));
  return hex(hash.finish());
}

// Digests by "path size mtime ctime".
class Cache {
 public:
  explicit Cache(std::string path) : path_{std::move(path)} {
    if (path_.empty()) return;
    const auto text = os::read_left(path_);
    if (!text) return;
    const auto json = parse_json(*text);
    if (!json || !json->is_object()) return;
    for (const auto& [key, value] : json->items()) {
      if (!value.is_string()) continue;
      const auto digest = value.get<std::string>();
      if (digest.size() == kHexDigits) known_[key] = digest;
    }
  }

  Result<std::string> digest(const std::string& path, const struct stat& info) {
    const std::string key =
        fmt::format("{} {} {} {}", path, info.st_size, nanos(info.st_mtim), nanos(info.st_ctim));
    if (const auto at = known_.find(key); at != known_.end()) return used_[key] = at->second;
    changed_ = true;
    return used_[key] = TRY(info.st_size >= kSampledFrom ? sampled_digest(path, info)
                                                         : os::sha256_of_file(path));
  }

  // A cache that cannot be written costs only time: the error is ignored.
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

// The kernel stamps files with a clock that lags the real one by up to a tick.
constexpr Nanos kLag = std::chrono::milliseconds(20);
constexpr const char* kStale = "older than the run: not written by it";

bool is_older(const std::string& path, Nanos than) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return Nanos(nanos(info.st_mtim)) < than - kLag;
}

// A link may lead to another run's result, which the job itself may not read.
bool is_within(const std::string& file, const std::vector<std::string>& folders) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return !error && std::ranges::any_of(folders, [&](const std::string& folder) {
    if (folder.empty()) return false;
    std::error_code ignored;
    const fs::path inside = real.lexically_relative(fs::weakly_canonical(folder, ignored));
    return !inside.empty() && *inside.begin() != "..";
  });
}

// A file's time can be set to any; the time of its last change cannot.
bool is_unchanged(const std::string& path, Nanos since) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 || Nanos(nanos(info.st_ctim)) < since - kLag;
}

bool is_below(const std::string& path, const std::string& folder) {
  const std::string inside = fs::path(path).lexically_relative(folder).string();
  return !inside.empty() && !inside.starts_with("..");
}

// What the run wrote there: the file, or the files below the folder. A folder's own time tells
// nothing of the files in it. In the run's own folder all files are the run's, whatever their time.
Found written_at(const std::string& path, const OutputPlace& place) {
  Found found = files_at(path);
  const auto leads_out = [&](const auto& file) { return !is_within(file, place.within); };
  if (!place.within.empty() && std::erase_if(found.files, leads_out) > 0) {
    found.unreadable = path + " leads out of the run's folders";
    return found;
  }
  if (is_below(path, place.out_dir) && found.files != std::vector{path}) return found;
  const bool any = !found.files.empty();
  std::erase_if(found.files, [&](const auto& file) { return is_older(file, place.oldest); });
  found.stale = any && found.files.empty();
  return found;
}

// The file's digest, or one over all files below the folder.
model::Observed<std::string> digest_of_all(const std::string& path, const Found& found,
                                           std::int64_t& bytes) {
  using Digest = model::Observed<std::string>;
  if (!found.unreadable.empty()) return Digest::unreadable(found.unreadable);
  if (found.files.empty()) return Digest::absent("an empty folder");
  const bool folder = found.files.size() != 1 || found.files.front() != path;
  Sha256 all;
  for (const std::string& file : found.files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
    const auto digest = os::sha256_of_file(file);
    if (!digest) return Digest::unreadable(digest.error().text);
    if (!folder) return *digest;
    all.update(fmt::format("{}\n{}\n", fs::path(file).lexically_relative(path).string(), *digest));
  }
  return hex(all.finish());
}

std::int64_t bytes_of(const Found& found) {
  std::int64_t bytes = 0;
  for (const std::string& file : found.files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

// Hashes the matches of one pattern, unambiguously, into the fingerprint.
class InputLines {
 public:
  InputLines(const std::string& workdir, const std::string& cache_path)
      : workdir_{workdir}, cache_{cache_path} {}

  void add(const std::string& pattern) {
    const auto matches = os::glob(in_folder(workdir_, pattern));
    bool any = false;
    for (const std::string& match : matches) {
      const Found found = files_at(match);
      if (!found.unreadable.empty()) cannot_read(found.unreadable);
      any |= !found.files.empty() || !found.unreadable.empty();
      for (const std::string& file : found.files) add_file(file);
    }
    if (any) return;
    const std::string why = fmt::format("nothing matches {}", pattern);
    if (absent_.empty()) absent_ = why;
    result_.problems.push_back("inputs: " + why);
  }

  Fingerprint finish() {
    cache_.save();
    using Digest = model::Observed<std::string>;
    if (!absent_.empty()) {
      result_.sha256 = Digest::absent(absent_);
    } else if (!unreadable_.empty()) {
      result_.sha256 = Digest::unreadable(unreadable_);
    } else {
      Sha256 all;
      for (const auto& [path, line] : lines_) {
        // Relative, so that a copy of the folder elsewhere is the same input.
        const std::string shown = fs::path(path).lexically_relative(workdir_).string();
        all.update(fmt::format("{}\n{}\n", shown.empty() ? path : shown, line));
      }
      result_.sha256 = hex(all.finish());
    }
    return std::move(result_);
  }

 private:
  void add_file(const std::string& file) {
    struct stat info {};
    if (lines_.contains(file)) return;
    if (::stat(file.c_str(), &info) != 0) return cannot_read(file + ": cannot be read");
    result_.bytes += info.st_size;
    const auto digest = cache_.digest(file, info);
    if (!digest) return cannot_read(digest.error().text);
    lines_[file] = fmt::format("{} {}", info.st_size, *digest);
  }

  void cannot_read(const std::string& why) {
    if (unreadable_.empty()) unreadable_ = why;
    result_.problems.push_back("inputs: " + why);
  }

  const std::string& workdir_;
  Cache cache_;
  Fingerprint result_;
  std::map<std::string, std::string> lines_;  // By path: a file that matches twice counts once.
  std::string absent_;
  std::string unreadable_;
};

std::string pattern_of(const model::Output& output, const OutputPlace& place) {
  std::string whole = output.path;
  const std::size_t word = whole.find("{out}");
  if (word != whole.npos) whole.replace(word, 5, place.out_dir);
  return in_folder(place.workdir, whole);
}

}  // namespace

Fingerprint fingerprint(const std::vector<std::string>& patterns, const std::string& workdir,
                        const std::string& cache_path) {
  if (patterns.empty()) return {};
  InputLines lines(workdir, cache_path);
  for (const std::string& pattern : patterns) lines.add(pattern);
  return lines.finish();
}

std::vector<model::FileDigest> digest_outputs(const std::vector<model::Output>& outputs,
                                              const OutputPlace& place,
                                              std::vector<std::string>& problems) {
  std::vector<model::FileDigest> digests;
  const auto row_of = [&](const std::string& match, model::FileDigest row) {
    const Found found = written_at(match, place);
    if (found.stale) {
      row.sha256 = model::Observed<std::string>::absent(kStale);
    } else if (row.presence_only) {
      row.bytes = bytes_of(found);
    } else {
      row.sha256 = digest_of_all(match, found, row.bytes);
    }
    if (!row.sha256.why().empty()) {
      const bool unreadable = row.sha256.sight() == model::Sight::kUnreadable;
      problems.push_back(fmt::format("output {} {} {}", row.path,
                                     unreadable ? "cannot be read:" : "is", row.sha256.why()));
    }
    return row;
  };
  for (const model::Output& output : outputs) {
    const std::string whole = pattern_of(output, place);
    const auto matches = os::glob(whole);
    if (matches.empty()) digests.push_back({output.path, {}, 0, !output.digest});
    for (const std::string& match : matches) {
      std::string shown = output.path;
      if (matches.size() > 1 || match != whole) {
        shown = match;
        if (shown.starts_with(place.out_dir)) shown.replace(0, place.out_dir.size(), "{out}");
      }
      digests.push_back(row_of(match, {shown, {}, 0, !output.digest}));
    }
  }
  return digests;
}

std::vector<std::string> results_elsewhere(const std::vector<model::Output>& outputs,
                                           const OutputPlace& place) {
  std::vector<std::string> results;
  for (const model::Output& output : outputs) {
    for (const std::string& match : os::glob(pattern_of(output, place))) {
      if (is_below(match, place.out_dir)) continue;
      for (const std::string& file : written_at(match, place).files) {
        std::error_code error;
        // What a link leads to may be anybody's.
        if (fs::is_symlink(file, error)) continue;
        const fs::path found = fs::canonical(file, error);
        if (!error && !is_unchanged(found, place.oldest)) results.push_back(found.string());
      }
    }
  }
  return results;
}

}  // namespace amdahl::observe
