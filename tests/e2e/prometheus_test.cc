// The real program against the real Prometheus, with a proxy between them that misbehaves.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "os/host.h"
#include "os/http.h"
#include "os/testing_http.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
constexpr int kDays = 3;
constexpr int kCadence = 15;
const std::vector<std::string> kWindow = {"--from", "2023-11-15", "--to", "2023-11-18"};

// The exit code says whether something is missing.
Json with_code(const Outcome& outcome) {
  const Json answer = json_of(outcome, outcome.code);
  EXPECT_EQ(outcome.code, answer.at("missing").empty() ? 0 : 3);
  return answer;
}

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// One series from the start to the end of these hours, at one value.
struct Series {
  std::string labels;
  double value;
  int from_h = 0;
  int to_h = 24 * kDays;
};

void put(std::ofstream& out, const std::string& metric, const std::vector<Series>& all) {
  out << "# TYPE " << metric << " gauge\n";
  for (const Series& s : all) {
    for (std::int64_t t = kStart + s.from_h * 3600; t < kStart + s.to_h * 3600; t += kCadence) {
      out << fmt::format("{}{{{}}} {} {}\n", metric, s.labels, s.value, t);
    }
  }
}

// What exporters of four kinds would have left.
void write_series(const std::string& path) {
  const auto dcgm = [](std::string_view host, int gpu, std::string_view job) {
    return fmt::format(
        "Hostname=\"{0}\",gpu=\"{1}\",UUID=\"GPU-{0}-{1}\",device=\"nvidia{1}\",modelName=\"A100\","
        "instance=\"{0}:9400\",job=\"dcgm\"{2}",
        host, gpu, job.empty() ? "" : fmt::format(",hpc_job=\"{}\"", job));
  };
  std::ofstream out(path);
  put(out, "DCGM_FI_PROF_SM_ACTIVE",
      {{dcgm("gpu001", 0, "101"), 0.5, 0, 36},
       {dcgm("gpu001", 0, "102"), 0, 36, 72},
       {dcgm("gpu001", 1, ""), 0}});
  put(out, "DCGM_FI_DEV_GPU_UTIL",
      {{dcgm("gpu001", 0, "101"), 100, 0, 36},
       {dcgm("gpu002", 0, "201"), 80},
       {dcgm("gpu003", 0, ""), 80}});
  put(out, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", {{dcgm("gpu003", 0, ""), 0.4, 71, 72}});
  const std::string della =
      R"(instance="della1:9445",minor_number="0",uuid="GPU-d",job="jobstats")";
  // A node whose exporter is newer.
  const std::string labelled =
      R"(instance="della2:9445",minor_number="0",uuid="GPU-e",job="jobstats",jobid="303")";
  put(out, "nvidia_gpu_duty_cycle", {{della, 40}, {labelled, 60}});
  put(out, "nvidia_gpu_jobId", {{della, 301, 0, 24}, {della, 302, 24, 72}});
  put(out, "gpu_gfx_activity",
      {{R"(hostname="tw038",gpu_id="2",gpu_uuid="cc",job_id="401",job_user="eve",)"
        R"(job_partition="mi300",instance="tw038:5000",job="amd")",
        100}});
  out << "# EOF\n";
}

// Debian's Prometheus with those series; one for all tests here.
class Server {
 public:
  Server() {
    if (!os::can_use("prometheus") || !os::can_use("promtool")) return;
    write_series(sandbox_.path("series.txt"));
    const Outcome made = run({"promtool", "tsdb", "create-blocks-from", "openmetrics",
                              sandbox_.path("series.txt"), sandbox_.path("data")},
                             {}, sandbox_.path());
    if (made.code != 0) return;
    sandbox_.write("prometheus.yml", "global: {}\n");
    const std::string address = fmt::format("127.0.0.1:{}", free_port());
    child_ = ::fork();
    if (child_ == 0) {
      const std::string config = "--config.file=" + sandbox_.path("prometheus.yml");
      const std::string data = "--storage.tsdb.path=" + sandbox_.path("data");
      const std::string listen = "--web.listen-address=" + address;
      if (!std::freopen(sandbox_.path("log").c_str(), "w", stderr)) ::_exit(127);
      ::execlp("prometheus", "prometheus", config.c_str(), data.c_str(), listen.c_str(),
               "--storage.tsdb.retention.time=100y", nullptr);
      ::_exit(127);
    }
    url_ = "http://" + address;
    const auto http = os::make_http();
    for (int i = 0; i < 600 && !ready_; ++i) {
      const auto answer = http->ask({.url = url_ + "/-/ready"}, [] { return false; });
      ready_ = answer && answer->status == 200;
      if (!ready_) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  ~Server() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  bool ready() const { return ready_; }
  const std::string& url() const { return url_; }

 private:
  Sandbox sandbox_;
  pid_t child_ = 0;
  std::string url_;
  bool ready_ = false;
};

// Hands requests on to the server, and counts those for samples.
class Proxy {
 public:
  // Instead of the server's answer, or nothing to let it pass.
  using Meddle = std::function<std::optional<os::Reply>(const os::ReceivedRequest&, int number)>;

  Proxy(std::string to, Meddle meddle)
      : to_{std::move(to)},
        meddle_{std::move(meddle)},
        server_{[this](const os::ReceivedRequest& asked) { return answer(asked); }} {}

  std::string source() const { return "prometheus=" + server_.url(); }
  int asked() const { return samples_; }

 private:
  os::Reply answer(const os::ReceivedRequest& asked) {
    const bool samples = asked.body.find("query=last_over_time") != asked.body.npos ||
                         asked.body.find("query=%28last_over_time") != asked.body.npos;
    if (samples) ++samples_;
    if (auto reply = meddle_(asked, ++number_)) return *std::move(reply);
    return pass(asked);
  }

 public:
  os::Reply pass(const os::ReceivedRequest& asked) const {
    const auto http = os::make_http();
    const auto answer =
        http->ask({.url = to_ + asked.path, .post = asked.method == "POST", .form = asked.body},
                  [] { return false; });
    if (!answer) return {.status = 502, .body = answer.error().text};
    return {.status = answer->status, .body = answer->body};
  }

 private:
  std::string to_;
  Meddle meddle_;
  std::atomic<int> number_ = 0;
  std::atomic<int> samples_ = 0;
  os::TestServer server_;
};

class Prometheus : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<Server>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_->ready()) GTEST_SKIP() << "Prometheus is not installed: apt install prometheus";
  }

  Json scan(const std::string& source, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"scan", "--source", source, "--json", "--by", "job"};
    words.insert(words.end(), kWindow.begin(), kWindow.end());
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = sandbox_.amdahl(words);
    return with_code(outcome);
  }

  // "JOB allocated-hours utilisation", sorted.
  static std::set<std::string> jobs(const Json& answer) {
    std::set<std::string> all;
    for (const Json& row : answer.at("rows")) {
      all.insert(fmt::format("{} {:.2f} {:.2f}", row.at("name").get<std::string>(),
                             row.at("split_accelerator_s").at("allocated").get<double>() / 3600,
                             row.at("utilisation").get<double>()));
    }
    return all;
  }

  static std::unique_ptr<Server> server_;
  Sandbox sandbox_;
};
std::unique_ptr<Server> Prometheus::server_;

