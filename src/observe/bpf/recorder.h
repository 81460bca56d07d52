// recorder.h: writes single waits to a file while a job runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/bpf_lines.h"
#include "os/fd.h"

namespace amdahl::observe {

// Bounded: past the limit, waits are counted and dropped; the summary always fits. A failed write
// is reported by finish().
class Recorder {
 public:
  // An empty path records nothing.
  Recorder(std::string path, std::int64_t most_bytes);

  Result<> begin(const std::string& head);
  void add(const model::SingleWait& wait);
  void add_least(Nanos at, Nanos least);
  void flush();
  Result<> finish(const model::BpfSummary& summary);
  std::int64_t dropped() const { return dropped_; }

 private:
  Result<> write(std::string_view bytes);

  std::string path_;
  std::int64_t most_bytes_;
  os::Fd file_{-1};
  std::string buffer_;
  std::int64_t written_ = 0;
  std::int64_t dropped_ = 0;
  std::string problem_;
};

}  // namespace amdahl::observe
