#include "code/options.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

TEST(Options, AreReadFromTheParserOfTheProgram) {
  const auto options = options_of(R"(
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data", help="a place")
parser.add_argument("-b", "--batch-size", type=int,
                    default=32, metavar="N",
                    help="how many")
parser.add_argument('--dtype', default='float32', choices=['float32', "bfloat16"])
parser.add_argument("--workers", default=None, type=int)
parser.add_argument("--amp", action="store_true")
parser.add_argument("--lr", default=-1e-3, choices=RATES)

@click.command()
@click.option("--log-interval", default=10)
@click.option("--mode", type=click.Choice(["fast", "slow"]))
@click.option("--cache", is_flag=True)
def main():
    flags.DEFINE_integer("num_workers", 4, "of the loader")
    flags.DEFINE_enum("precision", "fp32", ["fp32", "bf16"], "of products")
    flags.DEFINE_bool("pin_memory", False, "copies")
    print("--not-an-option")
)");
  ASSERT_TRUE(options) << options.error().text;
  const std::vector<ProgramOption> want = {
      {{"-b", "--batch-size"}, "32", {}, false, 5},
      {{"--dtype"}, "float32", {"float32", "bfloat16"}, false, 8},
      {{"--workers"}, {}, {}, false, 9},
      {{"--amp"}, {}, {}, true, 10},
      {{"--lr"}, "-1e-3", {}, false, 11},
      {{"--log-interval"}, "10", {}, false, 14},
      {{"--mode"}, {}, {"fast", "slow"}, false, 15},
      {{"--cache"}, {}, {}, true, 16},
      {{"--num_workers"}, "4", {}, false, 18},
      {{"--precision"}, "fp32", {"fp32", "bf16"}, false, 19},
      {{"--pin_memory"}, "False", {}, true, 20},
  };
  ASSERT_EQ(options->size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(want[i].names.back());
    EXPECT_EQ((*options)[i], want[i]);
  }
}

TEST(Options, OfWhatIsNoPythonThereAreNone) {
  for (const char* text :
       {"", "int main() { add_argument(\"--x\"); ", "add_argument(", "\xff\xfe"}) {
    const auto options = options_of(text);
    ASSERT_TRUE(options);
    EXPECT_LE(options->size(), 1U);
  }
  EXPECT_TRUE(trains("loss.backward()"));
  EXPECT_FALSE(trains("model.eval()"));
}

}  // namespace
}  // namespace amdahl::code
