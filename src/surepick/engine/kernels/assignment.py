"""The rectangular assignment problem, by shortest augmenting paths."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, lean


@kernel
def assign(cost, rows, columns, column_of):
    """The cheapest assignment of every row to a column of its own; there are at least as many columns as rows.

    ``cost`` is a flat table, row by row. False if some row has no finite cost left.
    """
    return priced(cost, column_of, np.empty(columns, np.int64), np.empty(rows), np.empty(columns))


@kernel
def priced(cost, column_of, row_of, row_price, column_price):
    """As ``assign``, with prices: no cell costs less than its row's and its column's together, and those that are taken as much.

    After Crouse (2016), "On implementing 2D rectangular assignment algorithms". Sums are rounded and ties are broken as in
    ``scipy.optimize.linear_sum_assignment``, so the two agree on every table, equal weights or not: columns are looked at
    from last to first, and of equally near ones a free column is taken. A free column has no price and row -1.
    """
    rows, columns = len(column_of), len(row_of)
    row_price[:], column_price[:] = 0.0, 0.0
    row_of[:], column_of[:] = -1, -1
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


@lean
def lay(data, weights, cost, arm):
    """The table of costs, and the arm of every cell, -1 if there is none; False if a missing edge would cost too much."""
    rows, columns, own, cells = data.rows, data.columns, data.own, data.cells
    biggest = 0.0
    for e in range(len(weights)):
        biggest = max(biggest, abs(weights[e]))
    missing = 1.0 + 2.0 * rows * biggest
    if missing == np.inf:
        return False
    for row in range(rows):
        for column in range(columns):  # to stay alone costs nothing
            cost[row * columns + column] = missing if column < own else 0.0
            arm[row * columns + column] = -1
    for e in range(len(weights)):
        cell = cells[e]
        if arm[cell] < 0 or -weights[e] < cost[cell]:  # the best of parallel edges, the first of equal ones
            cost[cell] = -weights[e]
            arm[cell] = e
    return True


@lean
def take(data, column_of, arm, decision):
    """The assignment as a decision."""
    decision[:] = 0
    for row in range(data.rows):
        e = arm[row * data.columns + column_of[row]]
        if e >= 0:
            decision[e] = 1


@kernel
def best(data, weights, decision):
    """phi of a ``Matching`` for these weights. False if they are too large to tell edges from missing ones."""
    rows, columns = data.rows, data.columns
    cost, arm, column_of = np.empty(rows * columns), np.empty(rows * columns, np.int64), np.empty(rows, np.int64)
    if not (lay(data, weights, cost, arm) and assign(cost, rows, columns, column_of)):
        return False
    take(data, column_of, arm, decision)
    return True


@kernel
def losses(data, weights, decision, loss):
    """``best``, and by how much the best decision with another entry for an arm is worse; infinite if there is none.

    If a row takes another column, the row that had it must go elsewhere, until one takes the column that became free. By prices
    no such step gains, and the shortest ways from row to row tell it of all arms at once. One more row, at no cost anywhere,
    has all columns that are free.
    """
    rows, columns, own, cells = data.rows, data.columns, data.own, data.cells
    cost, arm, column_of = np.empty(rows * columns), np.empty(rows * columns, np.int64), np.empty(rows, np.int64)
    row_of, row_price, column_price = np.empty(columns, np.int64), np.empty(rows), np.empty(columns)
    if not (lay(data, weights, cost, arm) and priced(cost, column_of, row_of, row_price, column_price)):
        return False
    take(data, column_of, arm, decision)
    way = np.full((rows + 1, rows + 1), np.inf)
    way[rows, rows] = 0.0
    for row in range(rows):
        way[row, row], way[rows, row] = 0.0, max(-column_price[column_of[row]], 0.0)
        for column in range(columns):
            cell = row * columns + column
            if arm[cell] >= 0 or column >= own:
                step, to = max(cost[cell] - row_price[row] - column_price[column], 0.0), row_of[column]  # -1: the last row
                way[row, to] = min(way[row, to], step)
    for over in range(rows + 1):
        for row in range(rows + 1):
            for to in range(rows + 1):
                way[row, to] = min(way[row, to], way[row, over] + way[over, to])
    least = np.full(rows, np.inf)  # at which a row takes another arm, or none
    for e in range(len(weights)):
        row, column = cells[e] // columns, cells[e] % columns
        loss[e] = max(-weights[e] - row_price[row] - column_price[column], 0.0) + way[row_of[column], row]
        if decision[e] == 0:
            least[row] = min(least[row], loss[e])
    for row in range(rows):
        for column in range(own, columns):
            if column != column_of[row]:
                step = max(-row_price[row] - column_price[column], 0.0)
                least[row] = min(least[row], step + way[row_of[column], row])
    for e in range(len(weights)):
        if decision[e] > 0:
            loss[e] = least[cells[e] // columns]
    return True
