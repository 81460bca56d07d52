// assets.h: the dashboard's files, compiled in.
#pragma once

#include "http/message.h"

namespace amdahl::http {

// The named file; for any other path the page, which reads its own address.
Response asset(const Request& request);

}  // namespace amdahl::http
