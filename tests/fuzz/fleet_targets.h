// fleet_targets.h: feeds bytes to the readers of fleets and holds them to what they promise.
#pragma once

#include <string_view>

namespace amdahl::fuzz {

// Lines "@path X", "@host X", "@fields X", "@zone X" and "@mapping" ... "@end" before the bytes
// are the reader's options. Fed whole and in pieces a reader must tell the same; what it tells
// must be finite, with words that are alive.
// Recognises the bytes as a scan does, explains them, and reads them as what they are taken for.
void guess_source(std::string_view bytes);
void read_by_source(std::string_view source, std::string_view bytes);

void read_zone(std::string_view bytes);   // Compiled rules, or a name of a zone.
void read_hosts(std::string_view bytes);  // A list of hosts.
void unpack(std::string_view bytes);      // gzip and zstd.

}  // namespace amdahl::fuzz
