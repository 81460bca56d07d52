// serve_test.cc: the real server on a real ledger: answers, decisions, streams, hostile clients.
#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json.h"
#include "served.h"

namespace amdahl::e2e {
namespace {

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token; }

// Changes with anything that anyone writes.
std::string ledger_hash(const Sandbox& sandbox) {
  return json_of(sandbox.amdahl({"ledger", "log", "--limit", "1", "--json"}))
      .at("events")
      .at(0)
      .at("hash");
}

double memory_mb(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * 4096 / 1e6;
}

// A loop that has run: one claim waits at the gate.
void run_loop(const Sandbox& sandbox) {
  sandbox.add_nap_job();
  ASSERT_EQ(sandbox.amdahl({"run", "--quiet", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(
      sandbox.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60", "--as", "ada"}).code,
      0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--quiet"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
}

// The route gives the document of the verb.
void expect_same(const Sandbox& sandbox, const Served& server, const std::string& token,
                 const std::string& target, std::vector<std::string> words) {
  SCOPED_TRACE(target);
  words.push_back("--json");
  const Reply reply = server.ask("GET", target, {bearer(token)});
  EXPECT_EQ(reply.status, 200) << reply.body;
  Json verb = json_of(sandbox.amdahl(words));
  Json web = reply.json();
  // What the scan itself reports of its own reading may differ from run to run.
  if (target == "/api/v1/fleet") {
    for (const char* part : {"inputs", "troubles"}) verb.erase(part), web.erase(part);
  }
  EXPECT_EQ(web, verb);
}

void expect_same_table(const Sandbox& sandbox, const Served& server, const std::string& token) {
  const Reply table = server.ask("GET", "/api/v1/roi.csv", {bearer(token)});
  EXPECT_EQ(table.status, 200);
  EXPECT_EQ(sandbox.amdahl({"roi", "--csv", sandbox.path("roi.csv")}).code, 0);
  EXPECT_EQ(table.body, sandbox.read("roi.csv"));
  EXPECT_NE(table.body.find(",nap,"), std::string::npos) << table.body;
}

std::string first_user(const Sandbox& sandbox) {
  return json_of(sandbox.amdahl({"scan", "--by", "user", "--json"})).at("rows").at(0).at("name");
}

// A window is a scan of its own. It ends now, so that only what lies in it is the same.
void expect_same_windows(const Sandbox& sandbox, const Served& server, const std::string& token) {
  const Json week = json_of(sandbox.amdahl({"scan", "--window", "7d", "--json"}));
  const auto ask = [&](const std::string& more) {
    return server.ask("GET", "/api/v1/fleet" + more, {bearer(token)});
  };
  const Json web = ask("?window=7d").json();
  EXPECT_GT(week.at("jobs"), 0);
  EXPECT_EQ(web.at("totals"), week.at("totals"));
  EXPECT_EQ(web.at("actions"), week.at("actions"));
  EXPECT_EQ(web.at("rows"), week.at("rows"));
  EXPECT_EQ(ask("/rows?by=family&window=7d").json().at("rows"), week.at("rows"));
  EXPECT_EQ(ask("/trends?window=7d").status, 200);
  const Json& span = web.at("window");
  const double length = span.at("end_s").get<double>() - span.at("start_s").get<double>();
  EXPECT_NEAR(length, 7 * 86400, 1e-3);
  EXPECT_TRUE(web.at("totals").at("per_day").is_object());
  for (const char* days : {"1d", "2d", "3d", "4d", "5d", "7d"}) {
    EXPECT_EQ(ask(std::string("?window=") + days).json().at("jobs"), web.at("jobs")) << days;
  }
  EXPECT_EQ(ask("").json().at("jobs"), web.at("jobs"));
  const Reply wrong = ask("?window=tuesday");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("expected a duration like 7d"), std::string::npos) << wrong.body;
}

TEST(Serve, AnswersAreThoseOfTheVerbsAndAnApproverDecides) {
  Sandbox sandbox;
  run_loop(sandbox);
  const std::string reader = token_for(sandbox, "rita", "reader");
  const std::string approver = token_for(sandbox, "ada", "approver");
  const std::string other = token_for(sandbox, "eve", "approver");
  const Served server(sandbox);
  const std::string id =
      json_of(sandbox.amdahl({"gate", "--json"})).at("gate").at(0).at("packet").at("hypothesis");

  const std::string user = first_user(sandbox);
  const std::vector<std::pair<std::string, std::vector<std::string>>> same{
      {"/api/v1/status", {"status"}},
      {"/api/v1/gate", {"gate"}},
      {"/api/v1/gate/" + id, {"gate", "show", id}},
      {"/api/v1/hypotheses", {"ledger", "list"}},
      {"/api/v1/hypotheses/" + id, {"ledger", "show", id}},
      {"/api/v1/hypotheses/" + id + "/pairs", {"ledger", "pairs", id}},
      {"/api/v1/search?q=NAP", {"ledger", "search", "NAP"}},
      {"/api/v1/log", {"ledger", "log"}},
      {"/api/v1/roi", {"roi"}},
      {"/api/v1/stacks", {"stack", "--show"}},
      {"/api/v1/canaries", {"canary"}},
      {"/api/v1/families/nap/profile", {"profile", "nap", "--show"}},
      {"/api/v1/fleet", {"scan"}},
      {"/api/v1/jobs/last", {"anatomy", "last"}},
      {"/api/v1/fleet/user/" + user, {"scan", "--of", user}},
      {"/api/v1/config", {"config"}},
      {"/api/v1/version", {"version"}},
  };
  for (const auto& [target, words] : same) expect_same(sandbox, server, reader, target, words);
  expect_same_table(sandbox, server, reader);
  expect_same_windows(sandbox, server, reader);
  for (const char* by : {"family", "job", "user"}) {
    const Json page =
        server.ask("GET", std::string("/api/v1/fleet/rows?by=") + by, {bearer(reader)}).json();
    EXPECT_EQ(page.at("rows"), json_of(sandbox.amdahl({"scan", "--by", by, "--json"})).at("rows"));
    EXPECT_EQ(page.at("count"), page.at("rows").size());
  }
  EXPECT_EQ(server.ask("GET", "/api/v1/fleet/trends", {bearer(reader)}).status, 200);
  const Json item = server.ask("GET", "/api/v1/gate/" + id, {bearer(approver)}).json();
  const std::string body =
      Json{{"reason", "it is <b>true</b>"}, {"packet", item.at("digest")}}.dump();
  const std::string before = ledger_hash(sandbox);
  EXPECT_EQ(server.ask("POST", "/api/v1/gate/" + id + "/approve", {bearer(reader)}, body).status,
            403);
  EXPECT_EQ(server.ask("POST", "/api/v1/gate/" + id + "/approve", {}, body).status, 401);
  EXPECT_EQ(ledger_hash(sandbox), before);

  // Both at once: one wins, the other is told.
  std::vector<int> statuses(2);
  {
    const std::jthread first([&] {
      statuses[0] =
          server.ask("POST", "/api/v1/gate/" + id + "/approve", {bearer(approver)}, body).status;
    });
    const std::jthread second([&] {
      statuses[1] =
          server.ask("POST", "/api/v1/gate/" + id + "/reject", {bearer(other)}, body).status;
    });
  }
  std::ranges::sort(statuses);
  EXPECT_EQ(statuses, (std::vector<int>{200, 409}));
  const Json decided = json_of(sandbox.amdahl({"gate", "show", id, "--json"})).at("decision");
  EXPECT_EQ(events(sandbox, "gate.decided").at(0).at("payload").at("packet"), item.at("digest"));
  EXPECT_TRUE(decided.at("actor") == "ada" || decided.at("actor") == "eve");
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

// Takes one request after the other and keeps their bytes.
class Listener {
 public:
  Listener() {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    ::listen(fd_, 8);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  // The next request with its body; "" if none comes within half a minute.
  std::string next() const {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, 30'000) <= 0) return "";
    const int client = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::string text = read_until(client, "}", 10);  // Ends with its JSON.
    const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    (void)!::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(client);
    return text;
  }

 private:
  int fd_ = -1;
  int port_ = 0;
};

TEST(Serve, ADecisionInTheWebIsToldByWebhookAndReceiptsAreShown) {
  Sandbox sandbox;
  run_loop(sandbox);
  const Listener listener;
  sandbox.write("config.toml", sandbox.read("config.toml") +
                                   "[webhook]\nurl = \"http://127.0.0.1:" +
                                   std::to_string(listener.port()) + "/hook\"\n");
  const std::string reader = token_for(sandbox, "rita", "reader");
  const std::string approver = token_for(sandbox, "ada", "approver");
  const Served server(sandbox);
  for (int i = 0; i < 300 && !sandbox.has("state/webhook/sent.json"); ++i) ::usleep(100'000);
  ASSERT_TRUE(sandbox.has("state/webhook/sent.json")) << "the server has looked at the ledger";
  const Json item = server.ask("GET", "/api/v1/gate", {bearer(reader)}).json().at("gate").at(0);
  const std::string id = item.at("packet").at("hypothesis");
  const Json body{{"reason", "it is true"}, {"packet", item.at("digest")}};
  EXPECT_EQ(
      server.ask("POST", "/api/v1/gate/" + id + "/approve", {bearer(approver)}, body.dump()).status,
      200);
  const std::string told = listener.next();
  EXPECT_TRUE(told.starts_with("POST /hook ")) << told;
  EXPECT_NE(told.find("X-Amdahl-Event: decision"), std::string::npos) << told;
  EXPECT_NE(told.find("\"approved\":true"), std::string::npos) << told;

  const std::string path = "/api/v1/hypotheses/" + id;
  const Json pairs = server.ask("GET", path + "/pairs", {bearer(reader)}).json().at("pairs");
  const std::string run = pairs.at(0).at("reservation");
  const Json receipts = server.ask("GET", path + "/receipts/" + run, {bearer(reader)}).json();
  ASSERT_EQ(receipts.at("receipts").size(), 2U) << receipts.dump();
  for (const Json& one : receipts.at("receipts")) {
    EXPECT_EQ(one.at("receipt").at("family"), "nap") << receipts.dump();
  }
  EXPECT_EQ(server.ask("GET", path + "/receipts/r-none", {bearer(reader)}).status, 404);
  EXPECT_EQ(server.ask("GET", path + "/receipts/%2e%2e", {bearer(reader)}).status, 400);
}

TEST(Serve, TwoHundredFollowersSeeEveryEventOnce) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string token = token_for(sandbox, "rita", "reader");
  const Served server(sandbox);
  const auto follow = [&](const std::string& more) {
    const int fd = server.connect();
    const std::string head = "GET /api/v1/events" + more + " HTTP/1.1\r\nHost: localhost\r\n" +
                             bearer(token) + "\r\n\r\n";
    (void)!::send(fd, head.data(), head.size(), MSG_NOSIGNAL);
    return fd;
  };
  constexpr int kFollowers = 200;
  std::vector<int> followers;
  for (int i = 0; i < kFollowers; ++i) followers.push_back(follow("?after=0"));
  for (const int fd : followers) {
    const std::string text = read_until(fd, "\"kind\":\"family.adopted\"", 30);
    EXPECT_NE(text.find("text/event-stream"), std::string::npos) << text;
    EXPECT_NE(text.find("family.adopted"), std::string::npos);
  }
  const double memory = memory_mb(server.pid());
  constexpr int kIdeas = 5;
  for (int i = 0; i < kIdeas; ++i) {
    const std::string env = "COLOUR=" + std::to_string(i);
    ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", env, "--gain", "20"}).code, 0);
  }
  for (const int fd : followers) {
    const std::string last = "COLOUR=" + std::to_string(kIdeas - 1);
    const std::string text = read_until(fd, last, 30);
    EXPECT_EQ(count_lines(text, "\"kind\":\"hypothesis.proposed\""), kIdeas);
  }
  const Json log = json_of(sandbox.amdahl({"ledger", "log", "--limit", "100", "--json"}));
  const int late = follow("?after=0");
  const std::string all = read_until(late, "COLOUR=4", 30);
  EXPECT_EQ(count_lines(all, "data: "), static_cast<int>(log.at("events").size()));
  EXPECT_EQ(server.ask("GET", "/api/v1/status", {bearer(token)}).status, 200)
      << "followers hold up nobody";
  EXPECT_LT(memory_mb(server.pid()), memory + 50);
  ::close(late);
  for (const int fd : followers) ::close(fd);
}

TEST(Serve, HostileRequestsAreRefusedAndHoldUpNobody) {
  Sandbox sandbox;
  ASSERT_EQ(sandbox.amdahl({"init"}).code, 0);
  const std::string token = token_for(sandbox, "rita", "reader");
  const Served server(sandbox);
  const std::string host = "Host: localhost\r\nConnection: close\r\n";
  struct Case {
    const char* name;
    std::string bytes;
    std::string status;
  };
  const std::string post = "POST /api/v1/session HTTP/1.1\r\n" + host;
  const std::vector<Case> cases{
      {"no HTTP", "hello\r\n\r\n", "400"},
      {"control characters", "GET /\x01 HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"no host", "GET /api/v1/version HTTP/1.1\r\n\r\n", "400"},
      {"two hosts", "GET /api/v1/version HTTP/1.1\r\n" + host + host + "\r\n", "400"},
      {"another host",
       "GET /api/v1/version HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "421"},
      {"another server's address", "GET http://evil/ HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"traversal", "GET /../../etc/passwd HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"escaped traversal", "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"a path as a job",
       "GET /api/v1/jobs/%2fetc%2fpasswd HTTP/1.1\r\n" + host + bearer(token) + "\r\n\r\n", "404"},
      {"CL and TE", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"TE and CL", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
       "400"},
      {"another TE", post + "Transfer-Encoding: gzip\r\n\r\n", "400"},
      {"chunked", post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
      {"two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", "400"},
      {"the same length twice", post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "400"},
      {"a negative length", post + "Content-Length: -2\r\n\r\n{}", "400"},
      {"a space before the colon", post + "Content-Length : 2\r\n\r\n{}", "400"},
      {"a long header", "GET / HTTP/1.1\r\n" + host + "X: " + std::string(20000, 'a') + "\r\n\r\n",
       "431"},
      {"a long body", post + "Content-Length: 2000000\r\n\r\n" + std::string(100, 'a'), "413"},
      {"an unknown method", "BREW /api/v1/status HTTP/1.1\r\n" + host + "\r\n", "405"},
  };
  for (const char* kind : {"", "Accept-Encoding: identity", "Accept-Encoding: gzip;q=0, br"}) {
    const Reply plain = server.ask("GET", "/", {kind[0] ? kind : "X-A: b"});
    if (plain.status == 404) break;  // This build has no dashboard.
    EXPECT_EQ(plain.status, 200);
    EXPECT_FALSE(plain.headers.contains("content-encoding"));
    EXPECT_NE(plain.body.find("<!doctype html>"), std::string::npos) << plain.body.substr(0, 80);
  }
  for (const Case& c : cases) {
    const std::string reply = server.raw(c.bytes, 15);
    EXPECT_EQ(reply.substr(0, 12), "HTTP/1.1 " + c.status) << c.name << "\n" << reply;
    EXPECT_EQ(reply.find("HTTP/1.1", 1), std::string::npos) << c.name << ": a second response";
  }
  // A smuggled second request is never answered: the connection ends with the first error.
  std::vector<int> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(server.connect());
    (void)!::send(slow.back(), "GET / HTTP/1.1\r\nX", 17, MSG_NOSIGNAL);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(server.ask("GET", "/api/v1/version").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  for (const int fd : slow) {
    EXPECT_EQ(read_until(fd, "", 20), "") << "closed without an answer";
    ::close(fd);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(19));
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

// Rules and dashboards that we ship ask only for metrics that there are.
void expect_known_metrics(const std::string& file, const std::string& metrics) {
  std::ifstream in(source_path("/integrations/" + file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<std::string> names;
  const std::regex metric(R"(\bamdahl_[a-z0-9_]+)");
  for (std::sregex_iterator it(text.begin(), text.end(), metric), end; it != end; ++it) {
    names.insert(it->str());
  }
  EXPECT_GE(names.size(), 4U) << file;
  for (const std::string& name : names) {
    EXPECT_NE(metrics.find("# TYPE " + name + " "), std::string::npos) << file << ": " << name;
  }
}

TEST(Serve, PromtoolAndPrometheusTakeTheMetrics) {
  Sandbox sandbox;
  run_loop(sandbox);
  const std::string token = token_for(sandbox, "prometheus", "reader");
  const Served server(sandbox);
  const Reply text = server.ask("GET", "/metrics", {bearer(token)});
  ASSERT_EQ(text.status, 200);
  sandbox.write("metrics.txt", text.body);
  const Outcome checked =
      run({"sh", "-c", "promtool check metrics < metrics.txt"}, {}, sandbox.path());
  if (checked.code == 127) GTEST_SKIP() << "promtool is not installed: ./script/bootstrap --tests";
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.out + checked.err, "");
  const std::string rules = "prometheus/amdahl.rules.yml";
  const Outcome ruled =
      run({"promtool", "check", "rules", source_path("/integrations/" + rules)}, {}, "/");
  EXPECT_EQ(ruled.code, 0) << ruled.out << ruled.err;
  expect_known_metrics(rules, text.body);
  expect_known_metrics("grafana/dashboard.json", text.body);

  sandbox.write("token", token);
  const std::string at = "127.0.0.1:" + std::to_string(server.port());
  sandbox.write("prometheus.yml",
                "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: amdahl\n"
                "  authorization: {credentials_file: " +
                    sandbox.path("token") +
                    "}\n"
                    "  static_configs: [{targets: ['" +
                    at + "']}]\n");
  const Outcome scraped =
      run({"sh", "-c",
           "prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb "
           "--web.listen-address=127.0.0.1:0 > prometheus.log 2>&1 & pid=$!; "
           "for i in $(seq 60); do "
           "port=$(ss -ltnpH 2>/dev/null | grep \"pid=$pid,\" | sed "
           "'s/.*127.0.0.1:\\([0-9]*\\).*/\\1/'); "
           "[ -n \"$port\" ] && value=$(promtool query instant http://127.0.0.1:$port "
           "amdahl_gate_pending 2>/dev/null) && [ -n \"$value\" ] && break; sleep 0.5; done; "
           "kill $pid; echo \"$value\""},
          {}, sandbox.path());
  EXPECT_NE(scraped.out.find("=> 1 @"), std::string::npos)
      << scraped.out << scraped.err << sandbox.read("prometheus.log");
}

TEST(Serve, AgentsNeedAProposerAndABudget) {
  Sandbox sandbox;
  ASSERT_EQ(sandbox.amdahl({"init"}).code, 0);
  const std::string reader = token_for(sandbox, "rita", "reader");
  const std::string proposer = token_for(sandbox, "petra", "proposer");
  const std::string hello =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";
  {
    const Served closed(sandbox);
    EXPECT_EQ(closed.ask("POST", "/mcp", {bearer(proposer)}, hello).status, 404);
  }
  EXPECT_EQ(sandbox.amdahl({"serve", "--agents", "5x"}).code, 2);
  const Served server(sandbox, {"--agents", "1m"});
  EXPECT_EQ(server.ask("POST", "/mcp", {}, hello).status, 401);
  EXPECT_EQ(server.ask("POST", "/mcp", {bearer(reader)}, hello).status, 403);
  EXPECT_EQ(server.ask("GET", "/mcp", {bearer(proposer)}).status, 405);
  const Reply welcome = server.ask("POST", "/mcp", {bearer(proposer)}, hello);
  EXPECT_EQ(welcome.status, 200);
  EXPECT_TRUE(welcome.json().at("result").contains("serverInfo")) << welcome.body;
  const Reply tools = server.ask("POST", "/mcp", {bearer(proposer)},
                                 R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_GT(tools.json().at("result").at("tools").size(), 5U) << tools.body;
  EXPECT_EQ(server
                .ask("POST", "/mcp", {bearer(proposer)},
                     R"({"jsonrpc":"2.0","method":"notifications/initialized"})")
                .status,
            202);
}

TEST(Serve, TlsByFiles) {
  Sandbox sandbox;
  ASSERT_EQ(sandbox.amdahl({"init"}).code, 0);
  const Outcome made = run(
      {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
       "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2"},
      {}, sandbox.path());
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(sandbox.amdahl({"serve", "--tls-cert", "cert.pem"}).code, 2);
  EXPECT_EQ(sandbox.amdahl({"serve", "--tls-cert", "key.pem", "--tls-key", "key.pem"}).code, 2);
  const Served server(sandbox, {"--tls-cert", "cert.pem", "--tls-key", "key.pem"});
  const std::string at = "https://localhost:" + std::to_string(server.port());
  const Outcome got =
      run({"curl", "-sS", "--cacert", "cert.pem", "--resolve",
           "localhost:" + std::to_string(server.port()) + ":127.0.0.1", at + "/api/v1/version"},
          {}, sandbox.path());
  EXPECT_TRUE(json_of(got).contains("version")) << got.out << got.err;
  EXPECT_EQ(server.raw("GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n", 5).find("200"),
            std::string::npos)
      << "no plain HTTP";
}

}  // namespace
}  // namespace amdahl::e2e
