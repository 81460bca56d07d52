#include "scan/families.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/count.h"
#include "scan/stop.h"
#include "scan/triple_memo.h"

namespace amdahl::scan {

Families families_of(const FleetUsage& usage, Recogniser recogniser,
                     const std::function<bool()>& stop) {
  const Stop stopped(stop);
  Families families;
  const JobRows& jobs = usage.jobs;
  families.of_job.reserve(jobs.size());
  TripleMemo stems;
  TripleMemo seen;
  TripleMemo known;
  for (std::size_t i = 0; i < jobs.size() && !stopped(i); ++i) {
    const float accelerators = jobs.accelerators(i);
    const auto size = static_cast<std::uint32_t>(size_class(accelerators));
    const Triple whole{.first = jobs.traits_of(i), .second = size, .third = 0};
    const std::uint32_t family = known.of(whole, [&] {
      const JobRows::Traits& job = jobs.traits()[whole.first];
      const Triple named{.first = job.name, .second = job.script, .third = job.family};
      const std::uint32_t stem = stems.of(named, [&] {
        return recogniser.stem_of({.family = usage.text(job.family),
                                   .name = usage.text(job.name),
                                   .script = usage.text(job.script)});
      });
      const Triple held{.first = stem, .second = job.user, .third = size};
      return seen.of(held, [&] { return recogniser.of(stem, usage.text(job.user), accelerators); });
    });
    recogniser.again(family, accelerators);
    families.of_job.push_back(family);
  }
  families.all = std::move(recogniser).take();
  return families;
}

Families families_of(const FleetUsage& usage, Recogniser recogniser) {
  return families_of(usage, std::move(recogniser), {});
}

std::vector<std::uint32_t> jobs_of_other_sizes(const Families& families) {
  std::vector<std::uint32_t> jobs(families.all.size());
  for (const std::uint32_t family : families.of_job) ++jobs[family];
  const auto stem = [](const Family& family) {
    return std::string_view(family.name).substr(0, family.name.rfind('.'));
  };
  std::unordered_map<std::string_view, std::uint32_t> all;
  for (std::size_t i = 0; i < jobs.size(); ++i) all[stem(families.all[i])] += jobs[i];
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = all[stem(families.all[i])] - jobs[i];
  return jobs;
}

std::string why_alone(const Family& family, std::uint32_t of_other_sizes) {
  const bool is_named = family.what.starts_with("jobs named ") ||
                        family.what.starts_with("jobs without a name that run ");
  if (!is_named) return "";
  if (of_other_sizes == 0) return "the only one of its name and user";
  return fmt::format("{} of its name and user in other sizes",
                     counted(static_cast<std::int64_t>(of_other_sizes), "job"));
}

}  // namespace amdahl::scan
