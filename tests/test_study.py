"""Study files: what they may say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import surepick as sp
from surepick.environments import Beta, Gaussian, Replay, VoterModel
from surepick.errors import StudyError
from surepick.problems.keys import NEEDED
from surepick.study import StudySpec, load, read_observations, read_table
from surepick.study.schema import SIMULATE_KEYS

EXAMPLES = Path(__file__).parent.parent / "examples"

TOP = """
delta = 0.1
arms = ["a", "b", "c"]
[problem]
kind = "top-k"
k = 2
"""
STRATA = "Stratum,N,S,min,MAX,comment\nnorth,100,2,0,10,x\nsouth,300,1.5,0,10,y\nwest,50,0,0,10,z\n"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_examples_load_and_certify(path):
    spec = load(path)
    assert spec.environment is not None
    outcome = sp.explore(spec.problem, spec.environment, spec.delta, seed=spec.seed)
    assert outcome.certified
    assert outcome.decision.tolist() == spec.problem.solve(spec.theta()).tolist()


def test_settings_and_defaults(study):
    spec = load(study(TOP))
    assert (spec.delta, spec.epsilon, spec.relative, spec.budget) == (0.1, 0.0, False, None)
    assert (spec.spend, spec.policy, spec.confidence, spec.seed, spec.environment) == (False, "auto", "auto", 0, None)
    assert spec.problem.names == ["a", "b", "c"]
    ex = spec.replace(budget=7, delta=None).explorer()
    assert (ex.delta, ex.budget, ex.spend) == (0.1, 7, False)
    assert load(study("budget = 7\nspend = true\n" + TOP)).explorer().spend


def test_a_dict_has_the_same_keys(study, tmp_path):
    path = study('arms = "strata.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 20\n', strata=STRATA)
    one = load(path)
    other = StudySpec.from_dict(tomllib.loads(path.read_text()), base=tmp_path)
    assert other.problem.names == one.problem.names == ["north", "south", "west"]
    assert other.problem.budget == one.problem.budget == 20


def test_arms_as_tables(study):
    text = """
    arms = [
        {name = "t", low = -5, high = 40}, {name = "u", min = 0.0, max = 2}, {name = "v", kind = "bernoulli"},
        {name = "w", kind = "subgaussian", scale = 2},
    ]
    [problem]
    kind = "best-arm"
    """
    arms = load(study(text)).problem.arms
    assert arms[0] == sp.Arm("t", -5, 40)
    assert arms[1] == sp.Arm("u", 0, 2)
    assert arms[2] == sp.Arm("v", kind="bernoulli")
    assert arms[3] == sp.Arm("w", kind="subgaussian", scale=2)


def test_strata_table(study):
    path = study('arms = "strata.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 20\n', strata=STRATA)
    spec = load(path)
    assert spec.problem.sizes.tolist() == [100, 300, 50]
    assert spec.problem.arms[1] == sp.Arm("south", 0, 10)
    assert spec.theta().tolist() == [4, 2.25, 0]
    bounded = "stratum;N;variance;lower;upper\r\nn;100;4;2;5\r\n\r\ns;300;2;1;30\r\n"
    spec = load(study('arms = "t.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 20\n', t="\ufeff" + bounded))
    assert spec.problem.least.tolist() == [2, 1]
    assert spec.problem.most.tolist() == [5, 20]
    assert spec.theta().tolist() == [4, 2]
    assert spec.problem.arms[0] == sp.Arm("n", 0, 1)


def test_kinds_in_a_table(study):
    table = "arm,kind,scale,min,max\na,bernoulli,,,\nb,subgaussian,3,,\nc,bounded,,1,2\nd,,,0,5\n"
    spec = load(study('arms = "t.csv"\n[problem]\nkind = "best-arm"\n', t=table))
    assert [arm.kind for arm in spec.problem.arms] == ["bernoulli", "subgaussian", "bounded", "bounded"]
    assert spec.problem.arms[3].high == 5


def test_groups_and_edges_from_a_table(study):
    table = "name,group,u,v\na,x,1,2\nb,x,2,3\nc,y,1,3\n"
    spec = load(study('arms = "t.csv"\n[problem]\nkind = "best-of-each"\n', t=table))
    assert spec.problem.solve([0.1, 0.2, 0.3]).tolist() == [0, 1, 1]
    spec = load(study('arms = "t.csv"\n[problem]\nkind = "spanning-tree"\nsense = "min"\n', t=table))
    assert spec.problem.edges == [("1", "2"), ("2", "3"), ("1", "3")]
    assert spec.problem.solve([0.1, 0.2, 0.3]).tolist() == [1, 1, 0]


def test_edges_without_names(study):
    spec = load(study('[problem]\nkind = "spanning-tree"\nedges = [["a", "b"], ["b", "c"], ["a", "c"]]\n'))
    assert spec.problem.names == ["a-b", "b-c", "a-c"]


EDGES = "u,v,min,max\n1,2,0,10\n2,3,0,10\n1,3,0,40\n"


@pytest.mark.parametrize("kind", ["spanning-tree", "matching", "path"])
def test_edge_lists_need_no_names(study, kind):
    ends = "source = 1\ntarget = 3\n" if kind == "path" else ""
    spec = load(study(f'arms = "t.csv"\n[problem]\nkind = "{kind}"\nsense = "min"\n{ends}', t=EDGES))
    assert spec.problem.edges == [("1", "2"), ("2", "3"), ("1", "3")]
    assert spec.problem.arms == (sp.Arm("1-2", 0, 10), sp.Arm("2-3", 0, 10), sp.Arm("1-3", 0, 40))
    parallel = load(study(f'arms = "t.csv"\n[problem]\nkind = "{kind}"\n{ends}', t="u,v\n1,2\n1,2\n2,3\n"))
    assert parallel.problem.names == ["1-2", "1-2 #2", "2-3"]
    named = load(study(f'arms = "t.csv"\n[problem]\nkind = "{kind}"\n{ends}', t="name,u,v\na,1,2\nb,2,3\n"))
    assert named.problem.names == ["a", "b"]


def test_matching(study):
    text = '[problem]\nkind = "matching"\nedges = [["a", 1], ["a", 2], ["b", 1]]\n'
    assert load(study(text)).problem.solve([0.9, 0.1, 0.2]).tolist() == [0, 1, 1]
    assert load(study(text + "perfect = false\n")).problem.solve([0.9, 0.1, 0.2]).tolist() == [1, 0, 0]
    assert load(study(text + 'perfect = false\nsense = "min"\n')).problem.solve([0.9, 0.1, 0.2]).tolist() == [0, 0, 0]


def test_path(study):
    text = '[problem]\nkind = "path"\nsource = 1\ntarget = 3\nedges = [[1, 2], [2, 3], [1, 3]]\n'
    assert load(study(text)).problem.solve([0.3, 0.4, 0.8]).tolist() == [1, 1, 0]
    assert load(study(text + 'sense = "max"\n')).problem.solve([0.3, 0.4, 0.8]).tolist() == [0, 0, 1]


def test_program(study):
    text = 'arms = 3\n[problem]\nkind = "program"\nA = [[3, 4, 2], [1, 1, 1]]\n'
    problem = load(study(text)).problem
    assert problem.least.tolist() == [-float("inf")] * 2
    assert problem.most.tolist() == [float("inf")] * 2
    assert problem.levels.tolist() == [1, 1, 1]
    problem = load(study(text + 'upper = [6, inf]\nlower = ["-inf", 1]\nlevels = [1, 1, 3]\n')).problem
    assert problem.most.tolist() == [6, float("inf")]
    assert problem.least.tolist() == [-float("inf"), 1]
    assert problem.solve([0.5, 0.6, 0.4]).tolist() == [0, 0, 3]
    assert load(study(text + 'lower = 1\nsense = "min"\n')).problem.solve([0.5, 0.6, 0.3]).tolist() == [0, 0, 1]


def test_program_from_a_table(study):
    text = 'arms = "t.csv"\n[problem]\nkind = "program"\nA = ["weight", [1, 1, 0]]\nupper = [6, 1]\n'
    problem = load(study(text, t="name,Weight,levels\na,3,1\nb,4,1\nc,2,2\n")).problem
    assert problem.A.tolist() == [[3, 4, 2], [1, 1, 0]]
    assert problem.levels.tolist() == [1, 1, 2]
    assert problem.solve([0.5, 0.6, 0.3]).tolist() == [0, 1, 1]


def test_a_dict_may_come_from_json():
    data = {"arms": 2, "problem": {"kind": "program", "A": [[1, 1]], "lower": "-inf", "upper": 1}, "policy": "unified"}
    spec = StudySpec.from_dict(data)
    assert spec.problem.most.tolist() == [1]
    assert spec.explorer().certificate().rule == "unified"


def test_subsets(study):
    spec = load(study('arms = 3\n[problem]\nkind = "subsets"\ndecisions = [[1, 1, 0], [0, 0, 1.5]]\n'))
    assert spec.problem.solve([0.3, 0.4, 0.1]).tolist() == [1, 1, 0]


def test_costs(study):
    tables = '[problem]\nkind = "resource-plan"\nrequire = 2\ncaps = [2, 3]\ncost = [[0, 1, 4], [0, 2, 8, 18]]\n'
    problem = load(study(tables)).problem
    assert problem.reward([0, 0], [2, 1]) == -6
    power = (
        '[problem]\nkind = "resource-plan"\nrequire = 2\ncaps = [2, 3]\ncost = {kind = "power", factor = [1, 2], exponent = 2}\n'
    )
    assert load(study(power)).problem.reward([0, 0], [2, 1]) == -6
    concave = (
        '[problem]\nkind = "resource-plan"\nrequire = 1\ncaps = [4, 4]\ncost = {kind = "power", factor = 1.0, exponent = 0.5}\n'
    )
    assert not load(study(concave)).problem.convex
    sites = "site,cap,cost,exponent\np,2,1,2\nq,3,2,2\n"
    problem = load(study('arms = "t.csv"\n[problem]\nkind = "resource-plan"\nrequire = 2\n', t=sites)).problem
    assert problem.names == ["p", "q"]
    assert problem.reward([0, 0], [2, 1]) == -6


def test_worlds(study):
    beta = load(study(TOP + '[simulate]\nkind = "beta"\nmean = [0.1, 0.5, 0.9]\nconcentration = 3\n'))
    assert isinstance(beta.environment, Beta)
    assert beta.theta().tolist() == [0.1, 0.5, 0.9]
    gauss = """
    arms = [{name = "a", kind = "subgaussian", scale = 1}, {name = "b", kind = "subgaussian", scale = 2}]
    problem = {kind = "best-arm"}
    simulate = {kind = "gaussian", mean = [1, 5], sd = [1, 2]}
    """
    assert isinstance(load(study(gauss)).environment, Gaussian)
    replay = load(study(TOP + '[simulate]\nkind = "replay"\nfile = "d.csv"\n', d="arm,value\nc,1\na,0\nb,0.5\nc,0\n"))
    assert isinstance(replay.environment, Replay)
    assert replay.theta().tolist() == [0, 0.5, 0.5]
    voters = load(study(TOP + '[simulate]\nkind = "voter-model"\nsizes = [40, 30, 50]\nties = 4\nseed = 3\n'))
    assert isinstance(voters.environment, VoterModel)
    assert voters.environment.sizes.tolist() == [40, 30, 50]
    text = TOP + '[simulate]\nkind = "voter-model"\ngroups = ["a", "b", "b", "c"]\nedges = [[0, 1]]\ninnate = [1, 0, 1, 0.5]\n'
    assert load(study(text)).environment.means[2] == pytest.approx(0.5)
    strata = 'arms = "s.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 20\n[simulate]\nkind = "voter-model"\nties = 4\n'
    spec = load(study(strata, s="stratum,N\na,100\nb,60\n"))
    assert spec.environment.sizes.tolist() == [100, 60]


def test_truth_by_key_or_column(study):
    assert load(study("theta = [1, 0, 0.5]\n" + TOP)).theta().tolist() == [1, 0, 0.5]
    spec = load(study('arms = "t.csv"\n[problem]\nkind = "best-arm"\n', t="arm,mean\na,0.5\nb,0.25\n"))
    assert spec.theta().tolist() == [0.5, 0.25]
    with pytest.raises(StudyError, match=r"study\.toml, key theta: .*not known"):
        load(study(TOP)).theta()


def test_every_kind_has_keys():
    from surepick.environments import ENVIRONMENTS
    from surepick.problems import PROBLEMS
    from surepick.problems.registry import study_kinds

    assert set(study_kinds()) == set(PROBLEMS) - {"separable"}  # its rewards and its oracle are Python functions
    assert set(SIMULATE_KEYS) == set(ENVIRONMENTS)


def test_the_table_of_kinds_has_the_keys_of_every_class():
    from surepick import study
    from surepick.problems import PROBLEMS
    from surepick.problems.registry import study_kinds

    for kind in study_kinds():
        keys = PROBLEMS[kind].study_keys()
        row = re.search(rf"^{kind} +(.*)$", study.__doc__, re.MULTILINE).group(1)
        told, left_out = re.match(r"([^\[]*)(?:\[(.*?)\])?", row).groups()
        named = set(re.findall(r"\w+", (left_out or "")))
        assert {name for name, key in keys.items() if key.default is not NEEDED} - {"cost"} == named, kind
        assert {name for name in keys if name not in named} <= set(re.findall(r"\w+", told)), kind
        for key in keys.values():
            assert key.column is None or re.search(rf"\b{key.column}\b", row), kind


def test_observations_keep_their_order(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("value,stratum,who\n0.5,b,x\n0.25,a,y\n1,b,z\n")
    values = read_observations(read_table(path), sp.TopK(["a", "b", "c"], 1))
    assert [v.tolist() for v in values] == [[0.25], [0.5, 1], []]


@pytest.mark.parametrize(
    ("problem", "wanted"),
    [
        ('kind = "best-arm"\nsense = "min"\n', [0, 0, 1]),
        ('kind = "top-k"\nk = 2\nsense = "min"\n', [0, 1, 1]),
        ('kind = "best-of-each"\ngroups = ["x", "x", "y"]\nsense = "min"\n', [0, 1, 1]),
    ],
)
def test_the_smallest_and_an_epsilon_for_every_arm(study, problem, wanted):
    spec = load(study(f'arms = ["a", "b", "c"]\nepsilon = 0.1\nper_arm = true\n[problem]\n{problem}'))
    assert spec.problem.solve([0.9, 0.5, 0.1]).tolist() == wanted
    assert spec.per_arm
    assert spec.explorer().per_arm
