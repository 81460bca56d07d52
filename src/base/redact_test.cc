#include "base/redact.h"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace amdahl {
namespace {

TEST(Redact, NamesOfSecrets) {
  for (const char* name : {"API_TOKEN",
                           "HF_TOKEN",
                           "token",
                           "accessToken",
                           "WANDB_API_KEY",
                           "apiKey",
                           "apikey",
                           "OPENAI_API_KEY",
                           "AWS_SECRET_ACCESS_KEY",
                           "AWS_ACCESS_KEY_ID",
                           "password",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "--password",
                           "--api-key",
                           "Authorization",
                           "client_secret",
                           "SECRETS",
                           "GITHUB_PAT",
                           "DB_PASS",
                           "private_key",
                           "ssh-key",
                           "Set-Cookie",
                           "GOOGLE_CREDENTIALS",
                           "passphrase",
                           "db.passwd",
                           "x-auth-token",
                           "AZURE_OPENAI_KEY",
                           "STRIPE_KEY",
                           "openai_key",
                           "AccountKey",
                           "SharedAccessKey",
                           "clientSecret",
                           "mysecret"}) {
    EXPECT_TRUE(names_a_secret(name)) << name;
  }
}

TEST(Redact, NamesOfOtherThings) {
  for (const char* name : {"",
                           "OMP_NUM_THREADS",
                           "key",
                           "keys",
                           "tokens",
                           "max_tokens",
                           "prompt_tokens",
                           "monkey",
                           "PWD",
                           "OLDPWD",
                           "PATH",
                           "TOKENIZERS_PARALLELISM",
                           "tokenizer",
                           "eos_token",
                           "next_token_id",
                           "token_count",
                           "KMP_AFFINITY",
                           "seed",
                           "digest",
                           "sha256",
                           "hypothesis",
                           "author",
                           "cache_key",
                           "passes",
                           "forward_pass_s",
                           "compass",
                           "secretary",
                           "CACHE_KEY",
                           "SORT_KEY",
                           "image_key",
                           "KEYFRAMES",
                           "--keyframes",
                           "--key",
                           "max_token",
                           "num_tokens"}) {
    EXPECT_FALSE(names_a_secret(name)) << name;
  }
}

TEST(Redact, WhatLooksLikeACredentialGoes) {
  // Made up, and put together here so that no scanner takes this file for a leak.
  const std::string digits = "0123456789";
  const std::string long_tail = "abcdefghij" + digits + "KLMNOPQRST";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"key sk-" + long_tail + ".", "key [redacted]."},
      {"sk-ant-api03-" + long_tail, "[redacted]"},
      {"sk-proj-" + long_tail + " x", "[redacted] x"},
      {"ghp_" + long_tail, "[redacted]"},
      {"(gho_" + long_tail + ")", "([redacted])"},
      {"github_pat_" + long_tail, "[redacted]"},
      {"glpat-" + long_tail, "[redacted]"},
      {"hf_" + long_tail, "[redacted]"},
      {"AKIA"
       "ABCDEFGH"
       "12345678",
       "[redacted]"},
      {"xoxb-" + digits + "-abc", "[redacted]"},
      {"eyJ"
       "hbGciOiJIUzI1NiJ9.eyJ"
       "zdWIiOiIxIn0.abc_def-123 end",
       "[redacted] end"},
      {"curl -H 'Authorization: Bearer abc.def/ghi+jkl=' http://x",
       "curl -H 'Authorization: [redacted]' http://x"},
      {"Bearer abcdefgh12", "Bearer [redacted]"},
      {"authorization: Basic dXNlcjpwYXNz\nnext", "authorization: [redacted]\nnext"},
      {"git clone https://me:hunter2@host.org/x.git",
       "git clone https://me:[redacted]@host.org/x.git"},
      {"postgres://u:p@ss@db/x", "postgres://u:[redacted]@db/x"},
      {"https://" + long_tail + "@host/x", "https://[redacted]@host/x"},
      {"API_TOKEN=abc ./run", "API_TOKEN=[redacted] ./run"},
      {"export DB_PASSWORD='two words' x", "export DB_PASSWORD='[redacted]' x"},
      {"run --password hunter2 --n 3", "run --password [redacted] --n 3"},
      {"run --password=hunter2 --n 3", "run --password=[redacted] --n 3"},
      {"run --api-key \"a b\" x", "run --api-key \"[redacted]\" x"},
      {R"({"api_key": "x\"y", "n": 1})", R"({"api_key": "[redacted]", "n": 1})"},
      {R"("{\"password\":\"x\",\"n\":1}")", R"("{\"password\":\"[redacted]\",\"n\":1}")"},
      {"https://x/?access_token=abc&n=1", "https://x/?access_token=[redacted]&n=1"},
      {"password = \"x\"", "password = \"[redacted]\""},
      {"a -----BEGIN RSA PRIVATE KEY-----\nAAA\n-----END RSA PRIVATE KEY----- b", "a [redacted] b"},
      {"-----BEGIN PRIVATE KEY-----\nAAA\nBBB", "[redacted]"},
      {"PRIVATE_KEY=-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----\nx",
       "PRIVATE_KEY=[redacted]\nx"},
      {"x-"
       "ghp_" +
           long_tail + "-token: abc",
       "x-[redacted]: [redacted]"},
      {"AZURE_OPENAI_KEY=0a1b2c3d ./run", "AZURE_OPENAI_KEY=[redacted] ./run"},
      {"Server=db;Uid=me;Pwd=hunter2;Port=1", "Server=db;Uid=me;Pwd=[redacted];Port=1"},
      {"UID=sa;PWD=hunter2;", "UID=sa;PWD=[redacted];"},
      {"curl -u me:hunter2 http://x", "curl -u me:[redacted] http://x"},
      {"curl --user 'me:two words' x", "curl --user 'me:[redacted]' x"},
      {"wget --proxy-user=me:hunter2 x", "wget --proxy-user=me:[redacted] x"},
      {"run --key=hunter2secret --n 3", "run --key=[redacted] --n 3"},
      {"run --key hunter2secret", "run --key [redacted]"},
      {"run --pass hunter2secret", "run --pass [redacted]"},
      {"redis://:hunter2@host/0", "redis://:[redacted]@host/0"},
      {"https://x/?sv=1&sig=" + long_tail + "&se=2", "https://x/?sv=1&sig=[redacted]&se=2"},
      {"AccountName=x;AccountKey=" + long_tail + "==;", "AccountName=x;AccountKey=[redacted];"},
      {"token=12345678", "token=[redacted]"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(redact(text), want) << text;
    EXPECT_EQ(redact(want), want) << "twice is once";
  }
}

