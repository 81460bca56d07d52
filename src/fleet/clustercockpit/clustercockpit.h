// clustercockpit.h: reads ClusterCockpit's job archive: meta.json (a job), data.json (samples).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "fleet/source.h"

namespace amdahl::fleet::clustercockpit {

bool claims_meta(std::string_view head);
bool claims_data(std::string_view head);

// One job, its accelerators, and its mean utilisation.
std::unique_ptr<Reader> make_meta(Intake& intake, const ReaderOptions& options);
// Series of scope "accelerator". data.json does not name its job; the path does.
std::unique_ptr<Reader> make_data(Intake& intake, const ReaderOptions& options);

// Job and start in "CLUSTER/1403/244/1608923076/data.json.gz": 1403244, 1608923076.
struct ArchivePath {
  std::string job;
  Nanos start{};
};
std::optional<ArchivePath> archive_path(std::string_view path);

}  // namespace amdahl::fleet::clustercockpit
