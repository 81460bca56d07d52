// Text that tells the loop or a model what to do, in code, documents, logs and answers: the ledger
// is the same with and without it.
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <source_dir.h>

#include "app/answer.h"
#include "app/attacks.h"
#include "app/dreaming.h"
#include "app/evidence.h"
#include "app/job_profile.h"
#include "app/propose.h"
#include "app/test_kit.h"
#include "base/text.h"
#include "os/files.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts;
  const auto bytes = os::read_file(AMDAHL_SOURCE_DIR "/src/app/testdata/hostile.txt");
  const std::string all = bytes ? *bytes : "";
  for (const std::string_view line : split(all, '\n')) {
    if (!line.empty()) texts.emplace_back(line);
  }
  return texts;
}

constexpr const char* kTrain =
    "import torch\nfrom torch.utils.data import DataLoader\n\n\n"
    "def train(model, data):\n    loader = DataLoader(data, batch_size=8)\n"
    "    losses = []\n    for batch in loader:\n        loss = model(batch.cuda())\n"
    "        losses.append(loss.item())\n        torch.cuda.synchronize()\n    return losses\n"
    "\n\ndef mean(losses):\n    return sum(losses) / len(losses)\n";

// A job, its profile and its documents in a state folder; with hostile text in all of them, if any.
class World {
 public:
  World(const fs::path& folder, const std::vector<std::string>& hostile) : folder_{folder} {
    fs::create_directories(folder / "repo");
    fs::create_directories(folder / "docs");
    fs::create_directories(folder / "runs/p-1/B");
    context_.config.state_dir = folder.string();
    context_.clock = &clock_;
    context_.hardware = "cpu: test";
    auto opened = ledger::open_sqlite(context_.path("ledger.db"), {}, clock_);
    EXPECT_TRUE(opened);
    context_.ledger = *std::move(opened);
    write(hostile);
    adopt();
  }

  // All that is read and proposed before any run; the brief that a model would get.
  std::string live(const std::string& says) {
    const ledger::Family family = *context_.ledger->family("eval");
    const Collected collected = collected_in(context_.path("runs/p-1/B"));
    const JobProfile joined = explain(family.spec, *family.profile, collected);
    auto proposed = propose_from(context_, family, *family.profile, joined.findings);
    EXPECT_TRUE(proposed) << proposed.error().text;
    EXPECT_TRUE(context_.ledger->append(proposed->drafts));
    const auto dreamt = dream_up(context_, {.docs = (folder_ / "docs").string(), .family = "eval"});
    EXPECT_TRUE(dreamt) << dreamt.error().text;
    auto taken = take_answer(context_, family, answer(says), {"agent", "claude:sonnet"});
    EXPECT_TRUE(taken) << taken.error().text;
    EXPECT_TRUE(context_.ledger->append(taken->outcome.drafts));
    const auto brief = brief_on(context_, "eval", brief::Role::kPropose);
    EXPECT_TRUE(brief) << brief.error().text;
    return brief ? brief->prompt : "";
  }

  // What happened, without the words that people read and the folder it happened in.
  std::vector<std::string> events() {
    std::vector<std::string> all;
    EXPECT_TRUE(context_.ledger->each_event(0, [&](const ledger::Event& event) {
      Json payload = event.payload;
      for (const char* words : {"title", "mechanism", "origin"}) payload.erase(words);
      std::string text = dump_json(payload);
      for (std::size_t at = 0; (at = text.find(folder_.string())) != text.npos;) {
        text.replace(at, folder_.string().size(), "");
      }
      all.push_back(fmt::format("{} {} {} {}", event.kind, event.actor, event.subject, text));
      return true;
    }));
    return all;
  }

