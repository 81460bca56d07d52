#include <string>

#include <gtest/gtest.h>

#include "trace/kineto/piece_parser.h"
#include "trace/testing.h"

namespace amdahl::trace::kineto {
namespace {

struct File {
  std::string_view path;
  std::size_t host;
  std::size_t device;
  std::size_t syncs;
  std::size_t steps;
  std::int32_t rank;
  std::int32_t world_size;
};

// Counted with another JSON parser: events of the categories that become rows.
constexpr File kFiles[] = {
    {"hta/a100_16rank_rank0.json.gz", 59469, 7747, 0, 5, 0, 16},
    {"hta/a100_8rank_rank3.json.gz", 65486, 9450, 0, 6, 3, 8},
    {"hta/a100_alexnet_cudasync.json.gz", 728, 98, 41, 0, 0, 0},
    {"hta/a100_event_sync_multistream.json.gz", 45, 6, 5, 0, 0, 0},
    {"hta/a100_nccl_2rank_rank0.json.gz", 23128, 3804, 0, 3, 0, 2},
    {"hta/cpu_only_rank34.json.gz", 15, 0, 0, 1, 34, 300},
    {"hta/mi250_rocm62_minitoy.json.gz", 94, 18, 0, 2, -1, 0},
    {"hta/mtia_inference_rank0.json.gz", 12865, 1313, 0, 0, -1, 0},
    {"hta/mtia_rank0.json.gz", 112556, 25814, 0, 1, 0, 1},
    {"hta/sampled_128rank_rank1.json.gz", 3521, 1154, 0, 2, 1, 128},
    {"hta/v100_2rank_rank1.json.gz", 101088, 22290, 0, 5, 1, 2},
    {"hta/v100_ns_rank0.json.gz", 39309, 6110, 0, 5, 0, 1},
    {"kineto_tb/resnet50_nw0_1623143089861.pt.trace.json.gz", 35569, 9096, 0, 6, -1, 0},
    {"param/resnet_kineto.json.gz", 65434, 10113, 0, 0, -1, 0},
};

TEST(KinetoCorpus, EveryEventOfRealFilesIsKept) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  for (const File& file : kFiles) {
    SCOPED_TRACE(file.path);
    const std::string path = corpus() + "traces/" + std::string(file.path);
    const Result<model::Trace> trace =
        load(*reader_named("kineto"), std::string(file.path), bytes_of(path));
    ASSERT_TRUE(trace) << trace.error().text;
    EXPECT_EQ(trace->host_events.size(), file.host);
    EXPECT_EQ(trace->device_events.size(), file.device);
    EXPECT_EQ(trace->syncs.size(), file.syncs);
    EXPECT_EQ(trace->steps.size(), file.steps);
    EXPECT_EQ(trace->sources[0].rank, file.rank);
    EXPECT_EQ(trace->sources[0].world_size, file.world_size);
    for (const model::Loss& loss : trace->losses) ADD_FAILURE() << describe(loss);
  }
}

// Both instruction sets, over the pieces of a real file with a broken byte in some.
TEST(KinetoCorpus, BothParsersSayTheSame) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  if (&best_parser() != &kAvx2Parser) GTEST_SKIP() << "this processor has no AVX2";
  Framer framer(bytes_of(corpus() + "traces/hta/v100_ns_rank0.json.gz"));
  for (int number = 0;; ++number) {
    Result<std::optional<Piece>> next = framer.next({});
    ASSERT_TRUE(next);
    std::optional<Piece> piece = *std::move(next);
    if (!piece) break;
    if (number % 3 == 0) piece->buffer.bytes[(piece->begin + piece->end) / 2] = '\x02';
    Piece same;
    same.buffer.room = piece->buffer.room;
    same.buffer.bytes = std::make_unique<char[]>(piece->buffer.room);
    std::copy_n(piece->buffer.bytes.get(), piece->end, same.buffer.bytes.get());
    same.begin = piece->begin;
    same.end = piece->end;
    same.offset = piece->offset;
    const Window a = parse_piece(*piece, kAvx2Parser);
    const Window b = parse_piece(same, kBaselineParser);
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.lost, b.lost);
    EXPECT_EQ(a.names.size(), b.names.size());
    ASSERT_EQ(a.host_events.size(), b.host_events.size());
    for (std::size_t i = 0; i < a.host_events.size(); ++i) {
      ASSERT_EQ(a.host_events[i].start, b.host_events[i].start);
      ASSERT_EQ(a.names[a.host_events[i].name], b.names[b.host_events[i].name]);
    }
  }
}

}  // namespace
}  // namespace amdahl::trace::kineto
