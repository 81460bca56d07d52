#include "model/trace_builder.h"

#include <utility>

#include "model/trace_join.h"

namespace amdahl::model {
namespace {

constexpr std::uint32_t kWide = std::uint32_t{1} << 31;

// The position of a key in `rows`, where `make` appends it if it is new.
template <class Positions, class Key, class Rows, class Make>
std::uint32_t position(Positions& positions, const Key& key, Rows& rows, Make make) {
  const auto [found, added] = positions.try_emplace(key, static_cast<std::uint32_t>(rows.size()));
  if (added) rows.push_back(make());
  return found->second;
}

}  // namespace

std::size_t TraceBuilder::Hash::operator()(const Key& key) const {
  // The finaliser of splitmix64 over each part: ids are often multiples of a power of two.
  std::uint64_t hash = 0;
  for (const std::uint64_t part : {key.a, key.b, key.c}) {
    hash += part + 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    hash ^= hash >> 31;
  }
  return hash;
}

std::uint32_t TraceBuilder::source(TraceSource source) {
  trace_.sources.push_back(std::move(source));
  return static_cast<std::uint32_t>(trace_.sources.size() - 1);
}

std::uint32_t TraceBuilder::process(std::uint32_t source, std::int64_t id) {
  return position(processes_, Key{source, static_cast<std::uint64_t>(id), 0}, trace_.processes,
                  [&] { return TraceProcess{.source = source, .id = id}; });
}

std::uint32_t TraceBuilder::thread(std::uint32_t process, std::int64_t id) {
  return position(threads_, Key{process, static_cast<std::uint64_t>(id), 0}, trace_.threads,
                  [&] { return TraceThread{.process = process, .id = id}; });
}

std::uint32_t TraceBuilder::device(std::uint32_t source, std::int64_t id) {
  return position(devices_, Key{source, static_cast<std::uint64_t>(id), 0}, trace_.devices,
                  [&] { return TraceDevice{.source = source, .id = id}; });
}

std::uint32_t TraceBuilder::stream(std::uint32_t device, std::uint32_t process, std::int64_t id) {
  return position(streams_, Key{device, process, static_cast<std::uint64_t>(id)}, trace_.streams,
                  [&] { return TraceStream{.device = device, .process = process, .id = id}; });
}

std::uint32_t TraceBuilder::frame(std::uint32_t caller, std::string_view function) {
  const std::uint32_t name = intern(function);
  return position(frames_, Key{caller, name, 0}, trace_.stacks,
                  [&] { return StackFrame{.caller = caller, .function = name}; });
}

std::uint32_t TraceBuilder::correlation(std::uint64_t id) {
  if (id < kWide) return static_cast<std::uint32_t>(id);
  const auto next = kWide + static_cast<std::uint32_t>(wide_correlations_.size());
  return wide_correlations_.try_emplace(id, next).first->second;
}

void TraceBuilder::lose(std::uint32_t source, LossKind kind, std::uint64_t count,
                        std::string_view example) {
  if (count == 0) return;
  for (Loss& loss : trace_.losses) {
    if (loss.source != source || loss.kind != kind) continue;
    loss.count += count;
    return;
  }
  trace_.losses.push_back(
      {.source = source, .kind = kind, .count = count, .example = std::string(example)});
}

Trace TraceBuilder::finish() && {
  sort_rows(trace_);
  find_parents(trace_);
  join_launches(trace_);
  find_steps(trace_);
  return std::move(trace_);
}

}  // namespace amdahl::model
