#include "app/infer.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "os/files.h"

namespace amdahl::app {
namespace {

SeenRun seen(const std::string& output, std::map<std::string, std::string> written = {}) {
  SeenRun run;
  run.output = output;
  run.written = std::move(written);
  run.receipt.ending = model::Ending::kExited;
  run.receipt.wall = std::chrono::seconds(5);
  run.receipt.stdout_sha256 = output;
  return run;
}

model::Spec spec() {
  model::Spec made;
  made.command = {"python3", "train.py"};
  made.workdir = "/";
  return made;
}

TEST(Infer, TheUnitOfWorkIsWhatBothRunsPrintLast) {
  struct Case {
    const char* name;
    const char* first;
    const char* second;
    const char* want;
  };
  const Case cases[] = {
      {"iterations", "iter 0: loss 4.1\niter 120: loss 2.0\n", "iter 120: loss 2.1\n",
       "120 iterations"},
      {"samples before steps", "step 7\nprocessed 640 images, loss 1\n",
       "step 7\nprocessed 640 images, loss 1\n", "640 samples"},
      {"epochs", "| end of epoch   3 | valid loss  4.0\n", "| end of epoch   3 | valid loss  4.0\n",
       "3 epochs"},
      {"batches in brackets", "Epoch: [2][ 40/50] loss 1\n", "Epoch: [2][ 40/50] loss 1\n",
       "2 epochs"},
      {"a rate is no count", "640 samples/s, 7 images per second, iter 1.25 s, loss 1\n",
       "655 samples/s, 8 images per second, iter 1.31 s, loss 1\n", "1 run"},
      {"another count of steps, the same of epochs", "step 100\nepoch 2 loss 1\n",
       "step 90\nepoch 2 loss 1\n", "2 epochs"},
      {"nothing", "loss 1\n", "loss 1\n", "1 run"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    model::Spec made = spec();
    const auto inferred = infer(seen(c.first), seen(c.second), made);
    ASSERT_TRUE(inferred) << inferred.error().text;
    EXPECT_EQ(inferred->front().field, "work");
    EXPECT_EQ(inferred->front().value, c.want);
    EXPECT_EQ(made.fixed_work.has_value(), std::string(c.want) == "1 run");
  }
}

TEST(Infer, QualityKeepsWithinRoundingOrTheNoiseOfTwoRuns) {
  model::Spec made = spec();
  ASSERT_TRUE(infer(seen("step 4 loss 2.0\nval loss: 3.00, accuracy = 50.0%\n"),
                    seen("step 4 loss 2.0\nval loss: 3.00, accuracy = 52.0%\n"), made));
  ASSERT_EQ(made.quality.size(), 3U);
  EXPECT_EQ(made.quality[0].name, "validation_loss");
  EXPECT_FALSE(made.quality[0].higher_is_better);
  EXPECT_DOUBLE_EQ(made.quality[0].tolerance, 0.015);
  EXPECT_EQ(made.quality[1].name, "accuracy");
  EXPECT_TRUE(made.quality[1].higher_is_better);
  EXPECT_DOUBLE_EQ(made.quality[1].tolerance, 6);
}

TEST(Infer, OutputsAreComparedByTheirBytesWhereTwoRunsAgree) {
  model::Spec made = spec();
  ASSERT_TRUE(infer(seen("a", {{"model.pt", "1"}, {"times", "2"}, {"run.log", "3"}}),
                    seen("a", {{"model.pt", "1"}, {"times", "9"}, {"run.log", "3"}}), made));
  ASSERT_EQ(made.outputs.size(), 3U);
  EXPECT_EQ(made.outputs[0], (model::Output{"model.pt", true}));
  EXPECT_EQ(made.outputs[1], (model::Output{"{out}/stdout", true}));
  EXPECT_EQ(made.outputs[2], (model::Output{"times", false}));
}

TEST(Infer, InputsAreWhatTheCommandNamesOrElseItsProgram) {
  model::Spec made = spec();
  made.command = {"/bin/sh", "train.py"};
  ASSERT_TRUE(infer(seen("loss 1"), seen("loss 1"), made));
  EXPECT_EQ(made.inputs, std::vector<std::string>{"/bin/sh"});
  made.command = {"/bin/sh", "train.py", "--data=/etc/hostname", "--out", "etc/passwd"};
  ASSERT_TRUE(infer(seen("loss 1", {{"etc/passwd", "1"}}), seen("loss 1"), made));
  EXPECT_EQ(made.inputs, std::vector<std::string>{"/etc/hostname"});
}

TEST(Infer, AJobThatCannotBeTunedGetsASentence) {
  const SeenRun good = seen("loss 1");
  SeenRun failed = good;
  failed.receipt.code = 1;
  failed.receipt.reason = "exit 1";
  failed.receipt.stderr_tail = "Traceback\nValueError: no data\n";
  SeenRun asks = failed;
  asks.receipt.stderr_tail = "EOFError: EOF when reading a line\n";
  SeenRun brief = good;
  brief.receipt.wall = std::chrono::milliseconds(300);
  SeenRun in_the_way = failed;
  in_the_way.receipt.stderr_tail = "mkdir: out: File exists\n";
  SeenRun wants_screen = failed;
  wants_screen.receipt.stderr_tail = "Error opening terminal: unknown.\n";
  SeenRun daemon = good;
  daemon.receipt.left_behind = 1;
  SeenRun some = good;
  some.receipt.work = 10.0;
  SeenRun less = good;
  less.receipt.work = 3.0;
  struct Case {
    SeenRun first;
    SeenRun second;
    const char* want;
  };
  const Case cases[] = {
      {failed, good, "the first run of the job failed: exit 1 (ValueError: no data); fix"},
      {good, failed,
       "the second run of the job failed: exit 1 (ValueError: no data); the first run succeeded, "
       "so "
       "the job fails at random or cannot be repeated: fix that first"},
      {good, in_the_way,
       "the second run of the job failed: exit 1 (mkdir: out: File exists); "
       "files that the first run left are in the way"},
      {wants_screen, good, "the first run of the job asked for a terminal or for input"},
      {asks, good, "the first run of the job asked for a terminal or for input"},
      {brief, brief, "the job takes 0.30 s: below a second"},
      {daemon, good, "the job exits while 1 process it started is still running; make it stay"},
      {some, less, "two unchanged runs did different work (10 and 3)"},
      {seen("step 100 loss 1\n"), seen("step 200 loss 0.5\n"),
       "two unchanged runs did different work (100 and 200 steps): the job resumes earlier "
       "work"},
      {seen("took 1.2 s", {{"a", "1"}}), seen("took 1.3 s", {{"a", "2"}}),
       "nothing that the job leaves can be compared"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    model::Spec made = spec();
    const auto inferred = infer(c.first, c.second, made);
    ASSERT_FALSE(inferred);
    EXPECT_EQ(inferred.error().kind, Error::Kind::kBadInput);
    EXPECT_TRUE(inferred.error().text.starts_with(c.want)) << inferred.error().text;
  }
}

TEST(Infer, InputsAreWhatBothRunsOpenAndNeitherWrites) {
  SeenRun first = seen("loss 1", {{"out/log.txt", "1"}});
  first.opened = {"data/train.bin", "model.py",   "out/log.txt", "out/vocabulary",
                  "once.txt",       "config.yml", "libfast.so.1"};
  for (int i = 0; i < 20; ++i) first.opened.insert("pictures/" + std::to_string(i) + ".png");
  SeenRun second = first;
  second.opened.erase("once.txt");
  model::Spec made = spec();
  ASSERT_TRUE(infer(first, second, made));
  const std::vector<std::string> want = {"config.yml", "data/train.bin", "out/vocabulary",
                                         "pictures/*"};
  EXPECT_EQ(made.inputs, want);
}

TEST(Infer, FilesOfTheRunAreFound) {
  const std::string folder = testing::TempDir() + "infer-files";
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(os::make_dirs(folder + "/out/__pycache__"));
  ASSERT_TRUE(os::make_dirs(folder + "/.git"));
  for (const char* name : {"/out/model.pt", "/out/__pycache__/a.pyc", "/.git/index", "/old"}) {
    ASSERT_TRUE(os::write_file(folder + name, name));
  }
  const auto before = std::filesystem::last_write_time(folder + "/old") - std::chrono::hours(1);
  std::filesystem::last_write_time(folder + "/old", before);
  const auto hour = std::chrono::duration_cast<Nanos>(
      std::chrono::file_clock::to_sys(before).time_since_epoch() + std::chrono::minutes(30));
  ASSERT_TRUE(os::make_dirs(folder + "/state"));
  ASSERT_TRUE(os::write_file(folder + "/state/ledger.db", "ours"));
  const auto written = files_written(folder, hour, folder + "/state");
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written.begin()->first, "out/model.pt");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace amdahl::app
