// hostile_test.cc: sixty texts that tell the loop or a model what to do, in a job's code and logs,
// in documents, commits and answers: what is proposed, decided and promoted is the same without
// them.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "scripted_model.h"

namespace amdahl::e2e {
namespace {

class Hostile : public ScriptedModel {
 protected:
  static void SetUpTestSuite() {}
  void SetUp() override {
    if (!can_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  }

  // What the ledger says that was proposed, asked, decided and changed: nothing that was measured.
  using Story = std::vector<std::string>;

  static std::vector<std::string> hostile_texts() {
    std::vector<std::string> texts;
    std::ifstream in(source_path("/src/app/testdata/hostile.txt"));
    for (std::string line; std::getline(in, line);) texts.push_back(line);
    return texts;
  }

  static void write_documents(const std::vector<std::string>& notes) {
    std::string message = "notes\n\n";
    for (std::size_t i = 0; i < notes.size(); ++i) {
      house().write("docs/note-" + std::to_string(i) + ".md", "# Note\n\n" + notes[i] + "\n");
      message += notes[i] + "\n";
    }
    house().write("docs/loaders.md", "# Loaders\n\nPin memory: epochs got 12 % faster.\n");
    house().write("message", message);
    const std::string git = "git -c user.email=a@b -c user.name=a ";
    ASSERT_EQ(run({"sh", "-c", "git init -q . && git add . && " + git + "commit -q -F ../message"},
                  {}, house().path("docs"))
                  .code,
              0);
  }

  // From the job to the promotion of the model's fix.
  Story campaign(const std::vector<std::string>& notes) {
    prepare(notes);
    write_documents(notes);
    const Json dreamt =
        json_of(house().amdahl({"dream", "--docs", house().path("docs"), "--json"}));
    EXPECT_EQ(dreamt.at("documents"), notes.size() + 1);
    configure();
    const std::string title = notes.front();
    Json talks = idea("skip half of it", "nonsense");
    talks["mechanism"] = notes.back();
    Json fixes = idea("do not pause", fix());
    fixes["mechanism"] = notes[notes.size() / 2];
    play({fixes, talks}, "echo " + quoted(title) + " >&2",
         {{"vote", "abstain"}, {"check", ""}, {"because", title}, {"numbers", Json::array()}});
    const std::string before = house().read("config.toml");
    const Outcome done = cycle();
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(house().read("config.toml"), before);
    EXPECT_EQ(house().amdahl({"ledger", "verify"}).code, 0);
    Story told = story();
    EXPECT_FALSE(hypothesis("do not pause").is_null()) << done.err << Json(told).dump(1);
    return told;
  }

  static std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  // Of a sentence with what was measured in it.
  static std::string without_numbers(std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  }

  // In no order: what is asked while a run is going on depends on how long that takes.
  static Story story() {
    Story told;
    std::set<std::string> actors;
    std::map<std::string, std::vector<std::string>> of_kind{
        {"hypothesis.proposed", {"/key", "/origin/kind", "/change"}},
        {"hypothesis.reopened", {}},
        {"gate.decided", {"/approved", "/reason"}},
        {"ask.reserved", {"/role", "/family"}},
        {"ask.settled", {"/outcome", "/spent/tokens", "/proposed"}},
        {"family.adopted", {"/family"}},
        {"baseline.moved", {"/change"}},
        {"campaign.opened", {"/k", "/alpha"}}};
    std::istringstream in(
        (house().amdahl({"ledger", "export", "--output", "all.jsonl"}), house().read("all.jsonl")));
    for (std::string line; std::getline(in, line);) {
      const Json event = Json::parse(line);
      const std::string kind = event.at("kind");
      actors.insert(event.at("actor"));
      const bool promoted =
          kind == "verdict.recorded" && event.at("payload").at("kind") == "promoted";
      const auto row = of_kind.find(kind);
      if (row == of_kind.end() && !promoted) continue;
      std::string what = kind + " " + event.at("actor").get<std::string>();
      if (promoted) what += " " + event.at("subject").get<std::string>();
      for (const std::string& place : promoted ? std::vector<std::string>{} : row->second) {
        const Json::json_pointer at(place);
        const std::string value =
            event.at("payload").contains(at) ? event.at("payload").at(at).dump() : "-";
        what += " " + (place == "/reason" ? without_numbers(value) : value);
      }
      told.push_back(what);
    }
    std::string all = "actors";
    for (const std::string& actor : actors) all += " " + actor;
    told.push_back(all);
    std::ranges::sort(told);
    return told;
  }
};

TEST_F(Hostile, TheSameIsDecidedWithAndWithoutIt) {
  const std::vector<std::string> texts = hostile_texts();
  ASSERT_EQ(texts.size(), 60U);
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < texts.size(); ++i) plain.push_back("note " + std::to_string(i));
  const Story expected = campaign(plain);
  const Json fixed = hypothesis("do not pause");
  ASSERT_FALSE(fixed.is_null());
  EXPECT_EQ(fixed.at("state"), "promoted");
  const Story got = campaign(texts);
  EXPECT_EQ(got, expected);
  // They were there to be read: in the run's log and in the question.
  EXPECT_GE(count_lines(run({"grep", "-rhF", texts.front(), house().path("state")}, {}, "/").out,
                        texts.front()),
            2);
}

}  // namespace
}  // namespace amdahl::e2e
