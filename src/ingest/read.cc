#include "ingest/read.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "bytes/pump.h"
#include "fleet/intake_filters.h"
#include "fleet/journal/journal.h"
#include "ingest/mark.h"
#include "ingest/merge.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/lock.h"
#include "os/stream.h"

namespace amdahl::ingest {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::uint64_t kWorthKeeping = 4 << 10;  // Smaller files are read faster than looked up.
// A long file is read in a few turns, with a mark after each: that much a crash does not undo.
constexpr std::uint64_t kLeastTurn = 16 << 20;
constexpr std::uint64_t kMostTurns = 8;
constexpr auto kNoEnd = std::numeric_limits<std::uint64_t>::max();

using Sink = bytes::Unpacker::Sink;

// A stream from its current position, unpacked.
struct Pumped {
  std::uint64_t bytes = 0;  // Of the file.
  bool whole = true;        // False: a packed file that ends in the middle.
  bool is_end = true;       // False: it was enough before.
};
struct PumpFrom {
  std::string first{};                                // Already taken from it.
  std::uint64_t before = 0;                           // Bytes of the file, for progress.
  std::function<bool(std::uint64_t bytes)> enough{};  // Not given: it never is.
};

Result<Pumped> pump(os::Stream& file, bytes::Packing packing, PumpFrom from,
                    const ReadOptions& options, const Sink& sink) {
  const auto source =
      bytes::Pump::make([&file](std::span<char> room) { return file.read(room); },
                        {.packing = packing,
                         .first = std::move(from.first),
                         // Only this thread gets signals: no other may wait for a pipe.
                         .in_thread = options.reader.threads > 1 && file.facts().regular});
  Pumped pumped;
  while (true) {
    if (options.stop && options.stop()) return external("interrupted");
    const bytes::Pump::Block block = source->next();
    if (!block.bytes.empty()) TRY(sink(block.bytes));
    pumped.bytes += block.packed;
    if (options.progress) options.progress(from.before + pumped.bytes);
    os::fault_point("scan-block");
    if (!block.is_last) {
      pumped.is_end = !(from.enough && from.enough(pumped.bytes));
      if (pumped.is_end) continue;
      return pumped;
    }
    if (block.error) return bad_input(block.error->text);
    pumped.whole = !block.is_truncated;
    return pumped;
  }
}

// Passes on whole lines only, and counts them.
class Lines {
 public:
  explicit Lines(Sink next) : next_{std::move(next)} {}

  Result<> feed(std::string_view bytes) {
    const auto end = bytes.rfind('\n');
    if (end == bytes.npos) {
      rest_.append(bytes);
      if (rest_.size() <= kLongestLine) return Ok{};
      return bad_input(fmt::format("line {} is longer than 64 MiB: not a table", count_ + 1));
    }
    if (!rest_.empty()) TRY(next_(rest_));
    TRY(next_(bytes.substr(0, end + 1)));
    bytes_ += rest_.size() + end + 1;
    count_ += static_cast<std::uint64_t>(std::ranges::count(bytes.substr(0, end + 1), '\n'));
    rest_.assign(bytes.substr(end + 1));
    return Ok{};
  }
  const std::string& rest() const { return rest_; }  // A line without its end.
  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }  // Of them.

 private:
  Sink next_;
  std::string rest_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

std::string first_line(const std::string& head) { return head.substr(0, head.find('\n') + 1); }

// Reads one input with its marks.
class Keeper {
 public:
  Keeper(const Input& input, fleet::Intake& intake, const ReadOptions& options)
      : input_{input}, intake_{intake}, options_{options}, appended_{input.said.appended} {}

  Result<InputSaid> read() {
    os::Stream file = TRY(os::Stream::open(input_.path));
    if (!open_folder(file)) {
      said_.read = TRY(plain(file));
      return said_;
    }
    mark_ = options_.fresh ? Mark{} : load_mark(folder_);
    if (!mark_.journals.empty()) {
      said_.anew = TRY(changed_since(mark_, file));
      if (said_.anew.empty() && !has_journals(folder_, mark_)) {
        said_.anew = "has damaged journals";
      }
      if (!said_.anew.empty()) mark_ = {};
    }
    at_ = {mark_.size, mark_.lines};
    TRY(tell_again());
    if (file.facts().size > mark_.size || mark_.journals.empty()) {
      TRY(all_more(file));
    } else {
      show_use(folder_, mark_, options_.reader.now);
    }
    return said_;
  }

 private:
  // Whether this input is one to be kept, with a folder that is ours alone now.
  bool open_folder(const os::Stream& file) {
    const os::FileFacts facts = file.facts();
    if (options_.folder.empty() || !facts.regular || facts.size < kWorthKeeping) return false;
    folder_ = mark_folder(options_.folder, input_, options_);
    if (const auto made = os::make_dirs(folder_); !made) {
      said_.not_kept = made.error().text;
      return false;
    }
    lock_ = os::FileLock::try_take(folder_ + "/lock");
    return lock_.has_value();
  }

