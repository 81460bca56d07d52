#include "base/units.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace amdahl {
namespace {

using namespace std::chrono_literals;

static_assert(to_hours(Accelerators{8} * Nanos{90min}) == AcceleratorHours{12});
static_assert(AcceleratorHours{12} * UsdPerAcceleratorHour{2.5} == Usd{30});
template <class A, class B>
concept Adds = requires(A a, B b) {
  a + b;
};
static_assert(Adds<Usd, Usd>);
static_assert(!Adds<Usd, AcceleratorHours>);
static_assert(!std::is_convertible_v<double, Usd>);

TEST(Units, RatioIsPlain) { EXPECT_DOUBLE_EQ(AcceleratorHours{3} / AcceleratorHours{12}, 0.25); }

}  // namespace
}  // namespace amdahl
