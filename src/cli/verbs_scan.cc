#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/fleet.h"
#include "app/door.h"
#include "app/kept_scans.h"
#include "app/own_waste.h"
#include "app/pages.h"
#include "app/parse_time.h"
#include "app/scan.h"
#include "base/amount.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/outputs.h"
#include "cli/show.h"
#include "cli/show_scan.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

constexpr int kMostThreads = 256;
constexpr int kIncomplete = 3;  // As for what failed: part of the input is missing.

Result<std::vector<ingest::Origin>> sources_from(const ScanFlags& flags) {
  std::vector<ingest::Origin> sources;
  for (const std::string& path : flags.words) sources.push_back({.where = path});
  for (const std::string& typed : flags.sources)
    sources.push_back(TRY(ingest::parse_origin(typed)));
  Nanos step{};
  if (!flags.step.empty()) step = TRY(app::parse_length(flags.step, "--step"));
  for (ingest::Origin& source : sources) {
    source.token_env = flags.token_env;
    source.token_file = flags.token_file;
    source.user = flags.user;
    source.password_env = flags.password_env;
    source.password_file = flags.password_file;
    source.headers = flags.headers;
    source.metric = flags.metric;
    source.step = step;
    source.fields = flags.fields;
    source.map = flags.map;
    source.time_zone = flags.time_zone;
    source.host = flags.host;
  }
  return sources;
}

Result<scan::By> cut_from(const ScanFlags& flags) {
  if (flags.by.empty()) return scan::By::kFamily;
  if (const auto by = scan::cut_named(flags.by)) return *by;
  std::vector<std::string> names;
  for (const scan::By by : scan::kCuts) names.emplace_back(scan::name(by));
  return bad_input(fmt::format("--by must be one of {}, not '{}'", join(names, ", "), flags.by));
}

Result<Nanos> trend_from(const std::string& every) {
  if (every == "hour") return Nanos{std::chrono::hours{1}};
  if (every == "day") return Nanos{std::chrono::hours{24}};
  if (every == "week") return Nanos{std::chrono::hours{7 * 24}};
  return app::parse_length(every, "--trend");
}

Result<> check_numbers(const ScanFlags& flags) {
  if (flags.is_given("--idle") && !(flags.idle >= 0 && flags.idle <= 1)) {
    return bad_input(fmt::format("--idle must be a utilisation from 0 to 1, not {}", flags.idle));
  }
  if (flags.is_given("--price") && !(flags.price >= 0 && std::isfinite(flags.price))) {
    return bad_input(fmt::format("--price must be USD of at least 0, not {}", flags.price));
  }
  if (flags.is_given("--threads") && (flags.threads < 1 || flags.threads > kMostThreads)) {
    return bad_input(
        fmt::format("--threads must be from 1 to {}, not {}", kMostThreads, flags.threads));
  }
  if (flags.top < 0) return bad_input("--top must be at least 0; 0 shows all");
  if (flags.csv && flags.json) return bad_input("--csv or --json: choose one of them");
  return Ok{};
}

// What reads these inputs again, as a shell takes it.
std::string command_of(const ScanFlags& flags) {
  std::vector<std::string> words = {"amdahl", "scan"};
  words.insert(words.end(), flags.words.begin(), flags.words.end());
  for (const std::string& source : flags.sources) words.insert(words.end(), {"--source", source});
  return shell_quote(words);
}

Result<app::ScanOptions> options_from(const ScanFlags& flags) {
  app::ScanOptions options;
  options.read.origins = TRY(sources_from(flags));
  const Nanos now = app::unix_now();
  if (!flags.from.empty()) options.read.from = TRY(app::parse_when(flags.from, "--from", now));
  if (!flags.to.empty()) options.read.to = TRY(app::parse_when(flags.to, "--to", now));
  if (!flags.window.empty()) options.read.window = TRY(app::parse_length(flags.window, "--window"));
  if (options.read.from && options.read.to && *options.read.from >= *options.read.to) {
    return bad_input("--from must be before --to");
  }
  TRY(check_numbers(flags));
  if (flags.is_given("--idle")) options.idle_below = flags.idle;
  options.report.rows = static_cast<std::size_t>(flags.top);
  if (flags.price >= 0) options.price = flags.price;
  if (!flags.order.empty()) {
    const auto order = scan::order_named(flags.order);
    if (!order) {
      return bad_input(fmt::format(
          "--order must be recoverable, wasted, allocated, lost or queue, not '{}'", flags.order));
    }
    options.report.order = *order;
  }
  if (!flags.policy.empty()) options.report.idle_timeout = TRY(scan::parse_policy(flags.policy));
  if (flags.chargeback) options.report.rows = 0;
  options.report.scan = command_of(flags);
  if (!flags.trend.empty()) options.report.trend_every = TRY(trend_from(flags.trend));
  options.read.threads = flags.threads;
  options.read.fresh = flags.fresh;
  if (!flags.job.empty()) options.read.timelines_of = {flags.job};
  options.read.stop = interrupted;
  return options;
}

