#include "profile/timeline_boxes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::kNone;

constexpr std::uint8_t kMostLevels = 8;
constexpr std::size_t kLongestName = 160;

// Boxes of one row in order of time. Neighbours that are shorter than `least` become one, named
// after the longest of them; least 0: none do.
class Row {
 public:
  explicit Row(Nanos least) : least_{least} {}

  void add(const Box& next) {
    Box* last = boxes_.empty() ? nullptr : &boxes_.back();
    const bool joins = last != nullptr && next.to - next.from < least_ &&
                       next.from - last->to < least_ && next.to - last->from < least_ * 2;
    if (!joins) {
      longest_ = next.to - next.from;
      boxes_.push_back(next);
      return;
    }
    if (next.to - next.from > longest_) {
      longest_ = next.to - next.from;
      last->name = next.name;
      last->why = next.why;
    }
    last->to = std::max(last->to, next.to);
    last->count += next.count;
  }

  std::vector<Box> take() { return std::move(boxes_); }

 private:
  Nanos least_;
  Nanos longest_{};  // Of those in the last box.
  std::vector<Box> boxes_;
};

class Draw {
 public:
  Draw(const Prepared& prepared, const std::vector<Nanos>& shifts) : in_{prepared} {
    shifts_ = shifts;
    shifts_.resize(in_.trace.sources.size());
    out_.names.emplace_back();
  }

  Boxes run(const CriticalPath& path, std::size_t most) {
    out_.from = path.from;
    out_.to = path.to;
    // Threads that only watch may be seen outside of what was worked.
    for (const model::HostEvent& event : in_.trace.host_events) {
      const Nanos shift =
          shifts_[in_.trace.processes[in_.trace.threads[event.thread].process].source];
      out_.from = std::min(out_.from, event.start - shift);
      out_.to = std::max(out_.to, event.end() - shift);
    }
    out_.events = in_.trace.host_events.size() + in_.trace.device_events.size();
    least_ = (out_.to - out_.from) / 1'000'000;
    find_depths();
    // Where there are too many for certain, none of the shortest is kept at all.
    if (path.segments.size() + count_events() > most) widen();
    add_path(path);
    for (std::uint32_t source = 0; source < in_.trace.sources.size(); ++source) {
      add_devices(source);
      add_threads(source);
    }
    shrink(most);
    for (const Lane& lane : out_.lanes) {
      if (lane.kind != LaneKind::kStream && lane.kind != LaneKind::kThread) continue;
      for (const Box& box : lane.boxes) out_.drawn += box.count == 1 ? 1 : 0;
    }
    return std::move(out_);
  }

 private:
  std::uint32_t name_of(std::uint32_t name) {
    const auto [found, added] =
        names_.try_emplace(name, static_cast<std::uint32_t>(out_.names.size()));
    if (added) out_.names.push_back(clip(in_.trace.names[name], kLongestName));
    return found->second;
  }

  std::string rank_words(std::uint32_t source) const {
    const model::TraceSource& of = in_.trace.sources[source];
    if (of.rank >= 0) return fmt::format("rank {}, ", of.rank);
    return in_.trace.sources.size() > 1 ? fmt::format("{}, ", of.file) : std::string();
  }

  // That have a box, at the most.
  std::size_t count_events() const {
    std::size_t count = 0;
    for (const model::DeviceEvent& event : in_.trace.device_events) {
      count += keeps_busy(event) ? 1 : 0;
    }
    for (const std::uint8_t depth : depths_) count += depth < kMostLevels ? 1 : 0;
    return count;
  }

  // Doubles what counts as too short to be seen.
  void widen() {
    least_ = std::max(Nanos{1}, least_ * 2);
    joins_ = true;
  }
  Row row() const { return Row(joins_ ? least_ : Nanos{}); }

  void add_path(const CriticalPath& path) {
    Lane lane;
    lane.name = "critical path";
    lane.kind = LaneKind::kPath;
    Row row = this->row();
    for (const PathSegment& segment : path.segments) {
      Box box{segment.from - out_.from, segment.to - out_.from, 0, 1, segment.why, 0};
      if (segment.event != kNone) {
        box.name = name_of(segment.on_device ? in_.trace.device_events[segment.event].name
                                             : in_.trace.host_events[segment.event].name);
      }
      row.add(box);
    }
    lane.boxes = row.take();
    out_.lanes.push_back(std::move(lane));
  }

