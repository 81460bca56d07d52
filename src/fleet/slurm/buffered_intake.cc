#include "fleet/slurm/buffered_intake.h"

#include "base/check.h"

namespace amdahl::fleet::slurm {
namespace {

Where moved(Where where, Where first) {
  return {where.line == 0 ? 0 : where.line + first.line, where.byte + first.byte};
}

}  // namespace

void BufferedIntake::clear() {
  jobs_.clear();
  others_.clear();
}

void BufferedIntake::tell_all(Intake& intake, Where first) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i <= jobs_.size(); ++i) {
    for (; next < others_.size() && others_[next].before == i; ++next) {
      tell_one(intake, others_[next], first);
    }
    if (i < jobs_.size()) intake.job(jobs_[i].draft, moved(jobs_[i].where, first));
  }
}

void BufferedIntake::tell_one(Intake& intake, const Other& other, Where first) {
  if (other.is_place)
    return intake.tell(Assignment{other.words[0], other.words[1], other.words[2]});
  if (other.count > 0) return intake.troubles(other.trouble, other.count);
  intake.trouble(other.trouble, moved(other.where, first), other.words[0]);
}

BufferedIntake::Other& BufferedIntake::another() {
  Other& other = others_.emplace_back();
  other.before = jobs_.size();
  return other;
}

void BufferedIntake::keep(const Assignment& place) {
  Other& other = another();
  other.is_place = true;
  other.words[0] = place.job;
  other.words[1] = place.host;
  other.words[2] = place.accelerator;
}

void BufferedIntake::keep(const Complaint& complaint) {
  Other& other = another();
  other.trouble = complaint.trouble;
  other.where = complaint.where;
  other.words[0] = complaint.text;
}

// Steps outnumber jobs: those that come together are one.
void BufferedIntake::keep(const Troubles& troubles) {
  const bool again = !others_.empty() && others_.back().count > 0 &&
                     others_.back().trouble == troubles.trouble &&
                     others_.back().before == jobs_.size();
  if (!again) another().trouble = troubles.trouble;
  others_.back().count += troubles.count;
}

SeriesId BufferedIntake::series(const model::SeriesKey&) {
  CHECK(false);
  return 0;
}

void BufferedIntake::tell(const Record& record) {
  std::visit(
      [this](const auto& one) {
        if constexpr (requires { keep(one); }) {
          keep(one);
        } else {
          CHECK(false);
        }
      },
      record);
}

}  // namespace amdahl::fleet::slurm