  Result<std::uint64_t> plain(os::Stream& file) {
    const auto reader = fleet::make_reader(input_.source, intake_, options_.reader);
    // The head of a pipe was already read and cannot be read again.
    const std::string first = input_.path == "-" ? input_.head : "";
    const Pumped pumped = TRY(pump(file, input_.packing, {.first = first}, options_,
                                   [&](std::string_view bytes) { return reader->feed(bytes); }));
    TRY(reader->finish());
    if (!pumped.whole) say_truncated();
    return pumped.bytes;
  }

  void say_truncated() {
    intake_.trouble(model::Trouble::kTruncated, {},
                    fmt::format("the {} file is truncated", name(input_.packing)));
  }

  // Replays what is kept.
  Result<> tell_again() {
    ReadOptions silent = options_;
    silent.progress = nullptr;
    for (const std::string& journal : mark_.journals) {
      os::Stream file = TRY(os::Stream::open(folder_ + "/" + journal));
      const auto reader = fleet::journal::make(intake_, {});
      auto told = pump(file, bytes::Packing::kNone, {}, silent,
                       [&](std::string_view bytes) { return reader->feed(bytes); });
      if (told) {
        if (auto ended = reader->finish(); !ended) told = ended.error();
      }
      if (told) continue;
      if (options_.stop && options_.stop()) return told.error();
      return external(fmt::format("{}/{}: {}; run the same command with --fresh", folder_, journal,
                                  told.error().text));
    }
    said_.known = mark_.size;
    return Ok{};
  }

  // A reader for the part of the file after the mark; `lines` before it.
  Result<std::unique_ptr<fleet::Reader>> reader_from(fleet::Intake& intake, std::uint64_t lines) {
    auto reader = fleet::make_reader(input_.source, intake, options_.reader);
    if (lines > 0 && has_header()) TRY(reader->feed(first_line(input_.head)));
    return reader;
  }

  // If a mark can follow any line, a long file is read in rounds.
  Result<> all_more(os::Stream& file) {
    const std::uint64_t size = file.facts().size;
    const std::uint64_t left = size - std::min(size, at_.bytes);
    const std::uint64_t turn = std::max(kLeastTurn, left / kMostTurns);
    const bool in_turns = is_plain_lines() && left > turn;
    bool is_end = false;
    while (!is_end) is_end = TRY(more(file, in_turns ? turn : kNoEnd));
    if (!in_turns) merge_journals(folder_, mark_, options_.stop);
    return Ok{};
  }

  // Records are lines: appended lines need only the header before them.
  bool is_lines() const { return appended_ != fleet::Appended::kAfterAll; }
  bool has_header() const { return appended_ == fleet::Appended::kAfterHeader; }
  bool is_plain_lines() const { return is_lines() && input_.packing == bytes::Packing::kNone; }
  // What readers that begin in the middle do not know: how many lines are before.
  std::uint64_t lines_before() const {
    return at_.lines > 0 && has_header() ? at_.lines - 1 : at_.lines;
  }

  // Reads at least `most` bytes, and whole lines unless at the end. Returns whether the end was
  // reached.
  Result<bool> more(os::Stream& file, std::uint64_t most) {
    TRY(file.seek(at_.bytes));
    const std::string name = next_journal(folder_);
    std::optional<os::Growing> kept;
    if (can_keep_) {
      auto made = os::Growing::make(folder_ + "/" + name);
      if (done(made)) kept.emplace(*std::move(made));
    }
    fleet::journal::Writer journal(&intake_);
    auto shifted = fleet::shifted(journal, lines_before());
    const auto reader = TRY(reader_from(shifted, at_.lines));
    const auto feed = [&](std::string_view bytes) -> Result<> {
      TRY(reader->feed(bytes));
      const std::string told = journal.take();
      if (kept && !done(kept->append(told))) kept.reset();  // Disk full: continue without it.
      return Ok{};
    };
    Lines lines(feed);
    const auto enough = [&](std::uint64_t bytes) { return bytes >= most && lines.bytes() > 0; };
    const auto pumped_all =
        pump(file, input_.packing, {.before = at_.bytes, .enough = enough}, options_,
             [&](std::string_view b) { return is_lines() ? lines.feed(b) : feed(b); });
    if (!pumped_all && !may_stop_here()) return pumped_all.error();
    const Pumped pumped = pumped_all ? *pumped_all : Pumped{.bytes = lines.bytes()};
    TRY(reader->finish());
    if (!pumped.whole) say_truncated();
    said_.read += pumped.is_end ? pumped.bytes : lines.bytes();
    at_.bytes += is_plain_lines() ? lines.bytes() : pumped.bytes;
    at_.lines += lines.count();
    can_keep_ = kept && pumped.whole && done(kept->append(journal.finish())) &&
                keep(file, *kept, name, lines.rest().empty());
    if (!pumped_all) return pumped_all.error();
    if (pumped.is_end) TRY(last_line(lines.rest()));
    return pumped.is_end;
  }

