"""Estimates from stratified samples: figures by hand and over all samples, missing answers, and what is refused."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

import surepick as sp
from surepick.errors import SettingError, StudyError
from surepick.survey import estimate

FRAME = {"stratum": ["a", "b", "c"], "N": [40, 60, 20], "domain": ["x", "x", "y"]}
Y = {"a": [3.0, 5, 4, 8], "b": [1.0, 2, 2, 3, 7], "c": [10.0, 12]}
X = {"a": [1.0, 2, 1, 2], "b": [1.0, 1, 2, 1, 3], "c": [4.0, 3]}


def table(**columns):
    return {"stratum": [h for h, y in Y.items() for _ in y], **columns}


ANSWERS = table(y=[v for y in Y.values() for v in y], x=[v for x in X.values() for v in x])


def by_hand(values, N):
    """Cochran (1977), 5.6 and 5.7: the mean and the variance of the estimated total, stratum by stratum."""
    total, parts = 0.0, []
    for h, y in values.items():
        n, mean = len(y), sum(y) / len(y)
        total += N[h] * mean
        parts.append(N[h] ** 2 * (1 / n - 1 / N[h]) * sum((v - mean) ** 2 for v in y) / (n - 1))
    return total, parts


SIZES = dict(zip("abc", (40, 60, 20), strict=True))


def test_means_and_totals_by_hand():
    found = estimate(FRAME, ANSWERS, ["y"])
    total, parts = by_hand(Y, SIZES)
    mean, whole = found.find("y"), found.find("y", "total")
    assert (mean.what, mean.n, mean.missing, mean.method) == ("mean", 11, 0, "t")
    assert mean.estimate == pytest.approx(total / 120)
    assert mean.se == pytest.approx(math.sqrt(sum(parts)) / 120)
    assert (whole.estimate, whole.se) == pytest.approx((total, math.sqrt(sum(parts))))
    # Satterthwaite, as in Cochran 5.16: (sum g s^2)^2 / sum(g^2 s^4 / (n - 1)) with g s^2 the parts of the variance
    freedom = sum(parts) ** 2 / sum(v**2 / (len(y) - 1) for v, y in zip(parts, Y.values(), strict=True))
    assert mean.df == pytest.approx(freedom)
    half = student.ppf(0.975, freedom) * mean.se
    assert (mean.lower, mean.upper) == pytest.approx((mean.estimate - half, mean.estimate + half))
    plain = estimate(FRAME, ANSWERS, ["y"], df="n-H").find("y")
    assert plain.df == 8


def test_the_design_effect_by_hand():
    """R's survey, svymean(deff=TRUE): over svyvar * (N - n) / (N n), svyvar with the weights and n / (n - 1)."""
    found = estimate(FRAME, ANSWERS, ["y"])
    mean = found.find("y")
    w = np.repeat([10, 12, 10], [4, 5, 2])
    y = np.array(ANSWERS["y"])
    spread = (w * (y - mean.estimate) ** 2).sum() / 120 * 11 / 10
    assert mean.deff == pytest.approx(mean.se**2 / (spread * (120 - 11) / (120 * 11)))
    assert found.find("y", "total").deff == pytest.approx(mean.deff)


def test_ratios_by_hand():
    """Cochran 6.11, the combined ratio: the variance of sum w (y - R x) over the square of the total of x."""
    found = estimate(FRAME, ANSWERS, ratios=[("y", "x")]).find("y / x")
    R = by_hand(Y, SIZES)[0] / by_hand(X, SIZES)[0]
    left = {h: [v - R * u for v, u in zip(Y[h], X[h], strict=True)] for h in Y}
    assert found.estimate == pytest.approx(R)
    assert found.se == pytest.approx(math.sqrt(sum(by_hand(left, SIZES)[1])) / by_hand(X, SIZES)[0])


