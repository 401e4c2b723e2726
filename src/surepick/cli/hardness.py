"""surepick hardness: how many samples a study needs if its truth is known."""

from __future__ import annotations

import math

from .talk import ROWS, AsJson, File, about, emit, number, plain, plain_list, say, table


def hardness(file: File, as_json: AsJson = False) -> None:
    """Say how many samples a study with a known truth takes.

    The truth comes from the [simulate] table, from theta = [...], or from the columns of the CSV table of arms.
    """
    from ..difficulty import hardness as measure
    from ..errors import ParameterError, StudyError
    from ..study import load

    spec = load(file)
    theta = spec.theta()
    try:
        result = measure(spec.problem, theta)
    except ParameterError as error:
        raise StudyError(f"{file}, key theta: {error}") from None
    decision = spec.problem.solve(theta)
    tie = result.radius.min() == 0
    shares, least = result.proportions, result.lower_bound(spec.delta)
    cheapest = result.lower_bound_cost(spec.delta) if spec.problem.priced else None
    policies = {
        name: {
            "expected": result.expected(spec.delta, policy=name),
            "upper_bound": result.upper_bound(spec.delta, policy=name),
        }
        for name in ("coci", "uniform")
    }
    if as_json:
        emit(
            {
                "file": str(file),
                "title": spec.title,
                "problem": spec.problem.kind,
                "delta": spec.delta,
                "arms": [str(name) for name in spec.problem.names],
                "theta": plain_list(theta),
                "decision": decision.tolist(),
                "radius": plain_list(result.radius),
                "gap": None if result.gap is None else plain_list(result.gap),
                "width": result.width,
                "H": plain(result.H),
                "H_uniform": plain(result.H_uniform),
                "H_gap": plain(result.H_gap),
                "characteristic_time": plain(result.characteristic_time),
                "proportions": None if shares is None else plain_list(shares),
                "lower_bound": plain(least),
                **({"lower_bound_cost": plain(cheapest)} if spec.problem.priced else {}),
                "samples": {name: {key: plain(x) for key, x in row.items()} for name, row in policies.items()},
            }
        )
        return
    if spec.title:
        say(spec.title, "bold")
    extra = {"gap Δ": result.gap, "share w*": shares}
    shown = {name: column for name, column in extra.items() if column is not None}
    order = result.radius.argsort(kind="stable")[:ROWS]
    table(
        ["arm", spec.problem.parameter.name, "decision", "radius Λ", *shown],
        [
            (
                str(spec.problem.names[i]),
                number(theta[i]),
                f"{decision[i]:g}",
                _size(result.radius[i]),
                *(_size(column[i]) if name != "share w*" else f"{column[i]:.4f}" for name, column in shown.items()),
            )
            for i in order
        ],
    )
    if len(order) < spec.problem.m:
        say(f"{spec.problem.m - len(order):,} easier arms are not shown; --json has them all.")
    say(f"H = {_figure(result.H)}, H for uniform sampling = {_figure(result.H_uniform)}" + _linear(result.H_gap, result.width))
    sure = f"{100 * (1 - spec.delta):.10g} %"
    table(
        ["policy", "expected samples", f"at most, with {sure} probability"],
        [(name, about(row["expected"]), _whole(row["upper_bound"])) for name, row in policies.items()],
    )
    if least is not None and math.isfinite(least):
        ends = " when values are at the ends of the arms' bounds" if any(a.kind == "bounded" for a in spec.problem.arms) else ""
        time = _figure(result.characteristic_time or 0.0)
        say(f"T* = {time}: no algorithm takes fewer than {_whole(least)} samples on average{ends}.")
    if cheapest is not None and math.isfinite(cheapest):
        say(f"C* = {_figure(result.characteristic_cost or 0.0)}: no algorithm spends less than {_whole(cheapest)} on average.")
    if tie and not spec.problem.finite:
        say("The best decision is not unique: no number of samples tells the best ones apart. Set epsilon or a budget.", "yellow")


def _size(x: float) -> str:
    return "never changes" if x == float("inf") else number(x)


def _figure(x: float) -> str:
    """An exact measure, unlike an expectation, which is rough."""
    return "∞" if math.isinf(x) or x > 1e18 else f"{x:,.1f}" if x < 1e5 else f"{x:,.0f}"


def _whole(x: float) -> str:
    return "∞" if math.isinf(x) else f"{math.ceil(x):,}"


def _linear(H_gap: float | None, width: int | None) -> str:
    return ("" if H_gap is None else f", H by gaps = {_figure(H_gap)}") + ("" if width is None else f", width = {width}")
