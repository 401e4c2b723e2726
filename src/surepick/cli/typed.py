"""What typer raises when a command is typed wrongly: the fence around the class that typer does not name.

Every such complaint derives from one class, which knows its sentence (``format_message``) and how to print it (``show``): the
``ClickException`` of click, or of the copy of click within typer. Of all that derives from it only ``BadParameter`` is public. So
it is found among the ancestors of that one, by what it can do.

Seen so in typer 0.29, and in older ones that use click. Where there is no such ancestor, ``BadParameter`` itself is caught.
"""

from __future__ import annotations

from typing import cast

import typer

Typed: type[typer.BadParameter] = cast(
    "type[typer.BadParameter]",
    [cls for cls in typer.BadParameter.__mro__ if hasattr(cls, "format_message") and hasattr(cls, "show")][-1],
)
