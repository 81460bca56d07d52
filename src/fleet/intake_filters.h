// intake_filters.h: intakes that modify records and pass them on.
#pragma once

#include "fleet/device_names.h"
#include "fleet/intake.h"

namespace amdahl::fleet {

class PassOn : public Intake {
 public:
  explicit PassOn(Intake& next) : next_{next} {}

  SeriesId series(const model::SeriesKey& key) override { return next_.series(key); }
  void tell(const Record& record) override { next_.tell(record); }

 protected:
  Intake& next_;
};

// Converts positions within a part of an input to positions in the whole. `Change` maps a Where to
// a Where.
template <class Change>
class Placed final : public PassOn {
 public:
  Placed(Intake& next, Change change) : PassOn(next), change_{change} {}

  void tell(const Record& record) override {
    if (const auto* job = std::get_if<Job>(&record)) {
      next_.job(job->draft, change_(job->where));
    } else if (const auto* complaint = std::get_if<Complaint>(&record)) {
      next_.trouble(complaint->trouble, change_(complaint->where), complaint->text);
    } else {
      next_.tell(record);
    }
  }

 private:
  Change change_;
};

// For a reader that got the header and then a later part of its input: its second line is line
// `lines` + 1 of the whole, and so on.
inline auto shifted(Intake& next, std::uint64_t lines) {
  return Placed(next, [lines](Where where) -> Where {
    return {where.line == 0 ? 0 : where.line + lines, where.byte};
  });
}

// For inputs that are read twice, jobs first, then samples: jobs of the last input may name
// devices that samples of the first one use.
class JobsOnly final : public PassOn {
 public:
  using PassOn::PassOn;

  // A series key with two names of an accelerator tells who uses the second name.
  SeriesId series(const model::SeriesKey& key) override {
    if (!key.uuid.empty() && !key.accelerator.empty() && !is_device_name(key.accelerator)) {
      next_.tell(Device{.host = key.host,
                        .accelerator = key.accelerator,
                        .slice = key.slice == key.uuid ? key.slice : std::string_view(),
                        .uuid = key.uuid});
    }
    return 0;
  }
  // Troubles occur in both passes and are counted in this one.
  void tell(const Record& record) override {
    if (!is_samples(record)) next_.tell(record);
  }
};

class SamplesOnly final : public PassOn {
 public:
  using PassOn::PassOn;
  void tell(const Record& record) override {
    if (is_samples(record)) next_.tell(record);
  }
};

}  // namespace amdahl::fleet
