// lead_words.h: the field's vocabulary: by class of bottleneck, and for gains, costs and failures.
#pragma once

#include <span>
#include <string_view>

#include "model/profile.h"

namespace amdahl::dream {

// Folded beginnings of words and phrases, separated by commas. One of `cures` or `costs` is enough;
// of the weak ones it takes two. A mentioned cost is a reason to change something even if it is
// only described.
struct Vocabulary {
  model::Bottleneck bottleneck;
  std::string_view cures;
  std::string_view costs;
  std::string_view weak;
};
std::span<const Vocabulary> vocabulary();

extern const std::string_view kGains;    // Something got cheaper.
extern const std::string_view kLosses;   // Something costs.
extern const std::string_view kHarms;    // It failed or was taken back,
extern const std::string_view kHelps;    // unless one of these is said, too.
extern const std::string_view kAgainst;  // It is advised against.
extern const std::string_view kAdvice;   // With which advice begins.

extern const std::string_view kTime;     // Something takes long, or takes less time.
extern const std::string_view kReports;  // Of a passage: it reports or refers, and advises nothing;
extern const std::string_view kOfMemory;  // it is about memory.

// Of the first line of a commit: its beginning or its tag says that it is not about cost,
extern const std::string_view kNoWork;
extern const std::string_view kRepairs;    // or that it mends something;
extern const std::string_view kUpkeep;     // its beginning, that it keeps things in order;
extern const std::string_view kNoTime;     // a word in it, that it is about something else.
extern const std::string_view kElsewhere;  // also if it speaks of speed: of tests, or of memory.
extern const std::string_view kOtherWork;  // These say so unless it tells what was gained:
extern const std::string_view kMends;      // a word in it.
extern const std::string_view kOfSpeed;    // A word in it says that it is about cost;
extern const std::string_view kSure;       // a technique that has no other purpose;
extern const std::string_view kCuts;       // one of these words beside
extern const std::string_view kCosts;      // one of these does, too;
extern const std::string_view kSkips;      // one of these
extern const std::string_view kNeedless;   // before one of these, which say that it served nothing,
extern const std::string_view kTidied;     // unless it is only text that goes;
extern const std::string_view kSlowdowns;  // what was slow is mended;
extern const std::string_view kMeasures;   // it begins with what is often done about cost,
extern const std::string_view kTries;      // or with what is done about anything;
extern const std::string_view kSpares;     // a word in it says that less is done.
extern const std::string_view kFeatures;   // Something is made possible, fast or not.

// Parts of the paths of files: of kernels, of what reads input, of what runs at the start, and of
// models.
extern const std::string_view kKernelFiles;
extern const std::string_view kInputFiles;
extern const std::string_view kStartFiles;
extern const std::string_view kModelFiles;

}  // namespace amdahl::dream
