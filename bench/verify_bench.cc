// What it costs to fold a pair into the evidence, to answer, and to plan anew: verify_bench
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "compare/compare.h"
#include "compare/judge.h"
#include "loop/next.h"

namespace {

using namespace amdahl;

// Log-ratios around 2 %, noise of about 5 %: no verdict comes early and ends the work.
std::vector<double> pairs_of(std::size_t n) {
  std::vector<double> d;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    const double uniform = (static_cast<double>(state >> 8) + 0.5) / (1U << 24U);
    d.push_back(0.02 + 0.0275 * std::log(uniform / (1 - uniform)));
  }
  return d;
}

// The loop's step: one pair comes in, is it enough?
void fold_and_answer(benchmark::State& state) {
  const std::vector<double> d = pairs_of(40);
  const compare::Design design{.two_sided = state.range(0) == 1};
  for (auto _ : state) {
    compare::Judge judge(design);
    for (const double value : d) {
      judge.fold(value);
      benchmark::DoNotOptimize(judge.answer());
    }
  }
  state.counters["s per pair"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(d.size()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// With the estimate, as the plan for the next pair wants it; by the number of pairs there are.
void peek(benchmark::State& state) {
  compare::Judge judge(compare::Design{});
  for (const double value : pairs_of(static_cast<std::size_t>(state.range(0)))) judge.fold(value);
  for (auto _ : state) benchmark::DoNotOptimize(judge.peek());
}

// With bounds and words, as a person wants it.
void whole_comparison(benchmark::State& state) {
  compare::Judge judge(compare::Design{});
  for (const double value : pairs_of(static_cast<std::size_t>(state.range(0)))) judge.fold(value);
  for (auto _ : state) benchmark::DoNotOptimize(judge.comparison());
}

// All live hypotheses, a tenth of them under test and the rest waiting, in families of a hundred.
loop::State live(int hypotheses) {
  loop::State state;
  state.campaign_open = true;
  state.campaign.hypotheses = hypotheses;
  state.settings.per_family = 10;
  for (int i = 0; i < hypotheses; ++i) {
    const std::string family = "family-" + std::to_string(i / 100);
    if (i % 100 == 0) {
      state.families.push_back({.name = family,
                                .volume_accelerator_h_per_day = 1.0 + i % 977,
                                .volume_known = true,
                                .profiled = true,
                                .same_pairs = 6});
    }
    if (i % 10 != 0) {
      state.queued.push_back({"h-" + std::to_string(i), family, 0.01 * (1 + i % 30), 0.15});
      continue;
    }
    loop::ExperimentState x;
    x.id = "x-" + std::to_string(i);
    x.hypothesis = "h-" + std::to_string(i);
    x.family = family;
    x.stage = model::Stage::kCompare;
    x.claim = 0.1;
    x.compare_pairs = x.compare_ratios = i % 7;
    x.log_e = 0.1 * (i % 13);
    x.effect = 0.01 * (i % 9);
    x.pairs_certain = 3;
    state.experiments.push_back(x);
  }
  return state;
}

void plan_anew(benchmark::State& state) {
  const loop::State all = live(static_cast<int>(state.range(0)));
  std::size_t intents = 0;
  for (auto _ : state) benchmark::DoNotOptimize(intents = loop::next(all).size());
  state.counters["intents"] = static_cast<double>(intents);
}

BENCHMARK(plan_anew)->ArgName("live")->Arg(1000)->Arg(10000)->Arg(100000)->Unit(
    benchmark::kMillisecond);
BENCHMARK(fold_and_answer)->ArgName("two_sided")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(peek)->ArgName("pairs")->Arg(5)->Arg(40)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_comparison)
    ->ArgName("pairs")
    ->Arg(5)
    ->Arg(40)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
