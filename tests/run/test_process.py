from __future__ import annotations

import os
import queue
import sys
import time

import pytest

from brim.errors import InputError
from brim.run import conversation as module
from brim.run.conversation import TOO_LONG, Child


class Talk:
    """A process that runs *program*, and what it says."""

    def __init__(self, program: str, *, listens: bool = True) -> None:
        self.heard: queue.Queue[bytes | None] = queue.Queue()
        words = [sys.executable, "-I", "-c", program]
        self.child = Child(words, environ=os.environ, cwd="/", take=self._hear, listens=listens)

    def _hear(self, child: Child, line: bytes | None) -> None:
        self.heard.put(line)

    def lines(self) -> list[bytes]:
        found = []
        while (line := self.heard.get(timeout=300)) is not None:
            found.append(line)
            self.child.read()
        return found


def test_lines_come_whole_however_they_are_written() -> None:
    program = (
        "import os\nfor each in (b'a', b'b\\nc', b'\\n\\nd\\r\\n', b'last'): os.write(1, each)"
    )
    talk = Talk(program)
    assert talk.lines() == [b"ab", b"c", b"d\r", b"last"]
    assert talk.child.end() == 0


def test_a_line_that_is_too_long_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 100_000)
    talk = Talk(
        "print('x' * 300_000)\nprint('y' * 300_000, end='\\n')\nprint('short')\nprint('z' * 300_000, end='')"
    )
    assert talk.lines() == [TOO_LONG, TOO_LONG, b"short", TOO_LONG]
    talk.child.end()


def test_many_lines_wait_until_they_are_read() -> None:
    talk = Talk("for at in range(5_000): print(at)")
    time.sleep(0.2)
    assert talk.heard.qsize() <= module.WAITING
    assert len(talk.lines()) == 5_000
    talk.child.end()


def test_what_is_sent_arrives_and_the_end_of_it_too() -> None:
    talk = Talk("import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)")
    assert talk.child.send(b"abc\n")
    talk.child.close_input()
    assert talk.lines() == [b"cba"]
    assert talk.child.end() == 0
    assert not talk.child.send(b"more\n")


def test_a_process_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.3)
    program = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)"
    talk = Talk(program)
    assert talk.heard.get(timeout=300) == b"up"
    assert talk.child.end(0.0) < 0
    assert talk.child.is_over


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(InputError, match="cannot be started"):
        Child(["/nowhere/claude"], environ={}, cwd="/", take=print, listens=True)
    with pytest.raises(InputError, match="cannot be started"):
        Child(["cl\0aude"], environ={}, cwd="/", take=print, listens=True)
