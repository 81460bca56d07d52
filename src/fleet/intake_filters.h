// intake_filters.h: intakes that hand on to another what they are told, changed a little.
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

// Places of records in a part of an input as places in the whole. `Change` takes and gives a Where.
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

// For a reader that was given the header and then a later part of its input: its second line is
// line `lines` + 1 of the whole, and so on.
inline auto shifted(Intake& next, std::uint64_t lines) {
  return Placed(next, [lines](Where where) -> Where {
    return {where.line == 0 ? 0 : where.line + lines, where.byte};
  });
}

// For inputs that are read twice, once into each half: the jobs of the last may hold what the
// samples of the first speak of.
class JobsOnly final : public PassOn {
 public:
  using PassOn::PassOn;

  // What names an accelerator in two ways tells who goes by the second.
  SeriesId series(const model::SeriesKey& key) override {
    if (!key.uuid.empty() && !key.accelerator.empty() && !is_device_name(key.accelerator)) {
      next_.tell(Device{.host = key.host,
                        .accelerator = key.accelerator,
                        .slice = key.slice == key.uuid ? key.slice : std::string_view(),
                        .uuid = key.uuid});
    }
    return 0;
  }
  // Troubles are heard of in both readings and counted in this one.
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
