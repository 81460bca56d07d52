#include "app/private_state.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "app/context.h"
#include "os/files.h"
#include "os/private.h"

namespace amdahl::app {
namespace {

// What is kept in a state folder, now and by earlier versions.
bool is_ours(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"config.toml", "runs", "plans", "trees", "overlays", "specs", "compare", "usage", "jobs",
       "jobs-state", "profiles", "canary", "scan", "replicas"});
  return name.starts_with("ledger.") || std::ranges::find(kNames, name) != kNames.end();
}

bool is_for_many(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::perms rights = fs::status(folder, ignored).permissions();
  const bool sticky = (rights & fs::perms::sticky_bit) != fs::perms::none;
  return sticky || !std::ranges::all_of(os::list(folder), is_ours);
}

}  // namespace

Result<> keep_private(const std::string& folder) {
  if (!is_for_many(folder)) TRY(os::close_to_others(folder));
  for (const char* file : {"/ledger.db", "/ledger.db-wal", "/ledger.db-shm"}) {
    TRY(os::close_to_others(folder + file));
  }
  return Ok{};
}

Result<> make_private_state(const std::string& folder) {
  TRY(make_state(folder));
  return keep_private(folder);
}

}  // namespace amdahl::app
