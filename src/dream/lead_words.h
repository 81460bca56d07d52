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

// Of the first line of a commit: its beginning or its tag says that it is not about cost,
extern const std::string_view kNoWork;
extern const std::string_view kOtherWork;  // or is not unless it tells what was gained;
extern const std::string_view kMends;      // a word in it says that it mends something else;
extern const std::string_view kOfSpeed;    // a word in it says that it is;
extern const std::string_view kMeasures;   // it begins with what is often done about cost.

}  // namespace amdahl::dream
