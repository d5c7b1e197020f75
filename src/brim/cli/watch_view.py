"""How a watch is shown: drawn in place for a person, a line for each change otherwise, an object for scripts."""

from __future__ import annotations

import sys
import time

from brim.cli.gauge import draw, one_line
from brim.cli.output import note, say, terminal_width
from brim.cli.reading import UNTOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.cli.reading import Reading

PAUSE = 0.05
"""Seconds between two drawings at least: an eye follows no faster, and a long stream is not held up by its picture."""

MOST_COLUMNS = 100
"""A wider gauge is no easier to read."""


class View:
    """Shows every state it is given that differs from the one before."""

    def __init__(self) -> None:
        self._shown: dict[str, Any] | None = None

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def show(self, reading: Reading) -> None:
        """Show *reading*, unless nothing in it is new."""
        told = {key: value for key, value in reading.items() if key not in UNTOLD}
        if told != self._shown or reading["notices"]:
            self._shown = told
            self.change(reading)

    def change(self, reading: Reading) -> None:
        """Show *reading*, which is new."""

    def end(self, reading: Reading) -> None:
        """Show what is left to say at the end."""


class Lines(View):
    """One line for each change; warnings on standard error."""

    _line = ""

    def change(self, reading: Reading) -> None:
        """Print the line, and what is warned of."""
        line = one_line(reading)
        if self._line != line:
            self._line = line
            say(line)
            sys.stdout.flush()
        for told in reading["notices"]:
            note(told["text"])


class Objects(View):
    """One JSON object on one line for each change, or the last alone; warnings on standard error."""

    def __init__(self, *, once: bool) -> None:
        super().__init__()
        self._once = once

    def change(self, reading: Reading) -> None:
        """Print the object, and what is warned of."""
        self._say(reading)

    def end(self, reading: Reading) -> None:
        """Print the last one, if only that is wanted."""
        if self._once:
            self._say(reading)

    @staticmethod
    def _say(reading: Reading) -> None:
        import json

        say(json.dumps(reading))
        sys.stdout.flush()
        for told in reading["notices"]:
            note(told["text"])


class Once(View):
    """The whole state, when it is known."""

    def end(self, reading: Reading) -> None:
        """Print the gauge."""
        for line in draw(reading, terminal_width()):
            say(line.rstrip())


class OnScreen(View):
    """The gauge, in place."""

    def __init__(self) -> None:
        super().__init__()
        from brim.cli.screen import Screen

        self._screen = Screen()
        self._drawn_at = 0.0

    def __enter__(self) -> OnScreen:
        self._screen.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._screen.__exit__(*error)

    def show(self, reading: Reading) -> None:
        """Draw, unless that was a moment ago; whoever comes last is drawn at the end."""
        now = time.monotonic()
        if now - self._drawn_at >= PAUSE:
            self._drawn_at = now
            self._draw(reading)

    def end(self, reading: Reading) -> None:
        """Draw the last state, and leave it there."""
        self._draw(reading)

    def _draw(self, reading: Reading) -> None:
        from brim.cli.screen import size

        self._screen.draw(draw(reading, min(MOST_COLUMNS, size().columns)))


def view_for(*, as_json: bool, once: bool) -> View:
    """Return how to show it, where standard output leads now."""
    if as_json:
        return Objects(once=once)
    if once:
        return Once()
    return OnScreen() if sys.stdout is not None and sys.stdout.isatty() else Lines()
