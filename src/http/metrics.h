// metrics.h: Prometheus metrics of the loop and of this server.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "app/roi.h"
#include "app/status.h"
#include "http/message.h"
#include "http/routes.h"

namespace amdahl::http {

// Of the server itself.
struct Traffic {
  std::map<int, std::int64_t> responses{};  // By status.
  std::int64_t connections = 0;             // Open now.
  std::int64_t event_streams = 0;           // Open now.
  std::int64_t refused_connections = 0;     // Too many open connections.
  std::int64_t webhook_failures = 0;        // Workers that could not be started.
};

// OpenMetrics if `accept` asks for it, else text format 0.0.4.
Response metrics(const app::Status& status, const app::Roi& roi, const Traffic& traffic,
                 const Program& program, std::string_view accept);

}  // namespace amdahl::http
