#include "agent/sandbox.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "agent/client.h"
#include "base/text.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::agent {
namespace {

namespace fs = std::filesystem;

// What programs need of the system. No home, no state folder, no managed policies of clients.
constexpr auto kReadable = std::to_array<const char*>(
    {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
     "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
     "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"});

constexpr auto kAllowed = std::to_array<const char*>(
    {"PATH", "LANG", "LC_ALL", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
     "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"});

// Beside the code, where people keep keys: files that no commit holds.
bool holds_keys(const std::string& name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({".git-credentials", ".netrc", ".npmrc", ".pypirc"});
  return name.starts_with(".env") || std::ranges::find(kNames, name) != kNames.end();
}

std::vector<std::string> keys_in(const std::string& folder) {
  std::vector<std::string> found;
  if (os::exists(folder + "/.git/config")) found.push_back(folder + "/.git/config");
  std::error_code error;
  fs::recursive_directory_iterator file(folder, fs::directory_options::skip_permission_denied,
                                        error);
  for (; !error && file != fs::recursive_directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename();
    std::error_code ignored;
    if (file->is_directory(ignored)) {
      if (name == ".git" || name == "node_modules") file.disable_recursion_pending();
    } else if (holds_keys(name) && file->is_regular_file(ignored)) {
      found.push_back(file->path());
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> sandboxed(const ClientOrder& order) {
  std::vector<std::string> argv{"bwrap",         "--die-with-parent",
                                "--unshare-pid", "--unshare-ipc",
                                "--unshare-uts", "--unshare-cgroup-try",
                                "--cap-drop",    "ALL",
                                "--proc",        "/proc",
                                "--dev",         "/dev",
                                "--tmpfs",       "/tmp"};
  // The owner of the kernel's settings needs no right to change them.
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}) {
    argv.insert(argv.end(), {"--ro-bind-try", path, path});
  }
  for (const char* path : kReadable) {
    argv.insert(argv.end(), {"--ro-bind-try", path, path});
  }
  std::vector<std::string> readable = order.readable;
  // The client itself, and what its package has beside it.
  std::error_code error;
  const fs::path program = fs::canonical(order.argv.front(), error);
  if (!error) {
    const fs::path home = fs::weakly_canonical(os::env_or("HOME", "/"), error);
    const bool has_more = program.parent_path() == home || program.parent_path() == "/";
    readable.push_back(has_more ? program.string() : program.parent_path().string());
  }
  for (const std::string& path : readable) {
    argv.insert(argv.end(), {"--ro-bind-try", path, path});
  }
  for (const std::string& path : order.readable) {
    for (const std::string& key : keys_in(path)) {
      argv.insert(argv.end(), {"--ro-bind", "/dev/null", key});
    }
  }
  argv.insert(argv.end(), {"--bind", order.home, order.home, "--chdir", order.workdir, "--"});
  argv.insert(argv.end(), order.argv.begin(), order.argv.end());
  return argv;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return os::exists(name) ? os::absolute(name) : "";
  const std::string path = os::env_or("PATH", "/usr/bin:/bin");
  for (const std::string_view folder : split(path, ':')) {
    const std::string file = std::string(folder) + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

std::map<std::string, std::string> allowed_environment() {
  std::map<std::string, std::string> env{{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
  for (const char* name : kAllowed) {
    if (const char* value = std::getenv(name)) env[name] = value;
  }
  return env;
}

}  // namespace amdahl::agent
