// config_scan.h: the configuration tables of scans: sources, families, prices.
#pragma once

#include <string_view>

#include <toml++/toml.h>

#include "app/config.h"

namespace amdahl::app {

// "scan.source", "scan.family", "price.by_kind".
bool is_scan_table(std::string_view name);

// Errors name the file and the line.
Result<> read_scan_table(std::string_view name, const toml::node& node, std::string_view where,
                         Config& config);

}  // namespace amdahl::app
