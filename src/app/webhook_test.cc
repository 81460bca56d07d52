#include "app/webhook.h"

#include <mutex>

#include <gtest/gtest.h>

#include "app/test_kit.h"
#include "os/files.h"
#include "os/testing_http.h"

namespace amdahl::app {
namespace {

constexpr os::RetryPolicy kSoon{.attempts = 3};
const auto kNeverStop = [] { return false; };

// RFC 4231, cases 2 and 6.
TEST(Webhook, SignsAsTheStandardSays) {
  EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256_hex(std::string(131, '\xaa'),
                            "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

class WebhookTest : public ContextTest {
 protected:
  void SetUp() override {
    adopt();
    context_.config.webhook_url = server_.url() + "/told?team=ml";
    ASSERT_TRUE(poke_webhook(context_)) << "from here on";
  }

  std::vector<os::ReceivedRequest> received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }
  static std::string header(const os::ReceivedRequest& request, const std::string& name) {
    const std::size_t at = request.headers.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t from = at + name.size() + 4;
    return request.headers.substr(from, request.headers.find("\r\n", from) - from);
  }

  int refuse_ = 0;  // So many answers are 503.
  int status_ = 204;
  std::mutex mutex_;
  std::vector<os::ReceivedRequest> received_;
  os::TestServer server_{[this](const os::ReceivedRequest& request) {
    const std::scoped_lock lock(mutex_);
    received_.push_back(request);
    if (refuse_ > 0) {
      --refuse_;
      return os::Reply{.status = 503};
    }
    return os::Reply{.status = status_};
  }};
};

TEST_F(WebhookTest, AGateItemADecisionAndAnAlarmAreToldOnceEachAndSigned) {
  ::setenv("AMDAHL_TEST_SECRET", "s3cret", 1);
  context_.config.webhook_secret_env = "AMDAHL_TEST_SECRET";
  model::Change change;
  change.env["A"] = "1";
  promote("h-1", change);
  model::CanaryResult result;
  result.hypothesis = "h-1";
  result.outcome = model::CanaryState::kRollbackProposed;
  result.because = "costs 20 % more";
  ASSERT_EQ(say({{"canary.closed", "cycle", "h-1", encode(result)}}), "");
  const auto sent = send_webhooks(context_, kSoon, kNeverStop);
  ASSERT_TRUE(sent) << sent.error().text;
  EXPECT_EQ(sent->sent, 3);
  EXPECT_EQ(sent->given_up, 0);
  const auto all = received();
  ASSERT_EQ(all.size(), 3U);
  const char* types[] = {"gate", "decision", "alarm"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].method, "POST");
    EXPECT_EQ(all[i].path, "/told?team=ml");
    EXPECT_EQ(header(all[i], "Content-Type"), "application/json");
    EXPECT_EQ(header(all[i], "X-Amdahl-Event"), types[i]);
    EXPECT_EQ(parse_json(all[i].body)->at("type"), types[i]);
    EXPECT_EQ(parse_json(all[i].body)->at("family"), "eval") << types[i];
    EXPECT_EQ(parse_json(all[i].body)->at("hypothesis"), "h-1") << types[i];
    EXPECT_EQ(header(all[i], "X-Amdahl-Signature"),
              "sha256=" + hmac_sha256_hex(
                              "s3cret", header(all[i], "X-Amdahl-Timestamp") + "." + all[i].body));
  }
  EXPECT_EQ(parse_json(all[2].body)->at("text"), "costs 20 % more");
  EXPECT_NE(header(all[0], "X-Amdahl-Delivery"), header(all[1], "X-Amdahl-Delivery"));
  EXPECT_EQ(send_webhooks(context_, kSoon, kNeverStop)->sent, 0);
}

TEST_F(WebhookTest, AServerThatIsBusyIsAskedAgainAndOneThatStaysAwayIsGivenUp) {
  model::Change change;
  change.env["A"] = "1";
  open_gate("h-1", change);
  refuse_ = 2;
  EXPECT_EQ(send_webhooks(context_, kSoon, kNeverStop)->sent, 1);
  EXPECT_EQ(received().size(), 3U);
  open_gate("h-2", change);
  open_gate("h-3", change);
  refuse_ = 3;
  const auto summary = send_webhooks(context_, kSoon, kNeverStop);
  EXPECT_EQ(summary->given_up, 1);
  EXPECT_EQ(summary->sent, 1) << "the next one is told nevertheless";
  EXPECT_EQ(received().size(), 7U);
  const Json failed = *parse_json(*os::read_file(context_.path("webhook/failed.jsonl")));
  EXPECT_EQ(failed.at("because"), "status 503");
  EXPECT_EQ(failed.at("body").at("hypothesis"), "h-2");
  status_ = 404;  // Asking again would not help.
  open_gate("h-4", change);
  EXPECT_EQ(send_webhooks(context_, kSoon, kNeverStop)->given_up, 1);
  EXPECT_EQ(received().size(), 8U);
}

TEST_F(WebhookTest, WhatHappenedBeforeItWasSetUpIsNotTold) {
  std::filesystem::remove_all(context_.path("webhook"));
  model::Change change;
  change.env["A"] = "1";
  open_gate("h-1", change);
  EXPECT_EQ(send_webhooks(context_, kSoon, kNeverStop)->sent, 0);
}

TEST_F(WebhookTest, WithoutItsKeyNothingIsSentAndNothingIsLost) {
  model::Change change;
  change.env["A"] = "1";
  open_gate("h-1", change);
  context_.config.webhook_secret_env = "AMDAHL_TEST_UNSET";
  EXPECT_FALSE(send_webhooks(context_, kSoon, kNeverStop));
  context_.config.webhook_secret_env = "";
  EXPECT_EQ(send_webhooks(context_, kSoon, kNeverStop)->sent, 1);
  EXPECT_EQ(header(received().at(0), "X-Amdahl-Signature"), "");
}

}  // namespace
}  // namespace amdahl::app
