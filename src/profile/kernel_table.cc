#include "profile/kernel_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "profile/breakdown.h"
#include "profile/kernel_advice.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;

constexpr double kFewBlocks = 5;  // Percent of occupancy: less than 128 threads a multiprocessor.

// All events of one name.
struct OfName {
  std::uint64_t launches = 0;
  Nanos time{};
  KernelKind kind = KernelKind::kOther;
  bool is_copy = false;
  Nanos single{};  // Of those that multiply in single precision.
  Roofline work;
  double occupied = 0;  // Percent times nanoseconds.
  Nanos with_occupancy{};
};

class TableMaker {
 public:
  explicit TableMaker(const model::Trace& trace) : trace_{trace}, work_{trace} {}

  KernelTable make() {
    for (const DeviceEvent& event : trace_.device_events) add(event);
    for (const auto& [id, of] : by_name_) add_name(trace_.names[id], of);
    for (auto& [key, row] : rows_) {
      row.name = key.first;
      table_.kernels.push_back(std::move(row));
    }
    std::ranges::stable_sort(table_.kernels, std::greater<>{}, &KernelRow::time);
    for (std::size_t k = 0; k < kKernelKinds; ++k) add_kind(static_cast<KernelKind>(k));
    std::ranges::stable_sort(table_.kinds, std::greater<>{}, &KernelKindRow::time);
    utilise();
    for (const model::TraceDevice& device : trace_.devices) {
      const DevicePeaks peaks = device_peaks(trace_, device);
      const double single = peaks.of(Precision::kSingle);
      if (single <= 0) continue;
      signs_.tensor32_gain =
          std::max(signs_.tensor32_gain, peaks.of(Precision::kTensor32) / single);
      signs_.half_gain = std::max(signs_.half_gain, peaks.of(Precision::kHalf) / single);
    }
    signs_.attention = attention_shapes(trace_);
    table_.advice = kernel_advice(table_, signs_);
    return std::move(table_);
  }

 private:
  void add(const DeviceEvent& event) {
    const bool is_copy =
        event.kind == model::DeviceKind::kCopy || event.kind == model::DeviceKind::kSet;
    if (!is_copy && event.kind != model::DeviceKind::kKernel) return;
    const auto [found, is_new] = by_name_.try_emplace(event.name);
    OfName& of = found->second;
    if (is_new) of.kind = is_copy ? KernelKind::kCopy : kernel_kind(trace_.name(event));
    ++of.launches;
    of.time += event.duration;
    of.is_copy = is_copy;
    of.work.add(work_.of(event, of.kind));
    Span& span = spans_[trace_.device_of(event)];
    span.from = std::min(span.from, event.start);
    span.to = std::max(span.to, event.end());
    if (is_copy) return;
    const bool is_product = of.kind == KernelKind::kGemm || of.kind == KernelKind::kConvolution;
    if (is_product && work_.precision(event, of.kind) == Precision::kSingle) {
      of.single += event.duration;
    }
    look_between(event, of.kind);
    const bool is_short = event.duration < kShortKernel;
    if (is_short) {
      ++signs_.tiny_launches;
      signs_.tiny += event.duration;
    }
    // PyTorch writes 0 where it cannot tell: for kernels with much dynamic shared memory.
    if (event.occupancy == model::kUnknownOccupancy || event.occupancy == 0) return;
    of.occupied += event.occupancy * static_cast<double>(event.duration.count());
    of.with_occupancy += event.duration;
    const bool computes = of.kind != KernelKind::kCommunication;
    if (computes && !is_short && event.occupancy < kFewBlocks) signs_.sparse += event.duration;
  }

  // Finds softmax kernels between GEMMs: scaling, masks and casts may be in between.
  void look_between(const DeviceEvent& event, KernelKind kind) {
    constexpr int kFew = 6;
    Between& at = between_[event.stream];
    if (kind == KernelKind::kGemm) {
      if (at.since_softmax <= kFew) signs_.softmax_between += at.softmax;
      at = Between{.since_gemm = 0};
      return;
    }
    ++at.since_gemm;
    ++at.since_softmax;
    if (kind != KernelKind::kSoftmax || at.since_gemm > kFew) return;
    if (contains(lower(trace_.name(event)), "logsoftmax")) return;
    at.softmax += event.duration;
    at.since_softmax = 0;
  }

  void add_name(std::string_view full, const OfName& of) {
    KernelRow& row = rows_[{of.is_copy ? std::string(full) : kernel_title(full), of.kind}];
    row.kind = of.kind;
    // A row may hold several names (template arguments): weighted by time.
    if (of.with_occupancy > Nanos{}) {
      const double mean = of.occupied / static_cast<double>(of.with_occupancy.count()) / 100;
      const double before = row.occupancy.value_or(mean) * to_seconds(row.time);
      const double whole = to_seconds(row.time) + to_seconds(of.time);
      row.occupancy = whole > 0 ? (before + mean * to_seconds(of.time)) / whole : mean;
    }
    row.launches += of.launches;
    row.time += of.time;
    row.work.add(of.work);
    add_signs(signs_, full, of.kind, false, of.time - of.single);
    add_signs(signs_, full, of.kind, true, of.single);
    KernelKindRow& kind = kinds_[at(of.kind)];
    kind.launches += of.launches;
    kind.time += of.time;
    kind.work.add(of.work);
    table_.time += of.time;
    table_.launches += of.launches;
    table_.work.add(of.work);
  }

  void add_kind(KernelKind kind) {
    KernelKindRow& row = kinds_[at(kind)];
    if (row.launches == 0) return;
    row.kind = kind;
    row.share = table_.time > Nanos{} ? to_seconds(row.time) / to_seconds(table_.time) : 0;
    row.largest = std::ranges::find(table_.kernels, kind, &KernelRow::kind)->name;
    table_.kinds.push_back(std::move(row));
  }

  // The FLOPs that are known against what the devices could have done.
  void utilise() {
    Nanos all{};
    Roofline products;
    for (const KernelKindRow& row : table_.kinds) {
      const bool multiplies = row.kind == KernelKind::kGemm || row.kind == KernelKind::kAttention ||
                              row.kind == KernelKind::kConvolution;
      if (!multiplies) continue;
      all += row.time;
      products.add(row.work);
    }
    if (all > Nanos{}) table_.shaped = to_seconds(products.time) / to_seconds(all);
    double available = 0;
    for (const auto& [device, span] : spans_) available += to_seconds(span.to - span.from);
    if (products.of_peak() && available > 0) table_.mfu = products.compute_s / available;
  }

  // What a stream did last: kernels since a GEMM, and softmax kernels since then.
  struct Between {
    int since_gemm = 1000;
    int since_softmax = 1000;
    Nanos softmax{};
  };
  struct Span {
    Nanos from = Nanos::max();
    Nanos to = Nanos::min();
  };

  const model::Trace& trace_;
  KernelWork work_;
  std::unordered_map<std::uint32_t, OfName> by_name_;
  std::map<std::uint32_t, Span> spans_;                 // By device.
  std::unordered_map<std::uint32_t, Between> between_;  // By stream.
  std::map<std::pair<std::string, KernelKind>, KernelRow> rows_;
  std::array<KernelKindRow, kKernelKinds> kinds_{};
  KernelSigns signs_;
  KernelTable table_;
};

}  // namespace

KernelTable kernel_table(const model::Trace& trace) { return TableMaker(trace).make(); }

}  // namespace amdahl::profile
