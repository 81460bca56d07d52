// random.h: random numbers that are the same on every run, in every thread, from a seed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace amdahl::sim {

inline constexpr std::uint64_t kSeeds =
    0x73656564;  // "seed": the stream that seeds are drawn from.

// A stream of its own for each thing that is drawn: what one draws moves no other.
class Stream {
 public:
  // `what` and `number` tell streams of one seed apart.
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
  std::size_t below(std::size_t n);  // 0 .. n-1, each as likely.
  std::string hex(std::size_t digits);

 private:
  std::array<std::uint64_t, 4> state_;
  std::optional<double> spare_;  // The second normal of a couple.
};

}  // namespace amdahl::sim
