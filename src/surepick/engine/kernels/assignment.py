"""The rectangular assignment problem, by shortest augmenting paths."""

from __future__ import annotations

import numpy as np

from ..compile import kernel


@kernel
def assign(cost, rows, columns, column_of):
    """The cheapest assignment of every row to a column of its own; there are at least as many columns as rows.

    After Crouse (2016), "On implementing 2D rectangular assignment algorithms". Sums are rounded and ties are broken as in
    ``scipy.optimize.linear_sum_assignment``, so the two agree on every table, equal weights or not: columns are looked at
    from last to first, and of equally near ones a free column is taken.

    ``cost`` is a flat table, row by row. False if some row has no finite cost left.
    """
    row_price = np.zeros(rows)
    column_price = np.zeros(columns)
    row_of = np.full(columns, -1)
    column_of[:] = -1
    came_from = np.empty(columns, np.int64)  # the row before a column on the shortest path to it
    distance = np.empty(columns)
    unvisited = np.empty(columns, np.int64)
    for new in range(rows):
        for p in range(columns):
            unvisited[p] = columns - 1 - p
            distance[p] = np.inf
        left = columns
        row, end, reach = new, -1, 0.0
        while end < 0:
            where, nearest = -1, np.inf
            for p in range(left):
                j = unvisited[p]
                d = reach + cost[row * columns + j] - row_price[row] - column_price[j]
                if d < distance[j]:
                    distance[j] = d
                    came_from[j] = row
                if distance[j] < nearest or (distance[j] == nearest and row_of[j] < 0):
                    where, nearest = p, distance[j]
            if nearest == np.inf:
                return False
            reach = nearest
            j = unvisited[where]
            if row_of[j] < 0:
                end = j
            else:
                row = row_of[j]
            # Visited columns gather behind the others.
            left -= 1
            unvisited[where] = unvisited[left]
            unvisited[left] = j
        row_price[new] += reach
        for p in range(left, columns):
            j = unvisited[p]
            step = reach - distance[j]
            column_price[j] -= step
            if j != end:
                row_price[row_of[j]] += step
        j = end
        while True:  # swap along the path
            row = came_from[j]
            row_of[j] = row
            before = column_of[row]
            column_of[row] = j
            if row == new:
                break
            j = before
    return True


@kernel
def best(data, weights, decision):
    """phi of a ``Matching`` for these weights. False if they are too large to tell edges from missing ones."""
    rows, columns, own, cells = data.rows, data.columns, data.own, data.cells
    biggest = 0.0
    for e in range(len(weights)):
        biggest = max(biggest, abs(weights[e]))
    missing = 1.0 + 2.0 * rows * biggest
    if missing == np.inf:
        return False
    cost = np.full(rows * columns, missing)
    arm = np.full(rows * columns, -1)
    if own < columns:  # to stay alone costs nothing
        for row in range(rows):
            cost[row * columns + own : (row + 1) * columns] = 0.0
    for e in range(len(weights)):
        cell = cells[e]
        if arm[cell] < 0 or -weights[e] < cost[cell]:  # the best of parallel edges, the first of equal ones
            cost[cell] = -weights[e]
            arm[cell] = e
    column_of = np.empty(rows, np.int64)
    if not assign(cost, rows, columns, column_of):
        return False
    decision[:] = 0
    for row in range(rows):
        e = arm[row * columns + column_of[row]]
        if e >= 0:
            decision[e] = 1
    return True
