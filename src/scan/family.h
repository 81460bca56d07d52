// family.h: groups jobs that are runs of the same job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace amdahl::scan {

struct FleetUsage;

// From the configuration: jobs whose name or script matches belong to this family, for any user
// and size. `family` may use groups of the pattern: "\\1".
struct FamilyRule {
  std::string pattern;  // RE2 syntax; searched in the name, else in the script.
  std::string family;
};

// Known properties of a job; empty: unknown.
struct JobTraits {
  std::string_view family{};  // As reported by the job. Always wins.
  std::string_view name{};
  std::string_view script{};
  std::string_view user{};
  double accelerators = 0;
};

struct Family {
  std::string name;   // "train-lr.u1.x8": usable as a spec name, stable between scans.
  std::string what;   // "jobs named train_*_lr*, user u1".
  double fewest = 0;  // Accelerators of its smallest and largest job.
  double most = 0;
};
std::string why(const Family& family);  // "jobs named train_*_lr*, user u1, 8 accelerators".

// `text` with "*" for everything that changes between runs: numbers, dates, hashes, seeds, array
// indices; of a path only the last part. Numbers within words stay: "resnet50", "fp16", "7b",
// "a100". "train_20240501_lr1e-4" becomes "train_*_lr*".
std::string pattern_of(std::string_view text);

// The size class of a job, named by its largest member: 1, 2, 4 (3 and 4), 8, ...; 0 below 1.
double size_class(double accelerators);

// The family is what the job reported; else the first matching rule; else the pattern of its name
// (or script if it has no name), user and size class. It depends only on the job, so names are
// stable between scans. Not thread-safe.
class Recogniser {
 public:
  // Errors name the rule: "families: rule 2: ...".
  static Result<Recogniser> make(std::span<const FamilyRule> rules);
  Recogniser(Recogniser&&) noexcept;
  Recogniser& operator=(Recogniser&&) noexcept;
  ~Recogniser();

  std::uint32_t of(const JobTraits& job) { return of(stem_of(job), job.user, job.accelerators); }

  // The same in two steps, for callers that cache the first: what family, name and script give,
  // then the family. Both are numbered from 0.
  std::uint32_t stem_of(const JobTraits& job);
  std::uint32_t of(std::uint32_t stem, std::string_view user, double accelerators);
  // Counts one more job of a family from `of`, for callers that cache it.
  void again(std::uint32_t family, double accelerators);

  const std::vector<Family>& families() const { return families_; }
  std::vector<Family> take() && { return std::move(families_); }

 private:
  struct Rule {
    std::unique_ptr<const re2::RE2> pattern;
    std::string family;
  };
  struct Stem {
    std::string name;
    std::string what;
    bool is_whole = false;  // It is the whole family name: user and size do not matter.
  };
  explicit Recogniser(std::vector<Rule> rules);
  std::optional<Stem> ruled(std::string_view text) const;
  static Stem recognised(const JobTraits& job);

  std::vector<Rule> rules_;
  std::vector<Stem> stems_;
  std::unordered_map<std::string, std::uint32_t> by_stem_;
  std::vector<Family> families_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

struct Families {
  std::vector<Family> all;
  std::vector<std::uint32_t> of_job;  // Index into `all` for each of FleetUsage::jobs.
};
// Linear in jobs; each distinct combination of name, script, user and size is examined once.
Families families_of(const FleetUsage& usage, Recogniser recogniser);

}  // namespace amdahl::scan
