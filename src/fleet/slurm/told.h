// told.h: what the lines of a table say of jobs, kept for a moment to be told in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::fleet::slurm {

// Keeps views of jobs: the lines that they come from must outlive it, or be gone before it is told.
class Told final : public Intake {
 public:
  void clear();
  // All of it, in order; places count from `first` on.
  void tell(Intake& intake, Where first) const;

  void job(const model::JobDraft& job, Where where) override;
  void place(std::string_view job, std::string_view host, std::string_view accelerator) override;
  void trouble(model::Trouble trouble, Where where, std::string_view text) override;
  void troubles(model::Trouble trouble, std::uint64_t count) override;
  // A table of jobs says nothing of these.
  void capacity(std::string_view, std::string_view, std::string_view, int) override;
  void occupancy(std::string_view, const Occupancy&) override;
  void device(const Device&) override;
  void parts(std::string_view, double) override;
  void down(const Down&) override;
  SeriesId series(const model::SeriesKey&) override;
  void samples(SeriesId, std::span<const Sample>) override;
  void rows(std::span<const SeriesId>, std::span<const Sample>) override;

 private:
  struct Job {
    model::JobDraft draft;
    Where where;
  };
  struct Other {             // A place if it has words, else a trouble.
    std::size_t before = 0;  // How many jobs came before it.
    bool is_place = false;
    std::string words[3]{};  // Of a place; the text of a trouble is the first.
    model::Trouble trouble{};
    Where where{};
    std::uint64_t count = 0;  // Above 0: without a place.
  };
  void tell(Intake& intake, const Other& other, Where first) const;

  std::vector<Job> jobs_;
  std::vector<Other> others_;
};

}  // namespace amdahl::fleet::slurm
