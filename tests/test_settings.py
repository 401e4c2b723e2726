"""Settings, and policies and confidence sequences as objects with parameters."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import surepick as sp
from surepick.cli import app
from surepick.confidence import CONFIDENCES, Auto, Confidence, KLLUCBInterval, Normal, make_confidence
from surepick.engine.loops import find
from surepick.errors import SettingError, StudyError
from surepick.parameters import defaults
from surepick.policies import COCI, POLICIES, Joint, JointLinear, Policy, TSExplore
from surepick.run.drive import drive
from surepick.settings import NAMES, Settings
from surepick.study import StudySpec

PROBLEM, WORLD = sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])


class Turns(COCI):
    """A policy of one's own, with a parameter."""

    name = "turns"

    def __init__(self, *, every: int = 3) -> None:
        self.every = every

    def candidates(self, view: Any) -> Any:
        wanted = super().candidates(view).copy()
        wanted[view.samples // self.every % self.problem.m] = True
        return wanted


class Wide(Confidence):
    """A sequence of one's own, with a parameter: the paper's radius, and wider."""

    name = "wide"

    def __init__(self, *, factor: float) -> None:
        self.factor = factor

    def radius(self, counts: Any) -> Any:
        return self.factor * make_confidence("paper", self.problem, self.delta).radius(counts)


# -- one list -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [sp.Explorer, sp.explore])
def test_keywords_and_defaults_are_those_of_settings(who: Any) -> None:
    given = inspect.signature(who).parameters
    assert {name: given[name].default for name in NAMES} == {f.name: f.default for f in dataclasses.fields(Settings)}


def test_settings_are_frozen_and_compare_by_value() -> None:
    settings = Settings(policy="ts-explore:q=0.3", confidence="normal:tuned=500", delta=0.1)
    assert settings == Settings(policy=TSExplore(q=0.3), confidence=Normal(tuned=500), delta=0.1)
    assert settings != Settings(policy=TSExplore(q=0.31), confidence=Normal(tuned=500), delta=0.1)
    assert hash(settings) == hash(dataclasses.replace(settings))
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.changed() == ["delta", "policy", "confidence"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.delta = 0.2  # type: ignore[misc]


def test_an_explorer_has_the_settings_that_it_was_given() -> None:
    given: dict[str, Any] = {
        "delta": 0.1,
        "epsilon": 0.2,
        "budget": 50,
        "spend": True,
        "per_arm": True,
        "policy": TSExplore(q=0.3),
    }
    explorer = sp.Explorer(PROBLEM, **given)
    assert {name: getattr(explorer.settings, name) for name in given} == given
    assert {name: getattr(explorer, name) for name in given} == given
    assert sp.Explorer.of(PROBLEM, explorer.settings).settings == explorer.settings
    with pytest.raises(AttributeError):
        explorer.delta = 0.5  # type: ignore[misc]
    explorer.budget = 60
    assert (explorer.settings.budget, explorer.settings.delta) == (60, 0.1)
    with pytest.raises(SettingError, match="budget must be a whole number"):
        explorer.budget = 0.5  # type: ignore[assignment]


def test_explore_goes_on_with_the_settings_of_an_explorer() -> None:
    explorer = sp.Explorer(PROBLEM, policy="coci")
    with pytest.raises(SettingError, match="has its settings already: leave out policy, confidence"):
        sp.explore(explorer, WORLD, policy=COCI(), confidence=Normal())
    assert sp.explore(explorer, WORLD, policy="auto").certified


# -- objects and texts ----------------------------------------------------------------------------------------------------

SPELT = [
    (TSExplore(), "ts-explore", "TSExplore()"),
    (TSExplore(q=0.3), "ts-explore:q=0.3", "TSExplore(q=0.3)"),
    (TSExplore(q=0.1), "ts-explore", "TSExplore()"),
    (TSExplore(q=0.3, tuned=50), "ts-explore:q=0.3,tuned=50", "TSExplore(q=0.3, tuned=50)"),
    (Normal(tuned=500), "normal:tuned=500", "Normal(tuned=500)"),
    (Auto(tuned=500), "auto:tuned=500", "Auto(tuned=500)"),
    (KLLUCBInterval(alpha=2, k1=3), "kl-lucb:alpha=2.0,k1=3.0", "KLLUCBInterval(alpha=2.0, k1=3.0)"),
]


@pytest.mark.parametrize(("made", "text", "shown"), SPELT)
def test_text_and_repr_come_back(made: Any, text: str, shown: str) -> None:
    assert (str(made), repr(made)) == (text, shown)
    assert eval(shown, {type(made).__name__: type(made)}) == made
    name = "policy" if isinstance(made, Policy) else "confidence"
    back = getattr(Settings(**{name: text}), name)
    assert back == made
    assert hash(back) == hash(made)
    assert getattr(Settings(**{name: made.text(whole=True)}), name) == made
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize("cls", [*POLICIES.values(), Auto, *CONFIDENCES.values()])
def test_every_class_keeps_its_parameters(cls: Any) -> None:
    made = cls()
    assert made.parameters == defaults(cls)
    assert made == made.fresh()
    assert str(made) == cls.name
    name = "policy" if issubclass(cls, Policy) else "confidence"
    assert getattr(Settings(**{name: made.text(whole=True)}), name) == made


def test_parameters_stay_as_they_are() -> None:
    policy = TSExplore(q=0.3)
    with pytest.raises(AttributeError, match="make another TSExplore"):
        policy.q = 0.2
    explorer = sp.Explorer(PROBLEM, policy=policy)
    assert explorer.policy == policy
    assert explorer.policy is not policy
    assert not hasattr(policy, "problem")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (
            {"policy": "ts-explore:r=0.3"},
            "policy='ts-explore:r=0.3': ts-explore has the parameters q, tuned and box_share, not r",
        ),
        ({"policy": "joint:q=0.3"}, "joint has the parameter box_share, not q"),
        ({"policy": "coci:q=0.3"}, "coci has no parameters; leave out q"),
        ({"policy": "ts-explore:q"}, "parameters are written as in 'ts-explore:q=0.1,tuned=1000,box_share=0.1'"),
        ({"policy": "ts-explore:"}, "parameters are written as in"),
        ({"policy": "ts-explore:q=0.1,q=0.2"}, "q is given twice"),
        ({"policy": "ts-explore:q=much"}, "q must be a number from 0.001 to 0.49, not 'much'"),
        ({"policy": "ts-explore:q=0.5"}, "policy='ts-explore:q=0.5': q must be a number from 0.001 to 0.49, not 0.5"),
        ({"policy": "tsexplore:q=0.3"}, "policy='tsexplore:q=0.3' is unknown; did you mean 'ts-explore'"),
        ({"policy": "best"}, "policy='best' is unknown; use 'auto' or one of joint"),
        ({"policy": "auto:q=0.3"}, "policy='auto:q=0.3' is unknown; 'auto' has no parameters"),
        ({"policy": TSExplore}, r"policy must be an object, TSExplore\(\), and not the class"),
        ({"policy": Normal()}, r"policy=Normal\(\) is unknown"),
        ({"policy": None}, "policy=None is unknown"),
        ({"confidence": TSExplore()}, r"confidence=TSExplore\(\) is unknown"),
        ({"confidence": "normal:tuned=0"}, "tuned must be a whole number of at least 1, not 0"),
        ({"confidence": "normal:tuned=true"}, "tuned must be a whole number of at least 1, not True"),
        ({"confidence": "normal:tuned=1e-3"}, "tuned must be a whole number of at least 1, not 0.001"),
        ({"confidence": "own:tuned=5"}, "confidence='own:tuned=5' is unknown"),
        ({"confidence": "kl-lucb:k1=10"}, r"k1 must be a number above 1 \+ 1 / \(alpha - 1\) = 11, without which"),
        ({"confidence": "kl-lucb:alpha=1"}, "alpha must be a number above 1"),
        ({"confidence": "bernstein:tuned=0"}, "tuned must be a number from 0.01"),
        ({"policy": "joint:box_share=1"}, "box_share must be a number from 0.001 to 0.999, not 1"),
    ],
)
def test_bad_parameters(how: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        sp.Explorer(PROBLEM, **how)


def test_classes_that_cannot_be_copied_say_so() -> None:
    class Loose(COCI):
        name = "loose"

        def __init__(self, **options: Any) -> None:
            self.options = options

    class Forgetful(COCI):
        name = "forgetful"

        def __init__(self, *, every: int = 3) -> None:
            self.stride = every

    class Nameless(Policy):
        rule = "none"

        def certified(self, view: Any) -> bool:
            return False

        def candidates(self, view: Any) -> Any:
            return view.undecided

    for policy, says in (
        (Loose(a=1), r"Loose.__init__ takes \*\*options: .*name its parameters one by one"),
        (Forgetful(), "Forgetful takes the parameter every but does not keep it: write self.every = every"),
        (Nameless(), "give the class Nameless a name"),
    ):
        with pytest.raises(SettingError, match=says):
            sp.Explorer(PROBLEM, policy=policy)


def test_parameters_may_be_arrays() -> None:
    class Weighed(COCI):
        name = "weighed"

        def __init__(self, *, weights: Any) -> None:
            self.weights = weights

    one, same, other = (Weighed(weights=np.array(w)) for w in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0]))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert sp.explore(PROBLEM, WORLD, policy=one).samples == sp.explore(PROBLEM, WORLD, policy="coci").samples


