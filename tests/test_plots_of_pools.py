"""Pictures of candidates on shared items: what they show, and that they can be saved whatever the candidates are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

import surepick as sp
from surepick.cli import main
from surepick.errors import SettingError
from surepick.lab import evaluations, intervals, ranks, save, standings
from surepick.lab.plots.rows import IN, OPEN, OUT
from surepick.lab.plots.standings import MOST

from .test_paired_intervals import judged, responses


@pytest.fixture(scope="module")
def partly() -> sp.Explorer:
    """One who leads and one who may, both undecided, and one who is out."""
    table = responses(np.random.default_rng(3), 3, 300, 1.2)
    table[1] = table[0]
    table[1, ::12] = 1 - table[1, ::12]
    return judged(table, [120, 120, 60], sp.BestArm(["ant", "bee", "cat"]))


def png(path: Path) -> None:
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 5000


def texts(axes: object) -> list[str]:
    return [t.get_text() for t in axes.texts]


def test_standings_show_differences_in_points(partly: sp.Explorer) -> None:
    axes, found = standings(partly, title="T").axes[0], partly.standings()
    assert [t.get_text() for t in axes.get_yticklabels()] == ["ant", "bee", "cat"]
    ends = {tuple(np.round(s[:, 0], 6)) for c in axes.collections for s in c.get_segments()}
    assert ends == {tuple(np.round([100 * a, 100 * b], 6)) for a, b in zip(found.lower, found.upper, strict=True)}
    dots = {line.get_label(): line.get_xdata().tolist() for line in axes.lines if not line.get_label().startswith("_")}
    assert dots == {OPEN.label: pytest.approx((100 * found.difference[:2]).tolist()), OUT.label: [100 * found.difference[2]]}
    said = [f"{100 * x:+.1f}".replace("-", "−") for x in found.difference[1:]]
    assert texts(axes) == ["difference", "items", "leads", "120", said[0], "120", said[1], "60"]
    assert "difference to ant, in points" in axes.get_xlabel()
    assert "95 %, a statement beside that of the certificate" in axes.get_xlabel()
    assert axes.get_title(loc="left").replace("\n", " ") == str(partly.certificate())


@pytest.mark.parametrize("longest", [1, 12, 60])
def test_captions_do_not_run_into_what_stands_at_the_right(longest: int) -> None:
    """Whatever candidates are called, and however long the caption is."""
    names = [f"{i}".ljust(longest, "x") for i in range(4)]
    table = responses(np.random.default_rng(3), 4, 90, 1.2)
    for counts in ([90] * 4, [60, 60, 30, 9]):
        ex = judged(table, counts, sp.BestArm(names))
        for figure in (standings(ex), evaluations(ex), intervals(ex.certificate())):
            figure.canvas.draw()
            axes = figure.axes[0]
            caption = axes.get_title(loc="left")
            said = next(one for one in axes.findobj(Text) if one.get_text() == caption).get_window_extent()
            assert said.x1 <= figure.bbox.x1
            heads = [text.get_window_extent() for text in axes.texts if text.get_text()]
            assert heads
            assert not any(said.overlaps(head) for head in heads)


def test_standings_where_small_scores_are_looked_for() -> None:
    table = 60 * (1 - responses(np.random.default_rng(4), 3, 200, 0.8))
    ex = judged(table, [150, 150, 40], sp.TopK([sp.Arm(name, high=60) for name in ("a", "b", "c")], 1, sense="min"))
    axes = standings(ex).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b", "c"]
    assert "in units of the score" in axes.get_xlabel()
    assert texts(axes)[-2].startswith("+")


def test_standings_say_who_was_the_last_one_chosen() -> None:
    table = responses(np.random.default_rng(6), 6, 200, 0.4)
    axes = standings(judged(table, [100, 200, 200, 150, 150, 10], sp.TopK(6, 2))).axes[0]
    assert "difference to arm 1, the last one chosen, in points" in axes.get_xlabel()
    assert texts(axes)[4:6] == ["last in", "200"]
    groups = standings(judged(table, [200] * 6, sp.BestOfEach(6, [0, 1] * 3))).axes[0]
    assert "difference to the one chosen of its group" in groups.get_xlabel()
    assert texts(groups).count("leads") == 2


def test_what_does_not_fit_has_an_arrow() -> None:
    """Most candidates are known well, and one hardly: its interval does not set the scale."""
    table = responses(np.random.default_rng(5), 5, 400, 0.1)
    ex = judged(table, [399, 399, 399, 399, 5])
    axes, found = standings(ex).axes[0], ex.standings()
    left, right = axes.get_xlim()
    assert 100 * found.lower[4] < left
    assert {line.get_marker() for line in axes.lines if not line.get_clip_on()} <= {"<", ">"}
    assert [line.get_ydata().tolist() for line in axes.lines if line.get_marker() == "<"] == [[4]]
    assert (100 * found.lower[:4] >= left).all()
    assert (100 * found.upper[:4] <= right).all()


def test_evaluations_show_every_count(partly: sp.Explorer) -> None:
    axes = evaluations(partly, title="T").axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["ant", "bee", "cat"]
    widths = {group.get_label(): [bar.get_width() for bar in group] for group in axes.containers}
    hollow = [bars for label, bars in widths.items() if label.startswith("_")]
    assert hollow == [[300, 300, 300]]
    assert widths[OPEN.label] == [120, 120]
    assert widths[OUT.label] == [60]
    assert texts(axes) == ["120  (40.0 %)", "120  (40.0 %)", "60  (20.0 %)"]
    said = axes.get_title(loc="left").replace("\n", " ")
    assert said == f"300 of 900 evaluations (33.3 %). {partly.certificate()}"
    assert axes.get_xlim() == (0, 300)
    again = evaluations(partly.certificate()).axes[0]
    assert texts(again) == texts(axes)


def test_evaluations_say_what_they_cost() -> None:
    ex = judged(np.ones((2, 10)), [10, 4], sp.BestArm([sp.Arm("a", cost=3), sp.Arm("b", cost=0.5)]))
    assert "at a cost of 32 of 35 (91.4 %)" in evaluations(ex).axes[0].get_title(loc="left").replace("\n", " ")
    said = evaluations(ex.certificate()).axes[0].get_title(loc="left").replace("\n", " ")
    assert said.startswith("14 of 20 evaluations (70.0 %), at a cost of 32. ")


def test_evaluations_need_a_pool() -> None:
    for of in (sp.Explorer(sp.BestArm(2)), sp.Explorer(sp.BestArm(2)).certificate()):
        with pytest.raises(SettingError, match=r"make the explorer with pool=.* lab\.samples"):
            evaluations(of)
    with pytest.raises(SettingError, match="make the explorer with pool="):
        standings(sp.Explorer(sp.BestArm(2)))


@pytest.mark.parametrize("m", [1, 2, 40, 100])
def test_any_number_of_candidates(tmp_path: Path, m: int) -> None:
    names = [f"a rather long name that would not fit beside a picture, number {i} $" for i in range(m)]
    counts = [max(60 - i, 3) for i in range(m)]
    ex = judged(responses(np.random.default_rng(m), m, 60, 0.02), counts, sp.TopK(names, 1))
    for draw in (standings, evaluations):
        figure = draw(ex, title="A title that is so long that it has to be broken into several lines to fit the picture")
        axes = figure.axes[0]
        assert len(axes.get_yticks()) == min(m, MOST)
        said = axes.get_title(loc="left").replace("\n", " ")
        assert ("60 candidates are not shown" in said) == (m == 100)
        png(save(figure, tmp_path / "x.png"))
    if m == 100:
        assert said.endswith("judged on 3 to 20 items each.")
        shown = {t.get_text()[-12:] for t in standings(ex).axes[0].get_yticklabels()}
        assert shown == {t.get_text()[-12:] for t in axes.get_yticklabels()}  # those who held out longest


def test_nobody_who_is_chosen_is_hidden() -> None:
    """Decided at once, and so judged on few items."""
    counts = [30] + [100] * 60
    table = responses(np.random.default_rng(0), 61, 200, 0.0)
    table[0], table[1:, :] = 1.0, table[1:, :] * (np.arange(200) % 2)
    ex = judged(table, counts)
    assert ex.decision[0] == 1
    for draw in (standings, evaluations):
        axes = draw(ex).axes[0]
        assert "arm 0" in [t.get_text() for t in axes.get_yticklabels()]
        assert axes.get_legend_handles_labels()[1][0] in (IN.label, OPEN.label)


def test_nothing_known_and_all_known(tmp_path: Path) -> None:
    for n in (0, 20):
        ex = judged(responses(np.random.default_rng(1), 3, 20, 1.0), [n] * 3)
        axes = standings(ex).axes[0]
        assert texts(axes)[3] == f"{n}"
        assert texts(axes)[4] == ("–" if n == 0 else f"{100 * ex.standings().difference[1]:+.1f}".replace("-", "−"))
        for draw in (standings, evaluations):
            png(save(draw(ex), tmp_path / "x.png"))


def test_commands_save_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    table = responses(np.random.default_rng(2), 3, 30, 1.0)
    rows = [f"{'abc'[i]},{j},{table[i, j]:g}" for i in range(3) for j in range(30)]
    Path("scores.csv").write_text("\n".join(["model,item,score", *rows]) + "\n")
    study = 'arms = ["a", "b", "c"]\n[problem]\nkind = "best-arm"\n[pool]\nitems = 30\n'
    Path("study.toml").write_text(study + '[simulate]\nkind = "scores"\nfile = "scores.csv"\n')
    for arguments in (["run", "study.toml"], ["check", "study.toml", "scores.csv"]):
        folder = tmp_path / arguments[0]
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--plot", str(folder)])
        assert not ended.value.code
        said = capsys.readouterr().out
        for name in ("standings.png", "evaluations.png"):
            png(folder / name)
            assert f"Saved {folder / name}" in said


def test_ranks_of_a_leaderboard(tmp_path: Path) -> None:
    table = responses(np.random.default_rng(4), 70, 40, 0.1)
    board = sp.Explorer(sp.Ranking([f"model {i}" for i in range(70)]), pool=sp.Pool(40), budget=2000)
    sp.explore(board, sp.Scores(table), batch=70)
    figure = ranks(board.certificate(), title="T")
    axes = figure.axes[0]
    assert len(axes.get_yticklabels()) == 60
    assert "The 10 arms behind these are not shown." in axes.get_title(loc="left").replace("\n", " ")
    save(figure, tmp_path / "ranks.png")
    png(tmp_path / "ranks.png")
    done = sp.explore(sp.Ranking(2), sp.Scores([[1, 1, 1], [0, 0, 0]])).certificate
    labels = [text.get_text() for text in ranks(done).legends[0].get_texts()]
    assert labels == ["rank is certain"]
    with pytest.raises(SettingError, match="of a ranking"):
        ranks(sp.explore(sp.BestArm(2), sp.Scores([[1, 1], [0, 0]])).certificate)
