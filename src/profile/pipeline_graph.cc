#include "profile/pipeline_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using Ids = std::vector<std::uint32_t>;

// Clocks of the recorder are this far apart at most.
constexpr Nanos kClock = std::chrono::microseconds(50);
// What starts this long before the last pass has ended runs beside it.
constexpr Nanos kOverlap = std::chrono::milliseconds(1);

struct Way {
  std::string_view send;
  std::string_view receive;
  std::string_view pass;
  std::int32_t towards;  // Stages from sender to receiver.
};
constexpr Way kWays[] = {{"forward-send", "forward-recv", "forward-compute", 1},
                         {"backward-send", "backward-recv", "backward-compute", -1}};

class Graph {
 public:
  explicit Graph(std::span<const TemplateOp> ops) : ops_(ops), after_(ops.size()) {
    for (const TemplateOp& op : ops) {
      stages_ = std::max(stages_, op.stage + 1);
      chunks_ = std::max(chunks_, op.chunk + 1);
    }
  }

  Result<std::vector<PipelineNode>> build() {
    for (std::int32_t stage = 0; stage < stages_; ++stage) {
      const Ids passes =
          select([&](const TemplateOp& op) { return op.stage == stage && is_pass(op.kind); });
      if (passes.empty()) return bad_input(fmt::format("stage {} has no compute", stage));
      chain(passes);
      for (const Way& way : kWays) {
        TRY(match(stage, way, way.send, passes));
        TRY(match(stage, way, way.receive, passes));
      }
      order_first_backward(stage, passes);
      order_rest(stage, passes);
    }
    TRY(pair_transfers());
    group_collectives();
    return in_order();
  }

