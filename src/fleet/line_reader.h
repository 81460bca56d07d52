// line_reader.h: what readers of logs have in common: lines, and times in one zone.
#pragma once

#include <string_view>

#include "fleet/cut_lines.h"
#include "fleet/intake.h"
#include "fleet/source.h"
#include "fleet/times.h"

namespace amdahl::fleet {

class LineReader : public Reader {
 public:
  LineReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake}, zone_{zone_named(options.time_zone, options.zone_rules)} {}

  Result<> feed(std::string_view bytes) final {
    if (!zone_) return zone_.error();
    return lines_.feed(bytes,
                       [&](std::string_view line, Where where) { return take(line, where); });
  }

  Result<> finish() final {
    if (!zone_) return zone_.error();
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    end();
    return Ok{};
  }

 protected:
  virtual Result<> take(std::string_view line, Where where) = 0;
  virtual void end() = 0;  // After the last line.

  Intake& intake_;
  Result<Zone> zone_;  // Of times without one; take() and end() are called only if it is known.

 private:
  LineCutter lines_;
};

}  // namespace amdahl::fleet
