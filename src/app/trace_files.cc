#include "app/trace_files.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/text.h"
#include "bytes/pump.h"
#include "os/memory.h"
#include "os/stream.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kHead = 64 * 1024;

// Of the memory there is, rows may take this share: to follow them takes several times as much.
constexpr std::uint64_t kShare = 8;
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;

// The bytes of one file, unpacked, from the first, for readers that ask for as many as they like.
class Bytes {
 public:
  static Result<std::shared_ptr<Bytes>> open(const std::string& path) {
    auto bytes = std::make_shared<Bytes>(TRY(os::Stream::open(path)));
    const bytes::Read read = [file = &bytes->file_](std::span<char> room) {
      return file->read(room);
    };
    std::string first = TRY(bytes::read_first(read, kHead));
    const bytes::Packing packing = bytes::packing_of(first);
    const os::FileFacts facts = bytes->file_.facts();
    if (packing == bytes::Packing::kNone) bytes->size_ = facts.size;
    bytes->is_plain_ = packing == bytes::Packing::kNone && facts.regular && path != "-";
    bytes->pump_ = bytes::Pump::make(read, {.packing = packing, .first = std::move(first)});
    bytes->block_ = bytes->pump_->next();
    return bytes;
  }

  explicit Bytes(os::Stream file) : file_{std::move(file)} {}

  // The first bytes, without taking them; fewer only if the file is shorter.
  std::string_view head() const { return block_.bytes.substr(0, kHead); }

  Result<std::size_t> next(std::span<char> room) {
    while (taken_ == block_.bytes.size() && !block_.is_last) {
      block_ = pump_->next();
      taken_ = 0;
    }
    const std::size_t count = block_.bytes.copy(room.data(), room.size(), taken_);
    taken_ += count;
    if (count == 0 && block_.error && !is_damage(*block_.error)) return *block_.error;
    return count;
  }

  std::uint64_t size() const { return size_; }
  // Whether it is an uncompressed file, which a reader may open by name and read in any order.
  bool is_plain() const { return is_plain_; }
  // Why the input ended early; empty if it is complete. What was read before that is used.
  std::string damage() const {
    if (block_.is_truncated) return "the packed file ends early";
    return block_.error && is_damage(*block_.error) ? block_.error->text : "";
  }

 private:
  // Of the file, rather than of the disk that it is on.
  static bool is_damage(const Error& error) { return error.kind == Error::Kind::kBadInput; }

  os::Stream file_;
  std::unique_ptr<bytes::Pump> pump_;
  bytes::Pump::Block block_;
  std::size_t taken_ = 0;  // Of the block.
  std::uint64_t size_ = 0;
  bool is_plain_ = false;
};

// What a reader cannot see: lines and tables do not say that more was to come.
void count_damage(const std::string& damage, model::TraceBuilder& builder) {
  const auto source = static_cast<std::uint32_t>(builder.trace().sources.size() - 1);
  const bool known = std::ranges::any_of(builder.trace().losses, [&](const model::Loss& loss) {
    return loss.source == source && loss.kind == model::LossKind::kTruncated;
  });
  if (!damage.empty() && !known) builder.lose(source, model::LossKind::kTruncated, 1, damage);
}

Result<> read_one(const std::string& path, const std::shared_ptr<Bytes>& bytes,
                  const TraceFiles& files, model::TraceBuilder& builder) {
  const std::string_view head = bytes->head();
  // Packed, and broken before the first byte.
  if (head.empty() && !bytes->damage().empty()) {
    return Error{Error::Kind::kUnsupported, bytes->damage()};
  }
  const trace::Reader reader =
      files.format.empty() ? TRY(trace::reader_for(head)) : TRY(trace::reader_named(files.format));
  trace::Input input;
  input.name = path;
  input.next = [bytes](std::span<char> room) { return bytes->next(room); };
  input.bytes = bytes->size();
  if (bytes->is_plain()) input.database = path;
  auto done = reader.read(input, files.limits, builder).in(reader.name);
  if (done) {
    count_damage(bytes->damage(), builder);
    return done;
  }
  if (!bytes->damage().empty()) done = std::move(done).in(bytes->damage());
  if (done.error().kind != Error::Kind::kBadInput) return done;
  // What was typed is right; the file is not.
  return Error{Error::Kind::kUnsupported, done.error().text};
}

// Among the files of a folder some are no traces: the others are read all the same.
void leave_out(const std::string& file, std::size_t sources, const Error& why,
               model::TraceBuilder& builder) {
  if (builder.trace().sources.size() == sources) builder.source({.file = file});
  const auto source = static_cast<std::uint32_t>(builder.trace().sources.size() - 1);
  builder.lose(source, model::LossKind::kUnreadable, 1, "the whole file: " + why.text);
}

// "runs/level0_rank3.json.gz": 3.
std::optional<std::int32_t> rank_in(std::string_view file) {
  const std::string name = lower(file.substr(file.rfind('/') + 1));
  const std::size_t at = name.rfind("rank");
  if (at == name.npos) return std::nullopt;
  std::size_t from = at + 4;
  while (from < name.size() && std::string_view("-_=").find(name[from]) != std::string_view::npos) {
    ++from;
  }
  std::size_t to = from;
  while (to < name.size() && is_digit(name[to])) ++to;
  return to_number<std::int32_t>(std::string_view(name).substr(from, to - from));
}

// Ranks that no trace says are those of the names of the files, if each has one of its own.
void rank_by_name(std::vector<model::TraceSource>& sources) {
  std::map<std::int32_t, model::TraceSource*> found;
  for (model::TraceSource& source : sources) {
    if (source.format.empty()) continue;
    const auto rank = rank_in(source.file);
    if (source.rank >= 0 || !rank || !found.emplace(*rank, &source).second) return;
  }
  if (found.size() < 2) return;
  for (const auto& [rank, source] : found) source->rank = rank;
}

}  // namespace

trace::Limits limits_here(trace::Limits limits, std::uint64_t available) {
  if (available == 0) return limits;
  limits.memory_bytes = std::min(limits.memory_bytes, std::max(kLeastMemory, available / kShare));
  return limits;
}

Result<model::Trace> read_traces(const TraceFiles& files, const RawRows& raw) {
  model::TraceBuilder builder;
  TraceFiles here = files;
  here.limits = limits_here(files.limits, os::available_memory());
  std::optional<Error> first;  // Why the first file that is no trace is none.
  std::size_t read = 0;
  for (const std::string& file : files.files) {
    const std::shared_ptr<Bytes> bytes = TRY(Bytes::open(file));
    const std::size_t sources = builder.trace().sources.size();
    const auto done = read_one(file, bytes, here, builder);
    read += done ? 1 : 0;
    if (done) continue;
    if (done.error().kind != Error::Kind::kUnsupported) return Result<>(done).in(file).error();
    if (!first) first = Result<>(done).in(file).error();
    leave_out(file, sources, done.error(), builder);
  }
  if (read == 0 && first) return *first;
  rank_by_name(builder.trace().sources);
  if (raw) raw(builder.trace());
  return std::move(builder).finish();
}

bool is_trace_file(const std::string& word) {
  struct stat status {};
  return ::stat(word.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace amdahl::app