 private:
  // In order of start.
  template <class Wanted>
  Ids select(const Wanted& wanted) const {
    Ids ids;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (wanted(ops_[i])) ids.push_back(i);
    }
    std::ranges::stable_sort(ids, {}, [&](std::uint32_t id) { return ops_[id].start; });
    return ids;
  }
  Ids of_kind(std::int32_t stage, std::string_view kind) const {
    return select([&](const TemplateOp& op) { return op.stage == stage && op.kind == kind; });
  }

  void wait(std::uint32_t op, std::uint32_t for_op) { after_[op].push_back(for_op); }
  void chain(const Ids& ids) {
    for (std::size_t i = 1; i < ids.size(); ++i) wait(ids[i], ids[i - 1]);
  }

  // A send follows its pass, a receive comes before it and after the pass before that. Recorders
  // also write transfers that move nothing: at the ends of a step, and at the ends of the model.
  Result<> match(std::int32_t stage, const Way& way, std::string_view kind, const Ids& passes) {
    const bool sends = kind == way.send;
    Ids own;
    std::ranges::copy_if(passes, std::back_inserter(own),
                         [&](std::uint32_t id) { return ops_[id].kind == way.pass; });
    const Ids all = of_kind(stage, kind);
    chain(all);
    Ids moving;
    if (!own.empty()) {
      const Nanos last_start = ops_[own.back()].start;
      const Nanos first_end = ops_[own.front()].end();
      std::ranges::copy_if(all, std::back_inserter(moving), [&](std::uint32_t id) {
        return sends ? ops_[id].end() >= first_end - kClock : ops_[id].start <= last_start + kClock;
      });
    }
    if (moving.empty()) return Ok{};
    const bool lacks_one = moving.size() + 1 == own.size();
    if (moving.size() != own.size() && !lacks_one) {
      return bad_input(fmt::format("stage {} has {} {} for {} {} in a step", stage, moving.size(),
                                   kind, own.size(), way.pass));
    }
    const std::size_t first = lacks_one && !sends ? 1 : 0;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const std::uint32_t pass = own[i + first];
      if (sends) {
        wait(moving[i], pass);
      } else {
        wait(pass, moving[i]);
        if (i + first > 0) wait(moving[i], own[i + first - 1]);
      }
      if (has_peer(ops_[pass], sends == (way.towards > 0) ? 1 : -1)) {
        transfers_[{kind, stage}].push_back(moving[i]);
      }
    }
    return Ok{};
  }

  // Whether the model has a part after (or before) that of this pass.
  bool has_peer(const TemplateOp& pass, std::int32_t towards) const {
    const std::int32_t part = std::max(pass.chunk, 0) * stages_ + pass.stage + towards;
    return part >= 0 && part < std::max(chunks_, 1) * stages_;
  }

  // The first backward transfers are posted while the last forward pass of the warm-up runs.
  void order_first_backward(std::int32_t stage, const Ids& passes) {
    const auto first =
        std::ranges::find(passes, kWays[1].pass, [&](std::uint32_t id) { return ops_[id].kind; });
    if (first - passes.begin() < 2 || first == passes.end()) return;
    for (const std::string_view kind : {kWays[1].send, kWays[1].receive}) {
      const Ids transfers = of_kind(stage, kind);
      if (!transfers.empty()) wait(transfers.front(), *(first - 2));
    }
  }

  // The first, or last, pass of a kind of this chunk; of any if the chunk has none.
  std::optional<std::uint32_t> pass_of(const Ids& passes, std::string_view kind, std::int32_t chunk,
                                       bool last) const {
    std::optional<std::uint32_t> found;
    for (const bool any_chunk : {false, true}) {
      for (const std::uint32_t id : passes) {
        const bool fits = ops_[id].kind == kind && (any_chunk || ops_[id].chunk == chunk);
        if (fits && (last || !found)) found = id;
      }
      if (found) return found;
    }
    return found;
  }

  // Parameters are gathered before the first forward pass that needs them; gradients that are
  // reduced beside later passes wait for their own; all else follows the last pass in its order.
  void order_rest(std::int32_t stage, const Ids& passes) {
    const std::uint32_t last =
        *std::ranges::max_element(passes, {}, [&](std::uint32_t id) { return ops_[id].end(); });
    const Ids rest = select([&](const TemplateOp& op) {
      return op.stage == stage && !is_pass(op.kind) && !is_transfer(op.kind);
    });
    Ids beside;
    Ids behind;
    for (const std::uint32_t id : rest) {
      const TemplateOp& op = ops_[id];
      if (op.start >= ops_[last].end() - kOverlap) {
        behind.push_back(id);
        continue;
      }
      beside.push_back(id);
      const bool gathers = contains(op.kind, "gather") || op.start < ops_[passes.front()].start;
      const auto pass =
          pass_of(passes, gathers ? kWays[0].pass : kWays[1].pass, op.chunk, !gathers);
      if (!pass) continue;
      if (gathers) {
        wait(*pass, id);
      } else if (ops_[*pass].end() <= op.start + kOverlap) {
        wait(id, *pass);
      }
    }
    chain(beside);
    chain(behind);
    if (behind.empty()) return;
    wait(behind.front(), last);
    if (!beside.empty()) wait(behind.front(), beside.back());
  }

  Result<> pair_transfers() {
    for (const Way& way : kWays) {
      for (std::int32_t stage = 0; stage < stages_; ++stage) {
        const std::int32_t peer = (stage + way.towards + stages_) % stages_;
        const Ids& sent = transfers_[{way.send, stage}];
        const Ids& received = transfers_[{way.receive, peer}];
        if (sent.size() != received.size()) {
          return bad_input(fmt::format("stage {} has {} {} and stage {} has {} {} in a step", stage,
                                       sent.size(), way.send, peer, received.size(), way.receive));
        }
        for (std::size_t i = 0; i < sent.size(); ++i) {
          nodes_.push_back({.ops = {sent[i], received[i]}});
        }
      }
    }
    return Ok{};
  }

  // Gradients of an embedding that first and last stage share are reduced between these stages, the
  // norm of all gradients over all workers, and what ranks within a stage do with each other is
  // seen by one of them. All else is between the replicas of a stage.
  void group_collectives() {
    std::vector<bool> grouped(ops_.size(), false);
    for (const PipelineNode& node : nodes_) {
      for (const std::uint32_t id : node.ops) grouped[id] = true;
    }
    std::map<std::pair<std::string_view, std::size_t>, Ids> over_stages;
    std::map<std::pair<std::string_view, std::int32_t>, std::size_t> turn;
    const Ids rest = select([](const TemplateOp&) { return true; });
    for (const std::uint32_t id : rest) {
      if (grouped[id]) continue;
      const TemplateOp& op = ops_[id];
      const bool norm = contains(op.kind, "clip");
      if (is_exchange(op.kind) && (norm || contains(op.kind, "embedding"))) {
        over_stages[{op.kind, turn[{op.kind, op.stage}]++}].push_back(id);
        continue;
      }
      const bool alone = !is_exchange(op.kind) || is_transfer(op.kind) ||
                         contains(op.kind, "layernorm") || op.kind.starts_with("tp-");
      nodes_.push_back({.ops = {id}, .over_replicas = !alone});
    }
    for (auto& [key, ids] : over_stages) {
      nodes_.push_back({.ops = std::move(ids), .over_replicas = contains(key.first, "clip")});
    }
  }

  Result<std::vector<PipelineNode>> in_order() {
    std::vector<std::uint32_t> node_of(ops_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      for (const std::uint32_t id : nodes_[node].ops) {
        node_of[id] = node;
        std::ranges::copy(after_[id], std::back_inserter(nodes_[node].after));
      }
      std::ranges::sort(nodes_[node].after);
      const auto same = std::ranges::unique(nodes_[node].after);
      nodes_[node].after.erase(same.begin(), same.end());
    }
    std::vector<std::uint32_t> waits(nodes_.size(), 0);
    std::vector<Ids> followers(nodes_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      for (const std::uint32_t id : nodes_[node].after) {
        ++waits[node];
        followers[node_of[id]].push_back(node);
      }
    }
    Ids ready;
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      if (waits[node] == 0) ready.push_back(node);
    }
    std::vector<PipelineNode> ordered;
    for (std::size_t at = 0; at < ready.size(); ++at) {
      for (const std::uint32_t next : followers[ready[at]]) {
        if (--waits[next] == 0) ready.push_back(next);
      }
      ordered.push_back(std::move(nodes_[ready[at]]));
    }
    if (ordered.size() == nodes_.size()) return ordered;
    return bad_input("operations of a step wait for each other in a circle");
  }

  std::span<const TemplateOp> ops_;
  std::vector<Ids> after_;  // By operation: what it waits for.
  std::map<std::pair<std::string_view, std::int32_t>, Ids> transfers_;  // That have a peer.
  std::vector<PipelineNode> nodes_;
  std::int32_t stages_ = 0;
  std::int32_t chunks_ = 0;
};

}  // namespace

bool is_transfer(std::string_view kind) {
  return std::ranges::any_of(
      kWays, [&](const Way& way) { return kind == way.send || kind == way.receive; });
}

bool is_exchange(std::string_view kind) {
  constexpr std::string_view kParts[] = {"send",   "recv",      "reduce", "gather", "scatter",
                                         "to-all", "broadcast", "sync",   "clip"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return contains(kind, part); });
}

bool is_pass(std::string_view kind) {
  return std::ranges::any_of(kWays, [&](const Way& way) { return kind == way.pass; });
}

std::string_view kind_group(std::string_view kind) {
  if (!is_transfer(kind)) return kind;
  return kind.starts_with("forward") ? "forward-pp-comm" : "backward-pp-comm";
}

Result<std::vector<PipelineNode>> pipeline_graph(std::span<const TemplateOp> ops) {
  return Graph(ops).build();
}

}  // namespace amdahl::profile
