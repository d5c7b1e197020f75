"""Records docs/brim.gif, what README opens with: python -m scripts.film

A real Claude Code in a real terminal (tmux) with brim's installed hooks, and a scripted model on
this machine: a call that breaks a rule is stopped, a compaction gives back what its summary lost,
and a limit ends a turn. Waiting is cut out; what the screen shows is not touched.

It needs what ``scripts.pictures`` needs.
"""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.agents import Claude
from tests.e2e.api import ModelApi
from tests.e2e.programs import program
from tests.e2e.script import Say
from tests.e2e.world import World

from scripts.pictures import ROOT, Terminal, accept_dialogs, image_of, started

COLUMNS, ROWS = 100, 26
LETTERS = 13
"""Height of a letter in pixels."""
MODEL = "claude-opus-4-6"
EVERY = 0.1
"""Seconds between two looks at the screen."""
LONGEST = 0.2
"""Seconds that a screen stays while the agent works; the rest of the wait is cut out."""
TO_READ = 2.5
"""Seconds for what a person should read."""
WAITING = re.compile(r"^(?:\x1b\[[0-9;]*m)*[·✢✳✶✻✽*⎿ ]+.*(?:…|Tip:).*$", re.MULTILINE)
"""The lines that only say that the agent works: they change ten times a second."""
COLOURS = 32


class Film:
    """What a terminal showed: each screen that differs from the one before, and for how long."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.screens: list[tuple[str, float]] = []
        self._is_over = threading.Event()

    def record(self) -> None:
        """Look at the screen until the film is over."""
        while not self._is_over.wait(EVERY):
            self.look()

    def look(self, seconds: float = EVERY) -> None:
        """Add what the screen shows now."""
        shown = self.terminal.screen()
        if not self.screens or without_waiting(self.screens[-1][0]) != without_waiting(shown):
            self.screens.append((shown, seconds))
            return
        before = self.screens[-1][1]
        self.screens[-1] = (shown, min(before + seconds, max(before, LONGEST)))

    def hold(self) -> None:
        """Let the last screen stay until it's read."""
        shown = self.screens[-1][0]
        self.screens[-1] = (shown, TO_READ)

    def end(self) -> None:
        self._is_over.set()


def without_waiting(shown: str) -> str:
    """Return a screen without colours and without what changes while nothing happens."""
    return re.sub(r"\x1b\[[0-9;]*m", "", WAITING.sub("", shown))


@contextmanager
def recorded(terminal: Terminal) -> Iterator[Film]:
    """Record *terminal* in the background."""
    film = Film(terminal)
    thread = threading.Thread(target=film.record)
    thread.start()
    try:
        yield film
    finally:
        film.end()
        thread.join()


def play(folder: Path) -> Film:
    """Play the session and return its film."""
    with ModelApi() as api:
        world = World(folder, api)
        agent = Claude(program("claude") or "claude", world)
        agent.install()
        world.learn("Use pnpm, not npm.")
        world.brim("limit", "1/session")
        world.write("package.json", '{"name": "shop"}\n')
        world.write("node_modules/.bin/pnpm", "#!/bin/sh\necho '+ chart.js 4.5.0'\n").chmod(0o755)
        accept_dialogs(world)
        path = f"{world.project}/node_modules/.bin:{world.environ['PATH']}"
        environ = {**world.environ, **agent.environ(), "TERM": "xterm-256color", "PATH": path}
        options = ["--model", MODEL, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
        command = started(environ, [agent.program, *options], world.project)
        terminal = Terminal(folder, command, columns=COLUMNS, rows=ROWS)
        try:
            terminal.shows("window 200,000")
            with recorded(terminal) as film:
                act(terminal, film, api, agent)
            return film
        finally:
            terminal.close()


def act(terminal: Terminal, film: Film, api: ModelApi, agent: Claude) -> None:
    """Type three prompts and a compaction, and wait for what brim does."""
    app = agent.world.project / "src" / "chart.js"
    api.will(
        agent.shell("npm install chart.js", tokens=31_000),
        agent.shell("pnpm add chart.js", tokens=31_500),
        agent.write(app, "import { Chart } from 'chart.js'\n", tokens=32_000),
        Say("chart.js is there, and src/chart.js draws the sales.", tokens=33_000),
    )
    terminal.type("Draw the sales with chart.js. Never touch src/legacy.")
    terminal.shows("draws the sales.")
    film.hold()
    terminal.type("/compact")
    terminal.shows("Compacted")
    film.hold()
    api.will(Say("Understood: src/legacy stays as it is.", tokens=20_000))
    terminal.type("Go on with the tests.")
    terminal.shows("stays as it is")
    film.hold()
    api.will(
        agent.shell("true", tokens=80_000),
        *[agent.shell("true", tokens=130_000)] * 4,
        *[Say("The tests are written; the docs aren't.", tokens=130_000)] * 3,
    )
    terminal.type("And the docs.")
    terminal.shows("of $1.00 spent")
    film.hold()


def save(film: Film, path: Path) -> None:
    """Write the film as an animated GIF."""
    frames: list[Any] = []
    for shown, _ in film.screens:
        image = image_of(shown, size=LETTERS, margin=12, columns=COLUMNS)
        frames.append(image.quantize(COLOURS))
    times = [round(seconds * 1000) for _, seconds in film.screens]
    first, *rest = frames
    first.save(path, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    print(f"{path}: {sum(times) / 1000:.0f} s, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        film = play(Path(folder))
    save(film, ROOT / "docs" / "brim.gif")
    print(f"played in {time.monotonic() - began:.0f} s, {len(film.screens)} screens")
