#include "ingest/prometheus.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/text.h"
#include "fleet/journal/journal.h"
#include "fleet/prometheus/matrix.h"
#include "ingest/mark.h"
#include "ingest/merge.h"
#include "ingest/select.h"
#include "os/files.h"

namespace amdahl::ingest {
namespace {

namespace prom = fleet::prometheus;
using std::chrono::minutes;

// A scrape or a remote write may come late; until then a piece may still grow.
constexpr Nanos kSettles = minutes(5);
constexpr int kGivesUpAfter = 6;                        // Pieces that failed one after the other.
constexpr Nanos kLimitThen = std::chrono::seconds(10);  // For a piece, from then on.
constexpr int kDeepest = 5;                             // Halvings of one piece.
constexpr std::size_t kAhead = 64;

std::string piece_name(const prom::Piece& piece) {
  const auto s = [](Nanos time) { return static_cast<std::int64_t>(to_seconds(time)); };
  return fmt::format(
      "{}-{}-{}.journal", s(piece.from), s(piece.to),
      sha256_hex(fmt::format("{} {}", piece.expression, piece.step.count())).substr(0, 16));
}

// The result of one piece.
struct Outcome {
  std::vector<PrometheusSaid::Segment> segments;
  std::vector<MissingPiece> missing;
  std::vector<std::string> warnings;
  std::string not_kept;
  std::uint64_t bytes = 0;
  bool kept = false;
};

class Worker {
 public:
  Worker(const PrometheusAsk& ask, const os::HttpRequest& plain, const PrometheusSaid& said,
         os::Clock& clock, const os::Stop& stop, std::atomic<int>& failures)
      : ask_{ask}, plain_{plain}, said_{said}, clock_{clock}, stop_{stop}, failures_{failures} {}

  Outcome run(const prom::Piece& piece) {
    Outcome outcome;
    fetch(piece, 0, outcome);
    return outcome;
  }

 private:
  void fetch(const prom::Piece& piece, int depth, Outcome& outcome) {
    const std::string path = ask_.folder + "/" + piece_name(piece);
    // One that a full disk or a crash cut short is asked for again.
    if (!ask_.fresh && is_whole_journal(path)) {
      show_piece_use(path, clock_.unix_time());
      outcome.segments.push_back({path, ""});
      outcome.kept = true;
      return;
    }
    os::HttpRequest request = plain_;
    const prom::Request form = prom::request_of(piece);
    request.url += form.path;
    request.form = prom::encode_form(form);
    os::RetryPolicy patience = ask_.patience;
    if (failures_ >= kGivesUpAfter) {  // It is down: do not wait for each.
      patience.attempts = 1;
      request.limit = std::min(request.limit, kLimitThen);
    }
    const auto answer = os::ask_with_retries(*http_, clock_, request, patience, stop_);
    if (stop_()) return;
    if (answer && answer->status == 200) {
      failures_ = 0;
      outcome.bytes += answer->body.size();
      keep(piece, path, answer->body, outcome);
      return;
    }
    const std::string why = answer ? refusal(*answer) : answer.error().text;
    const std::vector<prom::Piece> both = prom::halves(piece);
    const bool is_down = failures_ >= kGivesUpAfter;
    if (may_be_too_large(answer) && depth < kDeepest && !both.empty() && !is_down) {
      for (const prom::Piece& half : both) fetch(half, depth + 1, outcome);
      return;
    }
    ++failures_;
    miss(piece, why, outcome);
  }

  static std::string refusal(const os::HttpAnswer& answer) {
    if (answer.status >= 300 && answer.status < 400) return sent_elsewhere(answer);
    const std::string said = prom::read_error(answer.body);
    return said.empty() ? fmt::format("HTTP status {}", answer.status)
                        : fmt::format("HTTP status {}: {}", answer.status, clip(said, 200));
  }

  // 413 and 422 mean it; a timeout may.
  static bool may_be_too_large(const Result<os::HttpAnswer>& answer) {
    if (!answer) return answer.error().kind == Error::Kind::kUnsupported;
    if (answer->status == 413 || answer->status == 422 || answer->status == 504) return true;
    const std::string said = prom::read_error(answer->body);
    return said.find("exceeded maximum resolution") != said.npos || said.starts_with("timeout");
  }

  void miss(const prom::Piece& piece, const std::string& why, Outcome& outcome) const {
    outcome.missing.push_back(
        {said_.selections[piece.selection].metric, piece.from, piece.to, why, piece.step});
  }

  void keep(const prom::Piece& piece, const std::string& path, const std::string& body,
            Outcome& outcome) {
    fleet::journal::Writer journal;
    prom::MatrixReader matrix(journal, said_.selections[piece.selection].metric, true);
    auto read = matrix.feed(body);
    if (read) read = matrix.finish();
    const prom::Answered& answered = matrix.answered();
    if (!read || answered.status != "success") {
      miss(piece, read ? answered.error : read.error().text, outcome);
      return;
    }
    if (answered.cut) miss(piece, "the answer is truncated; the part that came is used", outcome);
    outcome.warnings = answered.warnings;
    if (answered.partial) outcome.warnings.push_back("the server reports a partial answer");
    std::string bytes = journal.take();
    bytes += journal.finish();
    const bool whole = outcome.warnings.empty() && !answered.cut;
    const bool settled = piece.to + piece.step + kSettles <= clock_.unix_time();
    if (whole && settled) {
      const auto written = os::write_file(path, bytes);
      if (written) {
        outcome.segments.push_back({path, ""});
        return;
      }
      outcome.not_kept = written.error().text;
    }
    outcome.segments.push_back({"", std::move(bytes)});
  }

