// nvidia_mon.h: reads what `nvidia-smi dmon -o DT` and `nvidia-smi pmon -o DT` print.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_mon {

// "# gpu pwr ... sm ..." or "#Date Time gpu pid type sm ...", also with commas.
bool claims(std::string_view head);

// dmon: the column sm of each GPU. pmon: of each GPU the sum over its processes, at most 100; a GPU
// without a process is idle. Without dates and times (-o DT) there is nothing to join: an error.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::nvidia_mon
