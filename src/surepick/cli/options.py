"""Options that several commands have: the settings of a study, which they replace."""

from __future__ import annotations

from typing import Annotated

import typer

Epsilon = Annotated[float | None, typer.Option(help="Stop when within this of the best.", show_default=False)]
Relative = Annotated[bool | None, typer.Option(help="Epsilon is a share of the best.", show_default=False)]
PerArm = Annotated[bool | None, typer.Option(help="Epsilon is for every chosen arm.", show_default=False)]
Budget = Annotated[int | None, typer.Option(help="Samples of a run at most.", show_default=False)]
CostBudget = Annotated[float | None, typer.Option(help="Cost of a run at most.", show_default=False)]
Dependent = Annotated[bool | None, typer.Option(help="Arms may depend on each other.", show_default=False)]
Seed = Annotated[int | None, typer.Option(help="Seed of the simulation.", min=0, show_default=False)]
