// sge.h: reads accounting of Grid Engine (SGE, UGE, OCS): the accounting file, and qacct -j.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::sge {

// "gpu.q:node1:users:ada:train:12:sge:0:1700000000:...", or records of "qname  gpu.q" lines.
bool claims(std::string_view head);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::sge
