#include "http/dispatcher.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/kept_traces.h"
#include "app/test_kit.h"
#include "ledger/event.h"
#include "os/files.h"

namespace amdahl::http {
namespace {

model::Change batch(const char* value) {
  model::Change change;
  change.args["--batch"] = value;
  return change;
}

// A ledger with one claim at the gate and a token of each role, and the dispatcher on it.
class DispatcherTest : public app::ContextTest {
 protected:
  DispatcherTest() {
    adopt();
    open_gate("h-1", batch("16"));
    const app::TokenFile file(context_.path("tokens.json"));
    for (const app::Role role : {app::Role::kReader, app::Role::kProposer, app::Role::kApprover}) {
      tokens_.push_back(file.add(std::string(app::name(role)), role, Nanos{}, Nanos{})->text);
    }
    AccessOptions access{context_.path("tokens.json"), {"loop.site.org"}, std::nullopt};
    watch_ = *ledger::open_sqlite(context_.path("ledger.db"), {}, clock_);
    digest_ = watch_->gate("pending")->front().digest;
    dispatcher_ = std::make_unique<Dispatcher>(std::move(context_), std::move(access),
                                               Program{"1.2.3", "abc"});
  }

  static Request request(const std::string& method, const std::string& target,
                         const std::string& body = "") {
    Request made{.method = method, .body = body};
    EXPECT_TRUE(parse_target(target, made)) << target;
    made.headers["host"] = "localhost:8300";
    if (!body.empty()) made.headers["content-type"] = "application/json";
    return made;
  }
  Request with_token(Request made, app::Role role) const {
    made.headers["authorization"] = "Bearer " + tokens_[static_cast<std::size_t>(role)];
    return made;
  }
  Response ask(const Request& made) { return dispatcher_->answer(made, {}).response; }
  Response get(const std::string& target) {
    return ask(with_token(request("GET", target), app::Role::kReader));
  }
  std::string decision(const std::string& digest) const {
    return dump_json({{"reason", "fine"}, {"packet", digest}});
  }
  // Changes with anything that anyone writes.
  std::string ledger_hash() { return watch_->events("", 0, 1)->front().hash; }

