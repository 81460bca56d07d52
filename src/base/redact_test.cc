#include "base/redact.h"

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
                           "x-auth-token"}) {
    EXPECT_TRUE(names_a_secret(name)) << name;
  }
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
                           "secretary"}) {
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
}

}  // namespace
}  // namespace amdahl
