// assets.h: the dashboard's files, compiled in.
#pragma once

#include "http/message.h"

namespace amdahl::http {

// The file that the path names; the page for every other path, since the page reads its address.
Response asset(const Request& request);

}  // namespace amdahl::http
