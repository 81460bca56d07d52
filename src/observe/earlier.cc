#include "observe/earlier.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/json.h"
#include "os/files.h"
#include "os/left.h"

namespace amdahl::observe {
namespace {

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

}  // namespace

void remove_earlier(const std::string& list) {
  const Json listed = read_list(list);
  for (const auto& [path, written] : listed.items()) {
    std::error_code ignored;
    const std::string now = signature(path);
    if (!now.empty() && written == now) std::filesystem::remove(path, ignored);
  }
}

Result<> list_results(const std::vector<std::string>& files, const std::string& list) {
  if (files.empty()) return Ok{};
  Json kept = Json::object();
  const Json before = read_list(list);
  for (const auto& [path, written] : before.items()) {
    if (written == signature(path)) kept[path] = written;
  }
  for (const std::string& file : files) kept[file] = signature(file);
  TRY(os::make_dirs(std::filesystem::path(list).parent_path().string()));
  return os::write_file(list, dump_json(kept));
}

}  // namespace amdahl::observe
