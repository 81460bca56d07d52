// halves.h: an intake that hears only of jobs, and one that hears only of samples.
#pragma once

#include "fleet/device_names.h"
#include "fleet/intake.h"

namespace amdahl::scan {

// For inputs that give both, when there are several: the jobs of the last may hold what the
// samples of the first speak of. Each is read twice, once into each half.
class JobsOnly final : public fleet::Intake {
 public:
  explicit JobsOnly(fleet::Intake& next) : next_{next} {}

  void job(const model::JobDraft& job, fleet::Where where) override { next_.job(job, where); }
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
  void device(const Device& device) override { next_.device(device); }
  void parts(std::string_view host, double of_each) override { next_.parts(host, of_each); }
  void down(const Down& down) override { next_.down(down); }
  // What names an accelerator in two ways tells who goes by the second.
  fleet::SeriesId series(const model::SeriesKey& key) override {
    if (!key.uuid.empty() && !key.accelerator.empty() && !fleet::is_device_name(key.accelerator)) {
      next_.device({.host = key.host,
                    .accelerator = key.accelerator,
                    .slice = key.slice == key.uuid ? key.slice : std::string_view(),
                    .uuid = key.uuid});
    }
    return 0;
  }
  void samples(fleet::SeriesId, std::span<const fleet::Sample>) override {}
  void rows(std::span<const fleet::SeriesId>, std::span<const fleet::Sample>) override {}
  // Troubles are heard of in both readings and counted in this one.
  void trouble(model::Trouble trouble, fleet::Where where, std::string_view text) override {
    next_.trouble(trouble, where, text);
  }
  void troubles(model::Trouble trouble, std::uint64_t count) override {
    next_.troubles(trouble, count);
  }

 private:
  fleet::Intake& next_;
};

class SamplesOnly final : public fleet::Intake {
 public:
  explicit SamplesOnly(fleet::Intake& next) : next_{next} {}

  void job(const model::JobDraft&, fleet::Where) override {}
  void place(std::string_view, std::string_view, std::string_view) override {}
  void capacity(std::string_view, std::string_view, std::string_view, int) override {}
  void occupancy(std::string_view, const Occupancy&) override {}
  void device(const Device&) override {}
  void parts(std::string_view, double) override {}
  void down(const Down&) override {}
  fleet::SeriesId series(const model::SeriesKey& key) override { return next_.series(key); }
  void samples(fleet::SeriesId series, std::span<const fleet::Sample> samples) override {
    next_.samples(series, samples);
  }
  void rows(std::span<const fleet::SeriesId> series,
            std::span<const fleet::Sample> samples) override {
    next_.rows(series, samples);
  }
  void trouble(model::Trouble, fleet::Where, std::string_view) override {}
  void troubles(model::Trouble, std::uint64_t) override {}

 private:
  fleet::Intake& next_;
};

}  // namespace amdahl::scan
