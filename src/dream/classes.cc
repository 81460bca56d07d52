#include "dream/classes.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

struct Words {
  Bottleneck bottleneck;
  std::string_view words;  // Beginnings: "oversubscri" is "oversubscribed" and "oversubscription".
};

// Most specific words first.
constexpr auto kWords = std::to_array<Words>({
    {Bottleneck::kInput,
     "input starv,data starv,starv,dataloader,data load,loader,input pipeline,input bound,"
     "waiting for input,waiting for data,prefetch,decod,num workers"},
    {Bottleneck::kContention,
     "oversubscri,over subscri,contention,contended,too many threads,busy host,shared host,"
     "noisy neighbo,preempt,affinity,numa"},
    {Bottleneck::kCommunication,
     "allreduce,all reduce,all gather,collective,nccl,communication,interconnect,infiniband"},
    {Bottleneck::kLifecycle,
     "startup,start up,import,checkpoint,warmup,warm up,teardown,shutdown,initiali,cold start"},
    {Bottleneck::kSerial,
     "launch overhead,python overhead,launch bound,cpu bound,serial,allocator,malloc,"
     "interpreter,postprocess,tokeniz"},
    {Bottleneck::kWakeups,
     "wakeup,wake up,wait policy,spin,blocktime,context switch,futex,go to sleep"},
    {Bottleneck::kSync,
     "device sync,synchroni,sync stall,item call,range check,nan check,host waits,metric,"
     "logging"},
    {Bottleneck::kAllocation,
     "right siz,rightsiz,underutili,under utili,idle gpu,idle accelerator,too many gpu,"
     "over alloc,overalloc"},
    {Bottleneck::kCompute, "compute bound,matmul,gemm,kernel,fusion,precision"},
});

}  // namespace

double share_of_class(const model::Profile& profile, Bottleneck bottleneck) {
  double sum = 0;
  for (const model::Cause& cause : profile.causes) {
    if (cause.bottleneck == bottleneck && cause.share > 0) sum += cause.share;
  }
  return std::min(sum, 0.99);
}

std::vector<std::string> words_of(Bottleneck bottleneck) {
  const auto row = std::ranges::find(kWords, bottleneck, &Words::bottleneck);
  if (row == kWords.end()) return {};
  const auto words = split(row->words, ',');
  return {words.begin(), words.end()};
}

std::vector<Bottleneck> classes_named(std::string_view text) {
  std::vector<Bottleneck> named;
  for (const Words& row : kWords) {
    const auto words = split(row.words, ',');
    const bool speaks = std::ranges::any_of(words, [&](std::string_view word) {
      return text.find(" " + std::string(word)) != std::string_view::npos;
    });
    if (speaks) named.push_back(row.bottleneck);
  }
  return named;
}

std::optional<ClassShare> costliest(const model::Profile& profile,
                                    const std::vector<Bottleneck>& classes) {
  std::optional<ClassShare> best;
  for (const Bottleneck candidate : classes) {
    const double share = share_of_class(profile, candidate);
    if (share > (best ? best->share : 0)) best = {candidate, share};
  }
  return best;
}

std::vector<model::Hypothesis> best_of_each(std::vector<model::Hypothesis> hypotheses) {
  std::ranges::stable_sort(hypotheses, std::ranges::greater{},
                           [](const model::Hypothesis& h) { return h.prior * h.predicted_gain; });
  std::set<std::string> keys;
  std::erase_if(hypotheses, [&](const model::Hypothesis& h) { return !keys.insert(h.key).second; });
  return hypotheses;
}

}  // namespace amdahl::dream
