"""Studies: one TOML format for the command line, for Python and for servers.

A study file says what is sampled, what is to be decided and how sure the decision must be::

    title = "Which three posters?"
    delta = 0.05                        # may be wrong with this probability          (default 0.05)
    epsilon = 0.0                       # stop when within this of the best           (default 0)
    relative = false                    # epsilon is a share of the best reward       (default false)
    per_arm = false                     # epsilon is for every chosen arm             (default false)
    budget = 100000                     # samples at most                             (default: no limit)
    cost_budget = 2500.0                # what all samples may cost                   (default: no limit)
    spend = false                       # spend the whole budget                      (default false)
    dependent = false                   # arms may depend on each other               (default false)
    policy = "auto"                     # or "coci", "uniform", "unified", ...
    confidence = "auto"                 # or "own", "paper", ...
    seed = 0                            # of the simulation
    arms = ["red", "blue", "green"]     # names, or [[arms]] tables, or "strata.csv"

    [problem]
    kind = "top-k"
    k = 2

    [simulate]                          # optional: the truth to draw from
    kind = "bernoulli"
    p = [0.7, 0.5, 0.4]

An arm's table has ``name``, ``min`` and ``max`` (or ``low`` and ``high``; 0 and 1 by default), ``kind``, ``scale``, ``cost``
and ``population`` as :class:`surepick.Arm`. A CSV table has one row an arm and these columns, in any order and any case:
``stratum`` (or ``arm``, ``name``, ``site``), ``min``, ``max``, ``kind``, ``scale``, ``population``, ``cost`` (of an observation,
unless the problem has a use for that column: resource-plan, or ``A``); other columns serve the problem and the simulation, and
what nobody needs is ignored. Paths are relative to the study file.

================== ================================================================= ===========================
problem.kind       its keys (those in brackets may be left out)                      columns that can replace keys
================== ================================================================= ===========================
best-arm           [sense, parameter]
top-k              k, [sense, parameter]
best-of-each       groups, [k, sense, parameter]                                     group
ranking            [sense, parameter]
spanning-tree      edges, [sense, parameter]; arms may be left out                   u and v
matching           edges, [perfect, sense, parameter]; arms may be left out          u and v
path               edges, source, target, [sense, parameter]; arms may be left out   u and v
subsets            decisions, [sense, parameter]
program            A, [lower, upper, levels, sense, parameter]                       any, named in A; levels
sample-allocation  budget (interviews), sizes, [lower, upper, finite]                N, lower, upper
resource-plan      require, caps, cost, [parameter]                                  cap, cost and exponent
================== ================================================================= ===========================

``parameter`` is "mean" or "variance", ``sense`` "max" or "min" (by default "max", for a path "min"). A CSV table of edges needs
no column of names; edges are called after their ends. A row of ``A`` is a list of numbers or the name of a column; ``lower``
and ``upper`` are one number for all rows or one a row, where ``-inf`` and ``inf``, or the texts "-inf" and "inf", leave a row
open. ``cost`` is a list of tables, one a site with the costs at
0, 1, ..., cap, or a formula ``{kind = "power", factor = 0.1, exponent = 2}`` for factor * y ** exponent, where factor and
exponent are a number or one a site (columns ``cost`` and ``exponent``).

================== ================================================================= ===========================
simulate.kind      its keys                                                          columns
================== ================================================================= ===========================
bernoulli          p                                                                 mean
beta               mean, concentration                                               mean
gaussian           mean, sd                                                          mean, S
replay             file: a CSV table with columns arm (or stratum) and value; [replace]
voter-model        groups, edges, innate, [stubbornness], person by person
voter-model        [sizes, share, ties, homophily, stubbornness, seed], random       N
================== ================================================================= ===========================
"""

from __future__ import annotations

from .observations import Replayed, read_observations, tell_table
from .results import Results, read_results
from .spec import StudySpec, asked_once, load, table_variances
from .tables import Table, read_table

__all__ = [
    "Replayed", "Results", "StudySpec", "Table", "asked_once", "load", "read_observations", "read_results", "read_table",
    "table_variances", "tell_table",
]  # fmt: skip
