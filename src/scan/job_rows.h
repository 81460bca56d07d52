// job_rows.h: compact storage for the jobs of a fleet.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "model/fleet.h"
#include "scan/anatomy.h"
#include "scan/interner.h"

namespace amdahl::scan {

// Where a job's split comes from.
enum class Evidence : std::uint8_t {
  kNone,     // No samples: all its time is unobserved.
  kSamples,  // Telemetry, joined by place and time or by the job's label.
  kMean,     // An average from accounting.
};

// One attempt of one job with accelerators. Split in accelerator-seconds within the window.
struct FleetJob {
  JobName id{};
  WordId family = 0;  // As reported by the job; empty: not reported.
  WordId name = 0;
  WordId user = 0;
  WordId account = 0;
  WordId partition = 0;
  WordId kind = 0;
  WordId script = 0;
  WordId reason = 0;  // Why it ended; empty: unknown.
  WordId hosts = 0;   // As written by the scheduler.
  WordId metric = 0;  // Metric of the split; empty: none.
  model::JobState state = model::JobState::kOther;
  Evidence evidence = Evidence::kNone;
  bool running = false;       // No end yet: `end` is how far it is known to have run.
  bool open = false;          // The elapsed time is unknown too: `end` is the window's.
  std::uint16_t attempt = 0;  // 0: the first one read with this id.
  float accelerators = 0;
  Nanos submit{};  // Unix time; 0: not known.
  Nanos start{};   // As in accounting, not clipped.
  Nanos end{};
  Split split;              // At the scan's idle threshold.
  double idle_at_zero = 0;  // The same at threshold 0; productive is the rest.
  double low_at_zero = 0;
  std::uint32_t lane = 0;  // First lane; a job's lanes are adjacent.
  std::uint32_t lanes = 0;
};

// A list of jobs that is read by value: what many have in common (names, users, ...) is kept once,
// and what only observed jobs have (a split, lanes) only for them. 28 bytes a job that nobody
// observed and whose times are whole seconds. Grows without copying what is there.
class JobRows {
 public:
  // Properties shared by many jobs.
  struct Traits {
    WordId family = 0;
    WordId name = 0;
    WordId user = 0;
    WordId account = 0;
    WordId partition = 0;
    WordId kind = 0;
    WordId script = 0;
    WordId reason = 0;
    friend bool operator==(const Traits&, const Traits&) = default;
  };

  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = FleetJob;
    using difference_type = std::ptrdiff_t;
    using reference = FleetJob;
    using pointer = void;

    Iterator() = default;
    Iterator(const JobRows& rows, std::size_t at) : rows_{&rows}, at_{at} {}
    FleetJob operator*() const { return (*rows_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const JobRows* rows_ = nullptr;
    std::size_t at_ = 0;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }
  FleetJob front() const { return (*this)[0]; }
  FleetJob back() const { return (*this)[size_ - 1]; }
  FleetJob operator[](std::size_t job) const;

  void push_back(const FleetJob& job);
  void set(std::size_t job, const FleetJob& value);
  void move(std::size_t from, std::size_t to);
  void shrink(std::size_t size);  // Drops the rest.

  // Single properties, for passes over millions.
  JobName id(std::size_t job) const { return row(job).id; }
  WordId hosts(std::size_t job) const { return row(job).hosts; }
  std::uint16_t attempt(std::size_t job) const;
  float accelerators(std::size_t job) const;
  Nanos submit(std::size_t job) const { return exact_of(row(job)).submit; }
  Nanos start(std::size_t job) const { return exact_of(row(job)).start; }
  Nanos end(std::size_t job) const { return exact_of(row(job)).end; }
  bool running(std::size_t job) const { return row(job).running; }
  bool open(std::size_t job) const { return row(job).open; }
  model::JobState state(std::size_t job) const { return row(job).state; }
  Evidence evidence(std::size_t job) const { return row(job).evidence; }
  Split split(std::size_t job) const;
  std::uint32_t lanes(std::size_t job) const;
  WordId metric(std::size_t job) const;
  // Which of traits() it has.
  std::uint32_t traits_of(std::size_t job) const { return row(job).traits; }
  const std::vector<Traits>& traits() const { return traits_; }

  void set_end(std::size_t job, Nanos end);
  void set_lanes(std::size_t job, std::uint32_t lane, std::uint32_t lanes);
  void set_unobserved(std::size_t job);  // All its time within clip_to().
  // The time that counts. Jobs that nobody observed have no allocation before this call.
  void clip_to(Nanos start, Nanos end);
  // Accelerator-seconds between the two times of clip_to().
  double allocated(std::size_t job) const { return allocated_of(exact_of(row(job))); }

 private:
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  static constexpr std::size_t kChunk = std::size_t{1} << 15;

  // Numbers that differ from job to job.
  struct Exact {
    Nanos submit{};
    Nanos start{};
    Nanos end{};
    float accelerators = 0;
    std::uint16_t attempt = 0;
  };
  struct Row {
    JobName id{};
    WordId hosts = 0;
    std::uint32_t traits = 0;
    std::uint32_t start = 0;         // Unix seconds; of a kOdd row, an index into odd_.
    std::int32_t wait = 0;           // Seconds from submit to start, or kNoSubmit.
    std::uint32_t length = 0;        // Seconds.
    std::uint16_t accelerators = 0;  // kOdd: the numbers do not fit here.
    std::uint8_t attempt = 0;
    model::JobState state : 4 = model::JobState::kOther;
    Evidence evidence : 2 = Evidence::kNone;
    bool running : 1 = false;
    bool open : 1 = false;
  };
  static_assert(sizeof(Row) == 28);
  static constexpr std::uint16_t kOdd = 0xFFFF;
  static constexpr std::int32_t kNoSubmit = std::numeric_limits<std::int32_t>::min();
  struct Chunk {
    std::unique_ptr<Row[]> rows{};
    std::unique_ptr<std::uint32_t[]> seen{};  // Indices into seen_, or kNothing; null: of none.
  };

  // What is known of a job that was observed.
  struct Observed {
    Split split;
    double idle_at_zero = 0;
    double low_at_zero = 0;
    WordId metric = 0;
    std::uint32_t lane = 0;
    std::uint32_t lanes = 0;
  };

  Row& row(std::size_t job) { return chunks_[job / kChunk].rows[job % kChunk]; }
  const Row& row(std::size_t job) const {
    CHECK(job < size_);
    return chunks_[job / kChunk].rows[job % kChunk];
  }
  Exact exact_of(const Row& row) const;
  void set_exact(Row& row, const Exact& exact);
  double allocated_of(const Exact& exact) const;
  const Observed* observed(std::size_t job) const;
  Observed& observe(std::size_t job);
  std::uint32_t& seen_at(std::size_t job);
  std::uint32_t intern(const Traits& traits);
  void grow_slots();

  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
  Nanos from_{};  // Of clip_to().
  Nanos to_{};
  std::vector<Observed> seen_;
  std::vector<Exact> odd_;
  std::vector<Traits> traits_;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t traits = kNothing;  // Index; kNothing: free.
  };
  std::vector<Slot> slots_;  // Open addressing, a power of two.
  std::uint32_t last_ = 0;   // Traits of the job that came last.
};

}  // namespace amdahl::scan