TEST(Redact, TheRestStays) {
  for (const char* text : {"",
                           "OMP_NUM_THREADS=4 python3 train.py --batch 32 --lr=0.1",
                           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                           "\"tokens\": 12, \"key\": \"0123456789abcdef0123456789abcdef\"",
                           "the monkey has a key",
                           "git@github.com:me/x.git",
                           "ssh://git@host/x",
                           "http://localhost:8080/a?b=c",
                           "mailto: me@host.org",
                           "sk-learn-is-not-a-credential",
                           "the bearer of news",
                           "PWD=/home/me",
                           "TOKENIZERS_PARALLELISM=false",
                           "eos_token=</s>",
                           "--no-password",
                           "unexpected token",
                           "-----BEGIN CERTIFICATE-----\nAAA\n-----END CERTIFICATE-----",
                           "----------------------------------------",
                           "eyJust a word",
                           "ÄÖÜ … \x01 \xFF",
                           "step 12: loss 0.3, 1024 tokens/s",
                           "--keyframes=3 monkey=1 tokenizer=bpe --num-tokens 5 max_token=3",
                           "--n-token 5",
                           "sort --key=2,2n --key 1",
                           "python3 -u train.py --user me -u 1000:1000 -u localhost:8080",
                           "pwd=/home/me PWD=~/x",
                           "key=0123456789abcdef",
                           "passes=3 pass=2 --pass 2",
                           "CACHE_KEY=0123456789",
                           "--api-token={env:API_TOKEN} --password {env:PW} -u me:{env:PW}",
                           "HF_TOKEN=$HF_TOKEN PW_SECRET=${PW}",
                           "https://me:{env:PW}@host/x",
                           "Authorization: Bearer {env:API_TOKEN}",
                           "h-0123456789 x-0123456789 r-0123456789ab/A"}) {
    EXPECT_EQ(redact(text), text);
  }
}