# -- what parameters do ---------------------------------------------------------------------------------------------------


def test_the_formulas_have_the_parameters() -> None:
    level = np.log(PROBLEM.m / 0.05)
    for tuned in (50, 1000):
        rho = tuned / (2 * level + np.log1p(2 * level))
        half = np.sqrt((400 + rho) * (np.log1p(400 / rho) + 2 * level)) / 400 / 2
        assert make_confidence(Normal(tuned=tuned), PROBLEM, 0.05).radius(np.full(4, 400)) == pytest.approx(half)
    kl = make_confidence("kl-lucb:alpha=2,k1=3", PROBLEM, 0.05)
    assert isinstance(kl, KLLUCBInterval)
    assert kl.level(100) == pytest.approx(np.log(3 * 4 * 100**2 / 0.05))
    assert make_confidence(Normal(tuned=50), PROBLEM, 0.05).at(0.01) == Normal(tuned=50)
    joint = Joint(box_share=0.5).bound(PROBLEM)
    assert joint.threshold(0.05) == pytest.approx(np.log(4 / 0.025))
    explorer = sp.Explorer(PROBLEM, policy=joint)
    assert explorer.confidence.delta == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("problem", "world", "how", "compiled"),
    [
        (PROBLEM, WORLD, {"policy": "joint:box_share=0.6"}, True),
        (PROBLEM, WORLD, {"policy": "joint:box_share=0.6", "epsilon": 0.3}, True),
        (PROBLEM, WORLD, {"policy": "joint", "confidence": "auto:tuned=20"}, True),
        (PROBLEM, WORLD, {"policy": "joint", "confidence": Normal(tuned=20)}, True),
        (PROBLEM, WORLD, {"policy": "coci", "confidence": "beta:tuned=20"}, True),
        (PROBLEM, WORLD, {"policy": "coci", "confidence": "bernstein:tuned=2"}, True),
        (PROBLEM, WORLD, {"policy": "clucb", "confidence": "kl-lucb:alpha=2,k1=3"}, True),
        (PROBLEM, WORLD, {"policy": Turns(every=2)}, False),
        (
            sp.Subsets(4, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
            WORLD,
            {"policy": JointLinear(box_share=0.6)},
            True,
        ),
    ],
)
def test_compiled_loops_go_by_the_parameters(problem: sp.Problem, world: sp.Environment, how: Any, compiled: bool) -> None:
    """The same samples compiled and in Python, and others than by default."""
    asked = {name: how[name] for name in ("policy", "confidence") if name in how}
    plain = how | {name: getattr(value, "name", str(value).partition(":")[0]) for name, value in asked.items()}
    counts = []
    for settings, fast in ((how, True), (how, False), (plain, False)):
        if settings is plain and not compiled:
            break
        explorer = sp.Explorer(problem, 0.01, **settings)
        assert (find(explorer) is not None) == compiled
        drive(explorer, world, seed=2, compiled=fast)
        counts.append(explorer.counts.tolist())
    assert counts[0] == counts[1]
    assert counts[0] not in counts[2:]


