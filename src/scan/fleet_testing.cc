#include "scan/fleet_testing.h"

#include <fmt/core.h>

namespace amdahl::scan {
namespace {

// SplitMix64: small, the same on every machine.
class Luck {
 public:
  explicit Luck(std::uint64_t seed) : state_{seed} {}
  std::uint64_t below(std::uint64_t most) { return next() % most; }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

std::vector<WordId> words_like(Interner& words, std::string_view stem, int count) {
  std::vector<WordId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(words.intern(fmt::format("{}{}", stem, i)));
  return ids;
}

}  // namespace

FleetUsage made_fleet(const MadeFleet& options) {
  FleetUsage usage;
  usage.window = {.start = std::chrono::hours{1000}, .end = std::chrono::hours{1720}};
  const auto names = words_like(usage.words, "train_lr3_", 10'000);
  const auto users = words_like(usage.words, "user", 5'000);
  const auto accounts = words_like(usage.words, "account", 200);
  const auto partitions = words_like(usage.words, "partition", 8);
  const auto nodes = words_like(usage.words, "gpu", 4'000);
  const auto kinds = words_like(usage.words, "kind", 3);
  Luck luck(options.seed);
  const auto one_of = [&](const std::vector<WordId>& ids) { return ids[luck.below(ids.size())]; };
  for (std::size_t i = 0; i < options.jobs; ++i) {
    FleetJob job;
    job.id = usage.words.intern_job(fmt::format("{}", 1'000'000 + i));
    job.name = one_of(names);
    job.user = one_of(users);
    job.account = one_of(accounts);
    job.partition = one_of(partitions);
    job.kind = one_of(kinds);
    job.hosts = one_of(nodes);
    job.accelerators = static_cast<float>(1U << luck.below(4));
    job.state = luck.below(5) == 0 ? model::JobState::kFailed : model::JobState::kCompleted;
    job.start = usage.window.start + std::chrono::seconds{luck.below(2'500'000)};
    job.end = job.start + std::chrono::seconds{60 + luck.below(36'000)};
    job.submit = job.start - std::chrono::seconds{luck.below(3'600)};
    job.split.allocated = job.accelerators * to_seconds(job.end - job.start);
    if (options.observed) {
      job.evidence = Evidence::kMean;
      const double used = static_cast<double>(luck.below(1'000)) / 1'000;
      job.split.productive = used * job.split.allocated;
      job.split.low = job.split.allocated - job.split.productive;
    } else {
      job.split.unobserved = job.split.allocated;
    }
    usage.jobs.push_back(job);
  }
  return usage;
}

}  // namespace amdahl::scan