def test_domains_by_hand():
    found = estimate(FRAME, {**ANSWERS, "sex": list("mfmfmfmffmf")}, ["y"], by="sex")
    only = {h: Y[h] for h in "ab"}
    total, parts = by_hand(only, SIZES)
    inside = found.find("y", domain="x")
    assert (inside.estimate, inside.se) == pytest.approx((total / 100, math.sqrt(sum(parts)) / 100))
    # A domain that cuts across strata is a ratio to its estimated size.
    sex = np.array(list("mfmfmfmffmf")) == "f"
    places = np.split(sex, [4, 9])
    there = {h: [float(s) for s in part] for h, part in zip("abc", places, strict=True)}
    y = {h: [v * s for v, s in zip(Y[h], there[h], strict=True)] for h in Y}
    R = by_hand(y, SIZES)[0] / by_hand(there, SIZES)[0]
    left = {h: [(v - R) * s for v, s in zip(Y[h], there[h], strict=True)] for h in Y}
    women = found.find("y", domain="sex=f")
    assert women.n == int(sex.sum())
    assert women.estimate == pytest.approx(R)
    assert women.se == pytest.approx(math.sqrt(sum(by_hand(left, SIZES)[1])) / by_hand(there, SIZES)[0])
    assert women.always_lower is None


def test_shares_have_logit_intervals():
    yes = [1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1]
    found = estimate(FRAME, table(reads=yes)).find("reads")
    p, se = found.estimate, found.se
    half = student.ppf(0.975, found.df) * se / (p * (1 - p))
    centre = math.log(p / (1 - p))
    assert (found.what, found.method) == ("share", "logit")
    assert found.lower == pytest.approx(1 / (1 + math.exp(-(centre - half))))
    assert found.upper == pytest.approx(1 / (1 + math.exp(-(centre + half))))
    words = estimate(FRAME, table(reads=["yes" if y else "No" for y in yes])).find("reads")
    assert replace(words, always_lower=None, always_upper=None) == found
    nobody = estimate(FRAME, table(reads=[0] * 11)).find("reads")
    assert (nobody.lower, nobody.method) == (0, "all alike")
    assert nobody.upper == pytest.approx(1 - 0.025 ** (1 / 10))  # 120 people, the largest weight being 12


def test_no_standard_error_is_no_certainty():
    """The interval of shares without a standard error holds however those that were missed are spread over strata."""
    frame = {"stratum": ["big", "small"], "N": [900, 100]}
    found = estimate(frame, {"stratum": ["big"] * 5 + ["small"] * 50, "y": [0] * 55}).find("y")
    assert found.upper == pytest.approx(1 - 0.025 ** (1 / (1000 / 180)))
    ones = 0.9 * (1 - 0.025 ** (1 / 5))  # all in the big stratum: seen with no more than 97.5 %
    assert found.upper >= ones
    split = estimate(frame, {"stratum": ["big"] * 5 + ["small"] * 50, "y": [0] * 5 + [1] * 50}).find("y")
    assert (split.estimate, split.se, split.method) == (pytest.approx(0.1), pytest.approx(0, abs=1e-15), "all alike")
    assert split.upper == pytest.approx(0.1 + ones)
    assert split.lower == pytest.approx(0.1 - 0.1 * (1 - 0.025 ** (1 / 50)))


def test_numbers_that_are_all_alike_need_bounds():
    frame, seen = {"stratum": ["a"], "N": [1000]}, {"stratum": ["a"] * 20, "y": [3.3] * 20}
    bare = estimate(frame, seen)
    assert any("all answers of a stratum are alike" in note for note in bare.notes)
    found = estimate(frame, seen, bounds=(0, 10)).find("y")
    part = 1 - 0.025 ** (1 / 20)
    assert (found.lower, found.upper) == pytest.approx((3.3 - 3.3 * part, 3.3 + 6.7 * part))
    whole = estimate({"stratum": ["a"], "N": [20]}, seen)
    assert not any("alike" in note for note in whole.notes)


def test_a_domain_is_a_census_only_if_all_strata_are():
    frame = {"stratum": ["a", "b"], "N": [4, 100]}
    seen = {"stratum": ["a"] * 4 + ["b"] * 10, "sex": list("ffmm") + ["m"] * 10, "y": [1, 0, 1, 1] + [0, 1] * 5}
    none = {**seen, "y": [0] * 14}
    total = estimate(frame, none, ["y"], by="sex").find("y", "total", domain="sex=f")
    assert (total.lower, total.method) == (0, "all alike")
    assert total.upper == pytest.approx(100 * (1 - 0.025 ** (1 / 10)), rel=0.05)
    women = estimate(frame, seen, ["y"], by="sex").find("y", domain="sex=f")
    assert (women.estimate, women.se) == (0.5, 0)
    more = 100 * (1 - 0.025 ** (1 / 10))  # women of b who may have been missed
    assert (women.lower, women.upper) == pytest.approx((1 / (2 + more), (1 + more) / (2 + more)))