const std::set<std::string> kJobs = {"101 36.00 0.50", "102 36.00 0.00", "201 72.00 0.80",
                                     "301 24.00 0.40", "302 48.00 0.40", "303 72.00 0.60",
                                     "401 72.00 1.00"};

TEST_F(Prometheus, EachExportersJobsWithTheBestMetricTheyHave) {
  const Json answer = scan("prometheus=" + server_->url());
  EXPECT_EQ(jobs(answer), kJobs);
  const std::string read_as = answer.at("inputs").at(0).at("read_as");
  EXPECT_NE(read_as.find("DCGM_FI_PROF_SM_ACTIVE every 15 s"), std::string::npos) << read_as;
  // It began in the last hour: the metric before it is still wanted.
  for (const char* part : {"DCGM_FI_PROF_GR_ENGINE_ACTIVE of 1 hosts that have nothing better all "
                           "the time every 15 s",
                           "DCGM_FI_DEV_GPU_UTIL of 2 hosts that have nothing better"}) {
    EXPECT_NE(read_as.find(part), std::string::npos) << read_as;
  }
  EXPECT_NE(read_as.find("its jobs from the values of nvidia_gpu_jobId"), std::string::npos);
  EXPECT_EQ(answer.at("missing"), Json::array());
  for (const Json& row : answer.at("rows")) {
    if (row.at("name") == "401") {
      EXPECT_NE(row.at("detail").get<std::string>().find("eve"), std::string::npos) << row;
    }
  }
}

