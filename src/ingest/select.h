// select.h: finds out which metrics of a Prometheus server to ask for, and how to reach it.
#pragma once

#include <string>
#include <vector>

#include "ingest/prometheus.h"

namespace amdahl::ingest {

// A request with the address, the limits and the secrets of a source; the path is to be added.
Result<os::HttpRequest> request_to(const Origin& source);

// Of each exporter the best metric, and the lesser ones of hosts that have no better.
Result<std::vector<fleet::prometheus::Selection>> select_metrics(const PrometheusAsk& ask,
                                                                 const os::HttpRequest& plain,
                                                                 os::Clock& clock,
                                                                 const os::Stop& stop);

// What a redirection says: a token is not for those whom nobody named.
std::string sent_elsewhere(const os::HttpAnswer& answer);

std::string show_utc(Nanos unix_time);  // "2017-10-11 00:05".

}  // namespace amdahl::ingest
