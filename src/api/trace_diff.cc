#include "api/document.h"
#include "api/profile.h"

namespace amdahl::api {
namespace {

Json moved(const profile::Moved& row) {
  return {{"before_s", row.before},        {"after_s", row.after},
          {"change_s", row.change},        {"lower_s", or_null(row.lower)},
          {"upper_s", or_null(row.upper)}, {"can_tell", row.can_tell}};
}

}  // namespace

Json trace_diff(const profile::Diff& diff, bool failed) {
  Json rows = Json::array();
  for (const profile::Moved& row : diff.rows) {
    Json one = moved(row);
    one["by"] = profile::name(row.by);
    one["name"] = row.name;
    rows.push_back(std::move(one));
  }
  return document({{"before", diff.before},
                   {"after", diff.after},
                   {"by_step", diff.by_step},
                   {"steps_before", diff.steps_before},
                   {"steps_after", diff.steps_after},
                   {"whole", moved(diff.whole)},
                   {"change", diff.relative},
                   {"change_lower", or_null(diff.relative_lower)},
                   {"change_upper", or_null(diff.relative_upper)},
                   {"moved", rows},
                   {"notes", diff.notes},
                   {"failed", failed}});
}

}  // namespace amdahl::api
