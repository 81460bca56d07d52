// machine.h: this installation as JSON (health, settings, version), and the simulator.
#pragma once

#include <string>
#include <vector>

#include "app/clean.h"
#include "app/config.h"
#include "app/doctor.h"
#include "app/init.h"
#include "app/launcher_check.h"
#include "app/simulate.h"
#include "app/tokens.h"
#include "base/json.h"

namespace amdahl::api {

Json doctor(const std::vector<app::Symptom>& symptoms);
Json launcher(const app::LauncherCheck& check);
Json setting(const app::SettingRow& row);
Json settings(const app::Config& config);
Json cleaned(const app::Cleaned& done, bool dry_run);
Json initialised(const app::Initialised& done);
Json token_added(const app::IssuedToken& issued);  // With the secret, which is shown once.
Json tokens(const std::vector<app::Token>& tokens);
Json token_revoked(const app::Token& token);
Json version(const std::string& version, const std::string& revision);
Json simulated(const app::SimulateQuestion& question, const app::SimulateAnswer& answer);

}  // namespace amdahl::api