  std::vector<std::string> tokens_;
  std::unique_ptr<ledger::Ledger> watch_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::string digest_;
};

TEST_F(DispatcherTest, EveryRouteWantsItsRoleAndWritesNothingWithoutIt) {
  const std::string before = ledger_hash();
  for (const Route& route : routes()) {
    if (!route.role) continue;
    std::string target(route.path);
    for (const auto& [name, value] : {std::pair("{id}", "h-1"), std::pair("{family}", "eval")}) {
      const std::size_t at = target.find(name);
      if (at != std::string::npos) target.replace(at, std::string_view(name).size(), value);
    }
    SCOPED_TRACE(std::string(route.method) + " " + target);
    const Json change{{"args", {{"--batch", "32"}}}};
    const std::string body = route.writes()
                                 ? dump_json(route.body == "reason" ? Json{{"reason", "x"}}
                                             : route.body.starts_with("title")
                                                 ? Json{{"title", "x"}, {"change", change}}
                                                 : Json{{"reason", "x"}, {"packet", digest_}})
                                 : "";
    const Request bare = request(std::string(route.method), target, body);
    EXPECT_EQ(ask(bare).status, 401);
    Request wrong = bare;
    wrong.headers["authorization"] = "Bearer t-12345678.0000";
    EXPECT_EQ(ask(wrong).status, 401);
    wrong.headers["authorization"] = "Basic YTpi";
    EXPECT_EQ(ask(wrong).status, 401);
    for (int role = 0; role < static_cast<int>(*route.role); ++role) {
      const Response refused = ask(with_token(bare, static_cast<app::Role>(role)));
      EXPECT_EQ(refused.status, 403);
      EXPECT_EQ(refused.type, "application/problem+json");
    }
    EXPECT_EQ(ledger_hash(), before);
  }
}

TEST_F(DispatcherTest, OfTwoApproversOneWinsAndTheOtherIsTold) {
  const Request stale =
      with_token(request("POST", "/api/v1/gate/h-1/approve", decision(std::string(64, '0'))),
                 app::Role::kApprover);
  const std::string before = ledger_hash();
  EXPECT_EQ(ask(stale).status, 409) << "another packet was seen";
  EXPECT_EQ(ledger_hash(), before);
  const Request approve = with_token(request("POST", "/api/v1/gate/h-1/approve", decision(digest_)),
                                     app::Role::kApprover);
  const Request reject = with_token(request("POST", "/api/v1/gate/h-1/reject", decision(digest_)),
                                    app::Role::kApprover);
  EXPECT_EQ(ask(approve).status, 200);
  const std::string after = ledger_hash();
  EXPECT_EQ(ask(reject).status, 409);
  EXPECT_EQ(ask(approve).status, 409);
  EXPECT_EQ(ledger_hash(), after);
  const model::GateDecision decided = watch_->gate("")->front().decision;
  EXPECT_EQ(decided.actor, "approver");
  for (const ledger::Event& event : *watch_->events("xh-1", 0, 100)) {
    if (event.kind != "gate.decided") continue;
    EXPECT_EQ(event.payload.at("packet"), digest_);
  }
  EXPECT_TRUE(watch_->verify()->ok());
}

TEST_F(DispatcherTest, ADecisionNeedsAllItsFieldsAndNoOthers) {
  const std::string before = ledger_hash();
  for (const char* body : {"", "[]", "{}", "{", R"({"reason":"x"})", R"({"packet":"x"})",
                           R"({"reason":7,"packet":"x"})", R"({"reason":" ","packet":"x"})",
                           R"({"reason":"x","packet":"x","as":"eve"})"}) {
    EXPECT_EQ(
        ask(with_token(request("POST", "/api/v1/gate/h-1/approve", body), app::Role::kApprover))
            .status,
        400)
        << body;
  }
  Request form = with_token(request("POST", "/api/v1/gate/h-1/approve", decision(digest_)),
                            app::Role::kApprover);
  form.headers["content-type"] = "text/plain";
  EXPECT_EQ(ask(form).status, 400) << "what a form of another site can send";
  EXPECT_EQ(ledger_hash(), before);
}

TEST_F(DispatcherTest, ASessionNeedsItsCsrfTokenAndOurOrigin) {
  const auto log_in = [&](const std::string& token) {
    return request("POST", "/api/v1/session", dump_json({{"token", token}}));
  };
  EXPECT_EQ(ask(log_in("t-1.2")).status, 401);
  Request foreign = log_in(tokens_[2]);
  foreign.headers["origin"] = "http://evil.example";
  EXPECT_EQ(ask(foreign).status, 403);
  const Response in = ask(log_in(tokens_[2]));
  ASSERT_EQ(in.status, 200);
  const std::string csrf = parse_json(in.body)->at("csrf");
  const std::string set = in.headers.front().second;
  EXPECT_NE(set.find("; HttpOnly; SameSite=Strict;"), std::string::npos) << set;
  EXPECT_EQ(set.find(tokens_[2]), std::string::npos) << "the cookie is not the token";

  Request approve = request("POST", "/api/v1/gate/h-1/approve", decision(digest_));
  approve.headers["cookie"] = "a=b; " + set.substr(0, set.find(';'));
  const std::string before = ledger_hash();
  EXPECT_EQ(ask(approve).status, 403) << "no token of the page";
  approve.headers["x-csrf-token"] = csrf;
  EXPECT_EQ(ask(approve).status, 403) << "no origin";
  approve.headers["origin"] = "http://localhost:8301";
  EXPECT_EQ(ask(approve).status, 403) << "another origin";
  EXPECT_EQ(ledger_hash(), before);
  Request read = request("GET", "/api/v1/session");
  read.headers["cookie"] = approve.headers["cookie"];
  EXPECT_EQ(parse_json(ask(read).body)->at("name"), "approver");
  approve.headers["origin"] = "http://localhost:8300";
  EXPECT_EQ(ask(approve).status, 200);

  Request out = request("DELETE", "/api/v1/session");
  out.headers = approve.headers;
  EXPECT_EQ(ask(out).status, 200);
  EXPECT_EQ(ask(read).status, 401) << "logged out";
}

TEST_F(DispatcherTest, ARevokedTokenEndsItsSessions) {
  const Response in = ask(request("POST", "/api/v1/session", dump_json({{"token", tokens_[0]}})));
  Request read = request("GET", "/api/v1/status");
  const std::string set = in.headers.front().second;
  read.headers["cookie"] = set.substr(0, set.find(';'));
  EXPECT_EQ(ask(read).status, 200);
  const std::string id = tokens_[0].substr(0, tokens_[0].find('.'));
  ASSERT_TRUE(app::TokenFile(folder_.string() + "/tokens.json").revoke(id));
  EXPECT_EQ(ask(read).status, 401);
}

TEST_F(DispatcherTest, OtherHostsMethodsPathsAndParametersAreRefused) {
  Request other = with_token(request("GET", "/api/v1/status"), app::Role::kReader);
  for (const auto& [host, status] :
       {std::pair("evil.example", 421), std::pair("localhost.evil.example:8300", 421),
        std::pair("127.0.0.1", 200), std::pair("[::1]:8300", 200),
        std::pair("LOOP.site.org:443", 200), std::pair("", 421)}) {
    other.headers["host"] = host;
    EXPECT_EQ(ask(other).status, status) << host;
  }
  EXPECT_EQ(ask(with_token(request("PUT", "/api/v1/status"), app::Role::kApprover)).status, 405);
  EXPECT_EQ(ask(with_token(request("POST", "/api/v1/nothing"), app::Role::kApprover)).status, 404);
  EXPECT_EQ(get("/api/v1/hypotheses?limi=3").status, 400);
  EXPECT_EQ(get("/api/v1/hypotheses?limit=-3").status, 400);
  EXPECT_EQ(get("/api/v1/hypotheses?limit=100000").status, 400);
  EXPECT_EQ(get("/api/v1/hypotheses?state=nosuch").status, 400);
  EXPECT_EQ(get("/api/v1/hypotheses/h-nosuch").status, 404);
  EXPECT_EQ(get("/api/v1/gate/nosuch").status, 404);
  Request bad;
  for (const char* target : {"status", "http://a/", "/../x", "/a/..%2f", "/%2e%2e/x", "/%zz",
                             "/%0a", "/a?b=%00", "/a?b=1&b=2", "*"}) {
    Request parsed;
    const bool fine = static_cast<bool>(parse_target(target, parsed));
    EXPECT_TRUE(!fine || std::string_view(target) == "/a/..%2f") << target;
  }
}

TEST_F(DispatcherTest, AnswersAreDocumentsWithTagsAndPolicies) {
  const Json status = *parse_json(get("/api/v1/status").body);
  EXPECT_EQ(status.at("pending_at_gate"), 1);
  EXPECT_EQ(parse_json(get("/api/v1/gate").body)->at("gate").at(0).at("digest"), digest_);
  EXPECT_EQ(parse_json(get("/api/v1/hypotheses").body)->at("total"), 1);
  EXPECT_EQ(parse_json(get("/api/v1/log?limit=2").body)->at("events").size(), 2U);
  EXPECT_EQ(parse_json(get("/api/v1/schemas/status").body)->at("title"), "amdahl status --json");
  const Json described = *parse_json(get("/api/v1/openapi.json").body);
  std::size_t operations = 0;
  for (const auto& [path, methods] : described.at("paths").items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const auto& [path, methods] : described.at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      const Json& good = operation.at("responses").at("200");
      if (!good.contains("content") || !good["content"].contains("application/json")) continue;
      const Json& schema = good["content"]["application/json"]["schema"];
      if (schema.empty()) continue;
      EXPECT_EQ(get(schema.at("$ref").get<std::string>()).status, 200) << path << method;
    }
  }

