// family.h: which jobs are the same job, run again.
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

// From the configuration: jobs whose name or script matches are of this family, whoever runs them
// and at whatever size. `family` may take groups of the pattern: "\\1".
struct FamilyRule {
  std::string pattern;  // RE2's syntax; found anywhere in the name, or else in the script.
  std::string family;
};

// What is known of a job; empty where it is not.
struct JobTraits {
  std::string_view family{};  // As the job itself said it. Always wins.
  std::string_view name{};
  std::string_view script{};
  std::string_view user{};
  double accelerators = 0;
};

struct Family {
  std::string name;   // "train-lr.u1.x8": fit to be adopted, the same in every scan.
  std::string what;   // "jobs named train_*_lr*, user u1".
  double fewest = 0;  // Accelerators of its smallest job, and of its largest.
  double most = 0;
};
std::string why(const Family& family);  // "jobs named train_*_lr*, user u1, 8 accelerators".

// `text` with "*" for all that changes from run to run: numbers, dates, hashes, seeds, array
// indices; of a path only the last part is kept. Numbers that are part of a word stay: "resnet50",
// "fp16", "7b", "a100". "train_20240501_lr1e-4" becomes "train_*_lr*".
std::string pattern_of(std::string_view text);

// The size class of a job by its largest member: 1, 2, 4 (of 3 and 4), 8, ...; 0 below 1.
double size_class(double accelerators);

// A family is: as the job said; else the first rule that matches; else the pattern of its name
// (of its script if it has no name), user and size class. This depends on nothing but the job, so
// that a family keeps its name from scan to scan. Not for use by two threads at once.
class Recogniser {
 public:
  // An error names the rule: "families: rule 2: ...".
  static Result<Recogniser> make(std::span<const FamilyRule> rules);
  Recogniser(Recogniser&&) noexcept;
  Recogniser& operator=(Recogniser&&) noexcept;
  ~Recogniser();

  std::uint32_t of(const JobTraits& job) { return of(stem_of(job), job.user, job.accelerators); }

  // The same in two steps, for callers that remember the first: what family, name and script alone
  // say, and then the family. Both count up from 0.
  std::uint32_t stem_of(const JobTraits& job);
  std::uint32_t of(std::uint32_t stem, std::string_view user, double accelerators);
  // One more job of a family that `of` gave, for callers that remember that, too.
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
    bool is_whole = false;  // It is the family's name: user and size are no matter.
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
  std::vector<std::uint32_t> of_job;  // Index into `all`, for each of FleetUsage::jobs.
};
// Linear in jobs; names are looked at once for each distinct name, script, user and size.
Families families_of(const FleetUsage& usage, Recogniser recogniser);

}  // namespace amdahl::scan
