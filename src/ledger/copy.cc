#include <vector>

#include <fmt/core.h>

#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::ledger {
namespace {

constexpr std::size_t kAtOnce = 500;

Result<std::vector<Event>> some_after(Ledger& from, std::int64_t after) {
  std::vector<Event> some;
  TRY(from.each_event(after, [&](const Event& event) {
    some.push_back(event);
    return some.size() < kAtOnce;
  }));
  return some;
}

// The last event of `to`, or its hash does not stand at that place of `from`.
Result<std::int64_t> common_end(Ledger& from, Ledger& to) {
  const std::vector<Event> last = TRY(to.events("", 0, 1));
  if (last.empty()) return 0;
  const std::int64_t seq = last.front().seq;
  const std::vector<Event> same = TRY(some_after(from, seq - 1));
  if (!same.empty() && same.front().seq == seq && same.front().hash == last.front().hash) {
    return seq;
  }
  return Error{Error::Kind::kConflict,
               fmt::format("the target has {} events that are not the first ones of the source: "
                           "copy into an empty ledger",
                           seq)};
}

}  // namespace

Result<std::int64_t> copy_events(Ledger& from, Ledger& to) {
  std::int64_t after = TRY(common_end(from, to));
  std::int64_t copied = 0;
  while (true) {
    const std::vector<Event> some = TRY(some_after(from, after));
    if (some.empty()) return copied;
    TRY(to.import(some));
    after = some.back().seq;
    copied += static_cast<std::int64_t>(some.size());
  }
}

}  // namespace amdahl::ledger
