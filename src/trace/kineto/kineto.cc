#include "trace/kineto/kineto.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/kineto/frame.h"
#include "trace/kineto/header.h"
#include "trace/kineto/merge.h"
#include "trace/kineto/pool.h"
#include "trace/operations/operations.h"

namespace amdahl::trace::kineto {
namespace {

using model::LossKind;

// How reading ended.
struct End {
  std::optional<Error> broken;  // The stream failed; what came before it counts.
  bool over_budget = false;
};

End read_events(Framer& framer, int threads, Merger& merger) {
  ParsePool pool(threads);
  End end;
  std::vector<Buffer> free;
  const auto take = [&] {
    ParsePool::Done done = pool.take();
    merger.add(done.window);
    free.push_back(std::move(done.buffer));
  };
  while (!end.over_budget) {
    if (!pool.has_room()) take();
    Buffer buffer;
    if (!free.empty()) {
      buffer = std::move(free.back());
      free.pop_back();
    }
    Result<std::optional<Piece>> piece = framer.next(std::move(buffer));
    if (!piece) {
      end.broken = piece.error();
      break;
    }
    std::optional<Piece> next = *std::move(piece);
    if (!next) break;
    pool.put(*std::move(next));
    end.over_budget = merger.full();
  }
  while (!pool.empty()) take();
  return end;
}

void name_device(const HeaderDevice& device, model::TraceDevice& row,
                 model::TraceBuilder& builder) {
  row.name = builder.intern(device.name);
  row.memory_bytes = device.memory_bytes;
  row.multiprocessors = device.multiprocessors;
}

void describe_source(const Header& header, std::uint32_t source, model::TraceBuilder& builder) {
  model::TraceSource& row = builder.trace().sources[source];
  row.host = header.host;
  row.backend = header.backend;
  row.rank = header.rank;
  row.world_size = header.world_size;
  auto& rows = builder.trace().devices;
  for (const HeaderDevice& device : header.devices) {
    // Nodes list all their devices; those that did nothing do not get a row.
    const auto found = std::ranges::find_if(rows, [&](const model::TraceDevice& known) {
      return known.source == source && known.id == device.id;
    });
    if (found != rows.end()) name_device(device, *found, builder);
  }
  // ROCm counts nodes, processors among them, so that its first device may be 2: if all listed
  // devices are alike, so is this one.
  const auto differs = [&](const HeaderDevice& one) {
    return one.name != header.devices.front().name;
  };
  if (header.devices.empty() || std::ranges::any_of(header.devices, differs)) return;
  for (model::TraceDevice& device : rows) {
    const bool is_listed =
        std::ranges::find(header.devices, device.id, &HeaderDevice::id) != header.devices.end();
    if (device.source == source && !is_listed) name_device(header.devices.front(), device, builder);
  }
}

void count_losses(const Framer& framer, const End& end, const Input& input, std::uint32_t source,
                  model::TraceBuilder& builder) {
  if (end.over_budget) {
    const std::uint64_t left = input.bytes > framer.bytes() ? input.bytes - framer.bytes() : 1;
    builder.lose(source, LossKind::kBudget, left,
                 fmt::format("from byte {}; profile fewer steps at a time", framer.bytes()));
  } else if (end.broken) {
    builder.lose(source, LossKind::kTruncated, 1,
                 fmt::format("byte {}: {}", framer.bytes(), end.broken->text));
  } else if (framer.truncated()) {
    builder.lose(source, LossKind::kTruncated, 1,
                 fmt::format("byte {}: the file is cut off; {} bytes of an event are lost",
                             framer.bytes(), framer.lost_bytes()));
  }
  if (framer.runaway_bytes() > 0) {
    builder.lose(source, LossKind::kTooLong, 1,
                 fmt::format("{} bytes without the end of an event", framer.runaway_bytes()));
  }
  // Already counted by the parser.
  const bool counted = std::ranges::any_of(builder.trace().losses, [&](const model::Loss& loss) {
    return loss.source == source && loss.kind == LossKind::kUnreadable;
  });
  if (framer.broken() > 0 && !counted) {
    builder.lose(source, LossKind::kUnreadable, framer.broken(),
                 fmt::format("byte {}: brackets do not match", framer.first_broken()));
  }
  if (framer.header_cut()) {
    builder.lose(source, LossKind::kTooLong, 1, "fields outside traceEvents");
  }
}

}  // namespace

bool claims(std::string_view head) {
  if (operations::claims(head)) return false;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos) return false;
  if (head[first] == '[') return contains(head, "\"ph\"") && contains(head, "\"ts\"");
  if (head[first] != '{') return false;
  return contains(head, "\"traceEvents\"") ||
         (contains(head, "\"schemaVersion\"") &&
          (contains(head, "\"deviceProperties\"") || contains(head, "\"distributedInfo\"")));
}

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  model::TraceSource about;
  about.file = input.name;
  about.format = "kineto";
  const std::uint32_t source = builder.source(std::move(about));
  Framer framer(input.next);
  Merger merger(source, limits, builder);
  const End end = read_events(framer, limits.threads, merger);
  if (end.broken && merger.events() == 0) return *end.broken;
  if (!framer.found_list()) return bad_input("has no traceEvents list");
  if (merger.events() == 0) {
    return bad_input(framer.truncated() ? "ends before the first complete event" : "has no events");
  }
  const Header header = read_header(framer.header());
  describe_source(header, source, builder);
  builder.trace().sources[source].bytes = framer.bytes();
  merger.finish(header.base);
  count_losses(framer, end, input, source, builder);
  return Ok{};
}

}  // namespace amdahl::trace::kineto
