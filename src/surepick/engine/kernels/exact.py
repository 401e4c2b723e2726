"""Gains n^2 theta / (l (l + 1)) compared exactly where rounding hides which is larger: as whole numbers of some hundred bits."""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean

DIGIT = 24  # bits of a digit, few enough that the sum of three products of two digits fits
DIGITS = 16
MASK = (1 << DIGIT) - 1


@lean
def times(number, factor):
    """Multiply a number, the lowest digit first, by a whole factor below 2^63."""
    first, second, third = factor & MASK, (factor >> DIGIT) & MASK, factor >> (2 * DIGIT)
    carry, before, earlier = 0, 0, 0
    for d in range(DIGITS):
        digit = number[d]
        total = carry + digit * first + before * second + earlier * third
        number[d], carry = total & MASK, total >> DIGIT
        before, earlier = digit, before


@lean
def write(number, size, theta, unit):
    """size^2 theta unit (unit + 1) as a number times a power of two; returns that power, and that of the whole."""
    for d in range(DIGITS):
        number[d] = 0
    number[0] = 1
    part, power = math.frexp(size)
    times(number, int(part * 2.0**53))
    times(number, int(part * 2.0**53))
    part, more = math.frexp(theta)
    times(number, int(part * 2.0**53))
    times(number, unit)
    times(number, unit + 1)
    top = DIGITS - 1
    while number[top] == 0:
        top -= 1
    power = 2 * power + more
    return power, power + top * DIGIT + math.frexp(float(number[top]))[1]


@kernel
def compare_gains(size, theta, unit, their_size, their_theta, their_unit):
    """1 if a step gains more than another, -1 if less, 0 if they gain the same."""
    if theta == 0.0 or their_theta == 0.0:
        return int(theta > 0.0) - int(their_theta > 0.0)
    mine, theirs = np.empty(DIGITS, np.int64), np.empty(DIGITS, np.int64)
    power, whole = write(mine, size, theta, their_unit)
    their_power, their_whole = write(theirs, their_size, their_theta, unit)
    if whole != their_whole:
        return 1 if whole > their_whole else -1
    for number, missing in ((mine, power - their_power), (theirs, their_power - power)):
        while missing > 0:
            times(number, 1 << min(missing, 2 * DIGIT))
            missing -= 2 * DIGIT
    for d in range(DIGITS - 1, -1, -1):
        if mine[d] != theirs[d]:
            return 1 if mine[d] > theirs[d] else -1
    return 0
