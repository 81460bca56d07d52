// pass_on.h: intakes that hand on to another what they are told, changed a little.
#pragma once

#include "fleet/intake.h"

namespace amdahl::fleet {

class PassOn : public Intake {
 public:
  explicit PassOn(Intake& next) : next_{next} {}

  void job(const model::JobDraft& job, Where where) override { next_.job(job, where); }
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

 protected:
  Intake& next_;
};

// For a reader that was given the header and then a later part of its input: its second line is
// line `lines` + 1 of the whole, and so on.
class Shifted final : public PassOn {
 public:
  Shifted(Intake& next, std::uint64_t lines, std::uint64_t bytes)
      : PassOn(next), lines_{lines}, bytes_{bytes} {}

  void job(const model::JobDraft& job, Where where) override { next_.job(job, shifted(where)); }
  void trouble(model::Trouble trouble, Where where, std::string_view text) override {
    next_.trouble(trouble, shifted(where), text);
  }

 private:
  Where shifted(Where where) const {
    return {where.line == 0 ? 0 : where.line + lines_, where.byte == 0 ? 0 : where.byte + bytes_};
  }

  std::uint64_t lines_;
  std::uint64_t bytes_;
};

}  // namespace amdahl::fleet
