// exact.h: refuses to compile the statistics with arithmetic that is not IEEE's.
#pragma once

// Ties are found with ==, an absent bound is an infinity, and the game is fair because a bet is odd
// to the last bit: -ffast-math breaks each of these without a word.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "stats must not be compiled with -ffast-math, -Ofast or -ffinite-math-only"
#endif
