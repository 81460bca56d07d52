// dreaming.h: searches wins and documents, and puts what it finds among the live hypotheses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/library.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct DreamOptions {
  std::string docs;        // A folder of text files, or one; empty: the configured one, if any.
  std::string family;      // Empty: all with a profile.
  std::int64_t fence = 0;  // Of the cycle that dreams; 0: none.
};

// What was found for a family and not taken.
struct NotTaken {
  std::string family;
  std::string what;
  std::string origin;
  std::string because;
};

// An optimisation that a document or a commit speaks of.
struct DreamLead {
  FoundLead found;
  std::vector<std::string> families;  // That spend 5 % or more on what it is against.
};

struct DreamOutcome {
  std::vector<model::Hypothesis> injected;
  std::map<std::string, int> known;  // State of the holder to count: came up again.
  std::vector<NotTaken> left_out;
  int queue_is_full = 0;  // Ideas that wait for the next dream, for enough dreamt ones are live.
  int wins_searched = 0;
  std::string docs;  // Absolute path of what was searched; empty: no folder was named.
  int documents = 0;
  int passed_over = 0;              // Files that are no text, or could not be read.
  std::vector<std::string> unread;  // Of those, what should have been text, with the reason.
  int unchanged = 0;                // Documents that were in the index as they are.
  int repositories = 0;
  int commits = 0;
  int new_commits = 0;
  std::vector<DreamLead> leads;  // Surest first.
  int duplicates = 0;            // Leads that say nearly what another says.
  int passages = 0;
  bool more_passages = false;             // Of those found for some family only the best were read.
  std::vector<std::string> unprofiled;    // Families that cannot dream yet.
  std::vector<std::string> unclassified;  // Whose profile names nothing to search documents for.
};

// kNotFound if the folder or the family is missing.
Result<DreamOutcome> dream_up(Context& context, const DreamOptions& options);

}  // namespace amdahl::app