TEST(Redact, LongTextsTakeTimeInProportion) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "eyJ://sk-ghp_-----BEGIN password ";
  EXPECT_EQ(redact(text), text);
  for (const char* piece : {"sk-", "eyJ-", "://a@", "password", "--token", "bearer "}) {
    std::string row;
    for (int i = 0; i < 50000; ++i) row += piece;
    EXPECT_LE(redact(row).size(), row.size() + kRedacted.size());
  }
  EXPECT_EQ(redact(std::string(1 << 20, '-')).size(), std::size_t{1} << 20U);
  EXPECT_EQ(redact(std::string(1 << 20, 'a')).size(), std::size_t{1} << 20U);
}

TEST(Redact, Documents) {
  const Json document = Json::parse(R"({
    "env": {"HF_TOKEN": "abc", "OMP_NUM_THREADS": "4", "EMPTY_TOKEN": ""},
    "argv": ["run", "--password", "hunter2", "--n", "3", "--token=abc"],
    "secret": {"a": [1, 2]}, "password": 1234, "api_key": null, "has_password": true,
    "token": 7, "tokens": 12, "key": "0123", "work": 1.5,
    "note": "Bearer abcdefgh12", "list": [{"apiKey": ["x"]}]})");
  EXPECT_EQ(redact(document), Json::parse(R"({
    "env": {"HF_TOKEN": "[redacted]", "OMP_NUM_THREADS": "4", "EMPTY_TOKEN": ""},
    "argv": ["run", "--password", "[redacted]", "--n", "3", "--token=[redacted]"],
    "secret": "[redacted]", "password": "[redacted]", "api_key": null, "has_password": true,
    "token": 7, "tokens": 12, "key": "0123", "work": 1.5,
    "note": "Bearer [redacted]", "list": [{"apiKey": "[redacted]"}]})"));
  EXPECT_EQ(redact(redact(document)), redact(document));
  EXPECT_EQ(first_secret(document), "/argv/2");
  EXPECT_EQ(first_secret(redact(document)), std::nullopt);
}

TEST(Redact, ReferencesAreNoSecrets) {
  const Json document = Json::parse(R"({
    "env": {"HF_TOKEN": "{env:HF_TOKEN}", "AUTHORIZATION": "Bearer {env:HF_TOKEN}"},
    "argv": ["curl", "-u", "me:{env:PW}", "--password", "{env:PW}", "--api-key={env:K}", "$PW"],
    "args": {"--api-token": "{env:T}", "-u": "me:{env:PW}", "--key": "{env:T}"}})");
  EXPECT_EQ(redact(document), document);
  EXPECT_TRUE(is_reference("{env:HF_TOKEN}"));
  for (const char* text : {"", "{env:}", "{env:A", "{env:1A}", "{env:A}b", "{env:A B}", "env:A"}) {
    EXPECT_FALSE(is_reference(text)) << text;
  }
  EXPECT_EQ(redact(Json{{"args", {{"-u", "me:hunter2"}, {"--key", "hunter2secret"}}}}),
            (Json{{"args", {{"-u", "me:[redacted]"}, {"--key", "[redacted]"}}}}));
  EXPECT_EQ(redact(Json{{"argv", {"curl", "-u", "me:hunter2"}}}),
            (Json{{"argv", {"curl", "-u", "me:[redacted]"}}}));
  EXPECT_EQ(redact(Json{{"Pwd", "hunter2"}, {"pwd", "/w"}}),
            (Json{{"Pwd", "[redacted]"}, {"pwd", "/w"}}));
}