  void add_devices(std::uint32_t source) {
    const Nanos origin = out_.from + shifts_[source];
    for (std::uint32_t device = 0; device < in_.trace.devices.size(); ++device) {
      if (in_.trace.devices[device].source != source) continue;
      if (in_.devices.of_device(device).empty()) continue;
      const std::string words =
          fmt::format("{}device {}", rank_words(source), in_.trace.devices[device].id);
      for (std::uint32_t stream = 0; stream < in_.trace.streams.size(); ++stream) {
        if (in_.trace.streams[stream].device != device) continue;
        Lane lane;
        lane.name = fmt::format("{}, stream {}", words, in_.trace.streams[stream].id);
        lane.kind = LaneKind::kStream;
        Row row = this->row();
        for (const std::uint32_t i : in_.devices.of_stream(stream)) {
          const model::DeviceEvent& event = in_.trace.device_events[i];
          row.add({event.start - origin, event.end() - origin, name_of(event.name), 1,
                   in_.names.device(event), 0});
        }
        lane.boxes = row.take();
        if (!lane.boxes.empty()) out_.lanes.push_back(std::move(lane));
      }
      Lane idle;
      idle.name = words + ", why idle";
      idle.kind = LaneKind::kIdle;
      Row row = this->row();
      for (const GapPiece& piece : gap_pieces(in_, device)) {
        const std::uint32_t name =
            piece.host_event == kNone ? 0 : name_of(in_.trace.host_events[piece.host_event].name);
        row.add({piece.from - origin, piece.to - origin, name, 1, piece.why, 0});
      }
      idle.boxes = row.take();
      if (!idle.boxes.empty()) out_.lanes.push_back(std::move(idle));
    }
  }

  void add_threads(std::uint32_t source) {
    const Nanos origin = out_.from + shifts_[source];
    std::vector<Lane> lanes(in_.trace.threads.size());
    std::vector<std::vector<Row>> rows(lanes.size());
    for (std::uint32_t i = 0; i < in_.trace.host_events.size(); ++i) {
      const model::HostEvent& event = in_.trace.host_events[i];
      if (in_.trace.processes[in_.trace.threads[event.thread].process].source != source) continue;
      if (depths_[i] >= kMostLevels) continue;
      Lane& lane = lanes[event.thread];
      lane.depth = std::max(lane.depth, static_cast<std::uint8_t>(depths_[i] + 1));
      if (rows[event.thread].size() < lane.depth) rows[event.thread].resize(lane.depth, row());
      rows[event.thread][depths_[i]].add({event.start - origin, event.end() - origin,
                                          name_of(event.name), 1, in_.reasons.of(i), depths_[i]});
    }
    for (std::size_t thread = 0; thread < lanes.size(); ++thread) {
      for (Row& row : rows[thread]) {
        const std::vector<Box> boxes = row.take();
        lanes[thread].boxes.insert(lanes[thread].boxes.end(), boxes.begin(), boxes.end());
      }
    }
    for (std::uint32_t thread = 0; thread < lanes.size(); ++thread) {
      if (lanes[thread].boxes.empty()) continue;
      const model::TraceThread& of = in_.trace.threads[thread];
      const std::string_view name = in_.trace.names[of.name];
      const bool says_id = name.find(fmt::to_string(of.id)) != std::string_view::npos;
      const std::string words = name.empty() ? fmt::format("thread {}", of.id)
                                : says_id    ? clip(name, 40)
                                             : fmt::format("thread {} ({})", of.id, clip(name, 40));
      lanes[thread].name = rank_words(source) + words;
      lanes[thread].kind = LaneKind::kThread;
      out_.lanes.push_back(std::move(lanes[thread]));
    }
  }

  void find_depths() {
    depths_.resize(in_.trace.host_events.size());
    for (std::size_t i = 0; i < depths_.size(); ++i) {
      const std::uint32_t parent = in_.trace.host_events[i].parent;
      depths_[i] = parent == kNone ? std::uint8_t{0}
                                   : static_cast<std::uint8_t>(std::min(254, depths_[parent] + 1));
    }
  }

  // Until few enough are left.
  void shrink(std::size_t most) {
    for (int tries = joins_ ? 1 : 0; tries < 40; ++tries) {
      std::size_t count = 0;
      for (const Lane& lane : out_.lanes) count += lane.boxes.size();
      if (count <= most) return;
      widen();
      for (Lane& lane : out_.lanes) join_short(lane);
    }
  }

  void join_short(Lane& lane) const {
    std::vector<Box> joined;
    for (auto first = lane.boxes.begin(); first != lane.boxes.end();) {
      Row row = this->row();
      auto next = first;
      for (; next != lane.boxes.end() && next->depth == first->depth; ++next) row.add(*next);
      const std::vector<Box> boxes = row.take();
      joined.insert(joined.end(), boxes.begin(), boxes.end());
      first = next;
    }
    lane.boxes = std::move(joined);
  }

  const Prepared& in_;
  std::vector<Nanos> shifts_;
  std::vector<std::uint8_t> depths_;
  Nanos least_{};       // Shorter than this is too short to be seen.
  bool joins_ = false;  // So there are too many boxes without.
  std::unordered_map<std::uint32_t, std::uint32_t> names_;
  Boxes out_;
};

}  // namespace

Boxes boxes(const Prepared& prepared, const CriticalPath& path, const std::vector<Nanos>& shifts,
            std::size_t most) {
  return Draw(prepared, shifts).run(path, most);
}

}  // namespace amdahl::profile
