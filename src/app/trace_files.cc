#include "app/trace_files.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <sys/stat.h>

#include "fleet/unpack.h"
#include "os/memory.h"
#include "os/stream.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kHead = 64 * 1024;

// Of the memory there is, rows may take this share: to follow them takes several times as much.
constexpr std::uint64_t kShare = 8;
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;

// The bytes of one file, unpacked, from the first.
class Bytes {
 public:
  static Result<std::shared_ptr<Bytes>> open(const std::string& path) {
    auto bytes = std::make_shared<Bytes>(TRY(os::Stream::open(path)));
    const std::size_t got = TRY(bytes->file_.read(bytes->packed_));
    const std::string_view head(bytes->packed_.data(), got);
    const fleet::Packing packing = fleet::packing_of(head);
    bytes->unpacker_ = fleet::Unpacker::make(packing);
    const os::FileFacts facts = bytes->file_.facts();
    if (packing == fleet::Packing::kNone) bytes->size_ = facts.size;
    bytes->is_plain_ = packing == fleet::Packing::kNone && facts.regular && path != "-";
    bytes->waiting_ = head;
    bytes->at_end_ = got == 0;
    return bytes;
  }

  explicit Bytes(os::Stream file) : file_{std::move(file)}, packed_(kPiece, '\0') {}

  // The first bytes, without taking them; fewer only if the file is shorter.
  Result<std::string_view> head() {
    while (ready_.size() - taken_ < kHead && !at_end_) TRY(more());
    return std::string_view(ready_).substr(taken_, kHead);
  }

  Result<std::size_t> next(std::span<char> room) {
    while (taken_ == ready_.size() && !at_end_) {
      ready_.clear();
      taken_ = 0;
      TRY(more());
    }
    const std::size_t count = std::min(room.size(), ready_.size() - taken_);
    std::memcpy(room.data(), ready_.data() + taken_, count);
    taken_ += count;
    return count;
  }

  std::uint64_t size() const { return size_; }
  // A file whose bytes another may read by its name, in any order.
  bool is_plain() const { return is_plain_; }
  // Why the bytes ended before their end; empty if they did not.
  const std::string& damage() const { return damage_; }

 private:
  // One step: a few packed bytes may hold gigabytes.
  Result<> more() {
    if (waiting_.empty() && !unpacker_->has_more()) {
      const std::size_t got = TRY(file_.read(packed_));
      waiting_ = {packed_.data(), got};
      at_end_ = got == 0;
      if (at_end_ && !unpacker_->is_whole()) damage_ = "the packed file ends early";
      if (at_end_) return Ok{};
    }
    const auto used = unpacker_->step(waiting_, [&](std::string_view plain) -> Result<> {
      ready_.append(plain);
      return Ok{};
    });
    if (used) {
      waiting_.remove_prefix(*used);
      return Ok{};
    }
    // What was whole before the damage counts.
    at_end_ = true;
    damage_ = used.error().text;
    return Ok{};
  }

  os::Stream file_;
  std::string packed_;
  std::string_view waiting_;  // Of `packed_`, not unpacked yet.
  std::string ready_;
  std::string damage_;
  std::size_t taken_ = 0;
  std::unique_ptr<fleet::Unpacker> unpacker_;
  std::uint64_t size_ = 0;
  bool at_end_ = false;
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
  const std::string_view head = TRY(bytes->head());
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
  if (raw) raw(builder.trace());
  return std::move(builder).finish();
}

bool is_trace_file(const std::string& word) {
  struct stat status {};
  return ::stat(word.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace amdahl::app
