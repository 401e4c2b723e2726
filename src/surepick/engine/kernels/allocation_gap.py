"""By how much an allocation's variance may exceed the best one's: G, from above, by a price on interviews."""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel
from .brent import ENTRIES, Entry, begin, step


@kernel
def gain_at(data, lower, upper, decision, price, rival):
    """What all arms gain over the decision by taking as many interviews each as they like at this price: an upper bound on G."""
    total, slack = 0.0, float(data.budget)
    for i in range(len(decision)):
        mine = float(decision[i])
        slack -= mine
        up, down = data.squares[i] * upper[i], data.squares[i] * lower[i]
        more, less = mine, mine
        if price > 0.0:
            more = min(max(math.floor(math.sqrt(up / price + 0.25) + 0.5), mine), float(data.most[i]))
            less = min(max(math.floor(math.sqrt(down / price + 0.25) + 0.5), float(data.least[i])), mine)
        elif up > 0.0:
            more = float(data.most[i])
        gain_more = up * (1.0 / mine - 1.0 / more) - price * (more - mine)
        gain_less = down * (1.0 / mine - 1.0 / less) - price * (less - mine)
        rival[i] = int(more if gain_more >= gain_less else less)
        total += max(gain_more, gain_less)
    return total + price * slack


@kernel
def gap_bound(data, lower, upper, decision, rival):
    """G by Lagrangian duality: an upper bound, equal to G up to rounding to whole interviews."""
    dearest = 0.0
    for i in range(len(decision)):
        dearest = max(dearest, data.squares[i] * upper[i] / (data.least[i] * (data.least[i] + 1.0)))
    price, least = 0.0, gain_at(data, lower, upper, decision, 0.0, rival)
    if dearest > 0.0:  # the price matters by its order of magnitude, so its square root is searched
        state, most = np.empty(ENTRIES), math.sqrt(dearest)
        root = begin(state, 0.0, most, 1e-7 * most)
        while step(state, gain_at(data, lower, upper, decision, root * root, rival)):
            root = state[Entry.ASKED]
        if state[Entry.VALUE] < least:
            price, least = state[Entry.BEST] * state[Entry.BEST], state[Entry.VALUE]
    # A whole decision within the budget: a slightly higher price frees the interviews that are too many.
    gain_at(data, lower, upper, decision, price, rival)
    high = max(dearest, price) * 2.0
    for _ in range(60):
        if rival.sum() <= data.budget:
            break
        price = (price + high) / 2.0
        gain_at(data, lower, upper, decision, price, rival)
    return least
