#include "sim/noise.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace amdahl::sim {
namespace {

Noise base(double pair) {
  Noise noise;
  noise.run = pair / std::numbers::sqrt2;
  noise.drift = pair / 4;
  return noise;
}

Noise clean(double pair) {
  Noise noise = base(pair);
  noise.drift = noise.outlier_share = noise.burst_enter = noise.fail = 0;
  noise.between_inputs = 0;
  return noise;
}

Noise period(double pair) {
  Noise noise = base(pair);
  noise.second = 0.05;
  noise.run = 0.01 / std::numbers::sqrt2;
  noise.drift = 0.002;
  noise.outlier_share = 0.01;
  noise.burst_enter = 0;
  return noise;
}

Noise bursty(double pair) {
  Noise noise = base(pair);
  noise.burst_enter = noise.burst_leave = 0.10;
  noise.burst = 0.4;
  return noise;
}

Noise drift(double pair) {
  Noise noise = base(pair);
  noise.drift = pair;
  noise.trend = 0.02;
  return noise;
}

Noise outliers(double pair) {
  Noise noise = base(pair);
  noise.outlier_share = 0.15;
  noise.outlier_more = 0.6;
  return noise;
}

Noise cauchy(double pair) {
  Noise noise = base(pair);
  noise.wild = true;
  return noise;
}

constexpr auto kScenarios = std::to_array<Scenario>({
    {"clean", "a normal deviation and nothing else", clean},
    {"base", "drift, 3 % outliers, some bursts, 4 % failures", base},
    {"period", "the second run of a pair is 5 % slower, hardly any noise", period},
    {"bursty", "half of the time neighbours make runs 40 % slower", bursty},
    {"drift", "the machine wanders as much as a pair is noisy, and slows down", drift},
    {"outliers", "15 % of runs are far slower", outliers},
    {"cauchy", "tails of Student's t with 1.2 degrees of freedom", cauchy},
});

constexpr double kWildDegrees = 1.2;

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario* find_scenario(std::string_view name) {
  const auto it = std::ranges::find(kScenarios, name, &Scenario::name);
  return it == kScenarios.end() ? nullptr : &*it;
}

Slots::Slots(const Noise& noise, Stream& stream) : noise_{noise} {
  const double turns = noise.burst_enter + noise.burst_leave;
  busy_ = noise.burst_enter > 0 && stream.chance(noise.burst_enter / turns);
}

double Slots::next(Stream& stream) {
  double slower =
      noise_.wild ? noise_.run * stream.student_t(kWildDegrees) : noise_.run * stream.normal();
  if (noise_.outlier_share > 0 && stream.chance(noise_.outlier_share)) {
    slower += noise_.outlier_least + stream.exponential(noise_.outlier_more);
  }
  if (noise_.drift > 0) drifted_ += stream.normal(0, noise_.drift);
  slower += drifted_;
  drifted_ += noise_.trend;
  if (noise_.burst_enter > 0) {
    busy_ = busy_ ? !stream.chance(noise_.burst_leave) : stream.chance(noise_.burst_enter);
    // Gamma of shape 2: two exponentials.
    if (busy_)
      slower += stream.exponential(noise_.burst / 2) + stream.exponential(noise_.burst / 2);
  }
  return slower;
}

}  // namespace amdahl::sim
