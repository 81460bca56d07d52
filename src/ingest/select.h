// select.h: selects the metrics to query from a Prometheus server, and builds requests.
#pragma once

#include <string>
#include <vector>

#include "ingest/prometheus.h"

namespace amdahl::ingest {

// A request with the source's address, limits and credentials; the caller adds the path.
Result<os::HttpRequest> request_to(const Origin& source);

// The best metric of each exporter, lesser ones for hosts without a better one, and those of power
// and memory in use.
Result<std::vector<fleet::prometheus::Selection>> select_metrics(const PrometheusAsk& ask,
                                                                 const os::HttpRequest& plain,
                                                                 os::Clock& clock,
                                                                 const os::Stop& stop);

// Error text for a redirect: credentials are only sent to the configured address.
std::string sent_elsewhere(const os::HttpAnswer& answer);

std::string show_utc(Nanos unix_time);  // "2017-10-11 00:05".

}  // namespace amdahl::ingest
