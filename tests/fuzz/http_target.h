// http_target.h: feeds bytes to the server's reader of requests and holds it to what it promises.
#pragma once

#include <string_view>

namespace amdahl::fuzz {

// Whole and in pieces it is the same request. A request that is taken has one host, one length that
// is its body's, no path that leaves its folder and no control characters.
void read_request(std::string_view bytes);

}  // namespace amdahl::fuzz
