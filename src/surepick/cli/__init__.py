"""The command line. Heavy packages are imported inside the commands, so that ``surepick --help`` answers at once."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .. import __version__
from ..engine import start
from ..errors import SurepickError
from . import allocate, check, compare, demo, estimate, evaluate, hardness, paper, plan, run, simulate, studies, wave
from .talk import fail
from .typed import Typed

app: typer.Typer = typer.Typer(
    name="surepick",
    help="The best combination from noisy samples, with a guarantee and as few samples as possible.",
    epilog="FILE is a study file in TOML. `surepick demo` writes one that you can edit.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("evaluate")(evaluate.evaluate)
app.command("allocate")(allocate.allocate)
app.command("plan")(plan.plan)
app.command("wave")(wave.wave)
app.command("estimate")(estimate.estimate)
app.command("hardness")(hardness.hardness)
app.command("simulate")(simulate.simulate)
app.command("paper")(paper.paper)
app.add_typer(studies.app, name="study")


def main(argv: list[str] | None = None) -> None:
    """Run a command. Ends with exit code 0, 2 for anything that is wrong with the input, or 130 after Ctrl-C."""
    args = sys.argv[1:] if argv is None else argv
    as_json = "--json" in args
    start.spoken = not as_json
    try:
        code = app(args=args, prog_name="surepick", standalone_mode=False)
    except SurepickError as error:
        code = fail(type(error).__name__, str(error), as_json, error.key)
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        code = fail("OSError", f"{error.filename}: {error.strerror}; check the path and your rights there.", as_json)
    except KeyboardInterrupt:
        code = 130
    except Typed as error:
        if as_json:
            code = fail("UsageError", error.format_message(), as_json)
        else:
            error.show()
            code = 2
    except typer.Abort:
        code = 130
    sys.exit(code)
