#include "scan/drive.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "bytes/pump.h"
#include "scan/halves.h"

namespace amdahl::scan {
namespace {

using bytes::Packing;
using fleet::Gives;

// One input on its way: its stream and what was taken from it to look at.
struct Opened {
  std::unique_ptr<ByteStream> stream;
  std::string first;  // Packed bytes already read.
  fleet::Source source{};
  Gives gives = Gives::kBoth;
};

Result<Opened> open(const Input& input, InputRead& read) {
  Opened opened;
  opened.stream = TRY(input.open());
  opened.first = TRY(bytes::read_first(
      [&](std::span<char> room) { return opened.stream->read(room); }, fleet::kMostHead));
  read.packing = bytes::packing_of(opened.first);
  const auto unpacked = bytes::unpack_first(opened.first, fleet::kHeadBytes);
  if (!unpacked) {
    return bad_input(fmt::format("looks like {}, but cannot be unpacked", name(read.packing)));
  }
  const std::string& head = *unpacked;
  opened.source = TRY(recognise(input, head));
  opened.gives = fleet::explain(opened.source, head, input.options).gives;
  read.source = opened.source.name;
  return opened;
}

class Drive {
 public:
  Drive(std::span<const Input> inputs, fleet::Intake& intake, const DriveOptions& options)
      : inputs_{inputs}, intake_{intake}, options_{options}, reads_(inputs.size()) {}

  Result<std::vector<InputRead>> run() {
    std::vector<std::optional<Opened>> kept(inputs_.size());
    std::array<std::vector<std::size_t>, 3> by_turn;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      reads_[i].name = inputs_[i].name;
      auto opened = open(inputs_[i], reads_[i]);
      if (!opened) {
        reads_[i].error = opened.error().text;
        continue;
      }
      Opened now = *std::move(opened);
      const Gives gives = now.gives;
      by_turn[gives == Gives::kJobs ? 0 : gives == Gives::kBoth ? 1 : 2].push_back(i);
      if (!inputs_[i].once) now.stream.reset();  // A scan may have more files than may be open.
      if (!inputs_[i].once) now.first.clear();
      kept[i] = std::move(now);
    }
    const auto& both = by_turn[1];
    const bool is_twice = both.size() > 1 && std::none_of(both.begin(), both.end(),
                                                          [&](auto i) { return inputs_[i].once; });
    JobsOnly jobs(intake_);
    SamplesOnly samples(intake_);
    for (const std::size_t i : by_turn[0]) TRY(read(i, *kept[i], intake_));
    if (is_twice) {
      for (const std::size_t i : both) TRY(read(i, *kept[i], jobs));
    }
    for (const std::size_t i : both) {
      if (!is_twice) TRY(read(i, *kept[i], intake_));
      if (is_twice && reads_[i].error.empty()) TRY(read(i, *kept[i], samples));
    }
    for (const std::size_t i : by_turn[2]) TRY(read(i, *kept[i], intake_));
    return std::move(reads_);
  }

 private:
  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  Result<> read(std::size_t index, Opened& opened, fleet::Intake& intake) {
    const Input& input = inputs_[index];
    if (!opened.stream) {
      auto stream = input.open();
      if (!stream) {
        reads_[index].error = stream.error().text;
        return Ok{};
      }
      opened.stream = *std::move(stream);
    }
    if (options_.begin) options_.begin(input);
    fleet::ReaderOptions reader_options = input.options;
    if (reader_options.path.empty()) reader_options.path = input.name;
    // Telling jobs takes longer than reading them, so that three keep two processors busy.
    const bool is_jobs = opened.source.gives == Gives::kJobs;
    reader_options.threads = std::max(1, is_jobs ? options_.threads : options_.threads - 1);
    const auto reader = opened.source.make(intake, reader_options);
    const auto done = pour(index, opened, *reader, intake);
    opened.stream.reset();
    if (is_stopped()) return external("stopped");
    if (!done) reads_[index].error = done.error().text;
    return Ok{};
  }

  // Everything before damage or the end has been fed, and is finished as if it had ended there.
  Result<> pour(std::size_t index, Opened& opened, fleet::Reader& reader, fleet::Intake& intake) {
    InputRead& read = reads_[index];
    read.packed_bytes = read.bytes = 0;
    const auto pump =
        bytes::Pump::make([&](std::span<char> room) { return opened.stream->read(room); },
                          {read.packing, std::move(opened.first), options_.threads > 1});
    while (true) {
      const bytes::Pump::Block block = pump->next();
      if (is_stopped()) return Ok{};
      read.packed_bytes += block.packed;
      done_ += block.packed;
      read.bytes += block.bytes.size();
      if (!block.bytes.empty()) TRY(reader.feed(block.bytes));
      if (options_.progress) options_.progress({inputs_[index].name, index, done_});
      if (!block.is_last) continue;
      read.is_truncated = block.is_truncated;
      if (block.is_truncated) {
        intake.trouble(model::Trouble::kTruncated, {0, read.packed_bytes},
                       fmt::format("{} ends in the middle", name(read.packing)));
      }
      const auto finished = reader.finish();
      if (block.error) return *block.error;
      return finished;
    }
  }

  std::span<const Input> inputs_;
  fleet::Intake& intake_;
  const DriveOptions& options_;
  std::vector<InputRead> reads_;
  std::uint64_t done_ = 0;
};

}  // namespace

Result<fleet::Source> recognise(const Input& input, std::string_view head) {
  if (!input.source.empty()) return fleet::source_named(input.source);
  if (!input.options.mapping.empty()) return fleet::source_named("csv");
  return fleet::source_for(head);
}

Result<std::vector<InputRead>> drive(std::span<const Input> inputs, fleet::Intake& intake,
                                     const DriveOptions& options) {
  return Drive(inputs, intake, options).run();
}

}  // namespace amdahl::scan
