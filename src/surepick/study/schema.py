"""The keys of a study file. Every field's description is what a complaint about its value says it must be."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from ..problems.keys import Keys, Label, Numbers, PerArm
from ..settings import Settings


def _field(description: str) -> object:
    return Field(description=description)


class Strict(BaseModel):
    """Nothing is converted, nothing unknown is accepted, and NaN and infinity are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def _setting(name: str, default: object, must_be: str) -> tuple[object, object]:
    """A setting as a key: policies and confidence sequences are texts here."""
    kind = str if name in ("policy", "confidence") else get_type_hints(Settings)[name]
    return kind, Field(default, description=must_be)


_settings: Any = {one.name: _setting(one.name, one.default, one.metadata["must be"]) for one in dataclasses.fields(Settings)}
SettingKeys: type[Strict] = create_model("SettingKeys", __base__=Strict, **_settings)


class StudyKeys(SettingKeys):  # type: ignore[valid-type,misc]
    """The top level: the settings, and ``arms``, ``problem``, ``pool`` and ``simulate``, which have models of their own."""

    title: Annotated[str, _field("a text")] = ""
    seed: Annotated[int, Field(ge=0, description="a whole number of at least 0")] = 0
    theta: Annotated[Numbers | None, _field("a list of finite numbers, one an arm")] = None
    arms: Annotated[
        int | str | list[object] | None, _field("a list of names, a list of tables, a whole number or the path of a CSV file")
    ] = None
    problem: Annotated[dict[str, object], _field('a table: write [problem] and below it kind = "top-k" or another')]
    pool: Annotated[dict[str, object] | None, _field("a table: write [pool] and below it items = 2000")] = None
    simulate: Annotated[
        dict[str, object] | None, _field('a table: write [simulate] and below it kind = "bernoulli" or another')
    ] = None


class PoolKeys(Strict):
    items: Annotated[int | str | list[str], _field("a whole number, a list of names or the path of a CSV file (column item)")]
    seed: Annotated[int, Field(ge=0, description="a whole number of at least 0")] = 0


class ArmKeys(Strict):
    name: Annotated[str, _field("a text")]
    low: Annotated[float | None, _field("a finite number")] = None
    high: Annotated[float | None, _field("a finite number")] = None
    min: Annotated[float | None, _field("a finite number")] = None
    max: Annotated[float | None, _field("a finite number")] = None
    kind: Annotated[str | None, _field("'bounded', 'bernoulli', 'subgaussian' or 'normal'")] = None
    scale: Annotated[float | None, _field("a positive number, the R of a sub-Gaussian arm")] = None
    cost: Annotated[float | None, _field("a positive number, what one observation costs")] = None
    population: Annotated[int | None, _field("a whole number of at least 1, how many values the arm has in all")] = None


# -- problems -----------------------------------------------------------------------------------------------------------


def model_of(keys: Keys) -> type[Strict]:
    """A model of the keys that a decision class declares. What the arms' table may hold, the study may leave out."""
    fields: dict[str, Any] = {"kind": (str, "")}
    for name, key in keys.items():
        must_be = _field(key.must_be)
        fields[name] = (Annotated[key.type | None, must_be], None) if key.column else (Annotated[key.type, must_be], key.default)
    model: type[Strict] = create_model("ProblemKeys", __base__=Strict, **fields)
    return model


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
    replace: Annotated[bool, _field("true or false")] = True


class ScoresKeys(SimulateKeys):
    file: Annotated[str, _field("the path of a CSV file with the columns arm (or candidate), item and value (or score)")]


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
    "scores": ScoresKeys,
    "voter-model": RandomVoterKeys,
}
