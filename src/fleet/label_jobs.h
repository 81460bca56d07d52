// label_jobs.h: jobs from the labels of their samples, for fleets whose accounting nobody gave.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::fleet {

// Is told what the samples say and keeps of each labelled job when and where it was seen. Memory
// grows with jobs and their accelerators alone.
class LabelJobs final : public Intake {
 public:
  // A draft without times and accelerators is a hint: whose the job is. Others are passed over.
  void job(const model::JobDraft& job, Where where) override;
  void place(std::string_view, std::string_view, std::string_view) override {}
  void capacity(std::string_view, std::string_view, std::string_view, int) override {}
  void occupancy(std::string_view, const Occupancy&) override {}
  SeriesId series(const model::SeriesKey& key) override;
  void samples(SeriesId series, std::span<const Sample> samples) override;
  void rows(std::span<const SeriesId> series, std::span<const Sample> samples) override;
  void trouble(model::Trouble, Where, std::string_view) override {}
  void troubles(model::Trouble, std::uint64_t) override {}

  // One job for each label, in the order of first sight: from its first sample to a cadence after
  // its last, with the accelerators that were labelled with it. Its state is not known.
  void tell(Intake& intake) const;
  std::size_t size() const { return jobs_.size(); }

 private:
  struct Seen {
    std::string id, user, account, partition, kind;
    Nanos first{};
    Nanos last{};
    std::map<std::string, std::string> accelerators;  // "HOST\0INDEX" once each, to its host.
  };
  struct Lane {
    std::size_t job = 0;
    bool labelled = false;
    Nanos last{};
  };
  std::size_t job_of(std::string_view id);
  void saw(Lane& lane, Nanos at);

  std::map<std::string, std::size_t, std::less<>> by_id_;
  std::vector<Seen> jobs_;
  std::map<std::string, SeriesId> ids_;
  std::vector<Lane> lanes_;
  std::map<Nanos, std::uint64_t> apart_;  // How often samples were so far apart.
};

// Whether a draft is such a hint.
bool is_hint(const model::JobDraft& job);

// Passes on all but hints.
class WithoutHints final : public Intake {
 public:
  explicit WithoutHints(Intake& next) : next_{next} {}

  void job(const model::JobDraft& job, Where where) override {
    if (!is_hint(job)) next_.job(job, where);
  }
  void place(std::string_view job, std::string_view host, std::string_view accelerator) override {
    next_.place(job, host, accelerator);
  }
  void capacity(std::string_view host, std::string_view partition, std::string_view kind,
                int accelerators) override {
    next_.capacity(host, partition, kind, accelerators);
  }
  void occupancy(std::string_view partition, const Occupancy& occupancy) override {
    next_.occupancy(partition, occupancy);
  }
  SeriesId series(const model::SeriesKey& key) override { return next_.series(key); }
  void samples(SeriesId series, std::span<const Sample> samples) override {
    next_.samples(series, samples);
  }
  void rows(std::span<const SeriesId> series, std::span<const Sample> samples) override {
    next_.rows(series, samples);
  }
  void trouble(model::Trouble trouble, Where where, std::string_view text) override {
    next_.trouble(trouble, where, text);
  }
  void troubles(model::Trouble trouble, std::uint64_t count) override {
    next_.troubles(trouble, count);
  }

 private:
  Intake& next_;
};

}  // namespace amdahl::fleet