// Bytes, rate and time left on stderr; only on a terminal, or on request.
class Meter {
 public:
  explicit Meter(const ScanFlags& flags)
      : line_{flags}, on_{flags.progress || ::isatty(STDERR_FILENO) == 1} {}

  void show(const ingest::Progress& now) {
    if (!on_) return;
    const double at = to_seconds(app::monotonic_now());
    if (now.what != what_) {
      what_ = now.what;
      began_ = at;
      first_ = now.done;
    }
    const double rate = at > began_ ? static_cast<double>(now.done - first_) / (at - began_) : 0;
    std::string text = fmt::format("{}: ", now.what);
    text += now.pieces ? fmt::format("{} of {} pieces", now.done, now.total)
                       : fmt::format("{:.0f} of {:.0f} MB, {:.0f} MB/s",
                                     static_cast<double>(now.done) / 1e6,
                                     static_cast<double>(now.total) / 1e6, rate / 1e6);
    if (rate > 0 && now.total > now.done) {
      text += fmt::format(
          ", {} left",
          show_duration(from_seconds(static_cast<double>(now.total - now.done) / rate)));
    }
    line_.show(text);
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  bool on_;
  std::string what_;
  double began_ = 0;
  std::uint64_t first_ = 0;
};

int nothing_yet(const ScanFlags& flags) {
  if (flags.json) {
    print_json(api::empty_fleet());
    return 0;
  }
  print("No jobs have been observed yet. Run one: amdahl run -- CMD\n");
  return 1;
}

// Texts to users and rules for Prometheus, where they were asked for.
Result<> write_others(const ScanFlags& flags, const app::FleetAnswer& answer) {
  if (!flags.alerts.empty()) TRY(app::write_alerts(answer, flags.alerts).in("--alerts"));
  if (flags.mail.empty()) return Ok{};
  const std::size_t mails =
      TRY(app::write_mails(answer, flags.mail, command_of(flags)).in("--mail"));
  fmt::print(stderr, "amdahl: {} written to {}\n",
             counted(static_cast<std::int64_t>(mails), "mail"), flags.mail);
  return Ok{};
}

// The first few; a folder may hold hundreds of other things.
void say_left_out(const app::FleetAnswer& answer) {
  constexpr std::size_t kShown = 5;
  std::size_t count = 0;
  for (const ingest::InputRead& input : answer.inputs) {
    if (input.left_out.empty() || ++count > kShown) continue;
    fmt::print(stderr, "amdahl: left out {}\n", input.left_out);
  }
  if (count <= kShown) return;
  fmt::print(stderr, "amdahl: left out {} more; see --explain-input\n", count - kShown);
}

// What did not answer, where there are no jobs to show.
std::string missing_first(const Flags& flags, const app::FleetAnswer& answer) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, answer.missing.size()); ++i) {
    text += red(flags, "Missing: " + plain(answer.missing[i])) + "\n";
  }
  if (answer.missing.size() > kShown) {
    text += fmt::format("and {} more; all of them: --json\n", answer.missing.size() - kShown);
  }
  return text;
}

// Notes that do not fit the table go to stderr.
void say_beside(const app::FleetAnswer& answer) {
  for (const std::string& what : answer.missing) fmt::print(stderr, "amdahl: missing: {}\n", what);
  if (const std::string counted = counted_words(answer); !counted.empty()) {
    fmt::print(stderr, "amdahl: skipped or adjusted input: {}; see --explain-input\n", counted);
  }
}

Result<int> draw_job(const ScanFlags& flags, const app::FleetAnswer& answer) {
  const scan::Anatomy anatomy = TRY(app::anatomy_in(answer, flags.job));
  if (flags.json) {
    print_json(api::anatomy(anatomy));
  } else {
    print(app::draw(
        anatomy,
        {.width = terminal_width(flags), .colour = use_colour(flags), .ascii = flags.ascii}));
  }
  return 0;
}

