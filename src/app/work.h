// work.h: pieces of work that a cycle leaves to helpers (`amdahl work`), and their claims.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/reconcile.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// One cycle decides. What takes long and decides nothing may be done by any number of helpers:
// collecting a run that ended (of a profile: reading its traces, and proposing), building the
// worktree of a patch where runs have no allocation of their own, and asking a model. A helper
// neither reserves, judges nor promotes.
//
// Everything is in <state>/work, which helpers must see under the same path (docs/format/work.md).
// A claim is an exclusively created file that expires by the ledger's clock, so the pieces of a
// dead helper are claimed again. Claims only avoid double work. The ledger ensures that a piece
// counts once: it refuses a second result of a run and a second answer to a question.
struct Piece {
  enum class Kind : std::uint8_t { kCollect, kBuild, kAsk };
  Kind kind = Kind::kCollect;
  std::string id;                 // The reservation, or the question.
  launch::RunStatus status = {};  // Of a run: what its place said.
};

// A helper's claim on a piece. The highest number counts.
struct WorkClaim {
  int number = 0;
  std::string path;
};

// Creates the file atomically; false if it exists. Exactly one of several callers succeeds, also on
// a network file system without reliable locks.
bool create_once(const std::string& path, const std::string& text);

class WorkFolder {
 public:
  // `context` must outlive it.
  explicit WorkFolder(const Context& context);

  // Whether helpers do this piece: one has claimed it, or one is idle and may claim it. Not if no
  // helper claimed it within kUnclaimed after this cycle `offered` it, or after an earlier cycle
  // offered it.
  bool leave(const Piece& piece, std::int64_t fence, Nanos& offered);
  // Removes pieces that are not in `open`.
  void keep_only(const std::set<std::string>& open);

  std::vector<Piece> offered() const;
  // Nothing if the piece is claimed or done, or if too many helpers died while doing it.
  std::optional<WorkClaim> claim(const Piece& piece, const std::string& helper);
  // Whether a helper that is alive has it.
  bool is_claimed(const std::string& id) const;
  Result<> renew(const WorkClaim& claim, const std::string& helper);
  void give_back(const WorkClaim& claim);  // Someone else may take it at once.
  void mark_done(const Piece& piece);

  // Announces a helper, for as long as a claim lasts.
  Result<> sign_in(const std::string& helper, bool idle);
  void sign_out(const std::string& helper);
  bool has_idle_helper() const;
  bool has_helper() const;

 private:
  bool any_helper(const std::function<bool(const Json&)>& counts) const;
  std::string folder_of(const std::string& id) const;
  int last_claim(const std::string& id) const;
  bool is_alive(const std::string& file) const;  // Its time is not over.
  Json until() const;

  const Context& context_;
  std::string root_;
};

struct WorkOptions {
  std::optional<Nanos> idle;  // Ends after so long without work; nothing: never.
  Say say;
  std::function<bool()> stopped;
};

struct WorkSummary {
  int collected = 0;
  int built = 0;  // Of these.
  int asked = 0;
  int given_up = 0;  // Pieces that failed here, and were left to others.
};

// Works until it is stopped. Needs no lease.
Result<WorkSummary> run_work(Context& context, const WorkOptions& options);

}  // namespace amdahl::app