TEST_F(Prometheus, EveryThirdRequestMayFail) {
  Proxy proxy(server_->url(),
              [](const os::ReceivedRequest&, int number) -> std::optional<os::Reply> {
                if (number % 3 == 0) return os::Reply{.status = 503, .body = "busy"};
                return std::nullopt;
              });
  const Json answer = scan(proxy.source());
  EXPECT_EQ(jobs(answer), kJobs);
  EXPECT_EQ(answer.at("missing"), Json::array());
}

TEST_F(Prometheus, SaysWhichTimeOfWhichMetricIsMissingAndAsksForThatAloneTheNextTime) {
  std::atomic<bool> broken = true;
  const std::string second_day = fmt::format("start={}&", kStart + 86400);
  Proxy proxy(
      server_->url(), [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
        const bool hit = asked.body.find(second_day) != asked.body.npos &&
                         asked.body.find("last_over_time%28DCGM_FI_PROF_SM") != asked.body.npos;
        if (broken && hit) {
          return os::Reply{
              .status = 400,
              .body = R"({"status":"error","errorType":"internal","error":"chunk 7 is gone"})"};
        }
        return std::nullopt;
      });
  const Json partly = scan(proxy.source());
  ASSERT_EQ(partly.at("missing").size(), 1U) << partly.at("missing");
  EXPECT_EQ(partly.at("missing").at(0),
            "DCGM_FI_PROF_SM_ACTIVE from 2023-11-16 00:00 to 2023-11-17 00:00: HTTP status 400: "
            "internal: chunk 7 is gone");
  EXPECT_TRUE(jobs(partly).contains("201 72.00 0.80"));
  EXPECT_FALSE(jobs(partly) == kJobs);

  broken = false;
  const int before = proxy.asked();
  EXPECT_EQ(jobs(scan(proxy.source())), kJobs);
  EXPECT_EQ(proxy.asked() - before, 1);
  const int then = proxy.asked();
  EXPECT_EQ(jobs(scan(proxy.source())), kJobs);
  EXPECT_EQ(proxy.asked(), then) << "all of it is kept";
  EXPECT_EQ(jobs(scan(proxy.source(), {"--fresh"})), kJobs);
  EXPECT_GT(proxy.asked(), then + 4) << "--fresh asks for all again";
}

TEST_F(Prometheus, PartialAnswersAreNamedAndNotKept) {
  Proxy* self = nullptr;
  Proxy proxy(
      server_->url(), [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
        if (asked.body.find("gpu_gfx_activity%5B14999ms") == asked.body.npos) return std::nullopt;
        os::Reply reply = self->pass(asked);
        reply.body.insert(reply.body.rfind('}'), R"(,"warnings":["store tw038 did not answer"])");
        return reply;
      });
  self = &proxy;
  const Json answer = scan(proxy.source());
  EXPECT_EQ(answer.at("missing"), Json::array({"store tw038 did not answer"}));
  EXPECT_EQ(jobs(answer), kJobs);
  const int before = proxy.asked();
  scan(proxy.source());
  EXPECT_GE(proxy.asked() - before, 3) << "what may lack data is asked for again";
}

// Half an answer is used, named, and asked for again the next time.
TEST_F(Prometheus, AnswersThatEndInTheMiddleAreNamedAndNotKept) {
  Proxy* self = nullptr;
  std::atomic<bool> broken = true;
  Proxy proxy(server_->url(),
              [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
                if (!broken || asked.path.find("query_range") == asked.path.npos)
                  return std::nullopt;
                if (asked.body.find("gpu_gfx_activity%5B14999ms") == asked.body.npos)
                  return std::nullopt;
                os::Reply reply = self->pass(asked);
                reply.body.resize(reply.body.size() / 2);
                return reply;
              });
  self = &proxy;
  const Json partly = scan(proxy.source());
  ASSERT_EQ(partly.at("missing").size(), 1U) << partly.at("missing");
  const std::string missing = partly.at("missing").at(0);
  EXPECT_TRUE(missing.starts_with("gpu_gfx_activity from 2023-11-15 00:00 to 2023-11-18 00:00: "))
      << missing;
  EXPECT_NE(missing.find("the answer is truncated"), std::string::npos) << missing;
  broken = false;
  const Json whole = scan(proxy.source());
  EXPECT_EQ(jobs(whole), kJobs);
  EXPECT_EQ(whole.at("missing"), Json::array());
}

