// story.h: a job as bhist -l and bjobs -l tell it: what it is, then what happened when.
#pragma once

#include <string>
#include <string_view>

#include "fleet/intake.h"
#include "fleet/times.h"

namespace amdahl::fleet::lsf {

// Takes the lines of one job after another. LSF wraps lines anywhere, also within words, and drops
// the space at the cut. So texts are compared without spaces.
class Stories {
 public:
  // `now`: older versions print times without a year. The year is the last one before `now` in
  // which the weekday fits.
  Stories(Intake& intake, Zone zone, Nanos now);

  void take(std::string_view line, Where where);
  void finish();  // The last job.

 private:
  struct Told {
    std::string about;  // "Job<12>,JobName<train>,User<ada>,...".
    std::string submitted;
    std::string started;
    std::string ended;
    Nanos submit{};
    Nanos start{};
    Nanos end{};
    Where where{};
  };

  void end_event();
  void tell();
  Nanos time_of(std::string_view text) const;

  Intake& intake_;
  Zone zone_;
  Nanos now_;
  TimeFormat with_year_;
  Told job_;
  std::string event_;  // Being read: its text without spaces.
  Nanos at_{};         // Of the event; 0: what stands before the first.
  bool in_job_ = false;
  bool in_event_ = false;
};

bool is_story(std::string_view line);  // "Job <12>, ...".

}  // namespace amdahl::fleet::lsf