def test_over_all_samples_nothing_is_biased():
    """Of a small population, every sample that there is: the mean of the estimates, and of the variances that they give."""
    people = {"a": [1.0, 4, 6, 9], "b": [0.0, 0, 5, 3, 1]}
    frame = {"stratum": ["a", "b"], "N": [4, 5]}
    means, variances = [], []
    for one in itertools.combinations(people["a"], 2):
        for other in itertools.combinations(people["b"], 3):
            found = estimate(frame, {"stratum": list("aabbb"), "y": [*one, *other]}).find("y")
            means.append(found.estimate)
            variances.append(found.se**2)
    assert np.mean(means) == pytest.approx(sum(map(sum, people.values())) / 9)
    assert np.mean(variances) == pytest.approx(np.var(means))


def test_a_census_is_known():
    frame = {"stratum": ["a", "b"], "N": [2, 3]}
    found = estimate(frame, {"stratum": list("aabbb"), "y": [1, 0, 1, 1, 0]}, bounds=(0, 1)).find("y")
    assert (found.estimate, found.se, found.deff) == (0.6, 0, None)
    assert (found.always_lower, found.always_upper) == pytest.approx((0.6, 0.6))
    assert found.lower == pytest.approx(0.6)


# -- missing answers --------------------------------------------------------------------------------------------------------


def test_missing_answers_are_named_and_made_up_for_within_strata():
    holed = {**ANSWERS, "y": [None if i in (1, 5) else v for i, v in enumerate(ANSWERS["y"])]}
    found = estimate(FRAME, holed)
    left = {"a": [3.0, 4, 8], "b": [1.0, 2, 3, 7], "c": [10.0, 12]}
    total, parts = by_hand(left, SIZES)
    row = found.find("y")
    assert (row.estimate, row.se) == pytest.approx((total / 120, math.sqrt(sum(parts)) / 120))
    assert (row.n, row.missing) == (9, 2)
    assert any("y: 2 of 11 answers are missing (row 1, row 5" in note for note in found.notes)
    assert found.weights["y"].tolist() == pytest.approx([40 / 3, 0, 40 / 3, 40 / 3, 15, 0, 15, 15, 15, 10, 10])
    assert found.weights["x"].sum() == pytest.approx(120)
    assert list(found.weights_frame().columns[-2:]) == ["weight_y", "weight_x"]
    assert estimate(FRAME, ANSWERS).weights_frame()["weight"].sum() == pytest.approx(120)


def test_one_answer_of_a_stratum_is_said():
    lonely = {"stratum": list("aaabbc"), "y": [1.0, 2, 4, 5, 6, 30]}
    found = estimate(FRAME, lonely)
    assert any("one answer from c" in note for note in found.notes)
    assert found.find("y").se > 0


def test_a_lonely_stratum_has_no_part_in_domains_of_others():
    """Nor in the total of a domain of whole strata, which is so many times its mean."""
    lonely = {"stratum": list("aaabbcc"), "y": [1.0, 2, 4, 5, 6, 30, 33]}
    frame = {"stratum": list("abc"), "N": [40, 60, 20], "domain": list("xyz")}
    both = estimate(frame, lonely | {"stratum": list("aaabccc")})  # one answer from b
    for domain, people in (("all", 120), ("x", 40), ("y", 60), ("z", 20)):
        mean, total = both.find("y", domain=domain), both.find("y", "total", domain)
        assert (total.estimate, total.se) == pytest.approx((people * mean.estimate, people * mean.se))
        assert (total.lower, total.upper, total.deff) == pytest.approx((people * mean.lower, people * mean.upper, mean.deff))
    alone = estimate({"stratum": ["a"], "N": [40]}, {"stratum": list("aaa"), "y": [1.0, 2, 4]})
    assert both.find("y", "total", "x").se == pytest.approx(alone.find("y", "total").se)


