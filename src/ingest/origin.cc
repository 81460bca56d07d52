#include "ingest/origin.h"

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/source.h"
#include "os/files.h"
#include "os/http.h"

namespace amdahl::ingest {

bool is_live(const Origin& source) {
  if (source.kind == "prometheus") return source.where.find("://") != source.where.npos;
  // "slurm=FILE" is a saved output; "slurm=CLUSTER" asks.
  return source.kind == "slurm" && source.where != "-" && os::glob(source.where).empty() &&
         source.where.find('/') == source.where.npos;
}

Result<Origin> parse_origin(std::string_view typed) {
  const auto equals = typed.find('=');
  Origin source;
  source.kind = typed.substr(0, equals);
  if (equals != typed.npos) source.where = typed.substr(equals + 1);
  const auto row = fleet::sources().named(source.kind);
  if (!row && !os::glob(std::string(typed)).empty()) return Origin{.where = std::string(typed)};
  if (!row) {
    return bad_input(fmt::format(
        "--source: expected a file or folder, or NAME=WHERE (prometheus=http://host:9090, slurm, "
        "csv=FILE): no file '{}', and {}",
        typed, row.error().text));
  }
  if (source.kind == "prometheus" && source.where.empty()) {
    return bad_input("--source prometheus needs an address: prometheus=http://host:9090");
  }
  if (source.kind == "prometheus" && !is_live(source) && os::glob(source.where).empty()) {
    return bad_input(fmt::format(
        "--source prometheus={0}: there is no such file; an address begins with http:// or "
        "https://: prometheus=http://{0}",
        source.where));
  }
  if (is_live(source) && source.kind == "prometheus") TRY(os::check_address(source.where));
  if (source.where.empty() && source.kind != "slurm") {
    return bad_input(fmt::format("--source {0} needs a file: {0}=FILE", source.kind));
  }
  return source;
}

std::string describe(const Origin& source) {
  if (source.kind == "slurm" && source.where.empty()) return "slurm (its client programs)";
  if (is_live(source) && source.kind == "slurm") return fmt::format("slurm of {}", source.where);
  if (is_live(source)) return fmt::format("{} {}", source.kind, os::shown_address(source.where));
  return source.where == "-" ? "standard input" : source.where;
}

}  // namespace amdahl::ingest