// The jobs of one user or account: what they waste, and what helps.
Result<int> show_own(const ScanFlags& flags, const app::FleetAnswer& answer, scan::By by) {
  constexpr std::size_t kOwnRows = 20;  // As the server shows.
  const scan::By whose = by == scan::By::kAccount ? by : scan::By::kUser;
  const app::OwnWaste own = TRY(app::own_waste(answer, whose, flags.of, kOwnRows));
  if (!flags.html.empty()) TRY(write_page(flags, app::own_page_of(answer, whose, flags.of)));
  if (flags.json) {
    print_json(api::own_waste(own, answer));
    return 0;
  }
  print(fmt::format(
      "{} {}: {} held {}; {} of that was idle or used little, {} went into jobs that "
      "failed\n\n",
      scan::name(whose), own.name, counted(static_cast<std::int64_t>(own.jobs), "job"),
      show_hours(scan::in_hours(own.split.allocated)),
      show_hours(scan::in_hours(scan::wasted(own.split))), show_hours(scan::in_hours(own.lost))));
  std::vector<std::vector<std::string>> rows;
  for (const app::OwnJob& job : own.worst) {
    rows.push_back({job.id, job.family, show_hours(scan::in_hours(job.split.allocated)),
                    show_hours(scan::in_hours(scan::wasted(job.split))),
                    job.part.empty() ? "–" : fmt::format("{}: {}", job.part, job.action)});
  }
  print(table({"job", "family", "held", "wasted", "mostly"}, rows));
  return 0;
}

Result<int> show_kept(const ScanFlags& flags, const app::Config& config) {
  const std::vector<app::KeptMonth> months = app::kept_months(TRY(app::kept_scans(config)));
  if (flags.json) {
    print_json(api::kept_months(months));
    return 0;
  }
  if (months.empty()) {
    print("No scan was kept yet. Keep one a week or a month: amdahl scan … --keep\n");
    return 1;
  }
  print(show_kept_months(months));
  return 0;
}

}  // namespace

Result<int> do_scan(const ScanFlags& flags) {
  const app::Config config = TRY(config_for(flags));
  if (flags.trend == "months") return show_kept(flags, config);
  const scan::By by = TRY(cut_from(flags));
  app::ScanOptions options = TRY(options_from(flags));
  catch_interrupts();
  Meter meter(flags);
  options.read.progress = [&](const ingest::Progress& now) { meter.show(now); };
  auto done = app::scan_fleet(config, options);
  meter.clear();
  if (interrupted()) {
    fmt::print(stderr, "amdahl: interrupted; run the same command again to resume\n");
    return interrupt_code();
  }
  if (!done && done.error().kind == Error::Kind::kNotFound && options.read.origins.empty()) {
    return nothing_yet(flags);
  }
  const app::FleetAnswer answer = TRY(std::move(done));
  if (!flags.explain_input && !flags.json) say_left_out(answer);
  if (!flags.html.empty() && flags.of.empty()) {
    TRY(write_page(flags, app::page_of(answer, by, options.report.order)));
  }
  if (flags.keep) TRY(app::keep_scan(config, answer));
  TRY(write_others(flags, answer));
  if (!flags.job.empty()) return draw_job(flags, answer);
  if (!flags.of.empty()) return show_own(flags, answer, by);
  if (flags.json) {
    print_json(api::fleet(answer, by));
  } else if (flags.chargeback) {
    say_beside(answer);
    print(chargeback_csv(answer.report));
  } else if (!flags.policy.empty() && !answer.usage.jobs.empty()) {
    print(show_policy(flags, answer));
  } else if (flags.csv) {
    say_beside(answer);
    print(flags.trend.empty() ? fleet_csv(answer, by) : trend_csv(answer));
  } else if (flags.explain_input) {
    print(explain_inputs(flags, answer));
  } else if (answer.usage.jobs.empty() && answer.usage.window.start >= answer.usage.window.end &&
             !answer.usage.capacities.empty()) {
    print(missing_first(flags, answer) + inventory_text(answer));
    return answer.missing.empty() ? 1 : kIncomplete;
  } else if (answer.usage.jobs.empty() && answer.usage.outside == 0 &&
             answer.report.capacity.total) {
    print(missing_first(flags, answer) + show_capacity(flags, answer));
  } else if (answer.usage.jobs.empty()) {
    print(missing_first(flags, answer) + explain_inputs(flags, answer) + "\n" +
          no_jobs_text(answer));
    return answer.missing.empty() ? 1 : kIncomplete;
  } else {
    print(show_fleet(flags, answer, by));
  }
  return answer.missing.empty() ? 0 : kIncomplete;
}

}  // namespace amdahl::cli
