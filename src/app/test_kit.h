// test_kit.h: a context with a scratch ledger and a fixed clock, for tests.
#pragma once

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/promote.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/fake/fake_clock.h"
#include "os/files.h"

namespace amdahl::app {

class ContextTest : public testing::Test {
 protected:
  ContextTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("app-{}-{}", test->test_suite_name(), test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    context_.config.state_dir = folder_.string();
    context_.clock = &clock_;
    context_.hardware = "cpu: test";
    auto opened = ledger::open_sqlite(context_.path("ledger.db"), {}, clock_);
    EXPECT_TRUE(opened);
    context_.ledger = *std::move(opened);
  }
  ~ContextTest() override { std::filesystem::remove_all(folder_); }

  // Appends all at once: "" or the error's text.
  std::string say(const std::vector<ledger::Draft>& drafts) {
    const auto done = context_.ledger->append(drafts);
    return done ? "" : done.error().text;
  }

  // A family "eval" that runs `run --batch 8`, and an open campaign.
  void adopt() {
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"run", "--batch", "8"};
    spec.workdir = "/";
    spec.repo = "/";
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)},
                   {"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}}}),
              "");
  }

  // A hypothesis at the gate on the family's current baseline, with a promise of 20 %.
  void open_gate(const std::string& id, const model::Change& change) {
    model::Hypothesis h;
    h.id = id;
    h.family = "eval";
    h.key = id;
    h.change = change;
    model::Experiment x;
    x.id = "x" + id;
    x.hypothesis = id;
    x.family = "eval";
    x.campaign = "c1";
    x.sigma = 0.07;
    const ledger::Family family = *context_.ledger->family("eval");
    x.baseline = digest(*make_plan(family.spec, family.baseline));
    model::GatePacket packet;
    packet.experiment = x.id;
    packet.hypothesis = id;
    packet.family = "eval";
    packet.comparison.shrunk = 0.223;
    packet.comparison.log_e_win = 9;
    ASSERT_EQ(say({{"hypothesis.proposed", "ada", id, encode(h)},
                   {"experiment.registered", "cycle", x.id, encode(x)},
                   {"comparison.made", "cycle", x.id, encode(packet.comparison)},
                   {"gate.opened", "cycle", x.id, encode(packet)},
                   {"experiment.staged", "cycle", x.id, {{"stage", "gate"}}}}),
              "");
  }
  void promote(const std::string& id, const model::Change& change) {
    open_gate(id, change);
    const auto done = decide(context_, *find_gate(context_, id), {true, "ada", "fine"});
    ASSERT_TRUE(done) << done.error().text;
  }

  // What the file has when it has the text: a hook runs by itself.
  std::string wait_for(const std::string& path, const std::string& text) {
    for (int i = 0; i < 2000; ++i) {
      const auto found = os::read_file(path);
      if (found && found->find(text) != std::string::npos) return *found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << path << " lacks " << text;
    return "";
  }

  os::FakeClock clock_;
  Context context_;
  std::filesystem::path folder_;
};

}  // namespace amdahl::app