@pytest.mark.parametrize(
    ("answers", "settings", "words"),
    [
        ({"stratum": ["a", "b"], "y": [1.0, 2.0]}, {}, ["no answer to 'y' from c", "merge"]),
        ({"stratum": ["a", "d"], "y": [1.0, 2.0]}, {}, ["row 1", "no stratum 'd'", "a, b, c"]),
        ({"stratum": ["c"] * 21, "y": [1.0] * 21}, {}, ["row 20", "21 answers and 20 people"]),
        ({"id": ["k", "l", "k"], "stratum": list("abc"), "y": [1.0, 2, 3]}, {}, ["row 2", "'k' has answered already", "row 0"]),
        ({"stratum": list("abc"), "y": ["u", "v", "w"]}, {}, ["no column holds answers"]),
        ({"y": [1.0]}, {}, ["no column stratum"]),
        ({"stratum": [], "y": []}, {}, ["no answers yet"]),
        (ANSWERS, {"variables": ["z"]}, ["no column 'z'", "'y'"]),
        (ANSWERS, {"by": "sex"}, ["no column 'sex'"]),
        (ANSWERS, {"bounds": {"y": (0, 5)}}, ["row 3", "8 lies outside the bounds 0 to 5"]),
        (ANSWERS, {"bounds": (5, 5)}, ["must be a pair"]),
        (ANSWERS, {"bounds": {"yy": (0, 20)}}, ["bounds names 'yy'", "'y'"]),
        (ANSWERS, {"ratios": [("y", "q")]}, ["ratios names 'q'", "'x'"]),
        (ANSWERS | {"y": [3, "five", *[4] * 9]}, {}, ["row 1", "'five' is not a number"]),
        (ANSWERS | {"y": ["1,500", *["2"] * 10]}, {}, ["row 0", "'1,500' may mean 1500 or 1.500"]),
        (ANSWERS | {"y": [1e160, *[4] * 10]}, {}, ["row 0", "too large"]),
        (ANSWERS | {"wave": [1, *["2026-01-02"] * 10]}, {}, ["'wave'", "all of one kind"]),
        (ANSWERS | {"wave": ["nan", *["1"] * 10]}, {}, ["'wave'", "all of one kind"]),
        (ANSWERS | {"date": ["2026-01-01T00:00:00+00:00", *["2026-01-02"] * 10]}, {}, ["'date'", "all of one kind"]),
        (ANSWERS, {"df": "n"}, ["df must be one of"]),
        (ANSWERS, {"delta": 1.5}, ["delta"]),
        (ANSWERS, {"planned": [1, 2]}, ["planned must be"]),
        (ANSWERS, {"planned": {"z": 2}}, ["'z'"]),
    ],
)
def test_what_is_refused(answers, settings, words):
    with pytest.raises((StudyError, SettingError)) as error:
        estimate(FRAME, answers, **settings)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_what_r_writes_for_a_missing_answer(tmp_path):
    """And columns of remarks, or of nothing, are no questions."""
    (tmp_path / "frame.csv").write_text('"stratum","N"\n"NA",400\n"EU",600\n')
    rows = ["NA,1,yes,A12,", "NA,NA,no,,", "EU,4,NA,44b,", "EU,5,yes,moved 3 times,", "NA,2,no,2026-01-02,", "EU,6,no,,"]
    (tmp_path / "answers.csv").write_text("\n".join(["stratum,kids,reads,remark,empty", *rows]) + "\n")
    found = estimate(tmp_path / "frame.csv", tmp_path / "answers.csv")
    assert {row.variable for row in found} == {"kids", "reads"}
    assert (found.find("kids").missing, found.find("reads").missing) == (1, 1)
    assert found.find("kids").estimate == pytest.approx(0.4 * 1.5 + 0.6 * 5)
    assert found.find("reads").always_lower is not None
    assert "Not used, since they hold no numbers: remark, empty." in found.notes


