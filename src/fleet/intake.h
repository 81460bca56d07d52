// intake.h: where sources put what they read; the jobs, series and troubles of one scan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// What a reader calls. Implementations: the fold (scan), and a recorder for tests. A reader calls
// from one thread; samples of one series come in the order of the input.
class Intake {
 public:
  virtual ~Intake() = default;

  virtual void job(const model::JobDraft& job, Where where) = 0;
  // This job had this accelerator of this host for its whole life (GRES index, allocation lists).
  virtual void place(std::string_view job, std::string_view host, std::string_view accelerator) = 0;
  // How many accelerators a host (or a partition, host empty) has, and of which kind.
  virtual void capacity(std::string_view host, std::string_view partition, std::string_view kind,
                        int accelerators) = 0;
  // Over [at, at + held): of a partition's accelerators so many were there, allocated, down.
  struct Occupancy {
    Nanos at{};
    Nanos held{};
    double total = 0;
    double allocated = 0;
    double down = 0;
  };
  virtual void occupancy(std::string_view partition, const Occupancy& occupancy) = 0;

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
  virtual void device(const Device& device) = 0;

  // Each accelerator of a host is shared out in so many parts: what JobDraft::shards counts.
  virtual void parts(std::string_view host, double of_each) = 0;

  // So many accelerators of a host were down; 0: all. Several may tell of the same time.
  struct Down {
    std::string_view host;
    Nanos from{};
    Nanos to{};
    double accelerators = 0;
  };
  virtual void down(const Down& down) = 0;

  // The same key gives the same id within one scan. Keep the id: interning costs a hash.
  virtual SeriesId series(const model::SeriesKey& key) = 0;
  virtual void samples(SeriesId series, std::span<const Sample> samples) = 0;
  // Rows of many series, in the order of the input: the layout of long CSV files.
  virtual void rows(std::span<const SeriesId> series, std::span<const Sample> samples) = 0;

  virtual void trouble(model::Trouble trouble, Where where, std::string_view text) = 0;
  virtual void troubles(model::Trouble trouble, std::uint64_t count) = 0;  // Without a place.
};

}  // namespace amdahl::fleet
