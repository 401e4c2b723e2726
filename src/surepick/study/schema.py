"""The keys of a study file. Every field's description is what a complaint about its value says it must be."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Numbers = list[float]
PerArm = float | list[float]
WholePerArm = int | list[int]
Label = str | int


def _not_nan(x: float) -> float:
    if x != x:
        raise ValueError("NaN is no bound")
    return x


Pair = Annotated[list[Label], Field(min_length=2, max_length=2)]
# JSON has no infinity, so that a text may stand for it.
Bound = Annotated[float, Field(allow_inf_nan=True), AfterValidator(_not_nan)] | Literal["inf", "-inf"]
BoundPerRow = Bound | list[Bound]


def _field(description: str) -> object:
    return Field(description=description)


class Strict(BaseModel):
    """Nothing is converted, nothing unknown is accepted, and NaN and infinity are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class StudyKeys(Strict):
    """The top level. ``arms``, ``problem`` and ``simulate`` have models of their own."""

    title: Annotated[str, _field("a text")] = ""
    delta: Annotated[float, _field("a probability between 0 and 1, both excluded")] = 0.05
    epsilon: Annotated[float, _field("a finite number of at least 0")] = 0.0
    relative: Annotated[bool, _field("true or false")] = False
    per_arm: Annotated[bool, _field("true or false")] = False
    budget: Annotated[int | None, _field("a whole number of samples")] = None
    spend: Annotated[bool, _field("true or false")] = False
    dependent: Annotated[bool, _field("true or false")] = False
    policy: Annotated[str, _field("the name of a policy, such as 'auto' or 'coci'")] = "auto"
    confidence: Annotated[str, _field("the name of a confidence sequence, such as 'auto'")] = "auto"
    seed: Annotated[int, Field(ge=0, description="a whole number of at least 0")] = 0
    theta: Annotated[Numbers | None, _field("a list of finite numbers, one an arm")] = None
    arms: Annotated[
        int | str | list[object] | None, _field("a list of names, a list of tables, a whole number or the path of a CSV file")
    ] = None
    problem: Annotated[dict[str, object], _field('a table: write [problem] and below it kind = "top-k" or another')]
    simulate: Annotated[
        dict[str, object] | None, _field('a table: write [simulate] and below it kind = "bernoulli" or another')
    ] = None


class ArmKeys(Strict):
    name: Annotated[str, _field("a text")]
    low: Annotated[float | None, _field("a finite number")] = None
    high: Annotated[float | None, _field("a finite number")] = None
    min: Annotated[float | None, _field("a finite number")] = None
    max: Annotated[float | None, _field("a finite number")] = None
    kind: Annotated[str | None, _field("'bounded', 'bernoulli' or 'subgaussian'")] = None
    scale: Annotated[float | None, _field("a positive number, the R of a sub-Gaussian arm")] = None


# -- problems -----------------------------------------------------------------------------------------------------------


class ProblemKeys(Strict):
    kind: str


class MeanOrVariance(ProblemKeys):
    parameter: Annotated[Literal["mean", "variance"], _field("'mean' or 'variance'")] = "mean"


class BestArmKeys(MeanOrVariance):
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class TopKKeys(MeanOrVariance):
    k: Annotated[int, _field("a whole number of at least 1")]
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class BestOfEachKeys(MeanOrVariance):
    groups: Annotated[list[Label] | None, _field("a list of labels, one an arm")] = None
    k: Annotated[int, _field("a whole number of at least 1")] = 1
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class GraphKeys(MeanOrVariance):
    edges: Annotated[list[Pair] | None, _field("a list of pairs [u, v], one an arm")] = None


class SpanningTreeKeys(GraphKeys):
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class MatchingKeys(GraphKeys):
    perfect: Annotated[bool, _field("true or false")] = True
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class PathKeys(GraphKeys):
    source: Annotated[Label, _field("the node where the path begins, a text or a whole number")]
    target: Annotated[Label, _field("the node where the path ends, a text or a whole number")]
    sense: Annotated[Literal["max", "min"], _field("'min' or 'max'")] = "min"


class SubsetsKeys(MeanOrVariance):
    decisions: Annotated[list[Numbers], _field("a list of rows of finite numbers, one number an arm")]
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class ProgramKeys(MeanOrVariance):
    A: Annotated[
        list[Numbers | str],
        _field(
            "a list of rows, one a constraint: each a list of finite numbers, one an arm, or a column of the CSV table of arms"
        ),
    ]
    lower: Annotated[BoundPerRow, _field("a number, -inf for no bound, or a list of them, one a row of A")] = "-inf"
    upper: Annotated[BoundPerRow, _field("a number, inf for no bound, or a list of them, one a row of A")] = "inf"
    levels: Annotated[WholePerArm | None, _field("a whole number of at least 0, or a list of them, one an arm")] = None
    sense: Annotated[Literal["max", "min"], _field("'max' or 'min'")] = "max"