// A page is no answer, and a token is not for whom the server points to; the scan goes on.
TEST_F(Prometheus, PagesAndRedirectionsAreNamed) {
  sandbox_.write("sacct.txt",
                 "JobID|User|State|Submit|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName\n"
                 "101|ada|COMPLETED|2023-11-15T00:00:00|2023-11-15T00:00:00|2023-11-16T12:00:00|"
                 "129600|gpu001|gres/gpu=1|train\n");
  struct Case {
    os::Reply reply;
    const char* says;
  };
  const Case cases[] = {
      {{.status = 200, .body = "<!doctype html><title>Sign in</title>"},
       "answered '<!doctype html><title>Sign in</title>', which is not JSON"},
      {{.status = 302, .body = ""}, "HTTP status 302: redirected to nowhere"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    Proxy proxy(server_->url(),
                [&](const os::ReceivedRequest&, int) { return std::optional<os::Reply>(c.reply); });
    const Json answer = scan(proxy.source(), {"sacct.txt"});
    ASSERT_EQ(answer.at("missing").size(), 1U) << answer;
    const std::string missing = answer.at("missing").at(0);
    EXPECT_NE(missing.find(c.says), std::string::npos) << missing;
  }
}

TEST_F(Prometheus, AnswersThatBreakOffAreAskedForAgain) {
  Proxy* self = nullptr;
  Proxy proxy(server_->url(),
              [&](const os::ReceivedRequest& asked, int number) -> std::optional<os::Reply> {
                if (number % 4 != 0) return std::nullopt;
                os::Reply reply = self->pass(asked);
                if (number % 8 == 0) reply.hang_up = true;
                reply.cut = reply.body.size() / 2;
                return reply;
              });
  self = &proxy;
  const Json answer = scan(proxy.source());
  EXPECT_EQ(jobs(answer), kJobs);
  EXPECT_EQ(answer.at("missing"), Json::array());
}

// Every answer takes a while, and one never comes: all else is there, and the gap has a name.
TEST_F(Prometheus, ASlowServerIsWaitedForAndItsGapIsNamed) {
  std::atomic<bool> asleep = true;
  const std::string second_day = fmt::format("start={}&", kStart + 86400);
  Proxy* self = nullptr;
  Proxy proxy(
      server_->url(), [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
        const bool hit = asked.body.find(second_day) != asked.body.npos &&
                         asked.body.find("gpu_gfx_activity%5B14999ms") != asked.body.npos;
        os::Reply reply = self->pass(asked);
        reply.delay = asleep && hit ? std::chrono::seconds(60) : std::chrono::milliseconds(150);
        return reply;
      });
  self = &proxy;
  const auto slow_scan = [&] {
    std::vector<std::string> words = {"scan", "--json", "--by", "job"};
    words.insert(words.end(), kWindow.begin(), kWindow.end());
    const Outcome outcome = sandbox_.amdahl(words);
    return with_code(outcome);
  };
  sandbox_.write("state/config.toml",
                 fmt::format("[[scan.source]]\nread = \"{}\"\nlimit_s = 5\n", proxy.source()));
  const Json partly = slow_scan();
  ASSERT_EQ(partly.at("missing").size(), 1U) << partly.at("missing");
  const std::string missing = partly.at("missing").at(0);
  EXPECT_TRUE(missing.starts_with("gpu_gfx_activity from 2023-11-16 00:00 to 2023-11-17 00:00: "))
      << missing;
  EXPECT_TRUE(jobs(partly).contains("201 72.00 0.80"));
  EXPECT_GT(partly.at("totals").at("split_accelerator_s").at("unobserved"), 23.0 * 3600);
  asleep = false;
  EXPECT_EQ(jobs(slow_scan()), kJobs);
}

TEST_F(Prometheus, TooLargeAnswersAreAskedForInHalves) {
  Proxy proxy(
      server_->url(), [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
        const auto number = [&](const char* name) {
          const auto at = asked.body.find(name);
          return at == asked.body.npos ? 0
                                       : std::atoll(asked.body.c_str() + at + std::strlen(name));
        };
        if (asked.body.find("last_over_time") == asked.body.npos) return std::nullopt;
        if (number("end=") - number("start=") < 7 * 3600) return std::nullopt;
        return os::Reply{.status = 422,
                         .body = R"({"status":"error","errorType":"execution",)"
                                 R"("error":"query processing would load too many samples"})"};
      });
  const Json answer = scan(proxy.source());
  EXPECT_EQ(jobs(answer), kJobs);
  EXPECT_EQ(answer.at("missing"), Json::array());
}

TEST_F(Prometheus, AfterAnInterruptTheRestIsAskedFor) {
  pid_t child = 0;
  std::atomic<int> answered = 0;
  Proxy proxy(server_->url(),
              [&](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
                if (asked.body.find("query=last_over_time") == asked.body.npos) return std::nullopt;
                // The fifth and later hang until ^C has come.
                if (++answered > 4)
                  return os::Reply{.status = 500, .delay = std::chrono::seconds(30)};
                return std::nullopt;
              });
  child = ::fork();
  if (child == 0) {
    const std::string state = sandbox_.path("state");
    const std::string source = proxy.source();
    if (!std::freopen(sandbox_.path("err").c_str(), "w", stderr)) ::_exit(126);
    ::execl(program().c_str(), program().c_str(), "scan", "--state", state.c_str(), "--source",
            source.c_str(), "--from", "2023-11-15", "--to", "2023-11-18", nullptr);
    ::_exit(127);
  }
  while (answered < 5) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(sandbox_.read("err"), "amdahl: interrupted; run the same command again to resume\n");
  std::size_t kept = 0;
  for (const auto& entry : fs::recursive_directory_iterator(sandbox_.path("state"))) {
    EXPECT_NE(entry.path().extension(), ".part");
    kept += entry.path().extension() == ".journal" ? 1 : 0;
  }
  EXPECT_GE(kept, 1U);
  answered = -1000;
  const int before = proxy.asked();
  const Json answer = scan(proxy.source());
  EXPECT_EQ(jobs(answer), kJobs);
  EXPECT_EQ(proxy.asked() - before,
            answer.at("inputs").at(0).at("notes").get<std::string>().empty()
                ? -1
                : std::atoi(answer.at("inputs").at(0).at("notes").get<std::string>().c_str()) -
                      static_cast<int>(kept));
}

TEST_F(Prometheus, SecretsComeByNameAndAreNotShown) {
  Proxy proxy(server_->url(),
              [](const os::ReceivedRequest& asked, int) -> std::optional<os::Reply> {
                if (asked.headers.find("Authorization: Bearer s3cret\r\n") != asked.headers.npos) {
                  return std::nullopt;
                }
                return os::Reply{.status = 401, .body = "who are you?"};
              });
  std::vector<std::string> words = {"scan", "--source", proxy.source()};
  words.insert(words.end(), kWindow.begin(), kWindow.end());
  const Outcome outside = sandbox_.amdahl(words);
  EXPECT_EQ(outside.code, 3);
  EXPECT_NE(outside.err.find("authentication required: pass --token-env NAME"), std::string::npos)
      << outside.err;
  words.insert(words.end(), {"--token-env", "MY_TOKEN", "--explain-input"});
  EXPECT_EQ(sandbox_.amdahl(words).code, 2);
  const Outcome inside = sandbox_.amdahl(words, {{"MY_TOKEN", "s3cret"}});
  EXPECT_EQ(inside.code, 0) << inside.err;
  EXPECT_EQ((inside.out + inside.err).find("s3cret"), std::string::npos);
  EXPECT_EQ(run({"grep", "-r", "s3cret", sandbox_.path("state")}, {}, sandbox_.path()).code, 1);
}

}  // namespace
}  // namespace amdahl::e2e
