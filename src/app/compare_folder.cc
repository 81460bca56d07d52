#include "app/compare_folder.h"

#include <algorithm>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/private_state.h"
#include "base/hash.h"
#include "base/redact.h"
#include "base/text.h"
#include "model/codec.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

using model::PairFact;
using model::Purpose;

constexpr int kSchema = 1;

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> maybe_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

Json encode_design(const std::optional<compare::Design>& design) {
  if (!design) return {};
  return {{"sigma", design->sigma},
          {"delta", design->delta},
          {"win_threshold", design->win_threshold},
          {"beta", design->beta},
          {"bound_level", design->bound_level},
          {"two_sided", design->two_sided}};
}

std::optional<compare::Design> decode_design(const Json& json, int cap) {
  if (json.is_null()) return std::nullopt;
  return compare::Design{.sigma = json.at("sigma"),
                         .delta = json.at("delta"),
                         .win_threshold = json.at("win_threshold"),
                         .beta = json.at("beta"),
                         .cap = cap,
                         .bound_level = json.at("bound_level"),
                         .two_sided = json.at("two_sided")};
}

Json encode_question(const CompareFolder& folder) {
  const CompareQuestion& q = folder.question;
  return {{"schema", kSchema},
          {"started_ns", folder.started.count()},
          {"a", model::encode(q.a)},
          {"b", model::encode(q.b)},
          {"typed", q.typed},
          {"pairs", q.pairs},
          {"claim", q.claim},
          {"noise", maybe(q.noise)},
          {"same", maybe(q.same)},
          {"warm_up", q.warm_up},
          {"confidence", q.confidence},
          {"precision", q.precision},
          {"metric", q.metric},
          {"higher_is_better", q.higher_is_better},
          {"work", q.work},
          {"concurrent", q.concurrent},
          {"seed", q.seed},
          {"design", encode_design(folder.design)}};
}

Result<> decode_question(const Json& json, CompareFolder& folder) {
  CompareQuestion& q = folder.question;
  try {
    if (const int schema = json.at("schema"); schema > kSchema) {
      return Error{Error::Kind::kUnsupported,
                   fmt::format("it was written by a newer amdahl (schema {})", schema)};
    }
    folder.started = Nanos(json.at("started_ns").get<std::int64_t>());
    folder.secrets = json.value("secrets", false);
    folder.digest = json.at("digest");
    q.a = TRY(model::decode<model::Spec>(json.at("a")).in("/a"));
    q.b = TRY(model::decode<model::Spec>(json.at("b")).in("/b"));
    q.typed = json.at("typed");
    q.pairs = json.at("pairs");
    q.claim = json.at("claim");
    q.noise = maybe_from<double>(json.at("noise"));
    q.same = maybe_from<int>(json.at("same"));
    q.warm_up = json.at("warm_up");
    q.confidence = json.at("confidence");
    q.precision = json.at("precision");
    q.metric = json.at("metric");
    q.higher_is_better = json.at("higher_is_better");
    q.work = json.at("work");
    q.concurrent = json.at("concurrent");
    q.seed = json.at("seed");
    folder.design = decode_design(json.at("design"), q.pairs);
  } catch (const Json::exception& error) {
    return bad_input(error.what());
  }
  return Ok{};
}

std::string_view part(Purpose purpose) { return purpose == Purpose::kSame ? "same" : "pairs"; }

Result<std::vector<PairFact>> read_pairs(const CompareFolder& folder, Purpose purpose) {
  std::vector<PairFact> pairs;
  const std::string base = fmt::format("{}/{}", folder.path, part(purpose));
  for (const std::string& name : os::list(base)) {
    const std::string file = fmt::format("{}/{}/pair.json", base, name);
    if (!os::exists(file)) continue;  // It was under way when we died; its index is spent.
    const std::string text = TRY(os::read_file(file));
    pairs.push_back(TRY(model::decode_text<PairFact>(text).in(file)));
  }
  std::ranges::sort(pairs, {}, &PairFact::index);
  return pairs;
}

Error not_found(const std::string& name, const std::string& base) {
  return {Error::Kind::kNotFound,
          fmt::format("there is no comparison '{}'; those that were made are in {}", name, base)};
}

Result<std::string> find_folder(const std::string& state_dir, const std::string& name) {
  const std::string base = state_dir + "/compare";
  if (name == "last") {
    const std::vector<std::string> names = os::list(base);
    const auto last = std::find_if(names.rbegin(), names.rend(),
                                   [](const std::string& one) { return one.starts_with("c-"); });
    if (last == names.rend()) return not_found(name, base);
    return base + "/" + *last;
  }
  for (const std::string& path : {base + "/" + name, os::absolute(name)}) {
    if (os::exists(path + "/compare.json")) return path;
  }
  return not_found(name, base);
}

}  // namespace

std::string CompareFolder::place(Purpose purpose, int index) const {
  return fmt::format("{}/{}/{}", path, part(purpose), index);
}

int CompareFolder::next_index(Purpose purpose) const {
  int last = 0;
  for (const std::string& name : os::list(fmt::format("{}/{}", path, part(purpose)))) {
    last = std::max(last, to_number<int>(name).value_or(0));
  }
  return last + 1;
}

Result<CompareFolder> make_compare_folder(const std::string& state_dir,
                                          const CompareQuestion& question) {
  CompareFolder folder;
  folder.started = os::real_clock().unix_time();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(folder.started).count();
  folder.path = fmt::format("{}/compare/c-{:%Y%m%d-%H%M%S}-{}", os::absolute(state_dir),
                            fmt::gmtime(static_cast<std::time_t>(seconds)), os::random_hex(4));
  folder.question = question;
  if (folder.question.seed.empty()) folder.question.seed = os::random_hex(16);
  TRY(make_private_state(os::absolute(state_dir)));
  TRY(os::make_dirs(folder.path));
  TRY(keep_question(folder));
  return folder;
}

Result<CompareFolder> open_compare_folder(const std::string& state_dir, const std::string& name) {
  CompareFolder folder;
  folder.path = TRY(find_folder(os::absolute(state_dir), name));
  const std::string file = folder.path + "/compare.json";
  const std::string text = TRY(os::read_file(file));
  const Json json = TRY(parse_json(text).in(file));
  TRY(decode_question(json, folder).in(file));
  folder.same = TRY(read_pairs(folder, Purpose::kSame));
  folder.pairs = TRY(read_pairs(folder, Purpose::kCompare));
  return folder;
}

std::string digest_of(const CompareQuestion& question) {
  return sha256_hex(dump_json(model::encode(question.a)) + dump_json(model::encode(question.b)));
}

Result<> keep_question(const CompareFolder& folder) {
  const Json whole = encode_question(folder);
  Json kept = redact(whole);
  if (kept != whole) kept["secrets"] = true;
  // Tells whether a question that is typed again is the same, without keeping its secrets.
  kept["digest"] = digest_of(folder.question);
  return os::write_file(folder.path + "/compare.json", pretty_json(kept) + "\n");
}

Result<> keep_pair(CompareFolder& folder, const PairFact& pair) {
  const std::string place = folder.place(pair.purpose, pair.index);
  TRY(os::make_dirs(place));
  TRY(os::write_file(place + "/pair.json", pretty_json(model::encode(pair)) + "\n"));
  (pair.purpose == Purpose::kSame ? folder.same : folder.pairs).push_back(pair);
  return Ok{};
}

}  // namespace amdahl::app
