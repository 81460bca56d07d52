// rate.h: evidence that something happens more often than usual, valid at every peek.
#pragma once

namespace amdahl::stats {

// ln E against "each of `tries` fails with a chance of at most `usual`", from four bettors with
// equal wealth who expect the odds of a failure to be 2, 4, 8 and 16 times the usual. The chance
// that E ever reaches 1/a when that holds is at most a, however often one looks: a binomial p-value
// read after every try does not have that. Knows only the counts, so arrival order does not matter.
// 0 <= failed <= tries, 0 < usual < 1.
double log_e_rate(int failed, int tries, double usual);

}  // namespace amdahl::stats
