// rate.h: evidence that a failure rate is above the usual one, valid under peeking.
#pragma once

namespace amdahl::stats {

// ln E against "each of `tries` fails with probability at most `usual`". Averages four bets that
// the odds of a failure are 2, 4, 8 and 16 times the usual odds. If the rate is usual, E ever
// reaches 1/a with probability at most a, however often one looks; a binomial p-value read after
// every try does not have this property. Depends on the counts only, not on their order. Needs 0
// <= failed <= tries, 0 < usual < 1.
double log_e_rate(int failed, int tries, double usual);

// The rate that these runs leave possible: with a flat prior it is higher with probability 0.1.
// An estimate put for `usual` above is too low half of the time, and then E grows without end.
double rate_at_most(int failed, int tries);

}  // namespace amdahl::stats
