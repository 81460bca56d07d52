#include "scan/job_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

JobRows::Exact JobRows::exact_of(const Row& row) const {
  using std::chrono::seconds;
  if (row.accelerators == kOdd) return odd_[row.start];
  const Nanos start = seconds{row.start};
  return {.submit = row.wait == kNoSubmit ? Nanos{} : start - seconds{row.wait},
          .start = start,
          .end = start + seconds{row.length},
          .accelerators = static_cast<float>(row.accelerators),
          .attempt = row.attempt};
}

// Packs what can be read back as it is; the rest goes to odd_.
void JobRows::set_exact(Row& row, const Exact& exact) {
  constexpr Nanos kSecond = std::chrono::seconds{1};
  const bool was_odd = row.accelerators == kOdd;
  const std::int64_t start = exact.start / kSecond;
  const std::int64_t length = (exact.end - exact.start) / kSecond;
  const std::int64_t wait =
      exact.submit == Nanos{} ? kNoSubmit : (exact.start - exact.submit) / kSecond;
  const bool is_whole = exact.start % kSecond == Nanos{} && exact.end % kSecond == Nanos{} &&
                        exact.submit % kSecond == Nanos{};
  const bool fits = !was_odd && is_whole && std::in_range<std::uint32_t>(start) &&
                    std::in_range<std::uint32_t>(length) && std::in_range<std::int32_t>(wait) &&
                    (wait != kNoSubmit || exact.submit == Nanos{}) && exact.accelerators >= 0 &&
                    exact.accelerators < kOdd &&
                    exact.accelerators == std::trunc(exact.accelerators) &&
                    std::in_range<std::uint8_t>(exact.attempt);
  if (fits) {
    row.start = static_cast<std::uint32_t>(start);
    row.wait = static_cast<std::int32_t>(wait);
    row.length = static_cast<std::uint32_t>(length);
    row.accelerators = static_cast<std::uint16_t>(exact.accelerators);
    row.attempt = static_cast<std::uint8_t>(exact.attempt);
    return;
  }
  if (!was_odd) {
    row.accelerators = kOdd;
    row.start = static_cast<std::uint32_t>(odd_.size());
    odd_.emplace_back();
  }
  odd_[row.start] = exact;
}

std::uint16_t JobRows::attempt(std::size_t job) const {
  const Row& from = row(job);
  return from.accelerators == kOdd ? odd_[from.start].attempt : from.attempt;
}

float JobRows::accelerators(std::size_t job) const {
  const Row& from = row(job);
  return from.accelerators == kOdd ? odd_[from.start].accelerators
                                   : static_cast<float>(from.accelerators);
}

double JobRows::allocated_of(const Exact& exact) const {
  const Nanos held = std::min(exact.end, to_) - std::max(exact.start, from_);
  return to_seconds(std::max(Nanos{}, held)) * static_cast<double>(exact.accelerators);
}

const JobRows::Observed* JobRows::observed(std::size_t job) const {
  CHECK(job < size_);
  const std::uint32_t* seen = chunks_[job / kChunk].seen.get();
  if (seen == nullptr || seen[job % kChunk] == kNothing) return nullptr;
  return &seen_[seen[job % kChunk]];
}

std::uint32_t& JobRows::seen_at(std::size_t job) {
  std::unique_ptr<std::uint32_t[]>& seen = chunks_[job / kChunk].seen;
  if (!seen) {
    seen = std::make_unique_for_overwrite<std::uint32_t[]>(kChunk);
    std::fill_n(seen.get(), kChunk, kNothing);
  }
  return seen[job % kChunk];
}

JobRows::Observed& JobRows::observe(std::size_t job) {
  std::uint32_t& seen = seen_at(job);
  if (seen == kNothing) {
    seen = static_cast<std::uint32_t>(seen_.size());
    seen_.emplace_back().split = unobserved(allocated(job));
  }
  return seen_[seen];
}

void JobRows::push_back(const FleetJob& job) {
  CHECK(size_ < kNothing);
  if (size_ % kChunk == 0) chunks_.push_back({.rows = std::make_unique<Row[]>(kChunk)});
  row(size_) = Row{};
  if (chunks_.back().seen) seen_at(size_) = kNothing;
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
  set_exact(into, {.submit = value.submit,
                   .start = value.start,
                   .end = value.end,
                   .accelerators = value.accelerators,
                   .attempt = value.attempt});
  into.state = value.state;
  into.evidence = value.evidence;
  into.running = value.running;
  into.open = value.open;
  const bool is_plain = is_unobserved(value.split) && value.split.allocated == allocated(job) &&
                        value.idle_at_zero == 0 && value.low_at_zero == 0 && value.metric == 0 &&
                        value.lanes == 0;
  if (is_plain && observed(job) == nullptr) return;
  observe(job) = {.split = value.split,
                  .idle_at_zero = value.idle_at_zero,
                  .low_at_zero = value.low_at_zero,
                  .metric = value.metric,
                  .lane = value.lane,
                  .lanes = value.lanes};
}

FleetJob JobRows::operator[](std::size_t job) const {
  const Row& from = row(job);
  const Traits& traits = traits_[from.traits];
  const Exact exact = exact_of(from);
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
  value.attempt = exact.attempt;
  value.accelerators = exact.accelerators;
  value.submit = exact.submit;
  value.start = exact.start;
  value.end = exact.end;
  const Observed* seen = observed(job);
  if (seen == nullptr) {
    value.split = unobserved(allocated_of(exact));
    return value;
  }
  value.split = seen->split;
  value.idle_at_zero = seen->idle_at_zero;
  value.low_at_zero = seen->low_at_zero;
  value.metric = seen->metric;
  value.lane = seen->lane;
  value.lanes = seen->lanes;
  return value;
}

Split JobRows::split(std::size_t job) const {
  const Observed* seen = observed(job);
  return seen == nullptr ? unobserved(allocated(job)) : seen->split;
}

void JobRows::clip_to(Nanos start, Nanos end) {
  from_ = start;
  to_ = end;
}

void JobRows::set_unobserved(std::size_t job) {
  if (observed(job) != nullptr) observe(job).split = unobserved(allocated(job));
}

std::uint32_t JobRows::lanes(std::size_t job) const {
  const Observed* seen = observed(job);
  return seen == nullptr ? 0 : seen->lanes;
}

WordId JobRows::metric(std::size_t job) const {
  const Observed* seen = observed(job);
  return seen == nullptr ? 0 : seen->metric;
}

void JobRows::set_lanes(std::size_t job, std::uint32_t lane, std::uint32_t lanes) {
  if (lanes == 0 && observed(job) == nullptr) return;
  Observed& seen = observe(job);
  seen.lane = lane;
  seen.lanes = lanes;
}

void JobRows::set_end(std::size_t job, Nanos end) {
  Row& into = row(job);
  Exact exact = exact_of(into);
  if (exact.end == end) return;
  exact.end = end;
  set_exact(into, exact);
}

void JobRows::move(std::size_t from, std::size_t to) {
  row(to) = row(from);
  if (chunks_[from / kChunk].seen || chunks_[to / kChunk].seen) seen_at(to) = seen_at(from);
}

void JobRows::shrink(std::size_t size) {
  CHECK(size <= size_);
  size_ = size;
  chunks_.resize((size + kChunk - 1) / kChunk);
}

}  // namespace amdahl::scan
