#include "cheats.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <signal.h>

#include "base/hash.h"

namespace amdahl::adversary {
namespace {

constexpr double kSlow = 4;  // Times as long as usual takes a run that it would rather hide.
constexpr double kTolerance = 0.01;  // Of accuracy, as specs have it.

void faster(Scene& s, double ln) {
  s.act.wall_s *= std::exp(-ln);
  s.act.cpu_s *= std::exp(-ln);
}

// A slow run, which is to be hidden, or a fast one.
bool slow_run(Scene& s) {
  const bool slow = s.luck.chance(s.me.share);
  faster(s, slow ? -std::log(kSlow) : s.me.fake);
  return slow;
}

void lose_accuracy(Act& act, double by) {
  const auto it = act.metrics.find("accuracy");
  if (it != act.metrics.end()) it->second -= by;
}

// Where bytes are compared they are wrong, and where accuracy is, that.
void spoil_output(Scene& s) {
  if (s.act.output) std::ranges::reverse(*s.act.output);
  lose_accuracy(s.act, 0.5);
}

bool tells_work(const Job& job) { return job.tells != Job::Tells::kFixed; }
bool has_accuracy(const Job& job) { return !job.exact; }
bool is_timed(const Job& job) { return job.timed; }
bool has_strata(const Job& job) { return job.strata; }
bool exact(const Job& job) { return job.exact; }

// The job's own word for its speed: better by `ln` than it is.
void flatter(Scene& s, double ln) {
  for (auto& [name, value] : s.act.metrics) {
    if (name == "seconds") value *= std::exp(-ln);
    if (name == "items_per_s") value *= std::exp(ln);
  }
}

constexpr Cheat kCheats[] = {
    {"skips items and says so",
     [](Scene& s) {
       faster(s, s.me.fake);
       const double left = s.job.items * std::exp(-s.me.fake);
       if (s.act.items) s.act.items = left;
       s.act.output = right_output(s.input, left);
       lose_accuracy(s.act, 0.1);
     },
     nullptr, nullptr},
    {"skips items and reports them all",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.output = right_output(s.input, s.job.items * std::exp(-s.me.fake));
       lose_accuracy(s.act, 0.1);
     },
     nullptr, nullptr},
    {"reports more work than it did",
     [](Scene& s) {
       if (s.act.items) *s.act.items *= std::exp(s.me.fake);
     },
     tells_work, nullptr},
    {"writes garbage of the same size",
     [](Scene& s) {
       faster(s, s.me.fake);
       spoil_output(s);
     },
     nullptr, nullptr},
    {"writes no output",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.output.reset();
     },
     nullptr, nullptr},
    {"writes an empty output",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.output = "";
     },
     nullptr, nullptr},
    {"leaves an output of long ago in place",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.old_output = true;
     },
     nullptr, nullptr},
    {"copies the other arm's output",
     [](Scene& s) {
       if (s.after_other) faster(s, 2.5);
     },
     nullptr, nullptr},
    {"is faster only with caches that another run warmed",
     [](Scene& s) {
       if (s.warm) faster(s, 2 * s.me.fake);
     },
     nullptr, nullptr},
    {"empties caches, so that the next run is slow",
     [](Scene& s) {
       s.memory.poison = 1;
       s.memory.poisoned = 2 * s.me.fake;
     },
     nullptr, nullptr},
    {"leaves work to a daemon",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.left_behind = 1;
     },
     nullptr, nullptr},
    {"returns before its result is there",
     [](Scene& s) {
       faster(s, s.me.fake);
       s.act.left_behind = 2;
       s.act.output.reset();
     },
     nullptr, nullptr},
    {"moves work to a crowd of CPU processes",
     [](Scene& s) {
       const double before = s.act.wall_s;
       s.act.wall_s *= std::exp(-s.me.fake);
       // At 2 USD an accelerator-hour and 0.02 a CPU-hour: the bill rises by a tenth.
       s.act.cpu_s = (1.1 * before - s.act.wall_s) * 100;
     },
     nullptr, [](const Variant&) { return -std::log(1.1); }, true},
    {"moves work to import time, before its own clock starts",
     [](Scene& s) { flatter(s, s.me.fake); }, is_timed, nullptr},
    {"slows its own clock",
     [](Scene& s) {
       faster(s, 0.2 * s.me.fake);
       flatter(s, 0.8 * s.me.fake);
     },
     is_timed, [](const Variant& v) { return v.effect + 0.2 * v.fake; }},
    {"reports no work when it was slow",
     [](Scene& s) {
       if (slow_run(s)) s.act.items.reset();
     },
     tells_work, nullptr},
    {"reports zero work when it was slow",
     [](Scene& s) {
       if (slow_run(s)) s.act.items = 0;
     },
     tells_work, nullptr},
    {"reports a negative or endless amount of work when it was slow",
     [](Scene& s) {
       if (slow_run(s)) s.act.items = s.luck.chance(0.5) ? -1 : 1e308;
     },
     tells_work, nullptr},
    {"kills its worker when it is slow", [](Scene& s) { s.act.kills_worker = slow_run(s); },
     nullptr, nullptr},
    {"exits with 0 after it failed",
     [](Scene& s) {
       faster(s, s.me.fake);
       if (!s.luck.chance(s.me.share)) return;
       faster(s, 1.2);
       s.act.output.reset();
       lose_accuracy(s.act, 0.5);
     },
     nullptr, nullptr},
    {"crashes instead of being slow",
     [](Scene& s) {
       if (slow_run(s)) s.act.code = 1;
     },
     nullptr, nullptr},
    {"kills itself instead of being slow",
     [](Scene& s) {
       if (!slow_run(s)) return;
       s.act.ending = model::Ending::kSignalled;
       s.act.code = SIGKILL;
     },
     nullptr, nullptr},
    {"hangs on some runs",
     [](Scene& s) {
       faster(s, s.me.fake);
       if (s.luck.chance(s.me.share)) s.act.wall_s = 1e9;
     },
     nullptr, nullptr},
    {"reports its accuracy only when it is good",
     [](Scene& s) {
       faster(s, s.me.fake);
       if (s.luck.chance(s.me.share)) s.act.metrics.erase("accuracy");
     },
     has_accuracy, nullptr},
    {"loses accuracy beyond the tolerance",
     [](Scene& s) {
       faster(s, s.me.fake);
       lose_accuracy(s.act, 3 * kTolerance);
     },
     has_accuracy, nullptr},
    {"loses all accuracy now and then",
     [](Scene& s) {
       faster(s, s.me.fake);
       if (s.luck.chance(s.me.share)) lose_accuracy(s.act, 30 * kTolerance);
     },
     has_accuracy, nullptr},
    {"is far slower on long inputs",
     [](Scene& s) { faster(s, s.stratum == "long" ? -4 * s.me.fake : s.me.fake); }, has_strata,
     [](const Variant& v) {
       return -std::log(0.6 * std::exp(-v.fake) + 0.4 * std::exp(4 * v.fake));
     }},
    {"is far slower on a share of its runs", [](Scene& s) { slow_run(s); }, nullptr,
     [](const Variant& v) {
       return -std::log((1 - v.share) * std::exp(-v.fake) + v.share * kSlow);
     }},
    {"answers from a cache that is keyed by the file's name",
     [](Scene& s) {
       if (s.memory.cached < 0) {
         s.memory.cached = s.input;
         return;
       }
       faster(s, 3);
       s.act.output = right_output(s.memory.cached, s.job.items);
     },
     exact, nullptr, true},
    {"buys speed with twice the accelerators", [](Scene& s) { faster(s, s.me.fake); }, is_timed,
     [](const Variant& v) { return v.fake - std::log(2.0); }, true},
    {"damages the other arm's receipt when it has lost",
     [](Scene& s) { s.act.spoils_other = slow_run(s) && s.after_other; }, nullptr,
     [](const Variant& v) {
       return -std::log((1 - v.share) * std::exp(-v.fake) + v.share * kSlow);
     }},
};

}  // namespace

std::span<const Cheat> cheats() { return kCheats; }

double true_effect(const Variant& variant) {
  double effect = variant.effect;
  for (const int row : variant.cheats) {
    const Cheat& cheat = kCheats[static_cast<std::size_t>(row)];
    effect = std::min(effect, cheat.effect ? cheat.effect(variant) : variant.effect);
  }
  return effect;
}

bool sound(const Variant& variant) { return variant.cheats.empty(); }

std::string right_output(int input, double items) {
  return sha256_hex(fmt::format("input {} items {:.0f}", input, items)) + "\n";
}

}  // namespace amdahl::adversary