  Request again = with_token(request("GET", "/api/v1/status"), app::Role::kReader);
  Response first = ask(again);
  finish(again, first);
  std::map<std::string, std::string> headers(first.headers.begin(), first.headers.end());
  EXPECT_EQ(headers["Cache-Control"], "no-store");
  EXPECT_EQ(headers["Content-Security-Policy"].find("unsafe"), std::string::npos);
  again.headers["if-none-match"] = headers["ETag"];
  Response second = ask(again);
  finish(again, second);
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
}

TEST_F(DispatcherTest, AnIdeaIsProposedUnderTheTokensName) {
  const Json idea{
      {"title", "bigger batches"}, {"change", {{"args", {{"--batch", "32"}}}}}, {"gain", 0.2}};
  const Request propose = with_token(
      request("POST", "/api/v1/families/eval/hypotheses", dump_json(idea)), app::Role::kProposer);
  const Response made = ask(propose);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(watch_->events("", 0, 1)->front().actor, "proposer");
  EXPECT_EQ(ask(propose).status, 409) << "the ledger holds its key";
}

TEST_F(DispatcherTest, EventsComeInBatchesWithoutGaps) {
  const std::int64_t latest = *dispatcher_->latest();
  std::int64_t after = 0;
  int batches = 0;
  while (after < latest && ++batches < 10) {
    const Dispatcher::Batch batch = *dispatcher_->events_after(after);
    EXPECT_EQ(batch.text.find("id: " + std::to_string(after + 1) + "\n"), 0U);
    after = batch.upto;
  }
  EXPECT_EQ(after, latest);
  EXPECT_EQ(dispatcher_->events_after(latest)->text, "");
  Request follow = with_token(request("GET", "/api/v1/events"), app::Role::kReader);
  EXPECT_EQ(dispatcher_->answer(follow, {}).after, latest);
  follow.headers["last-event-id"] = "2";
  EXPECT_EQ(dispatcher_->answer(follow, {}).after, 2);
}

TEST_F(DispatcherTest, MetricsAreInTheFormatThatIsAskedFor) {
  Request scrape = with_token(request("GET", "/metrics"), app::Role::kReader);
  const Response text = ask(scrape);
  EXPECT_EQ(text.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(text.body.find("\namdahl_gate_pending 1\n"), std::string::npos) << text.body;
  EXPECT_NE(text.body.find("# TYPE amdahl_verdicts_total counter\n"), std::string::npos);
  scrape.headers["accept"] = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
  const Response open = ask(scrape);
  EXPECT_NE(open.body.find("# TYPE amdahl_verdicts counter\n"), std::string::npos);
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
}

TEST_F(DispatcherTest, MoneyIsATableAndTracesAreWhatWasKept) {
  const Response table = get("/api/v1/roi.csv?price=3");
  EXPECT_EQ(table.status, 200);
  EXPECT_EQ(table.type, "text/csv; charset=utf-8");
  EXPECT_EQ(table.body.substr(0, 13), "month,family,");
  EXPECT_EQ(get("/api/v1/roi.csv?price=x").status, 400);

  app::Config config;
  config.state_dir = folder_.string();
  EXPECT_EQ(parse_json(get("/api/v1/traces").body)->at("traces"), Json::array());
  EXPECT_FALSE(app::keep_trace(config, "../x", {}));
  EXPECT_FALSE(app::keep_trace(config, ".x", {}));
  ASSERT_TRUE(app::keep_trace(config, "step-1.a", {{"wall_ns", 5}}));
  EXPECT_EQ(parse_json(get("/api/v1/traces").body)->at("traces"), Json::array({"step-1.a"}));
  EXPECT_EQ(parse_json(get("/api/v1/traces/step-1.a").body)->at("wall_ns"), 5);
  EXPECT_EQ(get("/api/v1/traces/nosuch").status, 404);
  EXPECT_EQ(get("/api/v1/traces/%2fetc%2fpasswd").status, 404);
}

}  // namespace
}  // namespace amdahl::http