TEST(Redact, CodeOfAPatchStays) {
  const std::string head = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n";
  for (const char* body :
       {" token = next(tokens)\n", "+secret: str = load()\n", "-    password=args.password,\n",
        " self.pad = dict(token='<s>')\n", " api_key = os.environ[\"API_KEY\"]\n"}) {
    const Json document{{"patch", head + body}};
    EXPECT_EQ(redact(document), document) << body;
  }
  EXPECT_EQ(first_secret(Json{{"change", {{"patch", head + "+password = 'hunter2'\n"}}}}),
            "/change/patch");
  EXPECT_EQ(first_secret(Json{{"patch", "password = hunter2"}}), "/patch") << "not a diff";
}

// From a seed: secrets in many spellings among harmless words.
TEST(Redact, PlantedSecretsNeverSurvive) {
  std::mt19937 luck(13);
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[luck() % from.size()];
  };
  const auto letters = [&](std::size_t length) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::string text;
    while (text.size() < length) text += kLetters[luck() % kLetters.size()];
    return text;
  };
  const std::vector<std::string> names = {
      "HF_TOKEN",   "AZURE_OPENAI_KEY", "DB_PASSWORD",   "password",
      "api-key",    "apiKey",           "client_secret", "AWS_SECRET_ACCESS_KEY",
      "PGPASSWORD", "x-auth-token",     "GITHUB_PAT",    "MYSQL_PWD",
      "passphrase", "Secret",           "SERVICE_KEY",   "AccountKey"};
  const std::vector<std::string> harmless = {
      "--keyframes=3", "monkey=1",     "tokenizer=bpe",  "--num-tokens 5",   "max_token=3",
      "--lr 0.1",      "PWD=/home/me", "eos_token=</s>", "key=value",        "-u train.py",
      "step: 12",      "--batch=32",   "cache_key=a1b2", "http://h:80/x?y=1"};
  for (int i = 0; i < 4000; ++i) {
    // A digit at the front so that no letter pattern can be met by chance, a letter at the end.
    const std::string secret = "7" + letters(10 + luck() % 20) + "z";
    const std::string name = pick(names);
    const std::vector<std::string> spellings = {
        name + "=" + secret,
        "export " + name + "='" + secret + "'",
        "--" + name + " " + secret,
        "--" + name + "=" + secret,
        "\"" + name + "\": \"" + secret + "\"",
        "{\\\"" + name + "\\\":\\\"" + secret + "\\\"}",
        name + ": " + secret,
        "Server=x;Uid=me;Pwd=" + secret + ";",
        "curl -u me:" + secret,
        "curl --user me:" + secret,
        "--key=" + secret,
        "Authorization: Bearer " + secret,
        "bearer " + secret,
        "https://me:" + secret + "@host/x",
        "https://x/?a=1&" + name + "=" + secret + "&b=2",
        "ghp_" + secret + secret,
        "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----"};
    const std::string before = pick(harmless);
    const std::string after = pick(harmless);
    const std::string planted = pick(spellings);
    const std::string text = before + "\n" + planted + "\n" + after;
    const std::string shown = redact(text);
    ASSERT_EQ(shown.find(secret), shown.npos) << text;
    ASSERT_TRUE(shown.starts_with(before + "\n")) << text << " became " << shown;
    ASSERT_TRUE(shown.ends_with("\n" + after)) << text << " became " << shown;
    ASSERT_EQ(redact(shown), shown) << "twice is once";
    const Json list{"run", "--" + name, secret, before};
    ASSERT_EQ(redact(list).dump().find(secret), std::string::npos) << list;
    ASSERT_EQ(redact(Json{{name, secret}}).dump().find(secret), std::string::npos) << name;
    ASSERT_EQ(redact(Json{{"x", {{"argv", {before, after}}}}})["x"]["argv"], (Json{before, after}));
  }
}

}  // namespace
}  // namespace amdahl