def test_a_loop_does_not_run_with_parameters_that_it_ignores(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = sp.Explorer(PROBLEM, policy="joint:box_share=0.6")
    loop = find(explorer)
    assert loop is not None
    assert loop.parameters == ("box_share",)
    monkeypatch.setattr("surepick.engine.loops._own", lambda: (loop._replace(parameters=()),))
    assert find(explorer) is None
    assert find(sp.Explorer(PROBLEM, policy="joint:box_share=0.1")) is not None


# -- everywhere -----------------------------------------------------------------------------------------------------------


def test_certificates_and_files_have_the_parameters(tmp_path: Path) -> None:
    explorer = sp.Explorer(PROBLEM, policy="joint", confidence=Auto(tuned=50))
    drive(explorer, WORLD, seed=1)
    certificate = explorer.certificate()
    assert (certificate.policy, certificate.confidence) == ("joint", "auto:tuned=50")
    explorer.save(tmp_path / "e.json")
    saved = json.loads((tmp_path / "e.json").read_text())
    assert (saved["policy"], saved["confidence"]) == ("joint:box_share=0.1", "auto:tuned=50")  # all of them: defaults may change
    back = sp.Explorer.load(tmp_path / "e.json")
    assert (back.policy, back.confidence) == (explorer.policy, explorer.confidence)
    assert back.certificate().to_dict() == certificate.to_dict()


def test_own_classes_are_given_again(tmp_path: Path) -> None:
    file, policy, confidence = tmp_path / "e.json", Turns(every=2), Wide(factor=1.5)
    explorer = sp.Explorer(PROBLEM, policy=policy, confidence=confidence)
    explorer.tell(0, [1.0, 0.0])
    explorer.save(file)
    back = sp.Explorer.load(file, policy=policy, confidence=confidence)
    assert (back.policy, back.confidence, back.samples) == (policy, confidence, 2)
    for own, says in (
        ({}, "its policy 'turns:every=2' is unknown; if it is a class of yours, load"),
        ({"policy": policy}, "its confidence 'wide:factor=1.5' is unknown"),
        ({"policy": Turns(every=3), "confidence": confidence}, r"saved with policy='turns:every=2', not with Turns\(\)"),
    ):
        with pytest.raises(StudyError, match=says):
            sp.Explorer.load(file, **own)


def test_studies_have_texts_with_parameters() -> None:
    data = {"arms": 4, "problem": {"kind": "top-k", "k": 2}, "policy": "ts-explore:q=0.3", "confidence": "normal:tuned=500"}
    spec = StudySpec.from_dict(data)
    assert (spec.policy, spec.confidence) == (TSExplore(q=0.3), Normal(tuned=500))
    assert spec.explorer().policy == TSExplore(q=0.3)
    assert spec.replace(policy="coci").policy == COCI()
    for key, text, says in (
        ("policy", "ts-explore:q=0.7", "key policy: .*q must be"),
        ("confidence", "normal:tune=5", "key confidence: .*normal has the parameter tuned, not tune"),
        ("policy", 5, "key policy: this must be the name of a policy"),
    ):
        with pytest.raises(StudyError, match=says):
            StudySpec.from_dict(data | {key: text})


def test_simulations_have_objects_texts_and_pairs() -> None:
    asked = ["joint/auto:tuned=50", (Joint(), Auto(tuned=50)), Turns(every=2), (Turns(every=2), Wide(factor=1.2)), "joint"]
    table = sp.simulate(PROBLEM, WORLD, {str(i): one for i, one in enumerate(asked)}, runs=4, executor=2).table
    samples = [table[table["policy"] == str(i)]["samples"].tolist() for i in range(len(asked))]
    assert samples[0] == samples[1] != samples[4]
    assert samples[2] != samples[3]
    assert table.groupby("policy")["confidence"].first().tolist() == [
        "auto:tuned=50",
        "auto:tuned=50",
        "auto",
        "wide:factor=1.2",
        "auto",
    ]
    alone = [sp.explore(PROBLEM, WORLD, policy=Turns(every=2)).samples, samples[2][0]]
    assert alone[0] == alone[1]
    labels = sp.simulate(PROBLEM, WORLD, asked[1:], runs=1, executor=1).summary["policy"].tolist()
    assert labels == ["joint/auto:tuned=50", "turns:every=2", "turns:every=2/wide:factor=1.2", "joint"]
    assert {"turns", "wide"}.isdisjoint({*POLICIES, *CONFIDENCES})
    with pytest.raises(SettingError, match="by an object, or by a pair"):
        sp.simulate(PROBLEM, WORLD, [3], runs=1)  # type: ignore[list-item]


def test_commands_take_parameters(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text('arms = 4\n[problem]\nkind = "top-k"\nk = 2\n[simulate]\nkind = "bernoulli"\np = [0.9, 0.8, 0.3, 0.1]\n')
    run = CliRunner().invoke(
        app, ["run", str(study), "--policy", "joint:box_share=0.5", "--confidence", "auto:tuned=50", "--json"]
    )
    certificate = json.loads(run.stdout)["certificate"]
    assert (certificate["policy"], certificate["confidence"]) == ("joint:box_share=0.5", "auto:tuned=50")
    how = ["--policy", "joint/auto:tuned=50", "--runs", "2", "--processes", "1", "--json"]
    assert (
        json.loads(CliRunner().invoke(app, ["simulate", str(study), *how]).stdout)["summary"][0]["policy"]
        == "joint/auto:tuned=50"
    )
    failed = CliRunner().invoke(app, ["run", str(study), "--policy", "joint:share=0.5"])
    assert failed.exit_code != 0


def test_rooms_are_reached_lazily() -> None:
    code = (
        "import sys, surepick as sp; before = 'surepick.policies' in sys.modules; "
        "print(before, sp.policies.TSExplore(q=0.3), sp.confidence.Normal(tuned=500))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "ts-explore:q=0.3", "normal:tuned=500"]
