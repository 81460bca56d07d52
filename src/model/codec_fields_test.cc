#include "model/codec_fields.h"

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace amdahl::model {

// A noun whose list names one member twice and forgets another.
struct Forgetful {
  int kept = 0;
  int lost = 0;
  std::optional<std::string> also_kept;
};
template <class Io, Is<Forgetful> T>
constexpr void fields(Io& io, T& noun) {
  io("kept", noun.kept);
  io("again", noun.kept);
  io.brief("also_kept", noun.also_kept);
}

namespace {

static_assert(members_of<Forgetful>() == 3);
static_assert(listed_of<Forgetful>() == 2);  // So that encode() of it does not compile.

// Gives every member of a list another value than it has, and no two of them the same where their
// type allows it. The lists are complete, or they would not compile.
class Filler {
 public:
  template <class T>
  void operator()(const char* name, T& member) {
    const T before = member;
    fill(member);
    EXPECT_FALSE(member == before) << name;
  }
  template <class T>
  void operator()(const char* name, Observed<T>& member) {
    T value{};
    fill(value);
    member = value;
    EXPECT_TRUE(member.has_value()) << name;
  }
  template <class T>
  void must(const char* name, T& member) {
    (*this)(name, member);
  }
  template <class T>
  void brief(const char* name, T& member) {
    (*this)(name, member);
  }

 private:
  void fill(bool& value) { value = !value; }
  void fill(std::string& value) { value = fmt::format("text {}", ++count_); }
  void fill(Nanos& value) { value = Nanos{++count_}; }
  void fill(double& value) { value = ++count_ + 0.5; }
  void fill(std::vector<float>& values) { values = {0.25F, 0.5F}; }
  template <std::integral T>
  void fill(T& value) {
    value = static_cast<T>(++count_);
  }
  template <Named T>
  void fill(T& value) {
    value = value == static_cast<T>(1) ? static_cast<T>(0) : static_cast<T>(1);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) fill(value);
  }
  template <class T>
  void fill(std::map<std::string, T>& values) {
    fill(values[fmt::format("key {}", ++count_)]);
  }
  template <class T>
  requires std::is_class_v<T>
  void fill(T& noun) { fields(*this, noun); }

  int count_ = 1000;  // Above every default.
};

template <class Noun>
class CodecFields : public testing::Test {};
using Nouns =
    testing::Types<Change, Spec, Plan, Receipt, Usage, Profile, Hypothesis, Experiment, Comparison,
                   Finding, Verdict, GatePacket, GateDecision, StackResult, PairFact>;
TYPED_TEST_SUITE(CodecFields, Nouns);

TYPED_TEST(CodecFields, EveryMemberSurvives) {
  TypeParam noun;
  Filler filler;
  fields(filler, noun);
  const std::string text = dump_json(encode(noun));
  const Result<TypeParam> again = decode_text<TypeParam>(text);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(*again == noun) << text << "\nbecame\n" << dump_json(encode(*again));
}

}  // namespace
}  // namespace amdahl::model
