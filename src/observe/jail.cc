#include "observe/jail.h"

#include <algorithm>
#include <array>

#include "base/redact.h"
#include "base/text.h"
#include "os/bubblewrap.h"

namespace amdahl::observe {
namespace {

// Variables of ours, and those that lead to sockets and credentials.
constexpr auto kOurs = std::to_array<std::string_view>(
    {"AMDAHL_", "SSH_", "DBUS_", "GPG_", "GIT_ASKPASS", "XDG_RUNTIME_DIR", "DOCKER_HOST",
     "KUBECONFIG", "KRB5CCNAME", "AWS_", "AZURE_", "GOOGLE_APPLICATION"});

bool names_state(const RunOrder& order) {
  const auto names = [](const std::string& text) { return contains(text, "{state}"); };
  const auto any_value = [&](const std::map<std::string, std::string>& values) {
    return std::ranges::any_of(values, [&](const auto& row) { return names(row.second); });
  };
  return std::ranges::any_of(order.plan.argv, names) || any_value(order.plan.env) ||
         any_value(order.plan.config) ||
         std::ranges::any_of(order.outputs, [&](const auto& output) { return names(output.path); });
}

// The files and folders that a text names: "--data=/tmp/data", "/a/lib:/b/lib".
void add_paths(std::string_view text, std::vector<std::string>& paths) {
  if (const std::size_t equals = text.find('='); text.starts_with('-') && equals != text.npos) {
    text = text.substr(equals + 1);
  }
  for (const std::string_view part : split(text, ':')) {
    if (part.starts_with('/') && part.size() > 1) paths.emplace_back(part);
  }
}

}  // namespace

std::map<std::string, std::string> without_keys(const std::map<std::string, std::string>& env) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : env) {
    const bool is_ours = std::ranges::any_of(
        kOurs, [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!is_ours && !names_a_secret(name) && redact(value) == value) kept.emplace(name, value);
  }
  return kept;
}

void put_in_jail(const RunOrder& order, Launchable& job) {
  os::Jail jail = *order.jail;
  jail.readable.push_back(job.workdir);
  jail.readable.push_back(job.program);
  for (const std::string& word : job.argv) add_paths(word, jail.readable);
  for (const auto& [name, value] : job.env) {
    if (name.ends_with("PATH") || order.plan.env.contains(name)) add_paths(value, jail.readable);
  }
  if (!order.own_workdir.empty()) jail.replaced[job.workdir] = order.own_workdir;
  jail.writable.push_back(order.out_dir);
  if (!order.state_dir.empty()) {
    (names_state(order) ? jail.writable : jail.fresh).push_back(order.state_dir);
    // What we know of its inputs is not the job's to write.
    jail.readable.push_back(order.state_dir + "/inputs.json");
  }
  std::vector<std::string> argv = job.argv;
  argv.front() = job.program;
  job.argv = os::jailed(jail, argv, job.workdir);
}

}  // namespace amdahl::observe
