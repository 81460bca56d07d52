#include "profile/pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/pipeline_graph.h"
#include "profile/pipeline_replay.h"

namespace amdahl::profile {
namespace {

using model::Operation;

// A lane is one replica in one step; its operations, in order of stage, kind and start.
using Rows = std::vector<const Operation*>;
struct Lanes {
  std::vector<std::int64_t> steps;     // That are whole.
  std::vector<std::int32_t> replicas;  // Their numbers.
  std::vector<Rows> rows;              // By step, then replica.
  std::uint64_t steps_left_out = 0;

  ReplaySize size() const { return {steps.size(), replicas.size()}; }
};

bool before(const Operation* a, const Operation* b) {
  return std::tie(a->stage, a->name, a->start) < std::tie(b->stage, b->name, b->start);
}

bool same_order(const Rows& a, const Rows& b) {
  return std::ranges::equal(a, b, [](const Operation* x, const Operation* y) {
    return x->stage == y->stage && x->name == y->name;
  });
}

// Steps in which all replicas have the operations that most lanes have.
Lanes lanes_of(const model::Trace& trace) {
  std::map<std::int64_t, std::map<std::int32_t, Rows>> by_step;
  std::set<std::int32_t> replicas;
  for (const Operation& operation : trace.operations) {
    by_step[operation.step][operation.replica].push_back(&operation);
    replicas.insert(operation.replica);
  }
  std::map<std::vector<std::pair<std::int32_t, std::uint32_t>>, std::size_t> shapes;
  const Rows* usual = nullptr;
  std::size_t most = 0;
  for (auto& [step, lanes] : by_step) {
    for (auto& [replica, rows] : lanes) {
      std::ranges::stable_sort(rows, before);
      std::vector<std::pair<std::int32_t, std::uint32_t>> shape;
      for (const Operation* row : rows) shape.emplace_back(row->stage, row->name);
      const std::size_t times = ++shapes[std::move(shape)];
      if (times > most) usual = &rows;
      most = std::max(most, times);
    }
  }
  Lanes made;
  made.replicas.assign(replicas.begin(), replicas.end());
  for (auto& [step, lanes] : by_step) {
    const bool whole =
        lanes.size() == replicas.size() && std::ranges::all_of(lanes, [&](const auto& lane) {
          return same_order(lane.second, *usual);
        });
    if (!whole) {
      ++made.steps_left_out;
      continue;
    }
    made.steps.push_back(step);
    for (const auto& [replica, rows] : lanes) made.rows.push_back(rows);
  }
  return made;
}

std::int64_t middle_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

double mean_of(std::span<const std::int64_t> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// All replays of one job.
class Replays {
 public:
  Replays(const model::Trace& trace, const Lanes& lanes, std::span<const TemplateOp> ops,
          std::span<const PipelineNode> nodes)
      : lanes_(lanes), ops_(ops), nodes_(nodes) {
    const std::size_t all = lanes.rows.size();
    std::map<std::uint32_t, std::vector<std::int64_t>> by_name;
    recorded_.resize(ops.size() * all);
    for (std::size_t op = 0; op < ops.size(); ++op) {
      std::vector<std::int64_t>& of_kind = by_name[lanes.rows[0][op]->name];
      for (std::size_t lane = 0; lane < all; ++lane) {
        recorded_[op * all + lane] = lanes.rows[lane][op]->duration.count();
        of_kind.push_back(recorded_[op * all + lane]);
      }
    }
    std::map<std::uint32_t, std::int64_t> even;
    for (auto& [name, values] : by_name) {
      even[name] = is_exchange(trace.names[name]) ? middle_of(std::move(values))
                                                  : std::llround(mean_of(values));
    }
    for (std::size_t op = 0; op < ops.size(); ++op) {
      even_.emplace_back(all, even[lanes.rows[0][op]->name]);
    }
    even_steps_ = replay_if([](const TemplateOp&) { return false; });
  }

  // With the recorded lengths of the operations that are wanted.
  template <class Wanted>
  std::vector<std::int64_t> replay_if(const Wanted& wanted) const {
    const std::size_t all = lanes_.rows.size();
    return replay(nodes_, ops_.size(), lanes_.size(),
                  [&](std::uint32_t op) -> std::span<const std::int64_t> {
                    if (!wanted(ops_[op])) return even_[op];
                    return std::span(recorded_).subspan(op * all, all);
                  });
  }

  // With those of one replica: all others are alike, so that one stands for them.
  std::vector<std::int64_t> replay_replica(std::size_t replica) const {
    const std::size_t all = lanes_.rows.size();
    const std::size_t replicas = lanes_.replicas.size();
    const std::size_t shown = std::min<std::size_t>(replicas, 2);
    const ReplaySize size{lanes_.steps.size(), shown};
    std::vector<std::int64_t> lengths(size.lanes());
    return replay(nodes_, ops_.size(), size,
                  [&](std::uint32_t op) -> std::span<const std::int64_t> {
                    std::ranges::fill(lengths, even_[op].front());
                    for (std::size_t step = 0; step < size.steps; ++step) {
                      lengths[step * shown] = recorded_[op * all + step * replicas + replica];
                    }
                    return lengths;
                  });
  }

  Slowdown against_even(const std::vector<std::int64_t>& steps) const {
    Slowdown made;
    made.factor = mean_of(steps) / mean_of(even_steps_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      made.by_step.push_back(static_cast<double>(steps[i]) / static_cast<double>(even_steps_[i]));
    }
    return made;
  }

  double even_step() const { return mean_of(even_steps_); }
  std::int64_t even_length(std::size_t op) const { return even_[op].front(); }

 private:
  const Lanes& lanes_;
  std::span<const TemplateOp> ops_;
  std::span<const PipelineNode> nodes_;
  std::vector<std::int64_t> recorded_;           // By operation, then lane.
  std::vector<std::vector<std::int64_t>> even_;  // By operation: the same in each lane.
  std::vector<std::int64_t> even_steps_;
};

std::vector<TemplateOp> template_of(const model::Trace& trace, const Rows& rows) {
  std::vector<TemplateOp> ops;
  for (const Operation* row : rows) {
    ops.push_back({trace.names[row->name], row->stage, row->chunk, row->start, row->duration});
  }
  return ops;
}

void add_steps(const Lanes& lanes, const Replays& replays, Pipeline& made) {
  const std::vector<std::int64_t> replayed =
      replays.replay_if([](const TemplateOp&) { return true; });
  const Slowdown all = replays.against_even(replayed);
  const std::size_t replicas = lanes.replicas.size();
  double measured = 0;
  for (std::size_t i = 0; i < lanes.steps.size(); ++i) {
    Nanos first = Nanos::max();
    Nanos last = Nanos::min();
    for (std::size_t lane = i * replicas; lane < (i + 1) * replicas; ++lane) {
      for (const Operation* row : lanes.rows[lane]) {
        first = std::min(first, row->start);
        last = std::max(last, row->start + row->duration);
      }
    }
    made.steps.push_back({lanes.steps[i], last - first, Nanos{replayed[i]}, all.by_step[i]});
    measured += to_seconds(last - first);
  }
  made.slowdown = all.factor;
  made.measured = from_seconds(measured / static_cast<double>(lanes.steps.size()));
  made.replayed = Nanos{std::llround(mean_of(replayed))};
  made.even = Nanos{std::llround(replays.even_step())};
}

void add_groups(std::span<const TemplateOp> ops, const Lanes& lanes, const Replays& replays,
                Pipeline& made) {
  std::set<std::string_view> kinds;
  for (const TemplateOp& op : ops) kinds.insert(kind_group(op.kind));
  for (const std::string_view kind : kinds) {
    made.by_kind.push_back(replays.against_even(
        replays.replay_if([&](const TemplateOp& op) { return kind_group(op.kind) == kind; })));
    made.by_kind.back().name = kind;
  }
  for (std::int32_t stage = 0; stage < made.stages; ++stage) {
    made.by_stage.push_back(replays.against_even(
        replays.replay_if([&](const TemplateOp& op) { return op.stage == stage; })));
    made.by_stage.back().number = stage;
  }
  for (std::size_t i = 0; i < lanes.replicas.size(); ++i) {
    made.by_replica.push_back(replays.against_even(replays.replay_replica(i)));
    made.by_replica.back().number = lanes.replicas[i];
  }
  for (auto* rows : {&made.by_kind, &made.by_stage, &made.by_replica}) {
    std::ranges::stable_sort(*rows, std::ranges::greater{}, &Slowdown::factor);
  }
}

// Sums of pairs, for means and deviations from them.
struct Pairs {
  double count = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void add(double a, double b) {
    ++count;
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  double deviations_x() const { return std::max(0.0, xx - x * x / count); }
  double deviations_y() const { return std::max(0.0, yy - y * y / count); }
  double deviations_both() const { return xy - x * y / count; }
};

// Within workers: that one is slower than another says nothing of its micro-batches.
struct Spread {
  double count = 0, x = 0, xx = 0, yy = 0, xy = 0;

  void add(const Pairs& pairs) {
    count += pairs.count;
    x += pairs.x;
    xx += pairs.deviations_x();
    yy += pairs.deviations_y();
    xy += pairs.deviations_both();
  }
  double variation() const { return x > 0 ? std::sqrt(xx / count) / (x / count) : 0; }
  double correlation() const { return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0; }
};

// The positions of the passes of a stage, in order of start.
struct Passes {
  std::vector<std::size_t> forward;
  std::vector<std::size_t> backward;
};

Passes passes_of(std::span<const TemplateOp> ops, std::int32_t stage) {
  Passes found;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops[op].stage != stage) continue;
    if (ops[op].kind == "forward-compute") found.forward.push_back(op);
    if (ops[op].kind == "backward-compute") found.backward.push_back(op);
  }
  return found;
}

// The n-th forward and backward pass of a stage are of the same micro-batch: pipelines are queues.
// The last stage also computes the loss, whose time varies otherwise.
void add_passes(std::span<const TemplateOp> ops, const Lanes& lanes, const Replays& replays,
                Pipeline& made) {
  made.means.resize(static_cast<std::size_t>(made.stages));
  const std::size_t replicas = lanes.replicas.size();
  Spread spread;
  for (std::int32_t stage = 0; stage < made.stages; ++stage) {
    const Passes passes = passes_of(ops, stage);
    std::vector<Pairs> workers(replicas);
    Pairs all;
    for (std::size_t lane = 0; lane < lanes.rows.size(); ++lane) {
      const Rows& rows = lanes.rows[lane];
      for (std::size_t i = 0; i < std::min(passes.forward.size(), passes.backward.size()); ++i) {
        const double forward = to_seconds(rows[passes.forward[i]]->duration);
        const double backward = to_seconds(rows[passes.backward[i]]->duration);
        workers[lane % replicas].add(forward, backward);
        all.add(forward, backward);
      }
    }
    if (all.count == 0) continue;
    made.means[static_cast<std::size_t>(stage)] = {from_seconds(all.x / all.count),
                                                   from_seconds(all.y / all.count)};
    if (stage > 0 && stage == made.stages - 1) continue;
    for (const Pairs& worker : workers) spread.add(worker);
  }
  made.variation = spread.variation();
  made.correlation = spread.correlation();
  double busy = 0;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (!is_exchange(ops[op].kind)) busy += static_cast<double>(replays.even_length(op));
  }
  made.bubble = 1 - busy / made.stages / static_cast<double>(made.even.count());
}

// Of the slowdown, by those operations alone.
double explained(const Pipeline& made, const Slowdown& part) {
  return (part.factor - 1) / (made.slowdown - 1);
}

void advise_on_stage(const Pipeline& made, std::vector<std::string>& out) {
  const Slowdown& stage = made.by_stage.front();
  if (made.stages < 2 || explained(made, stage) < 0.5) return;
  const StageMeans& own = made.means[static_cast<std::size_t>(stage.number)];
  Nanos others{};
  for (const StageMeans& one : made.means) others += one.forward + one.backward;
  others = (others - own.forward - own.backward) / (made.stages - 1);
  out.push_back(fmt::format(
      "stage {} alone explains {} of the slowdown: a forward and backward pass takes {} there and "
      "{} on average on the other stages; move layers (or the loss) from stage {} to others",
      stage.number, show_percent(std::min(1.0, explained(made, stage))),
      show_duration(own.forward + own.backward), show_duration(others), stage.number));
}

void add_advice(Pipeline& made) {
  // Below this there is nothing to explain.
  constexpr double kWorthIt = 1.03;
  if (made.slowdown < kWorthIt) return;
  advise_on_stage(made, made.advice);
  const Slowdown& rank = made.by_replica.front();
  const bool stands_out = made.by_replica.size() > 1 &&
                          explained(made, rank) - explained(made, made.by_replica[1]) > 0.25;
  if (stands_out && explained(made, rank) >= 0.5) {
    made.advice.push_back(fmt::format(
        "rank {} alone explains {} of the slowdown, the next one {}: check its hosts (clocks, "
        "thermal limits, other jobs, network) and replace them",
        rank.number, show_percent(std::min(1.0, explained(made, rank))),
        show_percent(std::max(0.0, explained(made, made.by_replica[1])))));
  }
  if (made.correlation >= 0.9 && made.variation >= 0.1) {
    made.advice.push_back(fmt::format(
        "forward times vary by {} within a worker, and backward times with them (correlation "
        "{:.2f}), as with sequences of different lengths: give each rank and micro-batch the same "
        "work (sort or pack by the sum of squared lengths)",
        show_percent(made.variation), made.correlation));
  }
  if (!made.advice.empty()) return;
  const Slowdown& kind = made.by_kind.front();
  made.advice.push_back(
      fmt::format("{} alone explains {} of the slowdown; no single stage or rank "
                  "explains half of it",
                  kind.name, show_percent(explained(made, kind))));
}

}  // namespace

std::optional<Pipeline> pipeline(const model::Trace& trace, std::string& why) {
  if (trace.operations.empty()) return std::nullopt;
  const Lanes lanes = lanes_of(trace);
  if (lanes.steps.empty()) {
    why = "pipeline: no step has the same operations on all ranks; record whole steps of all ranks";
    return std::nullopt;
  }
  const std::vector<TemplateOp> ops = template_of(trace, lanes.rows.front());
  const auto nodes = pipeline_graph(ops);
  if (!nodes) {
    why = "pipeline: " + nodes.error().text;
    return std::nullopt;
  }
  Pipeline made;
  made.replicas = static_cast<std::int32_t>(lanes.replicas.size());
  for (const TemplateOp& op : ops) made.stages = std::max(made.stages, op.stage + 1);
  made.operations = trace.operations.size();
  made.steps_left_out = lanes.steps_left_out;
  const Replays replays(trace, lanes, ops, *nodes);
  if (replays.even_step() <= 0) {
    why = "pipeline: no operation takes any time";
    return std::nullopt;
  }
  add_steps(lanes, replays, made);
  add_groups(ops, lanes, replays, made);
  add_passes(ops, lanes, replays, made);
  add_advice(made);
  return made;
}

}  // namespace amdahl::profile
