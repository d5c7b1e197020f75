"""Draws docs/watch.png and docs/statusline.png from what a real terminal (tmux) shows: python -m
scripts.pictures

It needs tmux, Pillow, the font DejaVu Sans Mono, and for the status line Claude Code as `make e2e`
installs it. Claude Code talks to the model API of tests/e2e on this machine.

``python -m scripts.pictures ui`` takes pictures of the pages in light and dark, docs/ui-*.png, with
a chromium.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import join, quote
from typing import Any

from tests.e2e.agents import Claude
from tests.e2e.api import ModelApi
from tests.e2e.programs import program
from tests.e2e.script import Call, Say
from tests.e2e.world import BRIM, World
from tests.ui.browser import browser
from tests.ui.conftest import World as Home
from tests.ui.conftest import served

from brim.rules.inbox import Inbox

ROOT = Path(__file__).parent.parent
FONT = "DejaVuSansMono{}.ttf"
SIZE, MARGIN = 30, 32
MODEL, STATUS_MODEL = "claude-sonnet-4-5", "claude-opus-4-6"
READS, LOOKS = 3, 23
"""So many files are read, and so often the log is looked at, until it is time to compact."""
PAUSE = 4
"""Seconds between two turns: people are not faster."""
GROUND, PLAIN = "#1e222a", "#d8dee9"
BASIC = ("#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9")
FAINT = "#8a909c"
TRACK = "#2f3541"
OTHERS = {"⎿": "└", "⏵": "▸"}
"""Signs that the font does not have."""


class Terminal:
    """A terminal of its own, in which one command runs."""

    def __init__(self, folder: Path, command: str, *, columns: int, rows: int) -> None:
        self._socket = str(folder / "tmux")
        size = ("-x", str(columns), "-y", str(rows))
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, command)

    def _tmux(self, *words: str) -> str:
        return subprocess.check_output(["tmux", "-u", "-S", self._socket, *words], text=True)

    def shows(self, words: str) -> str:
        """Wait until it shows *words*; return everything that it shows, with its colours."""
        until = time.monotonic() + 60
        while words not in self._tmux("capture-pane", "-p"):
            if time.monotonic() > until:
                sys.exit(
                    f"the terminal never showed {words!r}:\n{self._tmux('capture-pane', '-p')}"
                )
            time.sleep(0.2)
        time.sleep(3)
        return self._tmux("capture-pane", "-e", "-p").rstrip()

    def screen(self) -> str:
        """Return everything that it shows now, with its colours."""
        return self._tmux("capture-pane", "-e", "-p")

    def type(self, words: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", words)
        time.sleep(0.5)
        self._tmux("send-keys", "Enter")

    def close(self) -> None:
        """End it, and what runs in it."""
        self._tmux("kill-server")


def watch(folder: Path) -> str:
    """Return what ``brim context --watch`` shows when it is time to compact."""
    with ModelApi() as api:
        world = World(folder, api)
        agent = Claude(program("claude") or "claude", world)
        lines = [
            f"2026-11-01 06:{n // 60:02}:{n % 60:02} loaded supplier {n} of batch {n % 7}\n"
            for n in range(1_200)
        ]
        log = world.write("import.log", "".join(lines))
        files = [world.write(f"suppliers/{n}.txt", "".join(lines[n:1_000])) for n in range(READS)]
        reads = [Call("Read", {"file_path": str(path)}) for path in files]
        api.will(
            *reads,
            *[agent.shell(f"tail -n 300 {log.name}")] * LOOKS,
            agent.write(log, "done\n"),
            Say(),
        )
        agent.model = MODEL
        ran = agent.ask("Why does the importer drop the last supplier?")
        if ran.code:
            sys.exit(ran.told)
        environ = {**world.environ, "TERM": "xterm-256color"}
        terminal = Terminal(
            folder,
            started(environ, [BRIM, "context", "--watch"], world.project) + " 2>/dev/null",
            columns=84,
            rows=24,
        )
        try:
            return "\x1b[2m$ brim context --watch\x1b[0m\n" + terminal.shows("time to compact")
        finally:
            terminal.close()


def started(environ: Mapping[str, str], command: list[str], folder: Path) -> str:
    """Return the shell's line that runs *command* in *folder* with no other variables than
    these."""
    variables = [f"{name}={value}" for name, value in environ.items()]
    return f"cd {quote(str(folder))} && exec env -i {join([*variables, *command])}"


def statusline(folder: Path) -> str:
    """Return what Claude Code shows at the end of three turns: its last lines each."""
    with ModelApi() as api:
        world = World(folder, api)
        agent = Claude(program("claude") or "claude", world)
        agent.install()
        accept_dialogs(world)
        environ = {**world.environ, **agent.environ(), "TERM": "xterm-256color"}
        command = started(
            environ,
            [agent.program, "--model", STATUS_MODEL, "--allowedTools", "Bash"],
            world.project,
        )
        terminal = Terminal(folder, command, columns=100, rows=40)
        try:
            terminal.shows("window 200,000")
            shown = []
            for asked, said, tokens, share in (
                ("Please look at the login.", "It is in src/app.py.", 86_425, "43%"),
                (
                    "Set its timeout to 45 seconds.",
                    "The timeout is 45 seconds now.",
                    144_210,
                    "72%",
                ),
                ("Add a test for it.", "The test for it passes.", 158_700, "79%"),
            ):
                api.will(agent.shell("true", tokens=tokens - 5_000), Say(said, tokens=tokens))
                terminal.type(asked)
                shown.append(last_turn(terminal.shows(share), asked))
                time.sleep(PAUSE)
            return "\n\x1b[0m\n".join(shown)
        finally:
            terminal.close()


def accept_dialogs(world: World) -> None:
    """Answer what Claude Code asks at its first start."""
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    accepted = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(world.project): trusted},
    }
    (world.home / ".claude" / ".claude.json").write_text(json.dumps(accepted))


def last_turn(shown: str, asked: str) -> str:
    """Return the lines from the last prompt on, without empty ones and without the client's own
    last line."""
    lines = shown.split("\n")
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    first = max(number for number, line in enumerate(bare) if asked in line)
    kept = [line for line, text in zip(lines[first:], bare[first:], strict=True) if text.strip()]
    return "\n".join(kept[:-1])


def draw(shown: str, path: Path) -> None:
    """Draw what a terminal shows, with its colours."""
    image_of(shown).save(path, optimize=True)


def image_of(shown: str, *, size: int = SIZE, margin: int = MARGIN, columns: int = 0) -> Any:
    """Return a picture of what a terminal shows, at least *columns* wide."""
    from PIL import Image, ImageDraw, ImageFont  # type: ignore[import-not-found,unused-ignore]

    plain, bold = (ImageFont.truetype(FONT.format(style), size) for style in ("", "-Bold"))
    wide, high = plain.getlength("█"), round(size * 1.25)
    state: dict[str, str | bool] = {}
    lines = [cells(line, state) for line in shown.split("\n")]
    columns = max(columns, *(len(line) for line in lines))
    width = round(columns * wide) + 2 * margin
    image = Image.new("RGB", (width, len(lines) * high + 2 * margin), GROUND)
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        for column, (sign, colour, is_bold) in enumerate(line):
            x, y = margin + column * wide, margin + row * high
            eighths = "▏▎▍▌▋▊▉█".find(sign) + 1
            if eighths or sign == "░":  # without gaps, as terminals do
                pen.rectangle((x, y + 4, x + wide, y + high - 6), TRACK)
                pen.rectangle(
                    (x, y + 4, x + wide * eighths / 8, y + high - 6), colour if eighths else TRACK
                )
            else:
                pen.text((x, y), OTHERS.get(sign, sign), colour, bold if is_bold else plain)
    return image


def cells(line: str, state: dict[str, str | bool]) -> list[tuple[str, str, bool]]:
    """Return the signs of a line, each with its colour and whether it is bold; *state* goes on from
    line to line."""
    found = []
    for code, sign in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
        if sign:
            colour = str(state.get("colour") or (FAINT if state.get("faint") else PLAIN))
            found.append((sign, colour, bool(state.get("bold"))))
        else:
            change(state, [int(number or 0) for number in code.split(";")])
    return found


def change(state: dict[str, str | bool], codes: list[int]) -> None:
    """Change how the next signs look."""
    while codes:
        code = codes.pop(0)
        if code == 0:
            state.clear()
        elif code in (1, 2, 22):
            state.update(bold=code == 1, faint=code == 2)
        elif code == 39:
            state.pop("colour", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            state["colour"] = BASIC[code % 10] if code != 90 else FAINT
        elif code == 38:
            state["colour"] = extended(codes)
        elif code == 48:
            extended(codes)


def extended(codes: list[int]) -> str:
    """Take a colour of 256 or of all from *codes*."""
    if codes.pop(0) == 2:
        red, green, blue = (codes.pop(0) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    number = codes.pop(0)
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#" + "".join(
        f"{steps[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6)
    )


def pages(folder: Path) -> None:
    """Take a picture of each page, in light and dark, after sessions were played through brim's
    hooks."""
    world = Home(folder)
    examples = ROOT / "examples"
    (world.home / ".brim").mkdir(exist_ok=True)
    shutil.copy(examples / "learned.toml", world.home / ".brim" / "rules.toml")
    world.brim("rules", "import", str(examples / "rules.md"), "--user", "--yes")
    world.brim("init", "--agent", "claude")
    world.brim("learn", "Use pnpm, not npm", "--block", "npm install")
    world.brim("limit", "20/day", "60/week")
    world.brim("limit", "--all", "200/month")
    now = time.time()
    earlier = (
        (6, "main", "Orders without a city stop the import"),
        (4, "export", "The export writes prices with a comma"),
        (3, "export", "Rows are exported twice after a retry"),
        (1, "fix-login", "The login forgets the language"),
    )
    for number, (days, branch, task) in enumerate(earlier, 10):
        told = {"number": number, "branch": branch, "task": task, "scale": 0.3 + 0.1 * days}
        old = world.story(begin=now - days * 86_400, **told)
        old.play()
        os.utime(old.path, (old.time, old.time))
    filling = world.story(
        begin=now - 900, number=2, branch="export", scale=0.8, task="The export of orders is slow"
    )
    filling.play(cut=True)
    for step in range(14):
        filling.run(f"git log -p -- src/export_{step}.py", 420, 200 + step)
    story = world.story(begin=now - 6_100, scale=0.82)
    story.play()
    correction = "The export must keep the order of the rows."
    Inbox(str(world.home / ".brim")).add("keep-order", correction, project=str(world.project))
    with served(world) as site, browser() as chrome:
        for scheme in ("light", "dark"):
            page = chrome.new_page(
                viewport={"width": 1000, "height": 640},
                locale="en-US",
                color_scheme=scheme,
                device_scale_factor=1.5,
            )
            page.goto(f"{site.origin}/?token={site.place.keys.token}")
            page.wait_for_url(f"{site.origin}/")
            page.locator("#live .bar").nth(1).wait_for()
            page.locator("#today .big").wait_for()
            taken = {
                "now": "/",
                "session": f"/session/{story.id}",
                "rules": "/rules",
                "money": "/money?by=branch",
            }
            for name, path in taken.items():
                if name != "now":
                    page.goto(f"{site.origin}{path}")
                    page.locator("h2").first.wait_for()
                if name == "rules":
                    page.get_by_label("It is told").fill("the export test fails, fix it and push")
                    page.get_by_role("slider").fill("200")
                    page.locator('#plan[data-tokens="200"]').wait_for()
                time.sleep(0.5)
                high = {"rules": 1_000, "session": 1_180}.get(name)
                size = (
                    {"clip": {"x": 0, "y": 0, "width": 1000, "height": high}, "full_page": True}
                    if high
                    else {}
                )
                page.screenshot(
                    path=ROOT / "docs" / f"ui-{name}-{scheme}.png",
                    **({"full_page": True} | size),  # type: ignore[arg-type]
                )
            page.close()


PICTURES: Mapping[str, Callable[[Path], str]] = {"watch": watch, "statusline": statusline}

if __name__ == "__main__":
    for name in sys.argv[1:] or (*PICTURES, "ui"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "ui":
                pages(Path(folder))
                continue
            draw(PICTURES[name](Path(folder)), ROOT / "docs" / f"{name}.png")
