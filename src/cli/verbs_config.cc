#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/machine.h"
#include "app/config.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

constexpr std::size_t kWidest = 40;  // Of a value in the table.

}  // namespace

Result<int> do_config(const Flags& flags) {
  const app::Config config = TRY(config_for(flags));
  if (!flags.words.empty()) {
    const app::SettingRow row = TRY(app::setting_named(config, flags.words.front()));
    if (flags.json) {
      print_json(api::setting(row));
    } else {
      print(row.value + "\n");
    }
    return 0;
  }
  if (flags.json) {
    print_json(api::settings(config));
    return 0;
  }
  print(config.from.empty() ? "No file was read; make one with: amdahl init\n\n"
                            : fmt::format("Read from {}\n\n", config.from));
  std::vector<std::vector<std::string>> lines;
  for (const app::SettingRow& row : app::settings(config)) {
    lines.push_back({row.name, clip(row.value, kWidest), row.from, row.meaning});
  }
  print(table({"setting", "value", "from", "meaning"}, lines));
  return 0;
}

}  // namespace amdahl::cli
