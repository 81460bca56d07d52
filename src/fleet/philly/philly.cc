#include "fleet/philly/philly.h"

#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <simdjson.h>

#include "base/text.h"
#include "fleet/json_items.h"
#include "fleet/table/states.h"
#include "fleet/times.h"

namespace amdahl::fleet::philly {
namespace {

using model::Trouble;
using simdjson::dom::element;

constexpr std::string_view kZone = "PST8PDT,M3.2.0,M11.1.0";
// The list is cut as one of an object.
constexpr std::string_view kBefore = "{\"jobs\":";

std::string_view text(element in, std::string_view key) {
  std::string_view view;
  if (in[key].get(view) != simdjson::SUCCESS) return {};
  return view;
}

// Calls `use` with each item of a list, if there is one.
template <class Use>
void for_each(element in, std::string_view key, Use use) {
  simdjson::dom::array items;
  if (in[key].get(items) != simdjson::SUCCESS) return;
  for (const element item : items) use(item);
}

// One attempt in words that live as long as it.
struct Attempt {
  Instant start;
  Instant end;
  std::vector<std::pair<std::string, std::string>> accelerators;  // Host and index.
  std::string hosts;
};

class PhillyReader final : public Reader {
 public:
  PhillyReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        zone_{options.time_zone.empty() ? zone_named(kZone)
                                        : zone_named(options.time_zone, options.zone_rules)},
        items_{[this](std::string_view, std::string_view item, std::uint64_t byte) {
          job(item, {.line = 0, .byte = byte - kBefore.size()});
        }} {}

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    if (!begun_) TRY(items_.feed(kBefore));
    begun_ = true;
    return items_.feed(bytes);
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    if (begun_) TRY(items_.feed("}"));
    if (!begun_ || !items_.whole()) {
      intake_.trouble(Trouble::kTruncated, {}, "the list of jobs is not closed");
    }
    return Ok{};
  }

 private:
  void job(std::string_view item, Where where) {
    element job;
    if (parser_.parse(item.data(), item.size()).get(job) != simdjson::SUCCESS) {
      return intake_.trouble(Trouble::kBadLine, where, "is not JSON");
    }
    const std::string_view id = text(job, "jobid");
    if (id.empty()) return intake_.trouble(Trouble::kBadLine, where, "has no jobid");
    const auto submit = time(text(job, "submitted_time"), "submitted_time", where);
    if (!submit) return;
    std::vector<Attempt> attempts;
    for_each(job, "attempts", [&](element each) {
      if (auto attempt = read(each, where)) attempts.push_back(*std::move(attempt));
    });
    const model::JobState status = table::state_of_word(text(job, "status"));
    if (attempts.empty()) {  // It never began.
      model::JobDraft draft = common(job, id, status);
      draft.submit = submit->at;
      return intake_.job(draft, where);
    }
    Nanos ready = submit->at;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const bool is_last = i + 1 == attempts.size();
      const std::string own = is_last ? std::string(id) : fmt::format("{}#{}", id, i + 1);
      tell(common(job, own, is_last ? status : model::JobState::kOther), attempts[i], ready, where);
      ready = attempts[i].end.at;
    }
  }

  static model::JobDraft common(element job, std::string_view id, model::JobState state) {
    model::JobDraft draft;
    draft.id = id;
    draft.user = text(job, "user");
    draft.account = text(job, "vc");
    draft.partition = text(job, "vc");
    draft.state = state;
    return draft;
  }

  void tell(model::JobDraft draft, const Attempt& attempt, Nanos ready, Where where) {
    draft.submit = ready;
    draft.start = attempt.start.at;
    draft.end = attempt.end.at;
    draft.hosts = attempt.hosts;
    draft.accelerators = static_cast<double>(attempt.accelerators.size());
    if (draft.end != Nanos{} && draft.end < draft.start) {
      return intake_.trouble(Trouble::kBadTime, where,
                             fmt::format("{}: an attempt ends before it starts", draft.id));
    }
    if (draft.start != Nanos{} && draft.end == Nanos{}) draft.state = model::JobState::kRunning;
    intake_.job(draft, where);
    for (const auto& [host, index] : attempt.accelerators)
      intake_.tell(Assignment{draft.id, host, index});
  }

  std::optional<Instant> time(std::string_view cell, std::string_view what, Where where) {
    if (cell == "None") cell = {};
    const Instant read = read_time(cell, *zone_);
    if (read.is == Instant::Is::kBad) {
      intake_.trouble(Trouble::kBadTime, where, fmt::format("{} '{}'", what, clip(cell, 40)));
      return std::nullopt;
    }
    if (read.ambiguous() || read.skipped) {
      intake_.trouble(Trouble::kAmbiguousTime, where, fmt::format("{} '{}'", what, clip(cell, 40)));
    }
    return read;
  }

  std::optional<Attempt> read(element from, Where where) {
    const auto start = time(text(from, "start_time"), "start_time", where);
    const auto end = time(text(from, "end_time"), "end_time", where);
    if (!start || !end) return std::nullopt;
    Attempt attempt{*start, *end, {}, {}};
    std::set<std::string> hosts;
    for_each(from, "detail", [&](element machine) {
      const std::string host(text(machine, "ip"));
      for_each(machine, "gpus", [&](element each) {
        std::string_view gpu;
        if (each.get(gpu) != simdjson::SUCCESS) return;
        if (gpu.starts_with("gpu")) gpu.remove_prefix(3);
        attempt.accelerators.emplace_back(host, gpu);
      });
      if (hosts.insert(host).second) attempt.hosts += (attempt.hosts.empty() ? "" : ",") + host;
    });
    return attempt;
  }

  Intake& intake_;
  Result<Zone> zone_;
  simdjson::dom::parser parser_;
  JsonItems items_;
  bool begun_ = false;
};

}  // namespace

bool claims(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  return trim(head).starts_with('[') && has("\"jobid\"") && has("\"attempts\"") && has("\"vc\"");
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<PhillyReader>(intake, options);
}

Explained explain(std::string_view, const ReaderOptions& options) {
  return {Gives::kJobs,
          fmt::format("each attempt is a job, \"ID#n\" but for the last; its GPUs are those of its "
                      "detail\ntimes are of {}",
                      options.time_zone.empty() ? "the US Pacific coast; others: --time-zone"
                                                : options.time_zone.c_str())};
}

}  // namespace amdahl::fleet::philly
