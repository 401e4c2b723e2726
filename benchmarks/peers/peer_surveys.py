"""svy, samplics and bethel: Neyman's allocation as survey packages round it, and Bethel's procedure.

bethel turns the question round: it takes a precision and gives the interviews. Here it is asked for the precision of the best
split of k, so a sum above k is what its rounding costs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from instances import Method, Survey
from numpy.typing import NDArray

import surepick as sp

Call = Callable[[], NDArray[np.int64]]


def svy(survey: Survey) -> Call:
    import svy as package

    sizes, sds = by_name(survey.sizes), by_name(survey.sds)

    def call() -> NDArray[np.int64]:
        split = package.SampleSize().allocate(
            survey.k, pop_size=sizes, method="neyman", sigma=sds, min_n=survey.lower, cap_at_population=survey.capped
        )
        return np.array([row.n for row in split.allocation])

    return call


def samplics(survey: Survey) -> Call:
    from samplics.sampling.size import allocate

    sizes, sds = by_name(survey.sizes), by_name(survey.sds)
    rate = survey.k / float((survey.sizes * survey.sds).sum())

    def call() -> NDArray[np.int64]:
        split, _ = allocate("optimum_mean", list(sizes), sizes, rate=rate, stddev=sds)
        return np.array(list(split.values()))

    return call


def bethel(survey: Survey) -> Call:
    import pandas as pd
    from bethel import bth

    best = sp.allocate(survey.sizes, survey.variances, survey.k, lower=survey.lower, upper=survey.upper)
    precision = survey.variance(best) - float((survey.sizes * survey.variances).sum())  # it corrects for finite populations
    strata = pd.DataFrame(
        {
            "strata": np.arange(len(survey.sizes)),
            "var_y": survey.variances,
            "population_size": survey.sizes,
            "cost": 1.0,
            "min_sample": survey.lower,
            "min_rate": 1e-12,
        }
    )
    targets = pd.DataFrame({"cv": [precision**0.5], "total": [1.0]})
    return lambda: bth(strata, targets)["adjusted_sample"].to_numpy()


def by_name(values: NDArray[np.int64] | NDArray[np.float64]) -> dict[str, float]:
    return {f"stratum {i}": value for i, value in enumerate(values.tolist())}


METHODS = [
    Method('svy, `method="neyman"`', "svy", "svy", "shares, largest remainders", svy),
    Method("samplics, `optimum_mean`", "samplics", "samplics", "shares, rounded up", samplics),
    Method("bethel", "bethel", "bethel", "shares for a precision, rounded up", bethel),
]
