// intake.h: what sources tell of a fleet, record by record, and whom.
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
  float value = 0;  // In the metric's own unit, as read.
};

// The place of a trouble, for people: "sacct.txt:17: Start: ...". The first few of each kind are
// kept, all are counted.
struct Where {
  std::uint64_t line = 0;  // 1 is the first; 0: not known.
  std::uint64_t byte = 0;
};

// What readers tell, a record each. Views live as long as the call that tells it.
struct Job {
  model::JobDraft draft;
  Where where;
};
// This job had this accelerator of this host for its whole life (GRES index, allocation lists).
struct Assignment {
  std::string_view job;
  std::string_view host;
  std::string_view accelerator;
};
// How many accelerators a host (or a partition, host empty) has, and of which kind.
struct Capacity {
  std::string_view host;
  std::string_view partition;
  std::string_view kind;
  int accelerators = 0;
};
// Over [at, at + held): of a partition's accelerators so many were there, allocated, down.
struct Occupancy {
  std::string_view partition;
  Nanos at{};
  Nanos held{};
  double total = 0;
  double allocated = 0;
  double down = 0;
};
// One accelerator by all its names, for inputs that know it by another than its index.
struct Device {
  std::string_view host{};         // Empty: not known; it is of the host that uses its name.
  std::string_view accelerator{};  // Its index on the host.
  std::string_view slice{};        // Of MIG; empty: the whole device.
  std::string_view profile{};      // Of the slice: "1g.10gb".
  std::string_view uuid{};         // Empty: not known.
  std::string_view bus{};          // Its PCI address; empty: not known.
  // Where `host` is empty: of this one if who uses its name says none, either (a guess by path).
  std::string_view likely{};
};
// Each accelerator of a host is shared out in so many parts: what JobDraft::shards counts.
struct Parts {
  std::string_view host;
  double of_each = 0;
};
// So many accelerators of a host were down; 0: all. Several may tell of the same time.
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
// Samples of many series, in the order of the input: the layout of long CSV files.
struct Rows {
  std::span<const SeriesId> series;  // As many as samples.
  std::span<const Sample> samples;
};
struct Complaint {
  model::Trouble trouble{};
  Where where;
  std::string_view text;
};
struct Troubles {  // So many, without a place.
  model::Trouble trouble{};
  std::uint64_t count = 0;
};

using Record = std::variant<Job, Assignment, Capacity, Occupancy, Device, Parts, Down, Samples,
                            Rows, Complaint, Troubles>;

inline bool is_samples(const Record& record) {
  return std::holds_alternative<Samples>(record) || std::holds_alternative<Rows>(record);
}

// Whom readers tell. Implementations: scan::UsageAccumulator, journals, what passes on to another,
// and a recorder for tests. A reader calls from one thread; samples of one series come in the order
// of the input.
class Intake {
 public:
  virtual ~Intake() = default;

  // The same key gives the same id within one scan. Keep the id: interning costs a hash.
  virtual SeriesId series(const model::SeriesKey& key) = 0;
  virtual void tell(const Record& record) = 0;

  // The same for readers, who tell these often.
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
