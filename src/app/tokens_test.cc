#include "app/tokens.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/host.h"
#include "os/private.h"

namespace amdahl::app {
namespace {

constexpr Nanos kNow{std::chrono::hours(1)};
constexpr Nanos kDay{std::chrono::hours(24)};

// A path where nothing is yet.
std::string fresh_path() { return testing::TempDir() + "tokens-" + os::random_hex(8) + ".json"; }

TEST(TokensTest, OnlyTheHashIsKeptAndTheSecretLetsIn) {
  const std::string path = fresh_path();
  const TokenFile file(path);
  EXPECT_TRUE(file.read()->empty()) << "no file: no tokens";
  const auto ada = file.add("ada", Role::kApprover, kNow, Nanos{});
  const auto bob = file.add("bob@site.org", Role::kReader, kNow, kDay);
  ASSERT_TRUE(ada && bob);
  const std::string bytes = *os::read_file(path);
  EXPECT_EQ(bytes.find(ada->text.substr(ada->text.find('.') + 1)), std::string::npos);
  EXPECT_FALSE(os::is_open_to_others(path));

  const std::vector<Token> tokens = *file.read();
  ASSERT_EQ(tokens.size(), 2U);
  ASSERT_NE(token_for(tokens, ada->text, kNow), nullptr);
  EXPECT_EQ(token_for(tokens, ada->text, kNow)->name, "ada");
  EXPECT_EQ(token_for(tokens, ada->text, kNow)->role, Role::kApprover);
  EXPECT_EQ(token_for(tokens, bob->text, kNow + kDay), nullptr) << "it has expired";
  std::string wrong = ada->text;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_EQ(token_for(tokens, wrong, kNow), nullptr);
  EXPECT_EQ(token_for(tokens, "", kNow), nullptr);
  EXPECT_EQ(token_for(tokens, ada->token.id + "." + ada->token.hash, kNow), nullptr)
      << "the hash is no secret";

  EXPECT_EQ(file.revoke(ada->token.id)->name, "ada");
  EXPECT_EQ(token_for(*file.read(), ada->text, kNow), nullptr);
  EXPECT_EQ(file.revoke(ada->token.id).error().kind, Error::Kind::kNotFound);
}

TEST(TokensTest, ARotatedTokenGivesItsPlaceToANewOne) {
  const std::string path = testing::TempDir() + "tokens-rotated.json";
  std::filesystem::remove(path);
  const TokenFile file(path);
  const Nanos now = std::chrono::hours(1);
  const Nanos day = std::chrono::hours(24);
  const auto old = file.add("ada", Role::kApprover, now, day);
  ASSERT_TRUE(old) << old.error().text;
  const auto fresh = file.rotate(old->token.id, 2 * now);
  ASSERT_TRUE(fresh) << fresh.error().text;
  EXPECT_EQ(fresh->token.name, "ada");
  EXPECT_EQ(fresh->token.role, Role::kApprover);
  EXPECT_EQ(fresh->token.expires, 2 * now + day);
  const auto tokens = file.read();
  ASSERT_EQ(tokens->size(), 1U);
  EXPECT_EQ(token_for(*tokens, old->text, 2 * now), nullptr) << "the old secret lets nobody in";
  EXPECT_NE(token_for(*tokens, fresh->text, 2 * now), nullptr);
  EXPECT_EQ(file.rotate(old->token.id, now).error().kind, Error::Kind::kNotFound);
}

TEST(TokensTest, ADamagedOrOpenFileLetsNobodyIn) {
  const std::string path = fresh_path();
  const TokenFile file(path);
  ASSERT_TRUE(file.add("ada", Role::kApprover, kNow, Nanos{}));
  std::filesystem::permissions(path, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(file.read().error().kind, Error::Kind::kBadInput);
  for (const char* text :
       {"", "[]", "{}", R"({"schema":2,"tokens":[]})", R"({"schema":1,"tokens":[3]})",
        R"({"schema":1,"tokens":[{"id":7,"name":"a","role":"approver","hash":"x"}]})",
        R"({"schema":1,"tokens":[{"id":"t-1","name":"a","role":"king","hash":"x"}]})"}) {
    ASSERT_TRUE(os::write_file(path, text));
    ASSERT_TRUE(os::close_to_others(path));
    EXPECT_FALSE(file.read()) << text;
  }
}

TEST(TokensTest, NamesAreThoseOfPeople) {
  for (const char* good : {"ada", "Ada Lovelace", "a.b@c-d_e", "x1"}) {
    EXPECT_TRUE(check_person(good)) << good;
  }
  for (const char* bad : {"", " ada", "cycle", "policy:demo", "a\nb", "<b>", "agent:x"}) {
    EXPECT_FALSE(check_person(bad)) << bad;
  }
  EXPECT_FALSE(check_person(std::string(65, 'a')));
}

}  // namespace
}  // namespace amdahl::app
