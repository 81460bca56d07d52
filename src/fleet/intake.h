// intake.h: the records that sources produce, and the interface that receives them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "base/units.h"
#include "model/fleet.h"

namespace amdahl::fleet {

using SeriesId = std::uint32_t;

struct Sample {
  Nanos at{};       // Unix time.
  float value = 0;  // In the metric's own unit.
};

// Where a trouble occurred, for people: "sacct.txt:17: Start: ...". All are counted; the first few
// of each kind are kept.
struct Where {
  std::uint64_t line = 0;  // 1-based; 0: unknown.
  std::uint64_t byte = 0;
};

// Records of readers. Views are valid during the call only.
struct Job {
  model::JobDraft draft;
  Where where;
};
// The job had this accelerator of this host for its whole life (GRES index, allocation lists).
struct Assignment {
  std::string_view job;
  std::string_view host;
  std::string_view accelerator;
};
// Number and kind of accelerators of a host (or of a partition, if host is empty).
struct Capacity {
  std::string_view host;
  std::string_view partition;
  std::string_view kind;
  int accelerators = 0;
};
// Over [at, at + held): accelerators of a partition in total, allocated, and down.
struct Occupancy {
  std::string_view partition;
  Nanos at{};
  Nanos held{};
  double total = 0;
  double allocated = 0;
  double down = 0;
};
// One accelerator with all its names, for inputs that do not use its index.
struct Device {
  std::string_view host{};         // Empty: unknown; the host that uses the name.
  std::string_view accelerator{};  // Its index on the host.
  std::string_view slice{};        // MIG slice; empty: the whole device.
  std::string_view profile{};      // Of the slice: "1g.10gb".
  std::string_view uuid{};         // Empty: unknown.
  std::string_view bus{};          // PCI address; empty: unknown.
  // If `host` is empty: the host to assume if the user of the name has none either (guessed from a
  // path).
  std::string_view likely{};
};
// Each accelerator of a host is divided into this many shares; see JobDraft::shards.
struct Parts {
  std::string_view host;
  double of_each = 0;
};
// This many accelerators of a host were down; 0: all. Records may overlap in time.
struct Down {
  std::string_view host;
  Nanos from{};
  Nanos to{};
  double accelerators = 0;
};
struct Samples {
  SeriesId series = 0;
  std::span<const Sample> samples;
};
// Samples of many series, in input order: the layout of long CSV files.
struct Rows {
  std::span<const SeriesId> series;  // Same length as samples.
  std::span<const Sample> samples;
};
struct Complaint {
  model::Trouble trouble{};
  Where where;
  std::string_view text;
};
struct Troubles {  // A count without positions.
  model::Trouble trouble{};
  std::uint64_t count = 0;
};

using Record = std::variant<Job, Assignment, Capacity, Occupancy, Device, Parts, Down, Samples,
                            Rows, Complaint, Troubles>;

inline bool is_samples(const Record& record) {
  return std::holds_alternative<Samples>(record) || std::holds_alternative<Rows>(record);
}

// Receives the records of readers. Implementations: scan::UsageAccumulator, journals, filters, and
// a recorder for tests. A reader calls from one thread; samples of one series come in input order.
class Intake {
 public:
  virtual ~Intake() = default;

  // The same key gives the same id within one scan. Keep the id: interning costs a hash.
  virtual SeriesId series(const model::SeriesKey& key) = 0;
  virtual void tell(const Record& record) = 0;

  // Shorthands for readers.
  void job(const model::JobDraft& job, Where where) { tell(Job{job, where}); }
  void samples(SeriesId series, std::span<const Sample> samples) { tell(Samples{series, samples}); }
  void rows(std::span<const SeriesId> series, std::span<const Sample> samples) {
    tell(Rows{series, samples});
  }
  void trouble(model::Trouble trouble, Where where, std::string_view text) {
    tell(Complaint{trouble, where, text});
  }
  void troubles(model::Trouble trouble, std::uint64_t count) { tell(Troubles{trouble, count}); }
};

}  // namespace amdahl::fleet