  // After ^C: complete lines are kept, and the next scan continues after them.
  bool may_stop_here() const { return options_.stop && options_.stop() && is_plain_lines(); }

  // Whether keeping the data succeeded; reports the first failure.
  template <typename T>
  bool done(const Result<T>& step) {
    if (!step && said_.not_kept.empty()) said_.not_kept = step.error().text;
    return bool(step);
  }

  // The data first, then the mark. Without the mark the next scan reads it again.
  bool keep(os::Stream& file, os::Growing& kept, const std::string& name, bool ends_in_line) {
    const bool packed = input_.packing != bytes::Packing::kNone;
    // Within a packed file there is no telling where its last line began.
    if (packed && !ends_in_line) return false;
    Mark mark = mark_;
    mark.path = os::absolute(input_.path);
    mark.how = how_to_read(input_, options_);
    mark.file = file.facts();
    mark.lines = at_.lines;
    mark.size = at_.bytes;
    mark.grows = is_lines();
    mark.journals.push_back(name);
    if (!sign(mark, file) || !done(kept.keep())) return false;
    os::fault_point("scan-kept");
    if (!done(save_mark(folder_, mark))) return false;
    os::fault_point("scan-marked");
    mark_ = mark;
    remove_others(folder_, mark_);
    return true;
  }

  // A line that has no end yet may still grow: it counts now, and is not kept.
  Result<> last_line(const std::string& line) {
    if (line.empty()) return Ok{};
    auto shifted = fleet::shifted(intake_, lines_before());
    const auto reader = TRY(reader_from(shifted, at_.lines));
    auto done = reader->feed(line);
    if (done) done = reader->finish();
    if (done || at_.lines == 0) return done;
    // Half a line may look like another table.
    intake_.trouble(model::Trouble::kTruncated, {at_.lines + 1, 0}, done.error().text);
    return Ok{};
  }

  const Input& input_;
  fleet::Intake& intake_;
  const ReadOptions& options_;
  fleet::Appended appended_;
  std::string folder_;
  std::optional<os::FileLock> lock_;
  Mark mark_;
  struct {
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;
  } at_;  // Bytes of the file passed on.
  bool can_keep_ = true;
  InputSaid said_;
};

}  // namespace

Result<Input> recognise(const std::string& path, const std::string& kind,
                        const fleet::Sources& sources, fleet::ReaderOptions& options) {
  os::Stream file = TRY(os::Stream::open(path));
  Input input;
  input.path = path;
  input.name = path == "-" ? "standard input" : path;
  const auto read = [&file](std::span<char> room) { return file.read(room); };
  std::string raw = TRY(bytes::read_first(read, fleet::kMostHead).in(input.name));
  input.packing = bytes::packing_of(raw);
  input.bytes = file.facts().regular ? file.facts().size : 0;
  std::string text = TRY(bytes::unpack_first(raw, fleet::kMostHead).in(input.name));
  input.source =
      TRY((kind.empty() ? sources.fitting(text, options) : sources.named(kind)).in(input.name));
  input.said = fleet::explain(input.source, text, options);
  input.source.gives = input.said.gives;
  // A scan may have a hundred thousand files.
  text.resize(fleet::telling_part(text).size());
  text.shrink_to_fit();
  input.head = path == "-" ? std::move(raw) : std::move(text);
  return input;
}

Result<InputSaid> read_input(const Input& input, fleet::Intake& intake,
                             const ReadOptions& options) {
  return Keeper(input, intake, options).read().in(input.name);
}

Result<CopiedInput> copy_input(const Input& input, const std::string& path,
                               const std::function<bool()>& stop) {
  os::Growing copy = TRY(os::Growing::make(path));
  os::Stream from = TRY(os::Stream::open(input.path));
  TRY(copy.append(input.head));  // Which was taken from the pipe already.
  std::uint64_t bytes = input.head.size();
  std::string room(std::size_t{1} << 18, '\0');
  while (true) {
    if (stop && stop()) return external("interrupted");
    const std::size_t got = TRY(from.read(room));
    if (got == 0) break;
    TRY(copy.append(std::string_view(room).substr(0, got)));
    bytes += got;
  }
  CopiedInput copied{input, std::move(copy)};
  copied.input.path = path + ".part";
  copied.input.bytes = bytes;
  return copied;
}

}  // namespace amdahl::ingest
