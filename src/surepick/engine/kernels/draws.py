"""Values of arms, drawn in compiled code: the same numbers as NumPy draws from the same generators.

A loop has a stock of values drawn ahead for every arm. Where the law of the arm's values is known here, the stock is filled up
with the arm's own generator, through the functions that NumPy makes public for this (``bitgen_t``); numba has NumPy's methods for
normal and beta numbers (see numba_generator.py). Otherwise the caller fills it.
"""

from __future__ import annotations

from ..compile import lean, tight
from ..enums import FEWEST, Law, Shelf, Stop
from ..numba_generator import DRAWS, generator, next_double, random_beta, random_standard_normal
from .record import observe


@lean
def restock(arm, record, stock):
    """Draw the next values of an arm, about twice as many as it has had; False if its law is not known here."""
    laws, state = stock.laws, stock.state
    law, first, last = state[arm, Shelf.LAW], state[arm, Shelf.FIRST], state[arm, Shelf.LAST]
    if law == Law.FOREIGN or not DRAWS:
        return False
    bits = generator(state[arm, Shelf.BITS])
    n = min(stock.values.shape[1], max(FEWEST, 2 * record.counts[arm]))
    for s in range(n):
        if law == Law.BERNOULLI:
            x = 1.0 if next_double(bits) < laws[first] else 0.0
        elif law == Law.NORMAL:
            x = laws[first] + laws[first + 1] * random_standard_normal(bits)
        elif law == Law.BETA:
            x = random_beta(bits, laws[first], laws[first + 1])
        elif law == Law.REPLAY:
            x = laws[first + int(next_double(bits) * (last - first))]
        else:  # a table: the values of all arms come first, here are their cumulated probabilities
            u, low, high = next_double(bits), first, last
            while low < high:
                middle = (low + high) // 2
                if u < laws[middle]:
                    high = middle
                else:
                    low = middle + 1
            x = laws[low - first]
        stock.values[arm, s] = x
    state[arm, Shelf.USED], state[arm, Shelf.FILLED] = 0, n
    return True


@tight
def draw(arm, record, stock):
    """Observe the next value of an arm; PAUSED if that is done, EMPTY if there is none.

    As plain numbers, and so is what a loop hands on: for a member of an enumeration numba would call Python, where Ctrl-C strikes
    and the loop's answer is lost.
    """
    state = stock.state
    if state[arm, Shelf.USED] >= state[arm, Shelf.FILLED] and not restock(arm, record, stock):
        return Stop.EMPTY.value
    observe(arm, stock.values[arm, state[arm, Shelf.USED]], record)
    state[arm, Shelf.USED] += 1
    return Stop.PAUSED.value


@tight
def sample(arm, t, record, stock, limit):
    """Observe the next value of an arm, or of none (-1); PAUSED if that is done, else why it is not."""
    if arm < 0:
        return Stop.DECIDED.value
    if t >= limit:
        return Stop.SPENT.value
    return draw(arm, record, stock)
