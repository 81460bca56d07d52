#include "fleet/slurm/told.h"

#include "base/check.h"

namespace amdahl::fleet::slurm {
namespace {

Where shifted(Where where, Where first) {
  return {where.line == 0 ? 0 : where.line + first.line, where.byte + first.byte};
}

}  // namespace

void Told::clear() {
  jobs_.clear();
  others_.clear();
}

void Told::tell(Intake& intake, Where first) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i <= jobs_.size(); ++i) {
    for (; next < others_.size() && others_[next].before == i; ++next) {
      tell(intake, others_[next], first);
    }
    if (i < jobs_.size()) intake.job(jobs_[i].draft, shifted(jobs_[i].where, first));
  }
}

void Told::tell(Intake& intake, const Other& other, Where first) const {
  if (other.is_place) return intake.place(other.words[0], other.words[1], other.words[2]);
  if (other.count > 0) return intake.troubles(other.trouble, other.count);
  intake.trouble(other.trouble, shifted(other.where, first), other.words[0]);
}

void Told::job(const model::JobDraft& job, Where where) { jobs_.push_back({job, where}); }

void Told::place(std::string_view job, std::string_view host, std::string_view accelerator) {
  Other& place = others_.emplace_back();
  place.before = jobs_.size();
  place.is_place = true;
  place.words[0] = job;
  place.words[1] = host;
  place.words[2] = accelerator;
}

void Told::trouble(model::Trouble trouble, Where where, std::string_view text) {
  Other& one = others_.emplace_back();
  one.before = jobs_.size();
  one.trouble = trouble;
  one.where = where;
  one.words[0] = text;
}

// Steps outnumber jobs: those that come together are one.
void Told::troubles(model::Trouble trouble, std::uint64_t count) {
  const bool again = !others_.empty() && others_.back().count > 0 &&
                     others_.back().trouble == trouble && others_.back().before == jobs_.size();
  if (!again) {
    Other& one = others_.emplace_back();
    one.before = jobs_.size();
    one.trouble = trouble;
  }
  others_.back().count += count;
}

void Told::capacity(std::string_view, std::string_view, std::string_view, int) { CHECK(false); }
void Told::occupancy(std::string_view, const Occupancy&) { CHECK(false); }
void Told::device(const Device&) { CHECK(false); }
void Told::parts(std::string_view, double) { CHECK(false); }
void Told::down(const Down&) { CHECK(false); }
SeriesId Told::series(const model::SeriesKey&) {
  CHECK(false);
  return 0;
}
void Told::samples(SeriesId, std::span<const Sample>) { CHECK(false); }
void Told::rows(std::span<const SeriesId>, std::span<const Sample>) { CHECK(false); }

}  // namespace amdahl::fleet::slurm
