#include "observe/earlier.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/json.h"
#include "os/files.h"
#include "os/left.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

// Empty if it is no file.
std::string signature(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  return fmt::format("{} {} {}.{:09}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

Json read_list(const std::string& list) {
  const auto text = os::read_left(list);
  if (!text) return Json::object();
  const auto json = parse_json(*text);
  return json && json->is_object() ? *json : Json::object();
}

struct Aside {
  std::string first;
  std::string latest;
};

Aside aside_of(const std::string& list, const std::string& path) {
  const std::string stem = fs::path(list).replace_extension().string() + "/" + sha256_hex(path);
  return {stem + "-first", stem};
}

// Also to another file system.
bool move(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return true;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) return false;
  fs::remove(from, error);
  return !error;
}

// What the run has not written; what it has, needs no second copy.
void put_back(const std::string& list, const std::string& path) {
  std::error_code error;
  const std::string aside = aside_of(list, path).latest;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) {
    move(aside, path);
  } else {
    fs::remove(aside, error);
  }
}

}  // namespace

void set_aside_earlier(const std::string& list) {
  const Json listed = read_list(list);
  for (const auto& [path, written] : listed.items()) {
    const std::string now = signature(path);
    if (now.empty() || written != now) continue;
    std::error_code error;
    const Aside aside = aside_of(list, path);
    if (!os::make_dirs(fs::path(aside.latest).parent_path().string())) continue;
    if (!fs::exists(aside.first, error)) fs::copy_file(path, aside.first, error);
    if (!error) move(path, aside.latest);
  }
}

Result<> list_results(const std::vector<std::string>& files, const std::string& list) {
  const Json before = read_list(list);
  if (files.empty() && before.empty()) return Ok{};
  Json kept = Json::object();
  for (const auto& [path, written] : before.items()) {
    const bool gone = signature(path).empty();
    put_back(list, path);
    const std::string now = signature(path);
    if (gone ? !now.empty() : written == now) kept[path] = now;
  }
  for (const std::string& file : files) kept[file] = signature(file);
  TRY(os::make_dirs(fs::path(list).parent_path().string()));
  return os::write_file(list, dump_json(kept));
}

}  // namespace amdahl::observe
