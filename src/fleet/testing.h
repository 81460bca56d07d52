// testing.h: an Intake that records everything, for tests of readers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::fleet {

class Recorder final : public Intake {
 public:
  // A draft that owns its strings: use these; the views in `draft` are empty.
  struct Job {
    std::string id, raw, cluster, name, user, account, partition, kind, family, script, hosts,
        metric;
    model::JobDraft draft;
    Where where;
  };
  struct Complaint {
    model::Trouble trouble{};
    Where where;
    std::string text;
  };
  struct Room {
    std::string partition;
    Occupancy occupancy;  // Without its partition.
  };

  std::vector<Job> jobs;
  std::vector<std::string> places;      // "JOB HOST ACCELERATOR".
  std::vector<std::string> capacities;  // "HOST|PARTITION|KIND|COUNT".
  std::vector<Room> occupancies;
  std::vector<std::string> devices;                // "HOST/ACCELERATOR slice=... uuid=... bus=...".
  std::vector<std::string> shares;                 // "HOST PARTS".
  std::vector<std::string> downs;                  // "HOST FROM TO ACCELERATORS", in seconds.
  std::vector<std::string> series_names;           // "HOST/ACCELERATOR METRIC job=... kind=...".
  std::vector<std::vector<Sample>> samples_of;     // By SeriesId.
  std::vector<Complaint> complaints;               // With a position, in order.
  std::map<model::Trouble, std::uint64_t> counts;  // From both kinds of call.

  SeriesId series(const model::SeriesKey& key) override;
  void tell(const Record& record) override;

  std::uint64_t count(model::Trouble trouble) const;
  std::size_t sample_count() const;

 private:
  void keep(const fleet::Job& job);
  void keep(const Assignment& place);
  void keep(const Capacity& capacity);
  void keep(const Occupancy& occupancy);
  void keep(const Device& device);
  void keep(const Parts& parts);
  void keep(const Down& down);
  void keep(const Samples& samples);
  void keep(const Rows& rows);
  void keep(const fleet::Complaint& complaint);
  void keep(const Troubles& troubles);

  std::map<std::string, SeriesId> ids_;
};

}  // namespace amdahl::fleet
