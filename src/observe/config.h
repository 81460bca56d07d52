// config.h: a changed copy of a configuration file, read by the job in place of the original.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

// `changes` maps "file.json#key.path" to a value. Writes a copy of each file with its changes to
// `out_dir` and has the words of `argv` that name the file (alone or after "--flag=") name the
// copy. JSON, TOML and YAML (config_format.h): other formats are kUnsupported. A file that no word
// names is kBadInput, because the job would not see the copy.
Result<> apply_config(const std::map<std::string, std::string>& changes, const std::string& workdir,
                      const std::string& out_dir, std::vector<std::string>& argv);

}  // namespace amdahl::observe
