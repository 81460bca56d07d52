// A job that sets PYTHONPATH for itself, as scripts that start it often do, would lose the hook:
// its folder goes in front again when an interpreter starts.
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace amdahl::inject {
namespace {

bool is_python() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return false;
  const std::string_view program(path, static_cast<std::size_t>(size));
  return program.substr(program.rfind('/') + 1).substr(0, 6) == "python";
}

bool is_among(std::string_view folders, std::string_view folder) {
  while (true) {
    const std::size_t colon = folders.find(':');
    if (folders.substr(0, colon) == folder) return true;
    if (colon == folders.npos) return false;
    folders.remove_prefix(colon + 1);
  }
}

__attribute__((constructor)) void keep_hook() {
  const char* out = std::getenv("AMDAHL_HOOK_OUT");
  if (out == nullptr || !is_python()) return;
  const std::string_view report(out);
  std::string folder(report.substr(0, report.rfind('/') + 1));
  folder += "hook";
  const char* set = std::getenv("PYTHONPATH");
  const std::string_view own = set == nullptr ? "" : set;
  if (is_among(own, folder)) return;
  if (!own.empty()) folder.append(":").append(own);
  ::setenv("PYTHONPATH", folder.c_str(), 1);
}

}  // namespace
}  // namespace amdahl::inject
