#include "mcp/tasks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::mcp {
namespace {

constexpr std::size_t kDigits = 32;
constexpr std::string_view kEnding = ".json";

std::string folder_of(const std::string& state_dir) { return state_dir + "/mcp/tasks"; }

std::string file_of(const std::string& state_dir, const std::string& id) {
  return fmt::format("{}/{}.json", folder_of(state_dir), id);
}

Result<> store(const std::string& state_dir, const Task& task) {
  TRY(os::make_dirs(folder_of(state_dir)));
  return os::write_file(file_of(state_dir, task.id),
                        dump_json({{"tool", task.tool},
                                   {"arguments", task.arguments},
                                   {"created_ns", task.created.count()},
                                   {"cancelled", task.cancelled}}));
}

Error no_task() { return {Error::Kind::kNotFound, "there is no such task, or it has expired"}; }

}  // namespace

Result<Task> make_task(const std::string& state_dir, std::string_view tool, const Json& arguments) {
  const Nanos now = os::real_clock().unix_time();
  for (const std::string& name : os::list(folder_of(state_dir))) {
    if (name.size() != kDigits + kEnding.size() || !name.ends_with(kEnding)) continue;
    std::error_code ignored;
    if (!find_task(state_dir, name.substr(0, kDigits))) {
      std::filesystem::remove(folder_of(state_dir) + "/" + name, ignored);
    }
  }
  Task task{os::random_hex(kDigits), std::string(tool), arguments, now, false};
  TRY(store(state_dir, task));
  return task;
}

Result<Task> find_task(const std::string& state_dir, const std::string& id) {
  const bool is_id = id.size() == kDigits && std::ranges::all_of(id, [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
  if (!is_id) return no_task();
  const auto text = os::read_file(file_of(state_dir, id));
  if (!text) return no_task();
  const Json json = TRY(parse_json(*text));
  const Task task{id, json.value("tool", ""), json.value("arguments", Json::object()),
                  Nanos{json.value("created_ns", std::int64_t{0})}, json.value("cancelled", false)};
  if (os::real_clock().unix_time() - task.created > kTaskLives) return no_task();
  return task;
}

Result<> cancel_task(const std::string& state_dir, Task task) {
  task.cancelled = true;
  return store(state_dir, task);
}

}  // namespace amdahl::mcp
