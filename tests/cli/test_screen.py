"""The gauge of ``brim context --watch`` on a real terminal: drawn in place, as wide as that, and
gone calmly."""

from __future__ import annotations

import os
import re
import signal

from brim.cli.output import width_of
from tests.cli.conftest import Brim
from tests.cli.watched import Terminal, called


def test_the_gauge_fits_the_width_and_ends_with_ctrl_c(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 150_000))
    terminal = Terminal(brim, "context", "--watch", str(path), columns=40, rows=20)
    seen = terminal.until("filling up")
    assert "150,000 of 200,000 tokens" in seen
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 0
    lines = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.seen).replace("\r", "").split("\n")
    assert max(map(width_of, lines)) == 40
    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l"), (
        "the cursor is back"
    )
    assert "Traceback" not in terminal.seen


def test_it_is_drawn_in_place_and_follows_the_size(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    terminal = Terminal(brim, "context", "--watch", str(path), columns=80)
    terminal.until("20,000 of 200,000")
    with path.open("a") as file:
        file.write(called(2, 30_000))
    seen = terminal.until("30,000 of 200,000")
    assert re.search(r"\x1b\[\d+A\r", seen), "it goes up to where it began"
    terminal.resize(50, 30)
    terminal.until("\x1b[2J")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 0


def test_a_low_terminal_shows_what_fits(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    terminal = Terminal(brim, "context", "--watch", str(path), columns=80, rows=4)
    assert terminal.stop() == 0
    first = terminal.seen.split("\x1b[J")[0]
    assert first.count("\n") == 3


def test_a_warning_is_in_the_picture_and_nowhere_else(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 160_000))
    terminal = Terminal(brim, "context", "--watch", str(path))
    assert terminal.stop() == 0
    assert "! It is time to compact" in terminal.seen
    assert "brim: It is time" not in terminal.seen


def test_no_color_and_no_unicode_are_honoured(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 160_000))
    terminal = Terminal(
        brim, "context", "--watch", str(path), NO_COLOR="1", PYTHONIOENCODING="ascii"
    )
    assert terminal.stop() == 0
    assert "#####" in terminal.seen
    assert not re.search(r"\x1b\[\d+m", terminal.seen)
    assert terminal.seen.isascii()


def test_a_signal_to_end_gives_the_cursor_back(brim: Brim) -> None:
    path = brim.write("s.jsonl", called(1, 20_000))
    terminal = Terminal(brim, "context", "--watch", str(path))
    terminal.until("20,000")
    terminal.process.terminate()
    assert terminal.end() == 143
    assert terminal.seen.rstrip().endswith("\x1b[?25h")


def test_a_full_line_keeps_its_last_column(brim: Brim) -> None:
    """Behind the last column the cursor still stands on it: what clears the rest of the line would
    clear that too."""
    path = brim.write("s.jsonl", called(1, 20_000))
    terminal = Terminal(brim, "context", "--watch", str(path), columns=60)
    assert terminal.stop() == 0
    lines = [line for line in terminal.seen.split("\n") if "\u2591" in line]
    assert lines
    assert all(
        line.index("\x1b[K") < line.index("\u2591") and line.count("\x1b[K") == 1 for line in lines
    )
