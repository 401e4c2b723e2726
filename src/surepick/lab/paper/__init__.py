"""Every claim of the paper, measured: one claim a file, each with a function that measures it and one that judges the figures.

Huang, Ok, Li, Chen: Combinatorial Pure Exploration with Continuous and Separable Reward Functions and Its Applications,
IJCAI 2018, extended version. Theorems and lemmas have the numbers of that version.
"""

from __future__ import annotations

from . import (
    clucb,
    lemma_1_radius,
    lemma_2_arms,
    lemma_4_width,
    lemma_5_event,
    lemma_8_base,
    opinion,
    opinion_variance,
    theorem_1_bound,
    theorem_1_error,
    theorem_1_scaling,
    theorem_2_lower,
    theorem_3_condition,
    theorem_4_uniform,
    theorem_5_greedy,
    water,
)
from .base import Claim, Lab, Result, Table, Verdict

# In the order of the report. A new claim is one file and one line here.
CLAIMS: dict[str, Claim] = {
    module.CLAIM.name: module.CLAIM
    for module in (
        theorem_1_error,
        theorem_1_bound,
        theorem_1_scaling,
        lemma_1_radius,
        lemma_2_arms,
        lemma_5_event,
        theorem_2_lower,
        theorem_3_condition,
        theorem_4_uniform,
        lemma_4_width,
        clucb,
        water,
        opinion,
        opinion_variance,
        theorem_5_greedy,
        lemma_8_base,
    )
}

# What the report does not measure, and why.
NOT_MEASURED = {
    "Theorem 2, the term Ω(H_Λ)": "It is about every algorithm that could be written. The part that follows from the exact "
    "bound of an instance is measured.",
    "Theorem 1 for all classes and all times": "Runs can speak for the classes, hardnesses and values of δ that were run, "
    "and for nothing else.",
    "Lemma 6": "The uniform version of Lemma 2. Its consequence, the bound for uniform sampling, is measured with Theorem 4.",
    "Lemma 7": "A step in the proof of Theorem 5. Its consequence, the optimality of GreedyOSA for positive variances, is "
    "measured there.",
    "Running time O(min(m², k) log m)": "The greedy steps are counted with Theorem 5; the logarithm is that of a priority "
    "queue, which was not timed.",
    "Other parameters, other distributions": "The paper's footnotes allow other parameters and sub-Gaussian arms with “a "
    "minor change”. The tests of this package cover sub-Gaussian arms; the paper gives no formula to check.",
}

__all__ = ["CLAIMS", "NOT_MEASURED", "Claim", "Lab", "Result", "Table", "Verdict"]
