#include "ingest/select.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/text.h"
#include "fleet/metrics.h"
#include "fleet/prometheus/labels.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::ingest {
namespace {

namespace prom = fleet::prometheus;

constexpr std::size_t kHostsAtOnce = 200;  // In one matcher.
constexpr Nanos kUsualStep = std::chrono::seconds(30);
constexpr double kManySeries = 1000;  // If the server does not say how many.

Result<std::string> secret(const std::string& env, const std::string& file, std::string_view what) {
  if (!env.empty()) {
    const std::string value = os::env_or(env.c_str(), "");
    if (value.empty()) return bad_input(fmt::format("{}: the variable {} is not set", what, env));
    return value;
  }
  const std::string text = TRY(os::read_file(file).in(what));
  return std::string(trim(text));
}

class Prober {
 public:
  Prober(const PrometheusAsk& ask, const os::HttpRequest& plain, os::Clock& clock,
         const os::Stop& stop)
      : ask_{ask}, plain_{plain}, clock_{clock}, stop_{stop} {}

  Result<std::vector<std::string>> values(const prom::Request& request) {
    const std::string text = TRY(body(request));
    return prom::read_values(text);
  }
  Result<prom::Peak> peak(const prom::Request& request) {
    const std::string text = TRY(body(request));
    const std::optional<prom::Peak> found = TRY(prom::read_peak(text));
    return found.value_or(prom::Peak{});
  }
  Result<prom::Labels> labels(const prom::Request& request) {
    const std::string text = TRY(body(request));
    return prom::read_labels(text);
  }
  Result<Nanos> distance(const prom::Request& request) {
    const std::string text = TRY(body(request));
    return prom::read_distance(text);
  }
  Result<prom::Presence> presence(const prom::Request& request, std::string_view label) {
    const std::string text = TRY(body(request));
    return prom::read_presence(text, label);
  }

 private:
  Result<std::string> body(const prom::Request& asked) {
    os::HttpRequest request = plain_;
    request.url += asked.path;
    request.post = asked.post;
    if (asked.post) {
      request.form = prom::encode_form(asked);
    } else {
      request.url += "?" + prom::encode_form(asked);
    }
    const auto answer = os::ask_with_retries(*http_, clock_, request, ask_.patience, stop_);
    if (!answer) return answer.error();
    if (answer->status == 200) {
      if (trim(answer->body).starts_with('{')) return answer->body;
      return external(fmt::format(
          "answered '{}', which is not JSON: a login page, or another "
          "program? Pass --token-env NAME to authenticate, or add the missing path prefix",
          clip(trim(answer->body), 40)));
    }
    if (answer->status >= 300 && answer->status < 400) return external(sent_elsewhere(*answer));
    const std::string said = prom::read_error(answer->body);
    if (answer->status == 401 || answer->status == 403) {
      return external(
          fmt::format("HTTP status {}: authentication required: pass --token-env NAME, "
                      "--token-file FILE, or --user NAME and --password-env NAME",
                      answer->status));
    }
    if (answer->status == 404) {
      return external(
          "HTTP status 404: no Prometheus API at this address; is a path prefix missing?");
    }
    return external(fmt::format("HTTP status {}{}{}", answer->status, said.empty() ? "" : ": ",
                                clip(said, 200)));
  }

  const PrometheusAsk& ask_;
  const os::HttpRequest& plain_;
  os::Clock& clock_;
  const os::Stop& stop_;
  std::unique_ptr<os::Http> http_ = os::make_http();
};

// Turns the metrics that the server has into what to ask for.
class Chooser {
 public:
  Chooser(const PrometheusAsk& ask, Prober& prober) : ask_{ask}, prober_{prober} {}

