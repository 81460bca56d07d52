#include "app/artefact.h"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/git.h"
#include "base/json.h"
#include "base/text.h"
#include "launch/environment.h"
#include "launch/local/spawn.h"
#include "model/codec.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

using model::GateDecision;
using model::GatePacket;

// Git commands on an index of our own.
class Index {
 public:
  Index(std::string repository, std::string folder)
      : repository_{std::move(repository)}, folder_{std::move(folder)} {}
  ~Index() {
    std::error_code ignored;
    std::filesystem::remove(file(), ignored);
  }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  Result<std::string> git(const std::vector<std::string>& words, const std::string& input = "") {
    os::Program program = git_in(repository_, words);
    program.env["GIT_INDEX_FILE"] = file();
    program.input_text = input;
    return std::string(trim(TRY(said_by(program))));
  }

 private:
  std::string file() const { return folder_ + "/index"; }

  std::string repository_;
  std::string folder_;
};

std::string message_of(const GatePacket& packet, const model::Hypothesis& h,
                       const GateDecision& decision) {
  std::string text = fmt::format("{}: {}\n\n{}\n", packet.family, clip(h.title, 60), packet.claim);
  if (!h.mechanism.empty()) text += fmt::format("\nWhy: {}\n", h.mechanism);
  text += "\nChecks:\n";
  for (const model::Finding& vote : packet.votes) {
    text += fmt::format("  {}: {}: {}\n", vote.check, model::name(vote.vote), vote.because);
  }
  return text + fmt::format("\nApproved by {}: {}\nHypothesis: {}\nExperiment: {}\nRoll back: {}\n",
                            decision.actor, decision.reason, packet.hypothesis, packet.experiment,
                            packet.rollback);
}

Result<std::string> commit_on(Index& index, Context& context, const ledger::Family& family,
                              const std::string& message) {
  const std::string head = TRY(index.git({"rev-parse", "--verify", "HEAD^{commit}"}));
  TRY(index.git({"read-tree", head}));
  for (const std::string& id : family.stack) {
    const std::string patch = TRY(context.ledger->hypothesis(id)).hypothesis.change.patch;
    if (!patch.empty()) {
      TRY(index.git({"apply", "--cached", "--whitespace=nowarn", "-"}, patch)
              .in(fmt::format("the patch of {}", id)));
    }
  }
  const std::string overlay =
      TRY(os::read_file(context.path(fmt::format("overlays/{}.toml", family.name))));
  const std::string blob = TRY(index.git({"hash-object", "-w", "--stdin"}, overlay));
  TRY(index.git({"update-index", "--add", "--cacheinfo",
                 fmt::format("100644,{},amdahl/{}.toml", blob, family.name)}));
  const std::string tree = TRY(index.git({"write-tree"}));
  return index.git({"-c", "user.name=amdahl", "-c", "user.email=amdahl@localhost", "commit-tree",
                    tree, "-p", head},
                   message);
}

Result<std::string> start_hook(Context& context, const std::string& id, const Json& facts) {
  TRY(os::make_dirs(context.path("promotions")));
  const std::string path = context.path(fmt::format("promotions/{}.json", id));
  const std::string log = context.path(fmt::format("promotions/{}.log", id));
  TRY(os::write_file(path, pretty_json(facts)));
  launch::Environment environment = launch::own_environment();
  environment["AMDAHL_PROMOTION"] = path;
  // Its last line says how it ended: nobody waits for it.
  TRY(launch::local::spawn_detached(
      {"/bin/sh", "-c",
       "(eval \"$1\") < \"$AMDAHL_PROMOTION\"; echo \"amdahl: hook ended with $?\"", "hook",
       context.config.gate_hook},
      environment, log));
  return fmt::format("the hook runs, see {}", log);
}

std::string or_failed(const Result<std::string>& done, std::string_view what) {
  return done ? *done : fmt::format("{} failed: {}", what, done.error().text);
}

}  // namespace

Result<std::string> write_branch(Context& context, const ledger::GateRow& gate,
                                 const GateDecision& decision, const std::string& prefix) {
  const ledger::Family family = TRY(context.ledger->family(gate.packet.family));
  if (family.spec.repo.empty()) {
    return bad_input("its spec names no repo, so that no branch can be written");
  }
  const std::string name = fmt::format("{}{}/{}", prefix, family.name, gate.packet.hypothesis);
  const std::string folder = context.path("promotions/git-" + gate.packet.hypothesis);
  TRY(os::make_dirs(folder));
  const auto written = [&]() -> Result<std::string> {
    Index index(family.spec.repo, folder);
    if (index.git({"rev-parse", "--verify", "--quiet", "refs/heads/" + name})) {
      return Error{Error::Kind::kConflict, fmt::format("the branch {} exists", name)};
    }
    TRY(index.git({"check-ref-format", "--branch", name}));
    const model::Hypothesis h = TRY(context.ledger->hypothesis(gate.packet.hypothesis)).hypothesis;
    const std::string commit =
        TRY(commit_on(index, context, family, message_of(gate.packet, h, decision)));
    TRY(index.git({"update-ref", "refs/heads/" + name, commit, ""}));
    return name;
  }();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return written;
}

std::string deploy(Context& context, const ledger::GateRow& gate, const GateDecision& decision,
                   const std::string& overlay) {
  std::vector<std::string> said;
  Json facts = {{"event", "promoted"},
                {"family", gate.packet.family},
                {"hypothesis", gate.packet.hypothesis},
                {"overlay", overlay},
                {"packet", encode(gate.packet)},
                {"decision", encode(decision)},
                {"branch", Json()}};
  if (!context.config.gate_branch.empty()) {
    const auto branch = write_branch(context, gate, decision, context.config.gate_branch);
    if (branch) facts["branch"] = *branch;
    said.push_back(branch ? fmt::format("branch {}", *branch) : or_failed(branch, "the branch"));
  }
  if (!context.config.gate_hook.empty()) {
    said.push_back(or_failed(start_hook(context, gate.packet.hypothesis, facts), "the hook"));
  }
  return join(said, "; ");
}

std::string deploy_rollback(Context& context, const model::Hypothesis& hypothesis,
                            const std::string& actor, const std::string& reason,
                            const std::string& overlay) {
  if (context.config.gate_hook.empty()) return "";
  const Json facts = {{"event", "rolled back"},
                      {"family", hypothesis.family},
                      {"hypothesis", hypothesis.id},
                      {"overlay", overlay},
                      {"decision", {{"actor", actor}, {"reason", reason}}}};
  return or_failed(start_hook(context, hypothesis.id + ".rollback", facts), "the hook");
}

}  // namespace amdahl::app
