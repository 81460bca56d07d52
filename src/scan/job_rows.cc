#include "scan/job_rows.h"

#include <algorithm>

namespace amdahl::scan {
namespace {

Split unobserved(double allocated) {
  return {.allocated = allocated, .unobserved = allocated, .idle = 0, .low = 0, .productive = 0};
}

bool is_unobserved(const Split& split) {
  return split.unobserved == split.allocated && split.idle == 0 && split.low == 0 &&
         split.productive == 0;
}

std::uint32_t hash_of(const JobRows::Traits& traits) {
  const auto both = [](WordId a, WordId b) { return std::uint64_t{a} << 32 | b; };
  std::uint64_t hash = both(traits.name, traits.user) * 0x9E3779B97F4A7C15ULL;
  hash ^= both(traits.account, traits.partition) * 0xD6E8FEB86659FD93ULL;
  hash ^= both(traits.kind, traits.script) * 0xFF51AFD7ED558CCDULL;
  hash ^= both(traits.family, traits.reason) * 0xC4CEB9FE1A85EC53ULL;
  hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

std::uint32_t JobRows::intern(const Traits& traits) {
  if (last_ < traits_.size() && traits_[last_] == traits) return last_;
  if (2 * (traits_.size() + 1) > slots_.size()) grow_slots();
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t hash = hash_of(traits);
  std::size_t at = hash & mask;
  while (slots_[at].traits != kNothing &&
         (slots_[at].hash != hash || traits_[slots_[at].traits] != traits)) {
    at = (at + 1) & mask;
  }
  if (slots_[at].traits == kNothing) {
    CHECK(traits_.size() < kNothing);
    slots_[at] = {hash, static_cast<std::uint32_t>(traits_.size())};
    traits_.push_back(traits);
  }
  last_ = slots_[at].traits;
  return last_;
}

void JobRows::grow_slots() {
  std::vector<Slot> before(slots_.empty() ? 64 : 2 * slots_.size());
  before.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.traits == kNothing) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].traits != kNothing) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

JobRows::Observed& JobRows::seen_of(Row& row) {
  if (row.seen == kNothing) {
    row.seen = static_cast<std::uint32_t>(seen_.size());
    seen_.emplace_back().split = unobserved(row.allocated);
  }
  return seen_[row.seen];
}

void JobRows::push_back(const FleetJob& job) {
  CHECK(size_ < kNothing);
  if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<Row[]>(kChunk));
  ++size_;
  set(size_ - 1, job);
}

void JobRows::set(std::size_t job, const FleetJob& value) {
  Row& into = row(job);
  into.id = value.id;
  into.hosts = value.hosts;
  into.traits = intern({.family = value.family,
                        .name = value.name,
                        .user = value.user,
                        .account = value.account,
                        .partition = value.partition,
                        .kind = value.kind,
                        .script = value.script,
                        .reason = value.reason});
  into.submit = value.submit;
  into.start = value.start;
  into.end = value.end;
  into.accelerators = value.accelerators;
  into.attempt = value.attempt;
  into.state = value.state;
  into.evidence = value.evidence;
  into.running = value.running;
  into.open = value.open;
  into.allocated = value.split.allocated;
  const bool is_plain = is_unobserved(value.split) && value.idle_at_zero == 0 &&
                        value.low_at_zero == 0 && value.metric == 0 && value.lanes == 0;
  if (is_plain && into.seen == kNothing) return;
  seen_of(into) = {.split = value.split,
                   .idle_at_zero = value.idle_at_zero,
                   .low_at_zero = value.low_at_zero,
                   .metric = value.metric,
                   .lane = value.lane,
                   .lanes = value.lanes};
}

FleetJob JobRows::operator[](std::size_t job) const {
  const Row& from = row(job);
  const Traits& traits = traits_[from.traits];
  FleetJob value;
  value.id = from.id;
  value.family = traits.family;
  value.name = traits.name;
  value.user = traits.user;
  value.account = traits.account;
  value.partition = traits.partition;
  value.kind = traits.kind;
  value.script = traits.script;
  value.reason = traits.reason;
  value.hosts = from.hosts;
  value.state = from.state;
  value.evidence = from.evidence;
  value.running = from.running;
  value.open = from.open;
  value.attempt = from.attempt;
  value.accelerators = from.accelerators;
  value.submit = from.submit;
  value.start = from.start;
  value.end = from.end;
  if (from.seen == kNothing) {
    value.split = unobserved(from.allocated);
    return value;
  }
  const Observed& seen = seen_[from.seen];
  value.split = seen.split;
  value.idle_at_zero = seen.idle_at_zero;
  value.low_at_zero = seen.low_at_zero;
  value.metric = seen.metric;
  value.lane = seen.lane;
  value.lanes = seen.lanes;
  return value;
}

Split JobRows::split(std::size_t job) const {
  const Row& from = row(job);
  return from.seen == kNothing ? unobserved(from.allocated) : seen_[from.seen].split;
}

void JobRows::set_allocated(std::size_t job, double allocated) {
  Row& into = row(job);
  into.allocated = allocated;
  if (into.seen != kNothing) seen_[into.seen].split = unobserved(allocated);
}

std::uint32_t JobRows::lanes(std::size_t job) const {
  const Row& from = row(job);
  return from.seen == kNothing ? 0 : seen_[from.seen].lanes;
}

WordId JobRows::metric(std::size_t job) const {
  const Row& from = row(job);
  return from.seen == kNothing ? 0 : seen_[from.seen].metric;
}

void JobRows::set_lanes(std::size_t job, std::uint32_t lane, std::uint32_t lanes) {
  Row& into = row(job);
  if (lanes == 0 && into.seen == kNothing) return;
  Observed& seen = seen_of(into);
  seen.lane = lane;
  seen.lanes = lanes;
}

void JobRows::shrink(std::size_t size) {
  CHECK(size <= size_);
  size_ = size;
  chunks_.resize((size + kChunk - 1) / kChunk);
}

}  // namespace amdahl::scan
