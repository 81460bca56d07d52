#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "dream/dream.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

struct Words {
  Bottleneck bottleneck;
  std::string_view words;
};

constexpr auto kWords = std::to_array<Words>({
    {Bottleneck::kInput, "dataloader workers prefetch decode cache pinned input pipeline"},
    {Bottleneck::kContention, "oversubscription threads OMP NUM THREADS affinity numa contention"},
    {Bottleneck::kCommunication, "nccl allreduce collective bandwidth overlap communication"},
    {Bottleneck::kLifecycle, "startup import checkpoint warmup compile cache initialization"},
    {Bottleneck::kSerial, "batch overhead launch python allocator malloc serial"},
    {Bottleneck::kWakeups, "wait policy spin blocktime wakeup OMP passive"},
    {Bottleneck::kSync, "synchronization item logging metric queue stall"},
    {Bottleneck::kAllocation, "utilization scaling accelerators allocation rightsizing"},
    {Bottleneck::kCompute, "precision kernel matmul compile fusion"},
});

constexpr std::size_t kMostWords = 16;  // More find everything.
constexpr double kWorthLooking = 0.05;  // Share of the cost.

class Query {
 public:
  void add(Bottleneck bottleneck) {
    const auto row = std::ranges::find(kWords, bottleneck, &Words::bottleneck);
    if (row != kWords.end()) add_words(row->words);
  }

  void add_words(std::string_view words) {
    std::string word;
    for (const char c : std::string(words) + " ") {
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
        word += c;
      } else {
        add_word(std::exchange(word, {}));
      }
    }
  }

  std::string text() const { return join(words_, " "); }

 private:
  void add_word(const std::string& word) {
    if (word.size() < 3 || words_.size() >= kMostWords) return;
    if (seen_.insert(lower(word)).second) words_.push_back(word);
  }

  std::vector<std::string> words_;
  std::set<std::string> seen_;
};

}  // namespace

std::string query_for(const model::Profile& profile) {
  Query query;
  query.add(profile.bottleneck);
  for (const model::Cause& cause : profile.causes) {
    if (cause.share >= kWorthLooking) query.add(cause.bottleneck);
  }
  return query.text();
}

}  // namespace amdahl::dream
