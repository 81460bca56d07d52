#include "scan/assumptions.h"

#include <string>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "scan/finish.h"

namespace amdahl::scan {
namespace {

using model::Trouble;

// Records that were passed over or bent; how much time hangs on them is not known.
struct Odd {
  Trouble trouble;
  bool of_samples;   // Else of jobs.
  bool always;       // However few: one alone may be longer than all others.
  const char* says;  // Behind their number.
};
constexpr Odd kOdd[] = {
    {Trouble::kNoStart, false, false, "have an end but no start, and are not counted"},
    {Trouble::kTwoZones, false, false,
     "appear twice with all times shifted by the same hours; the first one counts"},
    {Trouble::kOddElapsed, false, false,
     "have an elapsed time that does not match start and end: the shorter of the two counts"},
    {Trouble::kAmbiguousTime, false, false,
     "have a local time that daylight saving makes ambiguous: the elapsed time decided where it "
     "could"},
    {Trouble::kRunaway, false, true, "run long past their time limit: counted up to the limit"},
    {Trouble::kFarSample, true, true,
     "are far from all others in time (clock not set), and were not used"},
    {Trouble::kSkew, true, false, "name a job but lie outside of its times, and were not used"},
    {Trouble::kUnknownJob, true, false,
     "name a job that the accounting does not list, and were not used"},
    {Trouble::kOutOfRange, true, false, "are below 0 or above 100 %, and were not used"},
    {Trouble::kUnordered, true, false, "are out of order in time, and were not used"},
    {Trouble::kUnknownDevice, true, false,
     "are of accelerators known by a UUID alone, and were not used"},
};

std::string hours_text(double accelerator_seconds) {
  return show_amount(accelerator_seconds / 3600) + " h";
}

std::string jobs(std::uint64_t count) { return counted(static_cast<std::int64_t>(count), "job"); }

std::string minute(Nanos at) {
  return fmt::format("{:%F %H:%M}", fmt::gmtime(at / std::chrono::seconds{1}));
}

struct TroubleSum {
  std::uint64_t jobs = 0;
  double seconds = 0;

  void add(double more) {
    ++jobs;
    seconds += more;
  }
};

}  // namespace

std::optional<Assumption> left_out_by(const FleetUsage& usage) {
  const double all = usage.unclipped;
  const double outside = all - total_of(usage.jobs).allocated;
  if (!(outside > kWorthAWord * all)) return std::nullopt;
  return Assumption{
      "window",
      fmt::format("{} of {} accelerator-hours of the jobs lie outside the window, which is that of "
                  "the samples; --from and --to set it",
                  show_amount(outside / 3600), show_amount(all / 3600)),
      0, outside / all};
}

void Finisher::assume(Trouble trouble, std::string says, double share, std::uint64_t records) {
  usage_.assumptions.push_back({std::string(name(trouble)), std::move(says), records, share});
}

void Finisher::tell_assumptions() {
  const JobRows& rows = accumulator_.jobs_.rows();
  double all = 0;
  TroubleSum derived;
  TroubleSum open;
  TroubleSum beyond;  // What running jobs may have held after their records were written.
  Nanos last{};
  for (JobIndex job = 0; job < rows.size() && !stop_(job); ++job) {
    const double seconds = rows.split(job).allocated;
    all += seconds;
    if (seconds > 0 && accumulator_.assumed_.contains(job)) derived.add(seconds);
    if (seconds > 0 && rows.open(job)) open.add(seconds);
    if (!rows.running(job) || rows.open(job)) continue;
    last = std::max(last, rows.end(job));
    const double rest = to_seconds(allocated(rows.end(job), window().end));
    if (rest > 0) beyond.add(rest * static_cast<double>(rows.accelerators(job)));
  }
  const auto is_worth = [&](double seconds) { return seconds > kWorthAWord * all; };
  if (is_worth(derived.seconds)) {
    assume(Trouble::kDerivedStart,
           fmt::format("no start is given for {} ({}): assumed end minus elapsed time, or "
                       "else the submit time",
                       jobs(derived.jobs), hours_text(derived.seconds)),
           derived.seconds / all, derived.jobs);
  }
  if (is_worth(open.seconds)) {
    assume(Trouble::kRunning,
           fmt::format("neither an end nor an elapsed time is given for {} ({}): assumed to run to "
                       "the end of the window",
                       jobs(open.jobs), hours_text(open.seconds)),
           open.seconds / all, open.jobs);
  }
  if (is_worth(beyond.seconds)) {
    assume(
        Trouble::kRunning,
        fmt::format("{} ran when the accounting was written, {} UTC at the latest: counted up to "
                    "then; to the end of the window it would be {} more",
                    jobs(beyond.jobs), minute(last), hours_text(beyond.seconds)),
        all > 0 ? beyond.seconds / all : 1, beyond.jobs);
  }
  for (const Odd& odd : kOdd) {
    const std::uint64_t count = accumulator_.counts_[static_cast<std::size_t>(odd.trouble)];
    const bool is_dropped = odd.trouble == Trouble::kNoStart;
    const std::uint64_t of =
        odd.of_samples ? accumulator_.samples_ : rows.size() + (is_dropped ? count : 0);
    const double share = of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0;
    if (count == 0 || (!odd.always && share <= kWorthAWord)) continue;
    const std::string_view what = odd.of_samples ? "samples" : "records of jobs";
    assume(odd.trouble, fmt::format("{} of {} {} {}", count, of, what, odd.says), share, count);
  }
  assume_unread();
}

// Inputs with jobs and inputs without are judged separately: if half of a file of jobs cannot be
// read, that is only a few lines beside millions of samples.
void Finisher::assume_unread() {
  struct Unread {
    std::string_view what;
    std::uint64_t bad = 0;
    std::uint64_t all = 0;
  };
  Unread of_jobs{"records of jobs"};
  Unread others{"samples", 0, accumulator_.samples_};
  for (const UsageAccumulator::Input& input : accumulator_.told_by_) {
    Unread& part = input.jobs > 0 ? of_jobs : others;
    part.bad += input.bad;
    part.all += input.jobs + input.bad;
  }
  for (const Unread& part : {of_jobs, others}) {
    const double share =
        part.all > 0 ? static_cast<double>(part.bad) / static_cast<double>(part.all) : 0;
    if (share <= kWorthAWord) continue;
    assume(Trouble::kBadLine,
           fmt::format("{} of {} {} cannot be read, or have times that contradict each other, and "
                       "are not counted",
                       part.bad, part.all, part.what),
           share, part.bad);
  }
}

}  // namespace amdahl::scan
