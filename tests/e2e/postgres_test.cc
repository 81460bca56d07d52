// Two machines with one ledger on a real PostgreSQL: cycles, decisions, a crash of the server,
// production without it, and the way back into a file.
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "json.h"
#include "ledger/postgres/testing/server.h"

namespace amdahl::e2e {
namespace {

using ledger::postgres::TestServer;

void use_ledger(const Sandbox& machine, const std::string& url) {
  machine.add_nap_job();
  machine.write("config.toml",
                machine.read("config.toml") + "[ledger]\nurl = \"" + url + "\"\nwait_s = 20\n");
}

Json symptom(const Sandbox& machine, const std::string& name) {
  const Json all = Json::parse(machine.amdahl({"doctor", "--json"}).out).at("symptoms");
  for (const Json& row : all) {
    if (row.at("name") == name) return row;
  }
  return {};
}

class PostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << server_.reason();
    use_ledger(a_, url_);
    use_ledger(b_, url_);
  }
  TestServer server_{std::vector<std::string>{}};  // As a site would run it: commits are flushed.
  std::string url_ = server_.runs() ? server_.url("loop") : "";
  Sandbox a_;
  Sandbox b_;
};

TEST_F(PostgresTest, TwoMachinesShareOneLoopThroughACrashOfTheServer) {
  EXPECT_EQ(symptom(a_, "ledger").at("state"), "absent");
  EXPECT_EQ(b_.amdahl({"status"}).code, 1) << "there is no ledger yet";
  ASSERT_EQ(a_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(b_.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0)
      << "the other machine knows the family";

  Outcome watched;
  std::thread cycle([&] { watched = a_.amdahl({"cycle", "--watch"}); });
  int busy = 0;
  for (int i = 0; i < 100 && busy == 0; ++i) {
    run({"sleep", "0.1"}, {}, "/tmp");
    if (b_.amdahl({"status", "--json"}).out.find("\"holder\"") == std::string::npos) continue;
    busy = b_.amdahl({"cycle"}).code == 5 ? 1 : 0;
  }
  EXPECT_EQ(busy, 1) << "one cycle decides at a time";
  server_.kill();
  server_.start();
  ASSERT_TRUE(server_.runs()) << server_.reason();
  std::string other = b_.read("job.toml");
  other.replace(other.find("nap"), 3, "doze");
  b_.write("other.toml", other);
  EXPECT_EQ(b_.amdahl({"adopt", "--spec", "other.toml"}).code, 0) << "beside the cycle";
  cycle.join();
  ASSERT_EQ(watched.code, 0) << watched.err;

  std::map<std::string, int> fates;
  for (const char* kind : {"run.collected", "run.voided"}) {
    for (const Json& event : events(a_, kind)) ++fates[event.at("subject")];
  }
  for (const Json& event : events(a_, "run.reserved")) {
    EXPECT_EQ(fates[event.at("subject")], 1) << event.at("subject");
  }

  const Json gate = json_of(b_.amdahl({"gate", "list", "--json"})).at("gate");
  ASSERT_EQ(gate.size(), 1U) << watched.err;
  const std::string id = gate.at(0).at("packet").at("hypothesis");
  const Outcome approved =
      b_.amdahl({"gate", "approve", id, "--reason", "it is true", "--as", "ada"});
  ASSERT_EQ(approved.code, 0) << approved.err;
  EXPECT_EQ(a_.amdahl({"status"}).code, 0);

  for (const Sandbox* machine : {&a_, &b_}) {
    EXPECT_TRUE(json_of(machine->amdahl({"ledger", "verify", "--json"})).at("ok"));
    EXPECT_EQ(symptom(*machine, "ledger").at("state"), "ok");
    EXPECT_EQ(symptom(*machine, "replica").at("state"), "ok");
  }
  EXPECT_EQ(a_.amdahl({"ledger", "export"}).out, b_.amdahl({"ledger", "export"}).out);
  EXPECT_TRUE(b_.has("state/overlays/nap.json"));

  server_.stop();
  const std::vector<std::string> produce = {"run",    "--promoted", "--family", "nap",
                                            "--json", "--",         "./job.sh"};
  const std::size_t before = b_.list("state/usage").size();
  const Json ran = json_of(b_.amdahl(produce));
  EXPECT_EQ(b_.list("state/usage").size(), before + 1) << "a usage file, and no ledger";
  EXPECT_NE(ran.dump().find(id), std::string::npos) << ran.dump();
}

TEST_F(PostgresTest, ALedgerMovesToAServerAndBack) {
  Sandbox one;
  one.add_nap_job();
  ASSERT_EQ(one.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(one.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  const std::string was = one.amdahl({"ledger", "export"}).out;
  const Json there =
      json_of(one.amdahl({"ledger", "copy", one.path("state/ledger.db"), url_, "--json"}));
  EXPECT_EQ(there.at("copied"), there.at("events"));
  EXPECT_EQ(b_.amdahl({"ledger", "export"}).out, was);
  EXPECT_EQ(b_.amdahl({"ledger", "verify"}).code, 0);
  ASSERT_EQ(b_.amdahl({"propose", "nap", "--env", "NAP=0.02", "--gain", "50"}).code, 0);
  const Json back =
      json_of(b_.amdahl({"ledger", "copy", url_, b_.path("back/ledger.db"), "--json"}));
  EXPECT_GT(back.at("events"), there.at("events"));
  EXPECT_EQ(b_.amdahl({"--state", b_.path("back"), "ledger", "verify"},
                      {{"AMDAHL_CONFIG", one.path("config.toml")}})
                .code,
            0);
  // A second copy has nothing to do; a ledger of its own is not overwritten.
  EXPECT_EQ(json_of(b_.amdahl({"ledger", "copy", url_, b_.path("back/ledger.db"), "--json"}))
                .at("copied"),
            0);
  EXPECT_EQ(one.amdahl({"ledger", "copy", url_, one.path("state/ledger.db")}).code, 0)
      << "the first events are the same";
  EXPECT_EQ(one.amdahl({"ledger", "copy", one.path("nowhere.db"), url_}).code, 1);
  // A ledger that an older version wrote.
  ASSERT_EQ(run({"sh", "-c", "gzip -dc \"$0\" > old.db",
                 source_path("/tests/golden/ledger-5/ledger.db.gz")},
                {}, one.path())
                .code,
            0);
  EXPECT_GT(
      json_of(one.amdahl({"ledger", "copy", one.path("old.db"), one.path("new.db"), "--json"}))
          .at("copied"),
      0);
}

// As docs/guide/operate.md describes it.
TEST_F(PostgresTest, BackupsOfBothStoresComeBack) {
  ASSERT_EQ(a_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string was = a_.amdahl({"ledger", "export"}).out;
  const Outcome dumped =
      run({"pg_dump", "--format=custom", "--file=" + a_.path("ledger.dump"), url_}, {}, a_.path());
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  ASSERT_EQ(a_.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  const std::string more = a_.amdahl({"ledger", "export"}).out;
  const Outcome restored =
      run({"pg_restore", "--clean", "--if-exists", "--dbname=" + url_, a_.path("ledger.dump")}, {},
          a_.path());
  ASSERT_EQ(restored.code, 0) << restored.err;
  // A new machine sees the backup; the one that knows more stops and brings its events back.
  EXPECT_EQ(b_.amdahl({"ledger", "export"}).out, was);
  EXPECT_EQ(a_.amdahl({"status"}).code, 1);
  EXPECT_EQ(symptom(a_, "replica").at("state"), "missing");
  std::string replica;
  for (const std::string& name : a_.list("state/replicas")) {
    if (name.ends_with(".db")) replica = a_.path("state/replicas/" + name);
  }
  ASSERT_EQ(a_.amdahl({"ledger", "copy", replica, url_}).code, 0);
  EXPECT_EQ(a_.amdahl({"ledger", "export"}).out, more);
  EXPECT_EQ(b_.amdahl({"ledger", "export"}).out, more);
  EXPECT_EQ(a_.amdahl({"ledger", "verify"}).code, 0);

  Sandbox file;
  file.add_nap_job();
  ASSERT_EQ(file.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string before = file.amdahl({"ledger", "export"}).out;
  const std::string ledger = file.path("state/ledger.db");
  ASSERT_EQ(run({"sqlite3", ledger, ".backup " + file.path("backup.db")}, {}, file.path()).code, 0);
  ASSERT_EQ(file.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  ASSERT_EQ(run({"sh", "-c", "rm -f \"$0\"-wal \"$0\"-shm && cp \"$1\" \"$0\"", ledger,
                 file.path("backup.db")},
                {}, file.path())
                .code,
            0);
  EXPECT_EQ(file.amdahl({"ledger", "export"}).out, before);
  EXPECT_EQ(file.amdahl({"ledger", "verify"}).code, 0);
}

// The units that are shipped are sound, and what they start works for a user without rights.
TEST_F(PostgresTest, AServiceUserWithoutRightsRunsTheUnits) {
  const std::string units = source_path("/integrations/systemd");
  const std::string commands =
      "for unit in amdahl.service amdahl.timer amdahl-clean.service amdahl-clean.timer; do "
      "sed \"s,/usr/bin/amdahl,$1,\" \"$0/$unit\" > \"$unit\" || exit 1; done; "
      "systemd-analyze verify --man=no ./amdahl.service ./amdahl.timer ./amdahl-clean.service "
      "./amdahl-clean.timer";
  if (run({"sh", "-c", "command -v systemd-analyze"}, {}, "/tmp").code == 0) {
    const Outcome verified = run({"sh", "-c", commands, units, program()}, {}, a_.path());
    EXPECT_EQ(verified.code, 0) << verified.err;
    EXPECT_EQ(verified.err.find("amdahl"), std::string::npos) << verified.err;
  }
  std::vector<std::string> as_nobody;
  if (::geteuid() == 0) {
    as_nobody = {"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"};
    const std::string give = "chown -R nobody \"$0\" && chmod 755 \"$0\"";
    ASSERT_EQ(run({"sh", "-c", give, a_.path()}, {}, "/tmp").code, 0);
  }
  const auto start = [&](const std::vector<std::string>& words) {
    std::vector<std::string> argv = as_nobody;
    argv.insert(argv.end(), words.begin(), words.end());
    return run(argv,
               {{"AMDAHL_CONFIG", a_.path("config.toml")},
                {"AMDAHL_STATE", a_.path("state")},
                {"HOME", a_.path()}},
               a_.path());
  };
  if (start({"test", "-x", program()}).code != 0) {
    GTEST_SKIP() << "the build folder is closed to other users";
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{program(), "init"},
                                                {program(), "cycle"},
                                                {program(), "clean", "--older", "30"},
                                                {program(), "ledger", "verify"}}) {
    const Outcome done = start(words);
    EXPECT_EQ(done.code, 0) << words.at(1) << ": " << done.err;
  }
}

TEST_F(PostgresTest, AServerThatIsAwayIsNamedAndNothingIsHalfWritten) {
  ASSERT_EQ(a_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string was = a_.amdahl({"ledger", "export"}).out;
  server_.stop();
  std::string config = a_.read("config.toml");
  config.replace(config.find("wait_s = 20"), 11, "wait_s = 0.2");
  a_.write("config.toml", config);
  const Outcome status = a_.amdahl({"status"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_NE(status.err.find("warning"), std::string::npos) << status.err;
  EXPECT_EQ(a_.amdahl({"propose", "nap", "--env", "NAP=0.01"}).code, 3);
  EXPECT_EQ(a_.amdahl({"cycle"}).code, 3);
  EXPECT_EQ(symptom(a_, "ledger").at("state"), "missing");
  server_.start();
  EXPECT_EQ(a_.amdahl({"ledger", "export"}).out, was);
  EXPECT_EQ(a_.amdahl({"ledger", "verify"}).code, 0);

  b_.write("config.toml", "[ledger]\nurl = \"postgresql://ada:secret@host/db\"\n");
  const Outcome refused = b_.amdahl({"status"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::e2e
