// lines.h: the places in the source that a job's threads wait and run in, while they come in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/bpf.h"
#include "observe/bpf/python_lines.h"
#include "observe/bpf/record.h"
#include "observe/bpf/stacks.h"

namespace amdahl::observe {

// Used by one thread.
class Lines {
 public:
  // A process that the kernel knows as `number` runs another program, or was met as it runs.
  void met(std::uint32_t process, std::uint32_t number);

  // Whether it is still to be seen which of the new processes are Python's: look soon.
  bool is_looking() const { return !looked_for_.empty(); }
  // Begins a round: what was loaded since is found again. Those that turned out to run Python, by
  // their numbers in the kernel.
  std::vector<std::pair<std::uint32_t, waits_python>> next_round();

  void take(const waits_event_stack& event);
  void take(const waits_event_python& event);
  void take(const waits_event_code& event) { python_.add_code(event); }

  // Of a place that waited; innermost first.
  std::vector<model::WaitFrame> frames(std::uint32_t site) { return stacks_.frames(site); }
  std::vector<model::PythonFrame> python(std::uint32_t site) const;
  // Where threads ran, most samples first, as many as there is room for; the other samples are
  // counted as lost.
  std::vector<model::RunSite> running();
  std::int64_t lost_samples() const { return lost_samples_; }

 private:
  struct PythonSearch {
    std::uint32_t process = 0;
    std::uint32_t number = 0;
    std::uint32_t rounds = 0;
  };

  Stacks stacks_;
  PythonLines python_;
  std::vector<PythonSearch> looked_for_;
  std::map<std::uint32_t, std::uint32_t> python_sites_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> python_samples_;
  std::map<std::pair<std::uint32_t, std::vector<Stacks::CodeAddress>>, std::int64_t> samples_;
  std::int64_t lost_samples_ = 0;
};

}  // namespace amdahl::observe
