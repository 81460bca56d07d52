#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/machine.h"
#include "app/asking.h"
#include "app/clean.h"
#include "app/config.h"
#include "app/context.h"
#include "app/doctor.h"
#include "app/door.h"
#include "app/init.h"
#include "app/launcher_check.h"
#include "app/store.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {

Result<int> do_doctor(const Flags& flags) {
  const std::vector<app::Symptom> symptoms =
      app::examine(app::Overrides{.config_file = flags.config, .state_dir = flags.state});
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

Result<int> do_clean(const CleanFlags& flags) {
  constexpr double kMega = 1e6;
  if (!(flags.older >= 0)) return bad_input("--older is a number of days: 0 or more");
  app::CleanOptions options;
  options.older_days = flags.older;
  if (flags.keep >= 0) options.keep_gb = flags.keep;
  options.dry_run = flags.dry_run;
  app::Context context = TRY(context_for(flags, false));
  const app::Cleaned done = TRY(app::clean(context, options));
  if (flags.json) {
    print_json(api::cleaned(done, flags.dry_run));
    return done.failed.empty() ? 0 : 3;
  }
  std::vector<std::vector<std::string>> lines;
  for (const app::Cleaned::Part& part : done.parts) {
    lines.push_back({part.folder, fmt::to_string(part.removed),
                     fmt::format("{:.1f} MB", static_cast<double>(part.removed_bytes) / kMega),
                     fmt::to_string(part.kept),
                     fmt::format("{:.1f} MB", static_cast<double>(part.kept_bytes) / kMega)});
  }
  print(table({"folder", flags.dry_run ? "would go" : "removed", "size", "kept", "size"}, lines));
  for (const std::string& failed : done.failed) fmt::print(stderr, "not removed: {}\n", failed);
  return done.failed.empty() ? 0 : 3;
}

Result<int> do_init(const InitFlags& flags) {
  const app::Initialised done =
      TRY(app::initialise({.config_file = flags.config, .state_dir = flags.state}, flags.replace));
  const app::Config& config = done.config;
  if (flags.json) {
    print_json(api::initialised(done));
    return 0;
  }
  print(fmt::format("Ledger         {}\nConfiguration  {}{}\n", app::ledger_place(config),
                    done.file,
                    done.written ? "" : " (exists already, not changed; --replace overwrites it)"));
  if (!config.from.empty() && config.from != done.file) {
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

Result<int> do_launcher(const LauncherFlags& flags) {
  if (flags.words.size() != 2 || flags.words[0] != "check") {
    return bad_input("type: amdahl launcher check FOLDER");
  }
  if (!(flags.patience > 0)) return bad_input("--patience must be above 0 seconds");
  const app::Config config = TRY(config_for(flags));
  const app::LauncherCheck check =
      TRY(app::check_launcher(config, flags.words[1], from_seconds(flags.patience)));
  if (flags.json) {
    print_json(api::launcher(check));
    return check.breaches.empty() ? 0 : 1;
  }
  for (const auto& breach : check.breaches) {
    print(fmt::format("{}: {}\n", breach.rule, breach.what));
  }
  print(fmt::format("{} keeps {} of {} rules\n", check.plug_in, check.rules - check.breaches.size(),
                    check.rules));
  return check.breaches.empty() ? 0 : 1;
}

Result<int> do_completion(const Flags& flags) {
  const std::string shell = flags.words.empty() ? "bash" : flags.words.front();
  print(TRY(completion_for(shell)));
  return 0;
}

std::string_view program_version() { return AMDAHL_VERSION; }
std::string_view program_revision() { return AMDAHL_REVISION; }

Result<int> do_version(const Flags& flags) {
  const Json version = api::version(AMDAHL_VERSION, AMDAHL_REVISION);
  if (flags.json) {
    print_json(version);
  } else {
    print(fmt::format("amdahl {} ({}), ledger schema {}\n", AMDAHL_VERSION, AMDAHL_REVISION,
                      version.at("ledger_schema").get<int>()));
  }
  return 0;
}

Result<int> do_exec(const ExecFlags& flags) {
  if (!flags.ask_dir.empty()) {
    TRY(app::run_ask(flags.ask_dir));
    return 0;
  }
  if (!flags.webhook_dir.empty()) {
    TRY(app::send_webhooks_in(flags.webhook_dir, flags.config));
    return 0;
  }
  if (!flags.node_dir.empty()) {
    TRY(app::observe_node_in(flags.node_dir));
    return 0;
  }
  if (flags.pair_dir.empty()) return bad_input("exec needs --pair, --node, --ask or --webhook DIR");
  TRY(app::run_pair_in(flags.pair_dir));
  return 0;
}

}  // namespace amdahl::cli
