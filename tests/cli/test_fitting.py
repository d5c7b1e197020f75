"""On a terminal a table is as wide as the terminal; in a pipe it is whole."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys

import pytest

from tests.cli.conftest import Brim
from tests.cli.written import write_rule

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")

NAME = "never-restart-the-importer-while-the-lock-exists-in-the-inbox"
TEXT = "Never restart the importer while lock.json exists: two runs at once spoil the inbox, and 世界 too."


def shown(brim: Brim, columns: int, *arguments: str) -> list[str]:
    """Return the lines that a terminal of so many *columns* shows, without colours."""
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = brim.start(
        *arguments, fork=True, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    found = b""
    try:
        while part := os.read(ours, 4096):
            found += part
    except OSError:  # how Linux says that nothing more will come
        pass
    os.close(ours)
    assert process.wait(timeout=300) == 0
    return re.sub(r"\x1b\[\d*m", "", found.decode()).splitlines()


@pytest.mark.parametrize("command", ["list", "why", "review"])
@pytest.mark.parametrize("columns", [40, 80, 132])
def test_no_line_is_wider_than_the_terminal(brim: Brim, command: str, columns: int) -> None:
    write_rule(brim, NAME, TEXT)
    write_rule(brim, f"{NAME}-2"[-80:], TEXT.upper())
    brim("learn", "--user", "Another text.", env={"CLAUDECODE": "1"})
    lines = shown(brim, columns, "rules", command)
    table = lines[: lines.index("")] if "" in lines else lines
    assert max(map(len, table)) <= columns
    assert columns > 80 or command != "list" or "…" in "".join(table)
    words = {word.strip(",.:") for word in f"{TEXT} {TEXT.upper()} Another text.".split()}
    cut = [line.rstrip("…").split()[-1].strip(",.:") for line in table if line.endswith("…")]
    assert set(cut) <= words


def test_in_a_pipe_nothing_is_cut(brim: Brim) -> None:
    write_rule(brim, NAME, TEXT)
    assert TEXT in brim("rules", "list").out
