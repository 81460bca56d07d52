// dreaming.h: searches wins and documents for ideas and adds them to the live hypotheses.
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
  std::string docs;        // Folder of text files, or one file; empty: the configured one, if any.
  std::string family;      // Empty: all with a profile.
  std::int64_t fence = 0;  // Of the calling cycle; 0: none.
};

// An idea for a family that was rejected.
struct NotTaken {
  std::string family;
  std::string what;
  std::string origin;
  std::string because;
};

// An optimisation mentioned in a document or commit.
struct DreamLead {
  FoundLead found;
  std::vector<std::string> families;  // Those that spend at least 5 % on what it addresses.
};

struct DreamOutcome {
  std::vector<model::Hypothesis> injected;
  std::map<std::string, int> known;  // State of the holder to count: known already.
  std::vector<NotTaken> left_out;
  int queue_is_full = 0;  // Ideas postponed because enough dreamt ones are live.
  int wins_searched = 0;
  std::string docs;  // Absolute path that was searched; empty: none.
  int documents = 0;
  int passed_over = 0;              // Files that are not text, or could not be read.
  std::vector<std::string> unread;  // Those that should have been text, with the reason.
  int unchanged = 0;                // Documents unchanged since they were indexed.
  int repositories = 0;
  int commits = 0;
  int new_commits = 0;
  std::vector<DreamLead> leads;  // Strongest first.
  int duplicates = 0;            // Near duplicates.
  int passages = 0;
  bool more_passages = false;             // For some family only the best passages were read.
  std::vector<std::string> unprofiled;    // Families without a profile.
  std::vector<std::string> unclassified;  // Families whose profile gives no search terms.
};

// kNotFound if the folder or the family is missing.
Result<DreamOutcome> dream_up(Context& context, const DreamOptions& options);

}  // namespace amdahl::app
