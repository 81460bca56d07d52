#include "scan/timeline.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <queue>
#include <string>
#include <tuple>

namespace amdahl::scan {
namespace {

struct Piece {
  Nanos start{};
  Nanos end{};
  std::size_t index = 0;  // Of the span it was cut from.
};

// Cut without sums that could overflow: a job may report any number.
std::optional<Piece> cut(const model::Span& span, Nanos wall, std::size_t index) {
  constexpr Nanos kZero{};
  if (span.duration <= kZero || span.start >= wall) return std::nullopt;
  Piece piece{.start = span.start, .end = wall, .index = index};
  if (span.start < kZero) {
    piece.start = kZero;
    piece.end = std::min(span.start + span.duration, wall);
  } else if (span.duration < wall - span.start) {
    piece.end = span.start + span.duration;
  }
  if (piece.end <= piece.start) return std::nullopt;
  return piece;
}

// The innermost is on top.
struct IsOuter {
  bool operator()(const Piece& a, const Piece& b) const {
    return std::tie(a.start, b.end, a.index) < std::tie(b.start, a.end, b.index);
  }
};

void append(std::vector<model::Span>& timeline, std::string_view name, Nanos start, Nanos end) {
  if (end <= start) return;
  if (!timeline.empty() && timeline.back().name == name) {
    timeline.back().duration += end - start;
    return;
  }
  timeline.push_back({.name = std::string(name), .start = start, .duration = end - start});
}

}  // namespace

std::vector<model::Span> flatten(std::span<const model::Span> spans, Nanos wall) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (const auto piece = cut(spans[i], wall, i)) pieces.push_back(*piece);
  }
  if (pieces.empty()) return {};
  std::ranges::sort(pieces, {},
                    [](const Piece& piece) { return std::tie(piece.start, piece.index); });

  std::vector<model::Span> timeline;
  std::priority_queue<Piece, std::vector<Piece>, IsOuter> open;
  std::size_t next = 0;
  Nanos at{};
  while (at < wall) {
    while (next < pieces.size() && pieces[next].start <= at) open.push(pieces[next++]);
    while (!open.empty() && open.top().end <= at) open.pop();
    const Nanos starts = next < pieces.size() ? pieces[next].start : wall;
    if (open.empty()) {
      append(timeline, kUnnamed, at, starts);
      at = starts;
      continue;
    }
    const Nanos until = std::min(starts, open.top().end);
    const std::string& name = spans[open.top().index].name;
    append(timeline, name.empty() ? kUnnamed : std::string_view(name), at, until);
    at = until;
  }
  return timeline;
}

}  // namespace amdahl::scan
