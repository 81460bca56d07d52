// random.h: reproducible random numbers from a seed, the same in every thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace amdahl::sim {

inline constexpr std::uint64_t kSeeds = 0x73656564;  // "seed": the stream for drawing seeds.

// One stream per random quantity, so that draws do not influence each other.
class Stream {
 public:
  // `what` and `number` distinguish the streams of one seed.
  Stream(std::uint64_t seed, std::uint64_t what, std::uint64_t number = 0);

  std::uint64_t bits();
  double uniform();  // Within (0, 1).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  double normal();
  double normal(double mean, double deviation) { return mean + deviation * normal(); }
  double exponential(double mean);
  double gamma(double shape, double scale);
  double student_t(double degrees);
  double pareto(double least, double shape);
  std::size_t below(std::size_t n);  // 0 .. n-1, uniform.
  std::string hex(std::size_t digits);

 private:
  std::array<std::uint64_t, 4> state_;
  std::optional<double> spare_;  // The second normal of a pair.
};

}  // namespace amdahl::sim
