#include <algorithm>
#include <array>

#include "mcp/tool.h"
#include "mcp/tools_act.h"
#include "mcp/tools_read.h"

namespace amdahl::mcp {
namespace {

// Answers are open: a later release may add fields.
constexpr std::string_view kObject = R"({"type":"object"})";
constexpr std::string_view kRow =
    R"({"type":"object","properties":{"id":{"type":"string"},"family":{"type":"string"},
"state":{"type":"string"},"title":{"type":"string"},"change":{"type":"string"},
"origin":{"type":"string"},"predicted_gain":{"type":"number"},
"measured":{"anyOf":[{"type":"object"},{"type":"null"}]},
"reason":{"anyOf":[{"type":"string"},{"type":"null"}]},
"settled":{"type":"boolean"},"waits_for":{"type":"string"},"next":{"type":"string"},
"votes":{"type":"array"}},"required":["id","family","state","settled","waits_for","next"]})";

constexpr std::string_view kFamilyOnly =
    R"({"type":"object","properties":{"family":{"type":"string","minLength":1,"maxLength":200}},
"required":["family"],"additionalProperties":false})";

constexpr std::string_view kProposeInput =
    R"({"type":"object","properties":{
"family":{"type":"string","minLength":1,"maxLength":200},
"change":{"type":"object","minProperties":1,"additionalProperties":false,
"description":"What is done to the job; one kind or several together.","properties":{
"env":{"type":"object","maxProperties":50,
"additionalProperties":{"anyOf":[{"type":"string"},{"type":"null"}]},
"description":"Variable to value; null unsets it."},
"args":{"type":"object","maxProperties":50,
"additionalProperties":{"anyOf":[{"type":"string"},{"type":"null"}]},
"description":"Flag of the command to value (\"--batch\" to \"32\"); \"\": bare, null: removed."},
"config":{"type":"object","maxProperties":50,"additionalProperties":{"type":"string"},
"description":"FILE#key.path to value, in JSON, TOML or YAML that the command names."},
"accelerators":{"type":"integer","minimum":1,"maximum":100000},
"inject":{"type":"object","maxProperties":20,"additionalProperties":{"type":"string"},
"description":"Fix of the playbook that is put into the job from outside, to its value."},
"patch":{"type":"string","maxLength":1000000,
"description":"Unified diff against the family's repository, paths from its root."},
"needs_build":{"type":"boolean","description":"Run the spec's build command after the patch."}}},
"title":{"type":"string","minLength":1,"maxLength":200},
"mechanism":{"type":"string","maxLength":2000,"description":"Why it should help."},
"gain_percent":{"type":"number","minimum":0,"maximum":99,
"description":"Share of the cost that it should save."},
"cause":{"type":"string","maxLength":100,
"description":"Its class, as query_profile names it; compute: the work gets cheaper."}},
"required":["family","change","title","gain_percent"],"additionalProperties":false})";

constexpr std::string_view kProposeOutput =
    R"({"type":"object","properties":{"accepted":{"type":"boolean"},
"hypothesis":{"anyOf":[{"type":"string"},{"type":"null"}]},"resumed":{"type":"boolean"},
"because":{"type":"string"},"known":{"type":"array","items":{"type":"object"}},
"next":{"type":"string"}},"required":["accepted","hypothesis","because","known","next"]})";

constexpr std::string_view kRunInput =
    R"({"type":"object","properties":{
"family":{"type":"string","minLength":1,"maxLength":200},
"until":{"enum":["profiled","settled"],
"description":"profiled: one run under the collectors; settled (default): test what is queued."},
"hypothesis":{"type":"string","maxLength":200,
"description":"Whose outcome is waited for; without it, that of the whole cycle."},
"minutes":{"type":"number","minimum":0.1,"maximum":1440,
"description":"Begin nothing after this time; default 30. The session's budget also holds."}},
"required":["family"],"additionalProperties":false})";

constexpr std::string_view kRunOutput =
    R"({"type":"object","properties":{"running":{"type":"boolean"},"what":{"type":"string"},
"family":{"type":"string"},"outcome":{"type":"string"},"said":{"type":"array"},
"time_left_s":{"type":"number"},"status":{"anyOf":[{"type":"object"},{"type":"null"}]},
"next":{"type":"string"}},
"required":["running","family","outcome","next"]})";

constexpr auto kTools = std::to_array<Tool>({
    {"rank_fleet", "Rank wasted accelerator time",
     "Job families by the accelerator time that could be recovered, with the best lever and "
     "whether "
     "the family can be experimented on. Start here if nobody named a job.",
     R"({"type":"object","properties":{
"by":{"enum":["family","user","account","partition","node","kind","job"]},
"top":{"type":"integer","minimum":1,"maximum":200,"description":"Rows; default 10."},
"detail":{"type":"boolean","description":"The whole document."}},"additionalProperties":false})",
     R"({"type":"object","properties":{"jobs":{"type":"integer"},"rows":{"type":"array"},
"families":{"type":"array"}},"required":["jobs"]})",
     true, true, rank_fleet},
    {"job_anatomy", "Anatomy of one job",
     "One job's timeline in parts, and how much faster it would be without each (Amdahl's "
     "ceiling).",
     R"({"type":"object","properties":{"job":{"type":"string","maxLength":200,
"description":"Id or unique prefix; default: the last one that ran here."},
"detail":{"type":"boolean","description":"With every phase and every accelerator's timeline."}},
"additionalProperties":false})",
     R"({"type":"object","properties":{"job":{"type":"string"},"family":{"type":"string"},
