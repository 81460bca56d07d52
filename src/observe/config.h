// config.h: writes an edited copy of a configuration file and makes the job read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

// `changes` maps "file.json#key.path" to a value. Writes an edited copy of each file to `out_dir`
// and replaces the words of `argv` that name the file (alone or after "--flag=") by the copy.
// JSON, TOML and YAML (config_format.h); others are kUnsupported. kBadInput if no word names the
// file, since the job would not see the copy.
Result<> apply_config(const std::map<std::string, std::string>& changes, const std::string& workdir,
                      const std::string& out_dir, std::vector<std::string>& argv);

}  // namespace amdahl::observe
