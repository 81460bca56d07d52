#include "os/http.h"

#include <atomic>

#include <gtest/gtest.h>

#include "os/fake/fake_clock.h"
#include "os/testing_http.h"

namespace amdahl::os {
namespace {

const Stop kNever = [] { return false; };

TEST(Http, PostsAFormWithItsHeaders) {
  ReceivedRequest seen;
  TestServer server([&](const ReceivedRequest& asked) {
    seen = asked;
    return Reply{.body = "hello"};
  });
  HttpRequest request;
  request.url = server.url() + "/api/v1/query_range";
  request.post = true;
  request.form = "query=up&start=1";
  request.headers = {"X-Scope-OrgID: team"};
  request.user = "ada";
  request.password = "secret";
  const auto http = make_http();
  const auto answer = http->ask(request, kNever);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/api/v1/query_range");
  EXPECT_EQ(seen.body, "query=up&start=1");
  EXPECT_NE(seen.headers.find("X-Scope-OrgID: team"), std::string::npos);
  EXPECT_NE(seen.headers.find("Authorization: Basic YWRhOnNlY3JldA=="), std::string::npos);
}

TEST(Http, SaysWhyThereIsNoAnswer) {
  std::string nobody;
  {
    TestServer gone([](const ReceivedRequest&) { return Reply{}; });
    nobody = gone.url();
  }
  const auto http = make_http();
  const auto refused = http->ask({.url = nobody + "/x?token=1"}, kNever);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text.starts_with(nobody + "/x: ")) << refused.error().text;

  TestServer slow([](const ReceivedRequest&) { return Reply{.delay = std::chrono::seconds(20)}; });
  const auto late =
      http->ask({.url = slow.url() + "/x", .limit = std::chrono::milliseconds(200)}, kNever);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().text, slow.url() + "/x: timeout: no response within 0.20 s");

  const auto stopped = http->ask({.url = slow.url() + "/x"}, [] { return true; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().text, slow.url() + "/x: interrupted");

  TestServer large([](const ReceivedRequest&) { return Reply{.body = std::string(5000, 'x')}; });
  const auto much = http->ask({.url = large.url(), .most_bytes = 1000}, kNever);
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().text, large.url() + ": the response is larger than 0 MiB");

  TestServer cut(
      [](const ReceivedRequest&) { return Reply{.body = std::string(5000, 'x'), .cut = 100}; });
  EXPECT_FALSE(http->ask({.url = cut.url()}, kNever));
}

TEST(Http, RefusesAddressesThatAreNone) {
  const struct {
    const char* url;
    const char* want;
  } cases[] = {
      {"monitoring:9090", "'monitoring:9090' is not a URL; write it like http://monitoring:9090"},
      {"file:///etc/passwd",
       "'file:///etc/passwd' is not a URL; write it like http://monitoring:9090"},
      {"http:///x", "'http:///x' has no host name"},
      {"http://ada:secret@host/x",
       "http://host/x: do not put a password in the URL; name the variable or the file that "
       "holds it"},
  };
  for (const auto& c : cases) EXPECT_EQ(check_address(c.url).error().text, c.want);
  EXPECT_TRUE(check_address("https://host:9090/prefix"));
}

TEST(Http, AsksAgainWhereThatMayHelp) {
  const struct {
    const char* name;
    std::vector<Reply> replies;
    int want_asked;
    int want_status;
    Nanos least_wait;
  } cases[] = {
      {"an answer", {{.status = 200}}, 1, 200, {}},
      {"two failures", {{.status = 503}, {.status = 500}, {.status = 200}}, 3, 200, {}},
      {"hung up", {{.hang_up = true}, {.status = 200}}, 2, 200, {}},
      {"no use", {{.status = 400}, {.status = 200}}, 1, 400, {}},
      {"never", {{.status = 502}, {.status = 502}, {.status = 502}, {.status = 502}}, 4, 502, {}},
      {"asked to wait",
       {{.status = 429, .headers = "Retry-After: 7\r\n"}, {.status = 200}},
       2,
       200,
       std::chrono::seconds(7)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<std::size_t> asked = 0;
    TestServer server([&](const ReceivedRequest&) { return c.replies.at(asked++); });
    const auto http = make_http();
    FakeClock clock;
    const auto answer = ask_with_retries(*http, clock, {.url = server.url()},
                                         {.attempts = static_cast<int>(c.replies.size())}, kNever);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, c.want_status);
    EXPECT_EQ(asked, static_cast<std::size_t>(c.want_asked));
    EXPECT_GE(clock.monotonic(), c.least_wait);
  }
}

// A server that takes connections and says nothing.
class SilentHttp final : public Http {
 public:
  explicit SilentHttp(FakeClock& clock) : clock_{clock} {}
  Result<HttpAnswer> ask(const HttpRequest& request, const Stop&) override {
    ++asked;
    clock_.sleep(request.limit);
    return external("no answer");
  }
  int asked = 0;

 private:
  FakeClock& clock_;
};

TEST(Http, AsksASilentServerNoLongerThanAllThePatienceThereIs) {
  FakeClock clock;
  SilentHttp http(clock);
  const HttpRequest slow{.limit = std::chrono::seconds(50)};
  EXPECT_FALSE(ask_with_retries(http, clock, slow, {.in_all = std::chrono::minutes(2)}, kNever));
  EXPECT_EQ(http.asked, 3);
  const HttpRequest slower{.limit = std::chrono::minutes(3)};
  EXPECT_FALSE(ask_with_retries(http, clock, slower, {.in_all = std::chrono::minutes(2)}, kNever));
  EXPECT_EQ(http.asked, 4);
}

}  // namespace
}  // namespace amdahl::os
