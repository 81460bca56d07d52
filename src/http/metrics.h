// metrics.h: the state of the loop and of this server as metrics for Prometheus.
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
  std::int64_t refused_connections = 0;     // Because there were too many.
};

// In OpenMetrics where `accept` asks for it, else in the text format 0.0.4.
Response metrics(const app::Status& status, const app::Roi& roi, const Traffic& traffic,
                 const Program& program, std::string_view accept);

}  // namespace amdahl::http