  Result<std::vector<prom::Selection>> choose(const std::vector<std::string>& present) {
    present_ = {present.begin(), present.end()};
    if (!ask_.source.metric.empty()) {
      TRY(whole(ask_.source.metric));
      return std::move(chosen_);
    }
    std::string_view exporter;
    for (const prom::Metric& metric : prom::metrics()) {
      if (!present_.contains(metric.name)) continue;
      if (metric.exporter != exporter) {
        exporter = metric.exporter;
        covered_.clear();
        TRY(whole(metric.name));
      } else {
        TRY(rest(metric));
      }
      if (lesser_follows(metric)) TRY(cover(metric));
    }
    for (const fleet::BesideMetric& metric : fleet::beside_metrics()) {
      if (present_.contains(metric.name)) TRY(whole(metric.name));
    }
    return std::move(chosen_);
  }

 private:
  bool lesser_follows(const prom::Metric& metric) const {
    return std::ranges::any_of(prom::metrics(), [&](const prom::Metric& other) {
      return other.exporter == metric.exporter && &other > &metric && present_.contains(other.name);
    });
  }

  Result<std::vector<std::string>> hosts_of(const prom::Metric& metric) {
    return prober_.values(prom::ask_label(ask_.window, metric.name, metric.host));
  }

  // At how many times each host had this metric, or a better one.
  Result<prom::Presence> presence_of(const prom::Metric& metric) {
    return prober_.presence(prom::ask_presence(ask_.window, metric.name, metric.host), metric.host);
  }

  Result<> cover(const prom::Metric& metric) {
    for (const std::string& host : TRY(hosts_of(metric))) covered_.try_emplace(host);
    for (const auto& [host, times] : TRY(presence_of(metric))) {
      covered_[host] = std::max(covered_[host], times);
    }
    return Ok{};
  }

  // The time between scrapes as one series shows it; without two samples, as the count does.
  Result<Nanos> step_of(std::string_view metric) {
    const prom::Peak hourly = TRY(prober_.peak(prom::ask_cadence(ask_.window, metric)));
    if (hourly.value <= 0) return kUsualStep;
    const auto labels = TRY(prober_.labels(prom::ask_busiest(hourly.at, metric)));
    const Nanos apart = labels.empty()
                            ? Nanos{}
                            : TRY(prober_.distance(prom::ask_hour_of(hourly.at, metric, labels)));
    return prom::cadence_of(apart > Nanos{} ? 3600 / to_seconds(apart) : hourly.value);
  }

  Result<prom::Selection> selection(std::string_view metric) {
    prom::Selection made;
    made.metric = metric;
    made.step = ask_.source.step;
    // A server that refuses these may answer smaller questions.
    if (made.step == Nanos{}) {
      const auto step = step_of(metric);
      made.step = step ? *step : kUsualStep;
    }
    const auto series = prober_.peak(prom::ask_series_count(ask_.window, metric));
    made.series = series ? series->value : kManySeries;
    return made;
  }

  Result<> whole(std::string_view metric) {
    prom::Selection made = TRY(selection(metric));
    made.expression = prom::expression_of(metric, "", made.step);
    made.says = metric;
    if (metric == "nvidia_gpu_duty_cycle" && present_.contains(prom::kJobByValue)) {
      // Nodes are not all given the exporter with the label at once.
      const auto labels = TRY(prober_.values(prom::ask_label(ask_.window, metric, "jobid")));
      const std::string_view unlabelled = labels.empty() ? "" : "jobid=\"\"";
      if (!labels.empty()) {
        prom::Selection labelled = made;
        labelled.expression = prom::expression_of(metric, "jobid!=\"\"", made.step);
        chosen_.push_back(std::move(labelled));
      }
      made.expression = prom::expression_with_job_values(metric, unlabelled, made.step);
      made.says = fmt::format("{}{}, its jobs from the values of {}", metric,
                              labels.empty() ? "" : " without a label", prom::kJobByValue);
    }
    chosen_.push_back(std::move(made));
    return Ok{};
  }

