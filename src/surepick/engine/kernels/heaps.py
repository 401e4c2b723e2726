"""Heaps of arms, and the r-th best of some arms while their values change one by one.

All heaps of a loop lie in one array of whole numbers, two rows each: row 2h holds the arms of heap h, row 2h + 1 where in that
row each arm is. Values lie in one array of floats, a row each.
A heap lies in ``[start : start + size]`` of its row, ordered by the values of row v: largest first, ties to the lower index, if
``sign`` is -1, and the very reverse if it is 1.
"""

from __future__ import annotations

from ..compile import lean, tight


@tight
def before(values, v, sign, i, j):
    x, y = sign * values[v, i], sign * values[v, j]
    return x < y or (x == y and (i < j) == (sign < 0.0))


@tight
def rise(heaps, h, start, p, values, v, sign):
    """Move the arm at p towards the root while it comes before its parent; returns where it is then."""
    i = heaps[2 * h, start + p]
    while p > 0:
        parent = (p - 1) // 2
        j = heaps[2 * h, start + parent]
        if not before(values, v, sign, i, j):
            break
        heaps[2 * h, start + p] = j
        heaps[2 * h + 1, j] = start + p
        p = parent
    heaps[2 * h, start + p] = i
    heaps[2 * h + 1, i] = start + p
    return p


@tight
def sink(heaps, h, start, size, p, values, v, sign):
    """Move the arm at p away from the root while a child comes before it."""
    i = heaps[2 * h, start + p]
    while True:
        child = 2 * p + 1
        if child >= size:
            break
        j = heaps[2 * h, start + child]
        if child + 1 < size and before(values, v, sign, heaps[2 * h, start + child + 1], j):
            child += 1
            j = heaps[2 * h, start + child]
        if not before(values, v, sign, j, i):
            break
        heaps[2 * h, start + p] = j
        heaps[2 * h + 1, j] = start + p
        p = child
    heaps[2 * h, start + p] = i
    heaps[2 * h + 1, i] = start + p


@lean
def fall(heaps, h, start, size, p, values, v, sign):
    """As ``sink``, faster for an arm that goes far: the better children move up all the way, then the arm rises to its place."""
    i = heaps[2 * h, start + p]
    child = 2 * p + 1
    while child < size:
        j = heaps[2 * h, start + child]
        if child + 1 < size and before(values, v, sign, heaps[2 * h, start + child + 1], j):
            child += 1
            j = heaps[2 * h, start + child]
        heaps[2 * h, start + p] = j
        heaps[2 * h + 1, j] = start + p
        p = child
        child = 2 * p + 1
    heaps[2 * h, start + p] = i
    rise(heaps, h, start, p, values, v, sign)


@lean
def arrange(heaps, h, start, size, values, v, sign):
    """Make a heap of arms in any order."""
    for p in range(size):
        heaps[2 * h + 1, heaps[2 * h, start + p]] = start + p
    for p in range(size // 2 - 1, -1, -1):
        sink(heaps, h, start, size, p, values, v, sign)


@lean
def push(heaps, h, start, size, i, values, v, sign):
    """Put an arm into a heap; returns the new size."""
    heaps[2 * h, start + size] = i
    rise(heaps, h, start, size, values, v, sign)
    return size + 1


@lean
def pop(heaps, h, start, size, values, v, sign):
    """Take the root out of a heap; returns the new size."""
    size -= 1
    heaps[2 * h, start] = heaps[2 * h, start + size]
    if size > 0:
        sink(heaps, h, start, size, 0, values, v, sign)
    return size


@tight
def moved(heaps, h, start, size, i, values, v, sign):
    """Bring a heap in order after the value of one arm has changed."""
    p = heaps[2 * h + 1, i] - start
    if rise(heaps, h, start, p, values, v, sign) == p:
        sink(heaps, h, start, size, p, values, v, sign)


@tight
def holds(heaps, h, start, size, i):
    """The arm is in the heap."""
    p = heaps[2 * h + 1, i]
    return start <= p < start + size and heaps[2 * h, p] == i


@lean
def remove(heaps, h, start, size, i, values, v, sign):
    """Take an arm out of a heap, wherever it is; returns the new size."""
    size -= 1
    p, last = heaps[2 * h + 1, i], heaps[2 * h, start + size]
    if last != i:
        heaps[2 * h, p], heaps[2 * h + 1, last] = last, p
        moved(heaps, h, start, size, last, values, v, sign)
    return size


# -- the r-th largest value: the r largest in a heap with the smallest of them first, the others in one with their largest first


@tight
def exchange(heaps, h, start, r, end, values, v):
    """Swap the roots of the two heaps if the best of the others is better; False if it is not."""
    if start + r == end:
        return False
    a, b = heaps[2 * h, start], heaps[2 * h, start + r]
    if not before(values, v, -1.0, b, a):
        return False
    heaps[2 * h, start], heaps[2 * h, start + r] = b, a
    sink(heaps, h, start, r, 0, values, v, 1.0)
    sink(heaps, h, start + r, end - start - r, 0, values, v, -1.0)
    return True


@lean
def rank(heaps, h, start, r, end, values, v):
    """Part the arms in ``[start:end]`` into the r largest and the others; returns the r-th largest value."""
    arrange(heaps, h, start, r, values, v, 1.0)
    arrange(heaps, h, start + r, end - start - r, values, v, -1.0)
    while exchange(heaps, h, start, r, end, values, v):
        pass
    return values[v, heaps[2 * h, start]]


@lean
def ranked(heaps, h, start, r, end, values, v, i):
    """Bring the parts in order after the value of one arm has changed; returns the r-th largest value."""
    if heaps[2 * h + 1, i] < start + r:
        moved(heaps, h, start, r, i, values, v, 1.0)
    else:
        moved(heaps, h, start + r, end - start - r, i, values, v, -1.0)
    exchange(heaps, h, start, r, end, values, v)
    return values[v, heaps[2 * h, start]]