  const PrometheusAsk& ask_;
  const os::HttpRequest& plain_;
  const PrometheusSaid& said_;
  os::Clock& clock_;
  const os::Stop& stop_;
  std::atomic<int>& failures_;
  std::unique_ptr<os::Http> http_ = os::make_http();
};

// Pieces by several threads at once; taken in their order, no more than kAhead before that.
class Pool {
 public:
  Pool(const PrometheusAsk& ask, const os::HttpRequest& plain, const PrometheusSaid& said,
       std::span<const prom::Piece> pieces, os::Clock& clock, os::Stop stop)
      : pieces_{pieces}, stop_{[this, asked = std::move(stop)] { return over_ || asked(); }} {
    const int count = std::clamp(ask.source.parallel, 1, 32);
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &ask, &plain, &said, &clock] {
        Worker worker(ask, plain, said, clock, stop_, failures_);
        while (const auto next = take()) put(*next, worker.run(pieces_[*next]));
      });
    }
  }
  ~Pool() {
    over_ = true;
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // The outcome of the next piece; nothing if it did not come within a tenth of a second.
  std::optional<Outcome> next() {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return done_.contains(taken_); };
    if (!changed_.wait_for(lock, std::chrono::milliseconds(100), ready)) return std::nullopt;
    Outcome outcome = std::move(done_.extract(taken_++).mapped());
    changed_.notify_all();
    return outcome;
  }

 private:
  std::optional<std::size_t> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || given_ < taken_ + kAhead; });
    if (over_ || given_ == pieces_.size()) return std::nullopt;
    return given_++;
  }
  void put(std::size_t index, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    done_.emplace(index, std::move(outcome));
    changed_.notify_all();
  }

  std::span<const prom::Piece> pieces_;
  std::atomic<bool> over_ = false;
  os::Stop stop_;
  std::atomic<int> failures_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t given_ = 0;
  std::size_t taken_ = 0;
  std::map<std::size_t, Outcome> done_;
  std::vector<std::thread> threads_;
};

void add(PrometheusSaid& said, Outcome outcome, std::set<std::string>& warned) {
  said.kept += outcome.kept ? 1 : 0;
  said.bytes += outcome.bytes;
  if (said.not_kept.empty()) said.not_kept = std::move(outcome.not_kept);
  std::ranges::move(outcome.segments, std::back_inserter(said.segments));
  std::ranges::move(outcome.missing, std::back_inserter(said.missing));
  for (std::string& warning : outcome.warnings) {
    if (warned.insert(warning).second) said.warnings.push_back(std::move(warning));
  }
}

// Pieces that are missing for one reason, one after the other, are one to those who read of them.
void join_neighbours(std::vector<MissingPiece>& pieces) {
  std::vector<MissingPiece> joined;
  for (MissingPiece& piece : pieces) {
    if (!joined.empty() && joined.back().metric == piece.metric && joined.back().why == piece.why &&
        piece.from >= joined.back().from && piece.from <= joined.back().to + 2 * piece.step) {
      joined.back().to = std::max(joined.back().to, piece.to);
    } else {
      joined.push_back(std::move(piece));
    }
  }
  pieces = std::move(joined);
}

// Another server, or another tenant of it, keeps its pieces elsewhere.
std::string folder_of(const PrometheusAsk& ask) {
  std::string who = ask.source.where;
  for (const std::string& header : ask.source.headers) who += "\n" + header;
  return fmt::format("{}/prometheus-{}", ask.folder, sha256_hex(who).substr(0, 16));
}

}  // namespace

Result<PrometheusSaid> ask_prometheus(const PrometheusAsk& asked, os::Clock& clock,
                                      const os::Stop& stop,
                                      const std::function<void(PrometheusProgress)>& progress) {
  PrometheusAsk ask = asked;
  ask.folder = folder_of(asked);
  static_cast<void>(os::make_dirs(ask.folder));  // Without, nothing is kept.
  const os::HttpRequest plain = TRY(request_to(ask.source));
  PrometheusSaid said;
  said.selections = TRY(select_metrics(ask, plain, clock, stop).in(describe(ask.source)));
  const std::vector<prom::Piece> pieces = prom::plan(said.selections, ask.window);
  said.pieces = pieces.size();
  std::set<std::string> warned;
  Pool pool(ask, plain, said, pieces, clock, stop);
  for (std::size_t done = 0; done < pieces.size();) {
    if (stop()) return external(fmt::format("{}: interrupted", describe(ask.source)));
    progress({done, pieces.size(), said.bytes});
    auto outcome = pool.next();
    if (!outcome) continue;
    add(said, *std::move(outcome), warned);
    ++done;
  }
  progress({pieces.size(), pieces.size(), said.bytes});
  join_neighbours(said.missing);
  return said;
}

Result<> replay(const PrometheusSaid& said, fleet::Intake& intake, bool troubles) {
  for (const PrometheusSaid::Segment& segment : said.segments) {
    const auto reader = fleet::journal::make(intake, {});
    const std::string bytes = segment.path.empty() ? "" : TRY(os::read_file(segment.path));
    const auto fed = reader->feed(segment.path.empty() ? segment.bytes : bytes);
    if (!fed) {
      return external(
          fmt::format("{}: {}; run the same command with --fresh", segment.path, fed.error().text));
    }
    TRY(reader->finish().in(segment.path));
  }
  if (!troubles) return Ok{};
  for (const MissingPiece& piece : said.missing) {
    intake.trouble(model::Trouble::kMissing, {},
                   fmt::format("{} from {} to {}: {}", piece.metric, show_utc(piece.from),
                               show_utc(piece.to), piece.why));
  }
  for (const std::string& warning : said.warnings) {
    intake.trouble(model::Trouble::kMissing, {}, warning);
  }
  return Ok{};
}

}  // namespace amdahl::ingest
