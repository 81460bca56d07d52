#include "model/spec.h"

#include <fstream>
#include <span>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/codec.h"
#include "source_dir.h"

namespace amdahl::model {
namespace {

std::string page() {
  std::ifstream file(AMDAHL_SOURCE_DIR "/docs/format/spec.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string documented_example() {
  const std::string text = page();
  const std::size_t start = text.find("```toml\n") + 8;
  return text.substr(start, text.find("```", start) - start);
}

std::string json_of(const Spec& spec) { return dump_json(encode(spec)); }

// A spec with these lines added at the end.
std::string error_of(const std::string& lines) {
  const auto spec =
      parse_spec("family = \"f\"\ncommand = [\"run\"]\n" + lines, "job.toml", "/home/me");
  return spec ? "" : spec.error().text;
}

TEST(Spec, NodesAndTasksOfAJob) {
  const auto spec = parse_spec(
      "family = \"f\"\ncommand = [\"run\"]\nnodes = 2\ntasks_per_node = 4\naccelerators = 8\n",
      "job.toml", "/w");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->layout, (Layout{2, 4}));
  const auto again = parse_spec(to_toml(*spec), "job.toml", "/w");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, *spec);
  const auto plain = parse_spec("family = \"f\"\ncommand = [\"run\"]\n", "job.toml", "/w");
  EXPECT_EQ(json_of(*plain).find("layout"), std::string::npos) << "digests of old specs stay";
}

TEST(Spec, WhatPatchesMustPassAndMayTouch) {
  const auto spec = parse_spec(
      "family = \"f\"\ncommand = [\"run\"]\nrepo = \".\"\ncheck = [\"make\", \"check\"]\n"
      "paths = [\"src\"]\ndeny = [\"src/report.py\"]\nnetwork = true\n"
      "[[strata]]\nname = \"small\"\nsize = 10\n[[strata]]\nname = \"large\"\nsize = 99.5\n",
      "job.toml", "/home/me");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->check, (std::vector<std::string>{"make", "check"}));
  EXPECT_EQ(spec->paths, std::vector<std::string>{"src"});
  EXPECT_EQ(spec->deny, std::vector<std::string>{"src/report.py"});
  EXPECT_TRUE(spec->network);
  EXPECT_EQ(spec->strata[1].size, 99.5);
  const auto again = parse_spec(to_toml(*spec), "job.toml", "/");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, *spec);
  for (const char* field :
       {"check = [\"x\"]", "paths = [\"x\"]", "deny = [\"x\"]", "network = true"}) {
    EXPECT_NE(error_of(field).find("repo is required"), std::string::npos) << error_of(field);
  }
}

TEST(Spec, TheDocumentedExampleIsRead) {
  const auto spec = parse_spec(documented_example(), "job.toml", "/home/me/job");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->family, "image-embeddings");
  EXPECT_EQ(spec->command.size(), 6U);
  EXPECT_EQ(spec->workdir, "/home/me/job");
  EXPECT_EQ(spec->repo, "/home/me/job");
  EXPECT_EQ(spec->accelerators, 2);
  EXPECT_EQ(spec->cpus, 4);
  EXPECT_EQ(spec->time_limit, std::chrono::minutes(10));
  EXPECT_EQ(spec->memory_limit_mb, 4096);
  EXPECT_EQ(spec->env.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(spec->work_unit, "images");
  EXPECT_EQ(spec->work_pattern, "embedded (\\d+) images");
  ASSERT_EQ(spec->outputs.size(), 1U);
  EXPECT_TRUE(spec->outputs[0].digest);
  ASSERT_EQ(spec->quality.size(), 1U);
  EXPECT_TRUE(spec->quality[0].higher_is_better);
  EXPECT_EQ(spec->knobs.at("batch_size").value, "8");
  EXPECT_EQ(spec->knobs.at("batch_size").aliases, std::vector<std::string>{"-b"});
  EXPECT_EQ(spec->knobs.at("batch_size").max, 256);
  EXPECT_EQ(spec->knobs.at("decoded_cache").on, "{state}/decoded");
  EXPECT_EQ(spec->knobs.at("log_every").config, "config.json#train.log_every");
}

TEST(Spec, EveryKnobIsDocumented) {
  const std::string text = page();
  for (const KnownKnob& knob : known_knobs()) {
    const std::string row = "| `" + std::string(knob.name) + "` | " + std::string(knob.sets) + " |";
    EXPECT_NE(text.find(row), text.npos) << row;
  }
}

TEST(Spec, DefaultsOfTheSmallest) {
  const auto spec = parse_spec("family = \"f\"\ncommand = [\"run\"]\n", "job.toml", "/home/me/");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->workdir, "/home/me");
  EXPECT_EQ(spec->repo, "");
  EXPECT_EQ(spec->accelerators, 1);
  EXPECT_EQ(spec->cpus, 0);
  EXPECT_EQ(spec->pairing, "same-allocation");
  EXPECT_TRUE(spec->lower_is_better);
  EXPECT_FALSE(spec->memory_limit_mb);
  EXPECT_FALSE(spec->fixed_work);
}

