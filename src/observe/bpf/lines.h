// lines.h: source lines in which a job's threads wait and run, resolved while the job runs.
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

// Not thread-safe.
class Lines {
 public:
  // A process (`number` in the root namespace) called exec, or was found running.
  void met(std::uint32_t process, std::uint32_t number);

  // Whether some new processes may still turn out to run Python: call next_round() soon.
  bool is_looking() const { return !looked_for_.empty(); }
  // Starts a round, which picks up newly loaded files. Returns the processes found to run Python,
  // by their number in the root namespace.
  std::vector<std::pair<std::uint32_t, waits_python>> next_round();

  void take(const waits_event_stack& event);
  void take(const waits_event_python& event);
  void take(const waits_event_code& event) { python_.add_code(event); }

  // Frames of a waiting site, innermost first.
  std::vector<model::WaitFrame> frames(std::uint32_t site) { return stacks_.frames(site); }
  std::vector<model::PythonFrame> python(std::uint32_t site) const;
  // Where threads ran, most samples first, up to a limit; further samples are counted as lost.
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