class SampleAllocationKeys(ProblemKeys):
    budget: Annotated[int, _field("a whole number of interviews")]
    sizes: Annotated[Numbers | None, _field("a list of positive numbers, one a stratum")] = None
    lower: Annotated[WholePerArm | None, _field("a whole number, or a list of them, one a stratum")] = None
    upper: Annotated[WholePerArm | None, _field("a whole number, or a list of them, one a stratum")] = None


class ResourcePlanKeys(MeanOrVariance):
    caps: Annotated[WholePerArm | None, _field("a whole number, or a list of them, one a site")] = None
    require: Annotated[int, _field("a whole number of at least 0")]
    cost: Annotated[
        list[Numbers] | dict[str, object] | None,
        _field(
            "a list of tables, one a site, with the costs at 0, 1, ..., cap, or a formula such as "
            '{kind = "power", factor = 0.1, exponent = 2}'
        ),
    ] = None


class PowerKeys(Strict):
    """The cost factor * y ** exponent."""

    kind: str
    factor: Annotated[PerArm | None, _field("a finite number, or a list of them, one a site")] = None
    exponent: Annotated[PerArm | None, _field("a finite number, or a list of them, one a site")] = None


PROBLEM_KEYS: dict[str, type[ProblemKeys]] = {
    "best-arm": BestArmKeys,
    "top-k": TopKKeys,
    "best-of-each": BestOfEachKeys,
    "spanning-tree": SpanningTreeKeys,
    "matching": MatchingKeys,
    "path": PathKeys,
    "subsets": SubsetsKeys,
    "program": ProgramKeys,
    "sample-allocation": SampleAllocationKeys,
    "resource-plan": ResourcePlanKeys,
}

COST_KEYS: dict[str, type[PowerKeys]] = {"power": PowerKeys}


# -- worlds to simulate -------------------------------------------------------------------------------------------------


class SimulateKeys(Strict):
    kind: str


class BernoulliKeys(SimulateKeys):
    p: Annotated[Numbers | None, _field("a list of probabilities, one an arm")] = None


class BetaKeys(SimulateKeys):
    mean: Annotated[Numbers | None, _field("a list of numbers between 0 and 1, one an arm")] = None
    concentration: Annotated[PerArm, _field("a positive number, or a list of them, one an arm")]


class GaussianKeys(SimulateKeys):
    mean: Annotated[Numbers | None, _field("a list of finite numbers, one an arm")] = None
    sd: Annotated[PerArm | None, _field("a number of at least 0, or a list of them, one an arm")] = None


class ReplayKeys(SimulateKeys):
    file: Annotated[str, _field("the path of a CSV file with the columns arm (or stratum) and value")]


class VoterKeys(SimulateKeys):
    """A network that is written out, person by person."""

    groups: Annotated[list[Label], _field("a list with the arm of every person")]
    edges: Annotated[
        list[Annotated[list[int], Field(min_length=2, max_length=2)]], _field("a list of pairs [u, v] of people, numbered from 0")
    ]
    innate: Annotated[Numbers, _field("a list of opinions from 0 to 1, one a person")]
    stubbornness: Annotated[PerArm, _field("a number above 0 and at most 1, or a list of them, one a person")] = 0.1


class RandomVoterKeys(SimulateKeys):
    """A random network of groups."""

    sizes: Annotated[list[int] | None, _field("a list of whole numbers of people, one an arm")] = None
    share: Annotated[PerArm | None, _field("a number from 0 to 1, or a list of them, one an arm")] = None
    ties: Annotated[float, _field("a number of at least 0")] = 8.0
    homophily: Annotated[float, _field("a number from 0 to 1")] = 0.9
    stubbornness: Annotated[PerArm, _field("a number above 0 and at most 1, or a list of them, one an arm")] = 0.2
    seed: Annotated[int, Field(ge=0, description="a whole number of at least 0")] = 0


SIMULATE_KEYS: dict[str, type[SimulateKeys]] = {
    "bernoulli": BernoulliKeys,
    "beta": BetaKeys,
    "gaussian": GaussianKeys,
    "replay": ReplayKeys,
    "voter-model": RandomVoterKeys,
}
