"""Numbers that stand for names in compiled code; importable without numba."""

from __future__ import annotations

# What a compiled loop says when it returns: no arm is undecided; the budget is spent; an arm's values are used up; rounding
# cannot tell, so one round is for the Python loop; time for a look at progress and Ctrl-C. TEST stays among the kernels: all arms
# must be tested at this very round.
DECIDED, SPENT, EMPTY, UNSURE, PAUSED, TEST = 0, 1, 2, 3, 4, 5

# Confidence sequences, see sequences.py.
RADIUS, U_STATISTIC, DIVERGENCE, MIXTURE, KT, BERNSTEIN = 0, 1, 2, 3, 4, 5

# What is known of an arm for a stretch of rounds.
OPEN, CLOSED, MAYBE = 0, 1, 2
HAIR = 1e-12  # the logarithm at the horizon of a stretch is put off by this, so that its rounding does not matter
CLOSE = 1e-9  # a gap this near 0, by the size of its terms, is left to the arithmetic of the Python loop

# Laws of an arm's values, see draws.py, and the columns of its stock of values: how many are used and drawn, its law, where in
# the list of numbers the law's begin and end, and the address of its generator.
FOREIGN, BERNOULLI, NORMAL, BETA, REPLAY, TABLE = 0, 1, 2, 3, 4, 5
USED, FILLED, LAW, FIRST, LAST, BITS = 0, 1, 2, 3, 4, 5
FEWEST = 64  # values drawn ahead for one arm at least