"table":{"type":"array"}},"required":["job","family","table"]})",
     true, true, job_anatomy},
    {"evidence_packet", "All that is known of a family, for a proposal",
     "One document, bounded in size: the job, causes with ceilings, hot lines with code, knobs, "
     "what was tried here and in like families, chances and budget. Read it before proposing; the "
     "other tools have the detail.",
     R"({"type":"object","properties":{"family":{"type":"string","minLength":1,"maxLength":200},
"role":{"enum":["propose","attack","dream"],"description":"Default: propose."}},
"required":["family"],"additionalProperties":false})",
     R"({"type":"object","properties":{"family":{"type":"string"},"role":{"type":"string"},
"brief":{"type":"object"}},"required":["family","role","brief"]})",
     true, true, evidence_packet},
    {"query_profile", "Why accelerators wait",
     "The latest profile of a family. causes: what costs time, with ceilings and what to try; gaps "
     "and critical_path: from traces of devices; what_if: the timeline replayed without some "
     "causes; "
     "waits: what threads waited for; evidence: all numbers.",
     R"({"type":"object","properties":{"family":{"type":"string","minLength":1,"maxLength":200},
"about":{"enum":["causes","gaps","critical_path","what_if","waits","evidence"]},
"what_if":{"type":"string","maxLength":500,
"description":"For about=what_if: 'input=0,logging=0.5' (0 removes a cause, 0.5 halves it)."},
"limit":{"type":"integer","minimum":1,"maximum":500,"description":"Rows; default 10."}},
"required":["family","about"],"additionalProperties":false})",
     R"({"type":"object","properties":{"family":{"type":"string"},"about":{"type":"string"}},
"required":["family","about"]})",
     true, true, query_profile},
    {"code_findings", "Costly lines of the job's source",
     "Lines that explain a cause of the latest profile, with their share, what to do, and a patch "
     "where the fix is mechanical.",
     R"({"type":"object","properties":{"family":{"type":"string","minLength":1,"maxLength":200},
"limit":{"type":"integer","minimum":1,"maximum":200,"description":"Rows; default 10."}},
"required":["family"],"additionalProperties":false})",
     R"({"type":"object","properties":{"family":{"type":"string"},"repo":{"type":"string"},
"findings":{"type":"array"},"hot_lines":{"type":"array"}},"required":["family","findings"]})",
     true, true, code_findings},
    {"search_ledger", "What was tried, and what came of it",
     "Hypotheses by words (of title, mechanism, change or reason), or by family and state. Look "
     "here before proposing: what was refuted is not tried again.",
     R"({"type":"object","properties":{"words":{"type":"string","maxLength":500},
"family":{"type":"string","maxLength":200},
"state":{"enum":["live","parked","reopened","promoted","declined","refuted","no effect","harmful",
"inconclusive","invalid","aborted","dropped"]},
"limit":{"type":"integer","minimum":1,"maximum":200,"description":"Rows; default 20."},
"before":{"type":"integer","minimum":0,"description":"The `before` of the previous page."}},
"additionalProperties":false})",
     R"({"type":"object","properties":{"hypotheses":{"type":"array"},
"before":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["hypotheses"]})",
     true, true, search_ledger},
    {"experiment_status", "Where one hypothesis stands",
     "State, measured saving with its interval, votes of the checks, verdict, and who is to act "
     "next.",
     R"({"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":200,
"description":"A hypothesis, a unique prefix of one, or its experiment."},
"wait_s":{"type":"number","minimum":0,"maximum":50,
"description":"Answer when it is settled, or after this many seconds."},
"detail":{"type":"boolean","description":"With all events."}},
"required":["id"],"additionalProperties":false})",
     kRow, true, true, experiment_status},
    {"loop_status", "Queue, budget and gate",
     "What is queued, under test, parked and waiting for a person, the budgets, and what this "
     "session runs.",
     R"({"type":"object","properties":{"wait_s":{"type":"number","minimum":0,"maximum":50,
"description":"Answer when this session's work has ended, or after this many seconds."}},
"additionalProperties":false})",
     kObject, true, true, loop_status},
    {"propose_change", "Propose a change",
     "Puts an idea into the queue: variables, flags, configuration, accelerators, an injection, a "
     "patch, or several together. Answers with what is known of the same or a near idea. A change "
     "that was refuted is not accepted again. Nothing runs yet.",
     kProposeInput, kProposeOutput, false, false, propose_change},
    {"adopt_job", "Adopt the job that was handed over",
     "Runs the command that the person named when they connected (amdahl mcp -- COMMAND) twice, "
     "and drafts its spec. There is no way to name another command.",
     R"({"type":"object","additionalProperties":false})", kRunOutput, false, true, adopt_job,
     adopt_progress},
    {"run_experiments", "Test what is queued",
     "Starts a cycle of one adopted family in the background: profile, pairs, checks. It spends no "
     "more than the person granted and promotes nothing: a win waits for a person at the gate. "
     "Follow it with experiment_status or loop_status (wait_s).",
     kRunInput, kRunOutput, false, true, run_experiments, run_progress},
    {"read_spec", "What a family's spec fixes and allows",
     "Command, folder, repository and commit, knobs, outputs and quality that must stay the same, "
     "and what is promoted already.",
     kFamilyOnly, R"({"type":"object","properties":{"family":{"type":"string"},
"spec":{"type":"object"}},"required":["family","spec"]})",
     true, true, read_spec},
});

}  // namespace

std::span<const Tool> tools() { return kTools; }

const Tool* find_tool(std::string_view name) {
  const auto row = std::ranges::find(kTools, name, &Tool::name);
  return row == kTools.end() ? nullptr : &*row;
}

}  // namespace amdahl::mcp
