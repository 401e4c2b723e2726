"""Explicit lists of decisions: which of two is better, without rounding."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, lean, tight

SPLIT = 134217729.0  # 2^27 + 1
SMALLEST_PRODUCT = 1e-280  # products below may lose digits


@tight
def lower_half(x):
    """The last 26 bits of a number (Veltkamp)."""
    upper = SPLIT * x - (SPLIT * x - x)
    return x - upper


@lean
def add(x, parts, size):
    """Add a number to an exact sum, kept as parts that do not overlap (Shewchuk 1997); returns how many these are now."""
    many = 0
    for p in range(size):
        y = parts[p]
        if abs(x) < abs(y):
            x, y = y, x
        whole = x + y
        rest = y - (whole - x)
        if rest != 0.0:
            parts[many] = rest
            many += 1
        x = whole
    parts[many] = x
    return many + 1


@lean
def add_product(x, y, parts, size):
    """Add a product to an exact sum (Dekker 1971)."""
    product = x * y
    a, b = lower_half(x), lower_half(y)
    rest = (((x - a) * (y - b) - product) + (x - a) * b + a * (y - b)) + a * b
    if rest != 0.0:
        size = add(rest, parts, size)
    return add(product, parts, size)


@kernel
def better(a, b, listed, theta):
    """1 if the listed decision a has the larger reward, -1 if b has, 0 if they are equal; 2 if numbers are too small to tell."""
    parts, size = np.empty(64), 0
    for i in range(len(theta)):
        for y, sign in ((a, 1.0), (b, -1.0)):
            x = sign * listed[y, i]
            if x == 0.0 or theta[i] == 0.0 or listed[a, i] == listed[b, i]:
                continue
            if abs(x * theta[i]) < SMALLEST_PRODUCT or abs(x * theta[i]) > 1.0 / SMALLEST_PRODUCT:
                return 2
            size = add_product(x, theta[i], parts, size)
    for p in range(size - 1, -1, -1):
        if parts[p] != 0.0:
            return 1 if parts[p] > 0.0 else -1
    return 0
