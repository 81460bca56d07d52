// job.h: converts one Slurm accounting record into a job.
#pragma once

#include <optional>
#include <string_view>

#include "fleet/intake.h"
#include "fleet/slurm/tres.h"
#include "fleet/times.h"

namespace amdahl::fleet::slurm {

// Named as in sacct; empty: missing.
struct JobFields {
  std::string_view id;   // JobID.
  std::string_view raw;  // JobIDRaw.
  std::string_view cluster;
  std::string_view name;
  std::string_view user;
  std::string_view account;
  std::string_view partition;
  std::string_view state;
  std::string_view submit;
  std::string_view start;
  std::string_view end;
  std::string_view elapsed_raw;
  std::string_view elapsed;
  std::string_view limit_raw;  // TimelimitRaw: minutes.
  std::string_view limit;      // Timelimit: "1-00:00:00".
  std::string_view nodes;      // How many: NNodes, AllocNodes.
  std::string_view node_list;
  std::string_view alloc_tres;
  std::string_view req_tres;
  std::string_view alloc_gres;
  std::string_view req_gres;
  std::string_view script;         // SubmitLine.
  std::string_view exit_code;      // ExitCode: "1:0", or "0:9" for a signal.
  std::string_view admin_comment;  // May contain a jobstats summary.
};

// "CANCELLED by 1000", "COMPLETED", "TO"; kOther if unknown.
model::JobState state_of(std::string_view word);

// Passes records to an Intake. Steps are counted and skipped; times in the hour that daylight
// saving repeats are resolved by the elapsed time; unreadable records are troubles with their
// position.
class Jobs {
 public:
  // `zone_is_known`: times without an offset are in `zone`. Otherwise a difference of one hour
  // between End - Start and the elapsed time is attributed to daylight saving.
  Jobs(Intake& intake, Zone zone, bool zone_is_known)
      : intake_{intake}, zone_{std::move(zone)}, zone_is_known_{zone_is_known} {}

  void take(const JobFields& words, Where where);

 private:
  struct Times {
    Nanos submit{};
    Nanos start{};
    Nanos end{};
    Nanos elapsed{-1};
  };
  std::optional<Times> times_of(const JobFields& words, Where where);
  void settle(Instant start, Instant end, Times& times, Where where);
  void check_elapsed(Nanos missing, Times& times, Where where);
  void end_runaway(const JobFields& words, model::JobDraft& job, Where where);
  void add_places(const JobFields& words);

  Intake& intake_;
  Zone zone_;
  bool zone_is_known_;
  TresMemory tres_;
};

}  // namespace amdahl::fleet::slurm
