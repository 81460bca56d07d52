#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/machine.h"
#include "app/config.h"
#include "app/context.h"
#include "app/doctor.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "launch/launcher.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::cli {

Result<int> do_doctor(const Flags& flags) {
  const auto config = config_for(flags);
  std::vector<app::Symptom> symptoms =
      app::examine(config ? *config : app::defaults({.state_dir = flags.state}));
  if (!config) {
    symptoms.front() = {"configuration", "missing", config.error().text,
                        "correct it, or name another file with --config"};
  }
  const bool well = app::is_well(symptoms);
  if (flags.json) {
    print_json(api::doctor(symptoms));
    return well ? 0 : 1;
  }
  for (const app::Symptom& s : symptoms) {
    const std::string state = fmt::format("{:<8}", s.state);
    print(fmt::format("{}{:<16} {}\n",
                      s.state == "ok"        ? green(flags, state)
                      : s.state == "missing" ? red(flags, state)
                                             : dim(flags, state),
                      s.name, s.detail));
    if (s.state != "ok" && !s.fix.empty()) print(fmt::format("{:<24} to fix it: {}\n", "", s.fix));
  }
  print(well ? "\nNothing that is needed is missing.\n"
             : "\nSomething that is needed is missing.\n");
  return well ? 0 : 1;
}

// The configuration is written where --config or $AMDAHL_CONFIG says, else into the state folder.
Result<int> do_init(const InitFlags& flags) {
  const std::string named = !flags.config.empty() ? flags.config : os::env_or("AMDAHL_CONFIG", "");
  const bool missing = !named.empty() && !os::exists(named);
  const app::Config config =
      missing ? app::defaults({.state_dir = flags.state}) : TRY(config_for(flags));
  const app::Context context = TRY(app::open_context(config, true));
  const std::string file = named.empty() ? config.state_dir + "/config.toml" : named;
  const bool writes = !os::exists(file) || flags.replace;
  if (writes) {
    TRY(os::make_dirs(std::filesystem::absolute(file).parent_path().string()));
    TRY(os::write_file(file, app::config_template(config.state_dir)));
  }
  if (flags.json) {
    print_json(api::initialised(config, file, writes));
    return 0;
  }
  print(fmt::format("Ledger         {}/ledger.db\nConfiguration  {}{}\n", config.state_dir, file,
                    writes ? "" : " (exists already, not changed; --replace overwrites it)"));
  if (!config.from.empty() && config.from != file) {
    print(fmt::format("               but the settings come from {}; see: amdahl config\n",
                      config.from));
  }
  if (!flags.state.empty()) {
    const std::vector<std::string> folder{config.state_dir};
    print(fmt::format("To use them    export AMDAHL_STATE={}\n", shell_quote(folder)));
  }
  print("Next           amdahl run --family NAME -- CMD, then amdahl scan\n");
  return 0;
}

Result<int> do_completion(const Flags& flags) {
  const std::string shell = flags.words.empty() ? "bash" : flags.words.front();
  print(TRY(completion_for(shell)));
  return 0;
}

Result<int> do_version(const Flags& flags) {
  if (flags.json) {
    print_json(api::version(AMDAHL_VERSION, AMDAHL_REVISION, ledger::schema_version()));
  } else {
    print(fmt::format("amdahl {} ({}), ledger schema {}\n", AMDAHL_VERSION, AMDAHL_REVISION,
                      ledger::schema_version()));
  }
  return 0;
}

Result<int> do_exec(const ExecFlags& flags) {
  if (flags.pair_dir.empty()) return bad_input("exec wants --pair DIR");
  TRY(launch::run_pair(flags.pair_dir));
  return 0;
}

}  // namespace amdahl::cli
