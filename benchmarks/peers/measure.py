"""One measurement in a process and on a core of its own: ``measure.py MODULE NUMBER [TASK]`` prints lines of JSON.

NUMBER counts the module's rules if a task is given, which takes all its runs there, and else its methods, which are given all
surveys. Time is that of the processor, so that other work on the machine matters little. A method that takes longer than the
limit, by the clock on the wall, ends the process: the signal's default action also ends compiled code. (A limit on processor
time would be fairer, but it can make the clock of the processor coarse.)
"""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
from importlib import import_module
from importlib.metadata import version

from instances import TASKS, Method, Rule, Survey, Task, surveys

LIMIT = 30  # seconds for one split of interviews
ENOUGH = 1.0  # seconds after which a split is not repeated


def explore(rule: Rule, task: Task) -> None:
    """Samples, seconds and mistakes of every run."""
    runs = range(rule.runs[task.name])
    record: dict[str, list[float]] = {"samples": [], "seconds": [], "wrong": []}
    if rule.package == "surepick":
        rule.find(task, 0)  # compile
    for run in runs:
        if rule.prepare is not None:
            rule.prepare(task, run)
        start = time.process_time()
        samples, chosen = rule.find(task, run)
        record["seconds"].append(time.process_time() - start)
        record["samples"].append(samples)
        record["wrong"].append(task.wrong(chosen, rule.epsilon))
    print(json.dumps(record), flush=True)


def split(method: Method, survey: Survey) -> None:
    """Seconds of a split, the median of up to 25, and how good it is."""
    signal.alarm(LIMIT)
    call = method.prepare(survey)
    times: list[float] = []
    while len(times) < 25 and sum(times) < ENOUGH:
        signal.alarm(LIMIT)
        start = time.process_time()
        try:
            y = call()
        except ValueError as refusal:
            print(json.dumps({"survey": survey.name, "refused": str(refusal)}), flush=True)
            return
        times.append(time.process_time() - start)
    signal.alarm(0)
    report = {
        "survey": survey.name,
        "seconds": statistics.median(times),
        "sum": int(y.sum()),
        "bounds": survey.within_bounds(y),
        "best": survey.is_best(y),
        "variance": survey.variance(y),
    }
    print(json.dumps(report), flush=True)


def main(name: str, number: str, task: str = "") -> None:
    try:
        way = getattr(import_module(name), "RULES" if task else "METHODS")[int(number)]
        import_module(way.needs)
        print(json.dumps({"package": way.package, "version": version(way.package)}), flush=True)
        if task:
            explore(way, TASKS[task])
        else:
            for survey in surveys():
                split(way, survey)
    except ImportError as problem:
        print(json.dumps({"missing": str(problem)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
