// exact.h: refuses to compile the statistics without IEEE arithmetic.
#pragma once

// Ties are found with ==, a missing bound is an infinity, and the bets are fair because they are
// exactly odd. -ffast-math silently breaks all three.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "stats must not be compiled with -ffast-math, -Ofast or -ffinite-math-only"
#endif
