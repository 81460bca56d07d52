// trace_builder.h: fills a Trace from one or several sources and links its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/trace.h"

namespace amdahl::model {

// Readers append rows to trace() and get the indices of shared rows here. Not thread-safe.
class TraceBuilder {
 public:
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }

  std::uint32_t intern(std::string_view text) { return trace_.names.intern(text); }

  // Return the row's index; the row is created on first use.
  std::uint32_t source(TraceSource source);  // Always creates a new one.
  std::uint32_t process(std::uint32_t source, std::int64_t id);
  std::uint32_t thread(std::uint32_t process, std::int64_t id);
  std::uint32_t device(std::uint32_t source, std::int64_t id);
  std::uint32_t stream(std::uint32_t device, std::uint32_t process, std::int64_t id);
  // The frame `function`, called from the stack `caller`.
  std::uint32_t frame(std::uint32_t caller, std::string_view function);

  // Maps an id to 32 bits: the same id gives the same value, 0 stays 0. Ids above 31 bits are
  // renumbered.
  std::uint32_t correlation(std::uint64_t id);

  // Counts lost data; keeps the first example.
  void lose(std::uint32_t source, LossKind kind, std::uint64_t count, std::string_view example);

  // Sorts rows, finds parents, and joins launches by correlation: within the stream's process, or
  // within the source if the stream has no process. If several calls have the same correlation,
  // the one that started last is used. Creates steps from annotations named ProfilerStep#N for
  // sources without steps.
  Trace finish() &&;

 private:
  struct Key {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  using Positions = std::unordered_map<Key, std::uint32_t, Hash>;

  Trace trace_;
  Positions processes_;
  Positions threads_;
  Positions devices_;
  Positions streams_;
  Positions frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> wide_correlations_;
};

}  // namespace amdahl::model
