#include <algorithm>

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

Result<app::SettingRow> setting_named(const std::vector<app::SettingRow>& rows,
                                      const std::string& name) {
  const auto row = std::ranges::find(rows, name, &app::SettingRow::name);
  if (row != rows.end()) return *row;
  std::vector<std::string_view> names;
  for (const app::SettingRow& r : rows) names.push_back(r.name);
  const auto near = did_you_mean(name, names);
  return Error{Error::Kind::kNotFound,
               fmt::format("there is no setting '{}'{}; type: amdahl config", name,
                           near ? fmt::format(", did you mean '{}'?", *near) : "")};
}

}  // namespace

Result<int> do_config(const Flags& flags) {
  const app::Config config = TRY(config_for(flags));
  const std::vector<app::SettingRow> rows = app::settings(config);
  if (!flags.words.empty()) {
    const app::SettingRow row = TRY(setting_named(rows, flags.words.front()));
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
  for (const app::SettingRow& row : rows) {
    lines.push_back({row.name, clip(row.value, kWidest), row.from, row.meaning});
  }
  print(table({"setting", "value", "from", "meaning"}, lines));
  return 0;
}

}  // namespace amdahl::cli
