#include "trace/operations/operations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "trace/kineto/decimal.h"
#include "trace/kineto/frame.h"
#include "trace/kineto/repair.h"
#include "trace/operations/event.h"

namespace amdahl::trace::operations {
namespace {

using model::LossKind;
using nlohmann::json;

// A worker's lane, as the file numbers it.
using Lane = std::pair<std::int64_t, std::int64_t>;  // Process, thread.

// Which part of the job a lane is.
struct Position {
  std::int32_t stage = -1;
  std::int32_t tensor = 0;  // Rank within a stage that is split (TP).
};

// The whole number after `word`; nothing if it is not there.
std::optional<std::int32_t> number_after(std::string_view text, std::string_view word) {
  const std::size_t found = text.find(word);
  if (found == std::string_view::npos) return std::nullopt;
  text.remove_prefix(found + word.size());
  text.remove_prefix(std::min(text.find_first_not_of(" [:="), text.size()));
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  return to_number<std::int32_t>(text.substr(0, digits));
}

std::optional<std::int32_t> small(std::optional<std::int64_t> value) {
  if (!value || *value < -1 || *value > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(*value);
}

class Reading {
 public:
  Reading(const Input& input, const Limits& limits, model::TraceBuilder& builder)
      : framer_(input.next),
        most_rows_(limits.memory_bytes / sizeof(model::Operation)),
        builder_(builder),
        sink_([this](const Event& event) { take(event); }) {
    model::TraceSource about;
    about.file = input.name;
    about.format = "operations";
    source_ = builder.source(std::move(about));
  }

  Result<> run() {
    std::optional<Error> broken;
    while (rows_.size() <= most_rows_) {
      auto piece = framer_.next({});
      if (!piece) broken = piece.error();
      if (!piece || !*piece) break;
      parse(**piece);
    }
    if (broken && rows_.empty()) return *broken;
    if (rows_.empty()) return bad_input("has no operations with a step");
    TRY(place_rows());
    count_losses(broken);
    builder_.trace().sources[source_].bytes = framer_.bytes();
    return Ok{};
  }

 private:
  // What of the row its lane says follows at the end: names of lanes may come last.
  struct Row {
    model::Operation operation;
    Lane lane;
    std::optional<std::int32_t> stage;
  };
  struct Counts {
    std::uint64_t without_step = 0;
    std::uint64_t without_time = 0;
    std::uint64_t negative = 0;
  };

  void parse(const kineto::Piece& piece) {
    const std::string_view bytes(piece.buffer.bytes.get() + piece.begin, piece.end - piece.begin);
    if (parse_list(bytes)) return;
    // Not JSON as a whole: each event that is whole counts.
    for (const kineto::Unit& unit : kineto::split_balanced(bytes)) {
      const std::string_view event = bytes.substr(unit.begin, unit.end - unit.begin);
      if (parse_list(event)) continue;
      if (++unreadable_ == 1) {
        unreadable_at_ = fmt::format("byte {}: {}", piece.offset + unit.begin, clip(event, 60));
      }
    }
  }

  // False if it is not JSON; then none of it counts.
  bool parse_list(std::string_view events) {
    const std::size_t rows = rows_.size();
    const Counts counts = counts_;
    list_.assign("[").append(events).append("]");
    if (json::sax_parse(list_, &sink_)) return true;
    rows_.resize(rows);
    counts_ = counts;
    return false;
  }

  void take(const Event& event) {
    const Lane lane{event.pid.value_or(0), event.tid.value_or(0)};
    if (event.phase == "M" && event.name == "thread_name") {
      const auto stage = number_after(event.label, "PP rank");
      if (stage) positions_[lane] = {*stage, number_after(event.label, "TP rank").value_or(0)};
      return;
    }
    if (event.phase == "M" && event.name == "process_name") {
      if (const auto replica = number_after(event.label, "DP rank")) {
        replicas_[lane.first] = *replica;
      }
      return;
    }
    if (event.phase != "X" || event.name.empty()) return;
    if (!event.step) {
      ++counts_.without_step;
      return;
    }
    if (!event.start || !event.duration) {
      ++counts_.without_time;
      return;
    }
    Row row;
    row.operation.start = Nanos{*event.start};
    row.operation.duration = Nanos{std::max<std::int64_t>(*event.duration, 0)};
    if (*event.duration < 0) ++counts_.negative;
    row.operation.step = *event.step;
    row.operation.name = builder_.intern(event.category.empty() ? event.name : event.category);
    row.operation.chunk = small(event.chunk).value_or(-1);
    row.lane = lane;
    row.stage = small(event.stage);
    rows_.push_back(row);
  }

  // A worker in a step: whatever it did then is in one file, unless files are of two jobs.
  using Worker = std::tuple<std::int64_t, std::int32_t, std::int32_t>;
  static Worker worker_of(const model::Operation& one) {
    return {one.step, one.replica, one.stage};
  }

  // Ranks within a stage run the same operations side by side, as replicas do.
  Result<> place_rows() {
    std::int32_t tensors = 1;
    for (const auto& [lane, position] : positions_) {
      tensors = std::max(tensors, position.tensor + 1);
    }
    std::uint64_t unplaced = 0;
    std::vector<model::Operation>& out = builder_.trace().operations;
    const std::size_t before = out.size();
    std::set<Worker> others;
    for (const model::Operation& one : out) others.insert(worker_of(one));
    for (const Row& row : rows_) {
      const auto found = positions_.find(row.lane);
      Position position = found == positions_.end() ? Position{} : found->second;
      if (row.stage) position.stage = *row.stage;
      const auto named = replicas_.find(row.lane.first);
      const auto replica =
          named == replicas_.end() ? small(row.lane.first) : std::optional(named->second);
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      const bool fits = replica && std::int64_t{*replica} * tensors + position.tensor <= kMost;
      if (position.stage < 0 || !fits || *replica < 0) {
        ++unplaced;
        continue;
      }
      out.push_back(row.operation);
      out.back().stage = position.stage;
      out.back().replica = *replica * tensors + position.tensor;
      if (!others.contains(worker_of(out.back()))) continue;
      out.resize(before);
      return bad_input(
          "has steps of ranks that another file has, too, so it is of another job; profile each "
          "job alone");
    }
    builder_.lose(source_, LossKind::kNoDevice, unplaced,
                  "operations of a thread whose name has no 'PP rank N'");
    if (out.size() > before) return Ok{};
    return bad_input(
        "does not say the stage of its operations; name each thread 'PP rank N, ...' in a "
        "thread_name event, or add args.stage");
  }

  void count_losses(const std::optional<Error>& broken) {
    builder_.lose(source_, LossKind::kUnreadable, unreadable_, unreadable_at_);
    builder_.lose(source_, LossKind::kNoTime, counts_.without_time, "operations");
    builder_.lose(source_, LossKind::kUnknownKind, counts_.without_step,
                  "events without args.step");
    builder_.lose(source_, LossKind::kNegativeDuration, counts_.negative, "operations");
    if (rows_.size() > most_rows_) {
      builder_.lose(source_, LossKind::kBudget, 1,
                    fmt::format("from byte {}; profile fewer steps at a time", framer_.bytes()));
    } else if (broken || framer_.truncated()) {
      builder_.lose(source_, LossKind::kTruncated, 1,
                    broken ? broken->text : fmt::format("byte {}", framer_.bytes()));
    }
  }

  kineto::Framer framer_;
  std::uint64_t most_rows_;
  model::TraceBuilder& builder_;
  EventSink sink_;
  std::uint32_t source_ = 0;
  std::vector<Row> rows_;
  std::map<Lane, Position> positions_;
  std::map<std::int64_t, std::int32_t> replicas_;  // By process.
  std::string list_;                               // What is parsed; its memory is used again.
  Counts counts_;
  std::uint64_t unreadable_ = 0;
  std::string unreadable_at_;
};

}  // namespace

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos || (head[first] != '[' && head[first] != '{')) return false;
  return contains(head, "\"ph\"") && contains(head, "\"step\"") && contains(head, "\"mb_id\"") &&
         (contains(head, "\"forward-compute\"") || contains(head, "\"backward-compute\""));
}

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  return Reading(input, limits, builder).run();
}

}  // namespace amdahl::trace::operations