 private:
  void write(const std::vector<std::string>& hostile) const {
    std::string code = kTrain;
    std::string log = "epoch 1\n";
    std::ofstream(folder_ / "docs/loaders.md")
        << "# Loaders\n\nWhen data loaders starve the device, set num_workers=4.\n";
    for (std::size_t i = 0; i < hostile.size(); ++i) {
      code += "# " + hostile[i] + "\n";
      log += hostile[i] + "\n";
      std::ofstream(folder_ / fmt::format("docs/note-{}.md", i)) << "# Note\n\n"
                                                                 << hostile[i] << "\n";
    }
    std::ofstream(folder_ / "repo/train.py") << code;
    std::ofstream(folder_ / "runs/p-1/B/stdout") << log;
    std::ofstream(folder_ / "runs/p-1/B/stderr") << log;
    std::ofstream(folder_ / "runs/p-1/B/report.jsonl") << log;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"init", "-q"},
             {"add", "."},
             {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}}) {
      std::vector<std::string> argv{"git", "-C", (folder_ / "repo").string()};
      argv.insert(argv.end(), words.begin(), words.end());
      EXPECT_TRUE(os::run_program({.argv = argv}, [](auto) -> Result<> { return Ok{}; }, {}));
    }
  }

  void adopt() {
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"python3", "train.py", "--batch", "8"};
    spec.workdir = spec.repo = (folder_ / "repo").string();
    model::Knob batch;
    batch.name = "batch_size";
    batch.arg = "--batch";
    batch.value = "8";
    batch.max = 64;
    spec.knobs["batch_size"] = batch;
    model::Profile profile;
    profile.id = "p-1";
    profile.family = "eval";
    profile.bottleneck = model::Bottleneck::kInput;
    profile.evidence = {{"input_wait_share", 0.4}, {"sync_share", 0.2}};
    profile.causes = {
        {"input.wait", "waiting for input", model::Bottleneck::kInput, 4, 0.4, 1.6, "40 %"},
        {"sync.wait", "waiting for the device", model::Bottleneck::kSync, 2, 0.2, 1.25, "20 %"}};
    EXPECT_TRUE(context_.ledger->append(
        std::vector<ledger::Draft>{{"family.adopted", "ada", spec.family, encode(spec)},
                                   {"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}},
                                   {"profile.recorded", "cycle", "eval", encode(profile)}}));
  }

  static Json answer(const std::string& says) {
    Json change{{"env", Json::array()},    {"args", Json::array()},   {"config", Json::array()},
                {"inject", Json::array()}, {"accelerators", nullptr}, {"patch", ""},
                {"needs_build", false}};
    change["args"].push_back({{"name", "--batch"}, {"value", "48"}});
    return {{"hypotheses",
             {{{"title", says},
               {"cause", "input"},
               {"mechanism", says},
               {"expected_saving", 0.2},
               {"change", change}}}},
            {"nothing_because", says}};
  }

  fs::path folder_;
  os::FakeClock clock_;
  Context context_;
};

class HostileTest : public testing::Test {
 protected:
  HostileTest() : folder_{fs::path(testing::TempDir()) / "app-hostile"} { fs::remove_all(folder_); }
  ~HostileTest() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(HostileTest, TheLedgerIsTheSameWithAndWithoutIt) {
  const std::vector<std::string> texts = hostile_texts();
  ASSERT_EQ(texts.size(), 60U);
  World clean(folder_ / "clean", {});
  World hostile(folder_ / "other", texts);
  clean.live("larger batches");
  const std::string prompt = hostile.live(texts.front());
  const std::vector<std::string> expected = clean.events();
  EXPECT_GE(expected.size(), 5U) << "rules, documents and the model proposed something";
  EXPECT_EQ(hostile.events(), expected);
  // In the brief it is data, on a marked line.
  for (const std::string_view line : split(prompt, '\n')) {
    for (const std::string& text : texts) {
      EXPECT_TRUE(!contains(line, text) || line.starts_with("| ")) << line;
    }
  }
}

// An attacker that only talks, and one that invents a check.
TEST_F(HostileTest, WordsAreNoVote) {
  for (const std::string& text : hostile_texts()) {
    Json answer{{"vote", "abstain"}, {"check", ""}, {"because", text}, {"numbers", Json::array()}};
    EXPECT_EQ(attack_in(answer)->vote, model::Vote::kAbstain);
    answer["vote"] = "refute";
    EXPECT_FALSE(attack_in(answer)) << "no check, no numbers";
    answer["check"] = "order";
    EXPECT_FALSE(attack_in(answer)) << "no numbers";
    answer["numbers"].push_back({{"name", "pairs"}, {"value", 3}});
    EXPECT_EQ(outcome_of(*attack_in(answer)), "refuted: order");
  }
}

}  // namespace
}  // namespace amdahl::app
