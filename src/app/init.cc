#include "app/init.h"

#include <filesystem>

#include "app/context.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {

Result<Initialised> initialise(const Overrides& overrides, bool replace) {
  const std::string named =
      !overrides.config_file.empty() ? overrides.config_file : os::env_or("AMDAHL_CONFIG", "");
  const bool missing = !named.empty() && !os::exists(named);
  Initialised done;
  done.config =
      missing ? defaults({.state_dir = overrides.state_dir}) : TRY(load_config(overrides));
  TRY(open_context(done.config, true));
  done.file = named.empty() ? done.config.state_dir + "/config.toml" : named;
  done.written = !os::exists(done.file) || replace;
  if (done.written) {
    TRY(os::make_dirs(std::filesystem::absolute(done.file).parent_path().string()));
    TRY(os::write_file(done.file, config_template(done.config.state_dir)));
  }
  return done;
}

}  // namespace amdahl::app
