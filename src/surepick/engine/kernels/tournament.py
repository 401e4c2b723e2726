"""The least of many scores while some of them change: a tournament, in which every match is kept.

Entry e plays at leaf ``size + e``; node p has the winner of its two children 2p and 2p + 1, and node 1 that of all. Lower scores
win; among equal ones an estimate before an exact score, then lower seconds, then the lower number in the order.
"""

from __future__ import annotations

from ..compile import lean, tight

SCORE, SECOND, ORDER, LOOSE = 0, 1, 2, 3  # rows of ``scores``; LOOSE is 1 for a score that is only a lower bound


@lean
def size_of(count):
    """The number of leaves for so many entries."""
    size = 1
    while size < count:
        size *= 2
    return size


@lean
def enter(tree, count):
    """The entries below ``count`` take part, and no other."""
    size = len(tree) // 2
    for p in range(len(tree)):
        tree[p] = p - size if size <= p < size + count else -1


@tight
def better(scores, e, f):
    """Whether e wins against f; an empty place, -1, wins against nobody."""
    if e < 0 or f < 0:
        return f < 0
    if scores[SCORE, e] != scores[SCORE, f]:
        return scores[SCORE, e] < scores[SCORE, f]
    if scores[LOOSE, e] != scores[LOOSE, f]:
        return scores[LOOSE, e] > scores[LOOSE, f]
    if scores[SECOND, e] != scores[SECOND, f]:
        return scores[SECOND, e] < scores[SECOND, f]
    return scores[ORDER, e] < scores[ORDER, f]


@tight
def match(tree, p, scores):
    e, f = tree[2 * p], tree[2 * p + 1]
    return e if better(scores, e, f) else f


@lean
def play_one(tree, e, scores):
    """After the score of one entry has changed."""
    p = (len(tree) // 2 + e) // 2
    while p >= 1:
        winner = match(tree, p, scores)
        if winner == tree[p] and winner != e:  # nothing changes further up
            return
        tree[p] = winner
        p //= 2


@lean
def play(tree, first, last, scores):
    """After the scores of the entries in [first:last] have changed."""
    if first >= last:
        return
    low, high = (len(tree) // 2 + first) // 2, (len(tree) // 2 + last - 1) // 2
    while low >= 1:
        for p in range(low, high + 1):
            tree[p] = match(tree, p, scores)
        low, high = low // 2, high // 2
