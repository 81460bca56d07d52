// trace_builder.h: fills a Trace from one or several sources, and joins what belongs together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/trace.h"

namespace amdahl::model {

// Readers push rows straight into trace() and get positions of what rows share from here. Not for
// use by two threads at once.
class TraceBuilder {
 public:
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }

  std::uint32_t intern(std::string_view text) { return trace_.names.intern(text); }

  // Rows that are made when they are first asked for.
  std::uint32_t source(TraceSource source);  // Always a new one.
  std::uint32_t process(std::uint32_t source, std::int64_t id);
  std::uint32_t thread(std::uint32_t process, std::int64_t id);
  std::uint32_t device(std::uint32_t source, std::int64_t id);
  std::uint32_t stream(std::uint32_t device, std::uint32_t process, std::int64_t id);
  // The frame `function`, called from the stack `caller`.
  std::uint32_t frame(std::uint32_t caller, std::string_view function);

  // A correlation that fits its field, the same for the same id; 0 stays 0. Ids beyond 31 bits
  // are given numbers of their own.
  std::uint32_t correlation(std::uint64_t id);

  // Counts what was lost; the example of the first is kept.
  void lose(std::uint32_t source, LossKind kind, std::uint64_t count, std::string_view example);

  // Sorts, finds parents, joins launches by correlation (within the stream's process, or within
  // the source where the stream names none; of several calls with one correlation the last that
  // started), and reads steps from annotations called ProfilerStep#N that no reader gave.
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
