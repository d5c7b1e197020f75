"""Starts writers and kills each with SIGKILL: run as ``python killing.py WORKTREE ACKNOWLEDGED
KILLS SEED``.

Of three writers, one is killed at a random moment, one in the middle of a write, one while it
writes large entries. Each notes in the file ACKNOWLEDGED what it was told is kept, one line for
each entry.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

from brim.files import locked
from brim.memory.entries import MemoryEntry, draft
from brim.memory.folder import LOCK, make_folder
from brim.memory.journal import Journal
from brim.memory.writer import ScratchWriter


def write_on(worktree: str, told: int, name: str, *, large: bool) -> None:
    """Write entries until killed: through the writer, or large ones straight into the journal."""
    writer = ScratchWriter(worktree, patience=60)
    root = os.path.join(worktree, ".context")
    journal = Journal(os.path.join(root, "journal.jsonl"))
    note = real_write
    for count in range(4):
        text = f"{name}.{count} " + "x" * (
            random.randrange(8_000) if large else random.randrange(300)
        )
        if large:
            with locked(os.path.join(root, LOCK), patience=60, prepare=lambda: make_folder(root)):
                (entry,) = journal.append([MemoryEntry(kind="resolved", text=text)])
        else:
            entry = writer.append_human_input(text) or draft("human", text)
        note(told, f"{entry.number} {entry.text[:40]}\n".encode())
    time.sleep(60)


real_write = os.write


def die_while_writing() -> None:
    """Make one of the next writes of this process stop somewhere in its middle, and the process
    with it."""
    left = random.randrange(4)

    def write(handle: int, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left >= 0:
            return real_write(handle, data)
        real_write(handle, data[: random.randrange(len(data) + 1)])
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    os.write = write  # type: ignore[assignment]


def main(worktree: str, acknowledged: str, kills: int, seed: int) -> None:
    random.seed(seed)
    told = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    began = time.monotonic()
    ScratchWriter(worktree).append_human_input("the first")
    one = min(0.012, time.monotonic() - began)
    for number in range(kills):
        way = number % 3
        moment = random.uniform(0.0, 2.5 * one)
        child = os.fork()
        if child == 0:
            try:
                random.seed(seed + number)
                if way == 0:
                    die_while_writing()
                write_on(worktree, told, f"w{number}", large=way == 1)
            finally:
                os._exit(1)
        if way:
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
