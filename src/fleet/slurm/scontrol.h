// scontrol.h: reads Slurm's records of nodes and of jobs, with the devices of running ones.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"
#include "fleet/slurm/job.h"
#include "fleet/times.h"

namespace amdahl::fleet::slurm {

// Whether this line starts a record of `scontrol show nodes` or `scontrol show job`.
bool is_node_record(std::string_view line);
bool is_job_record(std::string_view line);
// Whether it is the header of `sacctmgr -P show event format=NodeName,TimeStart,...`.
bool is_event_header(std::string_view line);

// Records of several lines (or one each, with -o). Nodes give capacity and, if down, since when
// (from the reason). Jobs give their times, or only their devices if those are listed (-d) or if
// each job is one line: so they are asked for beside sacct, which has the times.
class Scontrol {
 public:
  Scontrol(Intake& intake, Jobs& jobs, Zone zone, Nanos now)
      : intake_{intake}, jobs_{jobs}, zone_{std::move(zone)}, now_{now} {}

  void line(std::string_view line, Where where);
  void finish();

 private:
  void begin(Where where);
  void node();
  void job();
  void job_line(std::string_view line);

  Intake& intake_;
  Jobs& jobs_;
  Zone zone_;
  Nanos now_;
  std::string node_;  // The node record so far.
  Where node_where_;
  std::string job_;         // Id of the current job.
  std::string job_record_;  // Its record so far.
  Where job_where_;
};

// Node events: when a node was down or drained, and its devices.
class Events {
 public:
  Events(Intake& intake, Zone zone, Nanos now)
      : intake_{intake}, zone_{std::move(zone)}, now_{now} {}

  void line(std::string_view line, Where where);

 private:
  Intake& intake_;
  Zone zone_;
  Nanos now_;
  bool has_header_ = false;
  int node_ = -1;
  int from_ = -1;
  int to_ = -1;
  int state_ = -1;
  int tres_ = -1;
};

// Whether this line is the header of `sinfo -N -o '%N|%R|%G'`, in any order, possibly with more
// columns, or of `sinfo -o '%N %G'` or `'%n %G %t'`.
bool is_sinfo_header(std::string_view line);

// Capacity, one line per node and partition; a node in several partitions counts in its first.
// With '%T|%H' also what is down, since the reason was set.
class Sinfo {
 public:
  Sinfo(Intake& intake, Zone zone, Nanos now)
      : intake_{intake}, zone_{std::move(zone)}, now_{now} {}

  void line(std::string_view line, Where where);

 private:
  struct Told {
    std::string_view partition;
    std::string_view gres;
    std::string_view state;
    std::string_view timestamp;
    Where where;
  };
  void tell(std::string_view host, const Told& told);

  Intake& intake_;
  Zone zone_;
  Nanos now_;
  std::vector<std::string> columns_;
  std::set<std::string, std::less<>> seen_;
};

// "DOWN*", "IDLE+DRAIN", "drained": no job can start there.
bool is_down(std::string_view state);

}  // namespace amdahl::fleet::slurm