  Result<> rest(const prom::Metric& metric) {
    const prom::Presence presence = TRY(presence_of(metric));
    std::vector<std::string> hosts;
    for (std::string& host : TRY(hosts_of(metric))) {
      const auto better = covered_.find(host);
      const auto here = presence.find(host);
      const std::size_t times = here == presence.end() ? 0 : here->second;
      if (better == covered_.end() || better->second < times) hosts.push_back(std::move(host));
    }
    if (hosts.empty()) return Ok{};
    const prom::Selection made = TRY(selection(metric.name));
    for (std::size_t at = 0; at < hosts.size(); at += kHostsAtOnce) {
      const auto some = std::span(hosts).subspan(at, std::min(kHostsAtOnce, hosts.size() - at));
      prom::Selection part = made;
      const std::string matcher = prom::matcher_of(metric.host, some);
      part.expression = prom::expression_of(metric.name, matcher, made.step);
      part.says = fmt::format("{} of {} hosts that have nothing better all the time", metric.name,
                              some.size());
      chosen_.push_back(std::move(part));
    }
    return Ok{};
  }

  const PrometheusAsk& ask_;
  Prober& prober_;
  std::set<std::string, std::less<>> present_;
  prom::Presence covered_;  // By metrics already chosen.
  std::vector<prom::Selection> chosen_;
};

Result<std::string> header_of(const std::string& typed) {
  const auto dollar = typed.find(": $");
  if (dollar == typed.npos) return typed;
  const std::string value = TRY(secret(typed.substr(dollar + 3), "", "--header"));
  return typed.substr(0, dollar + 2) + value;
}

}  // namespace

std::string sent_elsewhere(const os::HttpAnswer& answer) {
  return fmt::format(
      "HTTP status {}: redirected to {}; if that is the right server, use that address",
      answer.status, answer.location.empty() ? "nowhere" : os::shown_address(answer.location));
}

Result<os::HttpRequest> request_to(const Origin& source) {
  os::HttpRequest request;
  request.url = source.where;
  while (request.url.ends_with('/')) request.url.pop_back();
  request.post = true;
  request.limit = from_seconds(source.limit_s);
  request.most_bytes = std::size_t{64} << 20;  // Ten times the size of one request.
  if (!source.token_env.empty() || !source.token_file.empty()) {
    const std::string token = TRY(secret(source.token_env, source.token_file, "the token"));
    request.headers.push_back("Authorization: Bearer " + token);
  }
  if (!source.user.empty()) {
    if (source.password_env.empty() && source.password_file.empty()) {
      return bad_input("a user name needs a password: --password-env NAME or --password-file FILE");
    }
    request.user = source.user;
    request.password = TRY(secret(source.password_env, source.password_file, "the password"));
  }
  for (const std::string& header : source.headers) {
    if (header.find(": ") == header.npos) {
      return bad_input(fmt::format("--header: expected 'Name: value', not '{}'", clip(header, 40)));
    }
    request.headers.push_back(TRY(header_of(header)));
  }
  return request;
}

Result<std::vector<prom::Selection>> select_metrics(const PrometheusAsk& ask,
                                                    const os::HttpRequest& plain, os::Clock& clock,
                                                    const os::Stop& stop) {
  std::vector<std::string> wanted;
  for (const prom::Metric& metric : prom::metrics()) wanted.emplace_back(metric.name);
  if (!ask.source.metric.empty()) wanted = {ask.source.metric};
  Prober prober(ask, plain, clock, stop);
  std::vector<std::string> asked = wanted;
  asked.emplace_back(prom::kJobByValue);
  for (const fleet::BesideMetric& metric : fleet::beside_metrics()) {
    const bool is_here = ask.source.metric.empty() && metric.name.find('.') == metric.name.npos;
    if (is_here) asked.emplace_back(metric.name);
  }
  const auto present = TRY(prober.values(prom::ask_metrics(ask.window, asked)));
  const auto has = [&](const std::string& name) {
    return std::ranges::find(present, name) != present.end();
  };
  if (std::ranges::none_of(wanted, has)) {
    return Error{
        Error::Kind::kNotFound,
        fmt::format("from {} to {} there is no series of {}; choose another metric with "
                    "--metric, or another time range with --from and --to",
                    show_utc(ask.window.from), show_utc(ask.window.to), join(wanted, ", "))};
  }
  return Chooser(ask, prober).choose(present);
}

std::string show_utc(Nanos unix_time) {
  const auto time = static_cast<std::time_t>(to_seconds(unix_time));
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(time));
}

}  // namespace amdahl::ingest