TEST(Spec, ValueIsTakenFromTheCommand) {
  const auto spec = parse_spec(
      "family = \"f\"\ncommand = [\"run\", \"-b=16\"]\n"
      "[knobs.batch_size]\narg = \"--batch\"\naliases = [\"-b\"]\nmax = 64\n",
      "job.toml", "/");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->knobs.at("batch_size").value, "16");
}

TEST(Spec, TomlRoundTrips) {
  Spec odd = *parse_spec(documented_example(), "job.toml", "/home/me/job");
  for (int i = 0; i < 2; ++i) {
    const std::string toml = to_toml(odd);
    const auto again = parse_spec(toml, "again.toml", "/elsewhere");
    ASSERT_TRUE(again) << again.error().text << "\n" << toml;
    EXPECT_EQ(json_of(*again), json_of(odd)) << toml;
    // Second time with all that is awkward to write.
    odd.command = {"sh", "-c", "echo \"a\\b\"\n\tä 'ß' \x7f # no"};
    odd.env["WEIRD.NAME"] = "";
    odd.time_limit = Nanos{1'234'567'891};
    odd.memory_limit_mb = 0.1;
    odd.work_pattern.clear();
    odd.fixed_work = 1e20;
    odd.metric = "loss";
    odd.lower_is_better = false;
    odd.outputs.push_back({"a \"b\"", false});
    odd.quality.push_back({"err", 0.0, false});
    odd.pairing = "any";
    odd.strata = {{"small", 0.25, {{"SPLIT", "small"}}, {}}, {"large", 0.75, {}, {{"--n", "9"}}}};
    odd.knobs["batch_size"].arg = "--size";  // Not on the command line any more.
    odd.knobs["batch_size"].min = -0.5;
  }
}

struct Case {
  const char* lines;
  const char* want;
};

void expect_errors(std::span<const Case> cases) {
  for (const Case& c : cases) {
    const std::string got = error_of(c.lines);
    // What the TOML library says of bad syntax is its own affair; the place is ours.
    const bool only_place = std::string_view(c.want).ends_with(": ");
    const std::size_t length = only_place ? std::string_view(c.want).size() : got.npos;
    EXPECT_EQ(got.substr(0, length), c.want) << c.lines;
  }
}

TEST(Spec, ErrorsNameTheLineAndWhatToType) {
  constexpr Case kCases[] = {
      {"x = [1,", "job.toml: line 3, column 8: "},
      {"acelerators = 2",
       "job.toml: line 3: unknown key \"acelerators\", did you mean \"accelerators\"?"},
      {"zzz = 2", "job.toml: line 3: unknown key \"zzz\"; see docs/format/spec.md"},
      {"nodes = 2\naccelerators = 3",
       "job.toml: line 4: accelerators must be divisible by nodes, 2: it counts those of all "
       "nodes"},
      {"accelerators = 0", "job.toml: line 3: accelerators must be 1 to 1000000, not 0"},
      {"accelerators = \"2\"",
       "job.toml: line 3: accelerators must be a whole number, not a string"},
      {"accelerators = 1.5", "job.toml: line 3: accelerators must be a whole number, not a number"},
      {"cpus = -1", "job.toml: line 3: cpus must be 0 to 1000000, not -1"},
      {"time_limit_s = 0", "job.toml: line 3: time_limit_s must be greater than 0, not 0"},
      {"time_limit_s = inf", "job.toml: line 3: time_limit_s must be a finite number"},
      {"time_limit_s = 1e10", "job.toml: line 3: time_limit_s must be a year or less"},
      {"memory_limit_mb = true",
       "job.toml: line 3: memory_limit_mb must be a number, not a boolean"},
      {"pairing = \"near\"",
       "job.toml: line 3: pairing must be same-allocation, same-node, any, concurrent or steps, "
       "not \"near\""},
      {"inputs = \"a\"", "job.toml: line 3: inputs must be a list of strings, not a string"},
      {"inputs = [\"a\",\n2]",
       "job.toml: line 4: inputs must be a list of strings, but contains a whole number"},
      {"build = {}", "job.toml: line 3: build must be a list of strings, not a table"},
      {"workdir = 1979-05-27", "job.toml: line 3: workdir must be a string, not a date or time"},
      {"env = 3", "job.toml: line 3: env must be a table, not a whole number"},
      {"[env]\nA = [1]",
       "job.toml: line 4: env.A must be a string, a number or a boolean, not a list"},
      {"[env]\nAPI_TOKEN = \"x\"",
       "job.toml: line 4: env.API_TOKEN looks like a secret: remove it, then the job inherits "
       "it from the environment, or write API_TOKEN = \"{env:NAME}\""},
      {"[env]\nHELLO = \"ghp_0123456789abcdefghij0123\"",
       "job.toml: line 4: env.HELLO looks like a secret: remove it, then the job inherits it "
       "from the environment, or write HELLO = \"{env:NAME}\""},
      {"[[strata]]\nname = \"a\"\nargs = { \"--password\" = \"hunter2\" }",
       "job.toml: strata/0/args/--password seems to contain a secret: put it into the environment "
       "and write {env:NAME} instead"},
  };
  expect_errors(kCases);
}

TEST(Spec, ErrorsInTablesNameTheLineToo) {
  constexpr Case kCases[] = {
      {"[metric]\nname = \"loss\"\ndirection = \"down\"",
       "job.toml: line 5: metric.direction must be lower or higher, not \"down\""},
      {"[metric]\ndirection = \"lower\"", "job.toml: line 3: metric.name is missing"},
      {"[metric]\nnam = \"loss\"",
       "job.toml: line 4: unknown key \"metric.nam\", did you mean \"name\"?"},
      {"[work]\npattern = \"(\"",
       "job.toml: line 4: work.pattern is not a regular expression (RE2 syntax): missing ): ("},
      {"[work]\npattern = '(\\d+)(?=x)'",
       "job.toml: line 4: work.pattern is not a regular expression (RE2 syntax): invalid perl "
       "operator: (?="},
      {"[work]\npattern = \"a\"",
       "job.toml: line 4: work.pattern must have exactly one group (...), around the number, not "
       "0"},
      {"[work]\npattern = \"(a)\"\nfixed = 3",
       "job.toml: line 5: work.fixed cannot be combined with work.pattern: keep one of them"},
      {"[work]\nfixed = -3", "job.toml: line 4: work.fixed must be greater than 0, not -3"},
      {"[outputs]\npath = \"a\"",
       "job.toml: line 3: outputs must be a list of tables, not a table"},
      {"[[outputs]]\ndigest = true", "job.toml: line 3: outputs.path is missing"},
      {"[[outputs]]\npath = \"a\"\ndigest = 1",
       "job.toml: line 5: outputs.digest must be true or false, not a whole number"},
      {"outputs = [1]",
       "job.toml: line 3: outputs must be a list of tables, but contains a whole number"},
      {"[[quality]]\nname = \"a\"\ntolerance = -1",
       "job.toml: line 5: quality.tolerance must be 0 or more"},
      {"[knobs.batchsize]\narg = \"-b\"",
       "job.toml: line 3: unknown knob \"knobs.batchsize\", did you mean \"batch_size\"?"},
      {"[knobs.threads]\narg = \"-t\"\nenv = \"T\"",
       "job.toml: line 3: knobs.threads needs exactly one of arg, env and config"},
      {"[knobs.threads]",
       "job.toml: line 3: knobs.threads needs exactly one of arg, env and config"},
      {"[knobs.threads]\narg = \"-t\"\nmin = 3\nmax = 2",
       "job.toml: line 5: knobs.threads.min is 3, greater than max, 2"},
      {"[knobs.threads]\nenv = \"T\"\naliases = [\"-t\"]",
       "job.toml: line 5: knobs.threads.aliases requires arg"},
      {"[knobs.threads]\nconfig = \"a.json\"",
       "job.toml: line 4: knobs.threads.config must be \"file.json#key.path\", not \"a.json\""},
      {"[knobs.threads]\nargs = \"-t\"",
       "job.toml: line 4: unknown key \"knobs.threads.args\", did you mean \"arg\"?"},
      {"[knobs]\nthreads = 3",
       "job.toml: line 4: knobs.threads must be a table, not a whole number"},
  };
  expect_errors(kCases);
}

TEST(Spec, ErrorsOfFamilyAndCommand) {
  constexpr Case kCases[] = {
      {"command = [\"a\"]", "job.toml: family is missing"},
      {"family = \"f\"", "job.toml: command is missing"},
      {"family = \"f\"\ncommand = []", "job.toml: line 2: command is empty"},
      {"family = \"f\"\ncommand = [\"\"]", "job.toml: line 2: command is empty"},
      {"family = \"My Job\"\ncommand = [\"a\"]",
       "job.toml: line 1: family must be lower-case letters, digits, \".\", \"_\" and \"-\", not "
       "\"My Job\""},
      {"family = \"f\"\ncommand = [\"a\", \"--password\", \"x\"]",
       "job.toml: line 2: command seems to contain a secret: let the job read it from the "
       "environment, or write {env:NAME} instead"},
      {"family = \"f\"\ncommand = [\"a\", \"-b\", \"4\"]\n[knobs.batch_size]\narg = \"-b\"\n"
       "value = 8",
       "job.toml: line 5: knobs.batch_size.value is \"8\", but the command has -b 4"},
  };
  for (const Case& c : kCases) {
    const auto spec = parse_spec(c.lines, "job.toml", "/");
    EXPECT_EQ(spec ? "" : spec.error().text, c.want);
  }
}

}  // namespace
}  // namespace amdahl::model
