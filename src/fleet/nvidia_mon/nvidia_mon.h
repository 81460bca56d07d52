// nvidia_mon.h: reads output of `nvidia-smi dmon -o DT` and `nvidia-smi pmon -o DT`.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_mon {

// "# gpu pwr ... sm ..." or "#Date Time gpu pid type sm ...", also with commas.
bool claims(std::string_view head);

// dmon: column sm of each GPU. pmon: sum over the processes of a GPU, at most 100; a GPU without a
// process is idle. Fails without dates and times (-o DT).
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::nvidia_mon
