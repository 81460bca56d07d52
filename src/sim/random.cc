#include "sim/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace amdahl::sim {
namespace {

// splitmix64: well mixed words from any seed, however regular.
std::uint64_t mixed(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Stream::Stream(std::uint64_t seed, std::uint64_t what, std::uint64_t number) : state_{} {
  std::uint64_t state = seed;
  state = mixed(state) ^ what;
  state = mixed(state) ^ number;
  for (std::uint64_t& word : state_) word = mixed(state);
}

// xoshiro256++ of Blackman and Vigna.
std::uint64_t Stream::bits() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Stream::uniform() { return (static_cast<double>(bits() >> 12U) + 0.5) * 0x1p-52; }

// Box and Muller: always two uniforms a couple, so that a stream's place is easy to reason about.
double Stream::normal() {
  if (spare_) {
    const double value = *spare_;
    spare_.reset();
    return value;
  }
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

double Stream::exponential(double mean) { return -mean * std::log(uniform()); }

// Marsaglia and Tsang; shapes below 1 by the usual boost.
double Stream::gamma(double shape, double scale) {
  if (shape < 1) return gamma(shape + 1, scale) * std::pow(uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

double Stream::student_t(double degrees) {
  const double z = normal();
  return z / std::sqrt(gamma(degrees / 2, 2) / degrees);
}

double Stream::pareto(double least, double shape) {
  return least * std::pow(uniform(), -1 / shape);
}

std::size_t Stream::below(std::size_t n) {
  return static_cast<std::size_t>(uniform() * static_cast<double>(n));
}

std::string Stream::hex(std::size_t digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  while (text.size() < digits) text += kDigits[bits() >> 60U];
  return text;
}

}  // namespace amdahl::sim