def test_a_ratio_to_nothing_is_said():
    found = estimate(FRAME, ANSWERS | {"x": [0] * 11}, ratios=[("y", "x")])
    assert not [row for row in found if row.what == "ratio"]
    assert "y / x, all: the total of x is 0 there, so that there is no ratio." in found.notes


def test_two_columns_of_one_name_and_plans_that_are_none(tmp_path):
    rows = "".join(f"{h},1,2\n" for h in ANSWERS["stratum"])
    (tmp_path / "answers.csv").write_text(f"stratum,y,y\n{rows}")
    with pytest.raises(StudyError, match="line 1, column 'y': two columns have this title"):
        estimate(FRAME, tmp_path / "answers.csv")
    for n in ("", "-3"):
        (tmp_path / "frame.csv").write_text(f"stratum,N,n\na,40,{n}\nb,60,3\nc,20,2\n")
        with pytest.raises(StudyError, match="line 2, column 'n': the interviews that were planned"):
            estimate(tmp_path / "frame.csv", ANSWERS, bounds=(0, 20))


def test_weights_beside_a_column_of_that_name():
    table = estimate(FRAME, ANSWERS | {"weight": [70.0] * 11}).weights_frame()
    assert table["weight"].tolist() == [70.0] * 11
    assert table["survey_weight"].sum() == pytest.approx(120)


def test_shares_of_people_are_no_sizes():
    with pytest.raises(StudyError, match=r"N = 0\.4 is no number of people"):
        estimate({"stratum": ["a", "b"], "N": [0.4, 0.6]}, {"stratum": list("aabb"), "y": [1.0, 2, 3, 4]})


# -- the command ------------------------------------------------------------------------------------------------------------


def test_surepick_estimate(ask, cli, tmp_path):
    (tmp_path / "frame.csv").write_text("stratum;N;domain\na;40;x\nb;60;x\nc;20;y\n")
    rows = [
        f"{h};{str(v).replace('.', ',')};{'mf'[i % 2]}"
        for i, (h, v) in enumerate(zip(ANSWERS["stratum"], ANSWERS["y"], strict=True))
    ]
    rows[3] = "a;;f"
    (tmp_path / "answers.csv").write_text("stratum;y;sex\n" + "\n".join(rows) + "\n")
    files = (tmp_path / "frame.csv", tmp_path / "answers.csv")
    answer = ask(
        "estimate", *files, "--by", "sex", "--bounds", "y=0:20", "--weights", tmp_path / "w.csv", "--out", tmp_path / "e.csv"
    )
    holed = {**ANSWERS, "y": [None if i == 3 else v for i, v in enumerate(ANSWERS["y"])], "sex": list("mfmfmfmfmfm")}
    found = estimate(FRAME, holed, ["y"], by="sex", bounds=(0, 20))
    assert answer["estimates"] == found.to_dict()["estimates"]
    assert (tmp_path / "w.csv").read_text().splitlines()[0] == "stratum,y,sex,weight"
    assert len((tmp_path / "e.csv").read_text().splitlines()) == 1 + len(found)
    code, out, err = cli("estimate", *files, "--bounds", "y=0:20")
    said = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "at every moment" in said
    assert "1 of 11 answers are missing (line 5;" in said
    assert "at every moment" not in cli("estimate", *files)[1].splitlines()[1]  # nothing to show
    for bad in (("--ratio", "y"), ("--bounds", "y=3"), ("--weights", files[1]), ("--df", "x")):
        assert cli("estimate", *files, *bad)[0] == 2
    code, out, err = cli("estimate", *files, "--weights", tmp_path / "no" / "w.csv")
    assert (code, out) == (2, "")
    assert "w.csv: No such file or directory" in err
    assert sp.survey.estimate is estimate


def test_yes_and_no_with_empty_cells(tmp_path):
    (tmp_path / "frame.csv").write_text("stratum,N\nnorth,400\nsouth,600\n")
    (tmp_path / "answers.csv").write_text("stratum,reads\nnorth,yes\nnorth,no\nsouth, Yes\nsouth,no\nsouth,\n")
    found = estimate(tmp_path / "frame.csv", tmp_path / "answers.csv").find("reads")
    assert found.estimate == pytest.approx(0.5)
    assert (found.n, found.missing) == (4, 1)
