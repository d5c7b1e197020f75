"""The conversation with an agent: a process while there is one, its lines, and what people do
meanwhile."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Protocol

from brim.agents.events import End
from brim.agents.stream import LONGEST_LINE
from brim.errors import InputError
from brim.notices import INPUT_REQUESTED
from brim.run.command import ClientCommand, goes_as_input, start_words
from brim.run.session import Heard, Tracked
from brim.run.turns import DONE, TurnEnd, turn_end

INTERRUPT_PATIENCE = 10.0
"""Seconds that an interrupted agent has to end its turn; then its process is ended."""

LEAVING_PATIENCE = 60.0
"""Seconds without a line after which an agent that was told to leave is ended."""

GLANCE = 1.0
"""Seconds of silence after which brim checks that the process is still there."""

LONGEST_REASON = 80
"""Characters of why the model doesn't answer that a person is shown."""


class Face(Protocol):
    """How a run shows itself to a person. Nothing of it may raise."""

    @property
    def can_ask(self) -> bool:
        """Whether a person is there who can answer."""

    def tell(self, text: str) -> None:
        """Say *text*, which is brim's own."""

    def ask(self, text: str) -> None:
        """Put a question; the answer comes as a typed line."""

    def line(self, line: bytes) -> None:
        """Hand on a line of the agent, as it came."""

    def answer(self, text: str, line: bytes) -> None:
        """Show what the agent answered at the end of a turn, empty if it failed; *line* is the line
        that said so."""

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        """Show how full the window is and what was spent; *settled* at the end of a turn."""


class Conversation:
    """Everything that reaches a run comes through one inbox, in order: lines, what is typed,
    signals.

    ``typed`` and ``signalled`` may be called from any thread, and from a signal's handler.
    """

    def __init__(
        self,
        command: ClientCommand,
        tracked: Tracked,
        face: Face,
        *,
        environ: Mapping[str, str],
        cwd: str,
    ) -> None:
        self.agent = command.agent
        self.client = command.run
        """What brim may expect of the agent."""
        self._command = command
        self._tracked = tracked
        self._face = face
        self._environ = environ
        self._cwd = cwd
        self._inbox: queue.SimpleQueue[tuple[Child | None, object]] = queue.SimpleQueue()
        self._child: Child | None = None
        self._waits_until: float | None = None
        self._is_person_gone = False
        self.person_said: Callable[[str], object] = list
        """Told what a person types while the agent works."""
        self.ended: Heard | None = None
        """How the turn that was sent last has ended; None while it runs."""
        self.refused = ""
        """Why the agent did not compact, since the turn that was sent last."""
        self.is_quiet = False
        """Whether what the agent answers is not for the person: it was asked to compact."""
        self.compacted = False
        """Whether the window was compacted since a turn told the agent so."""
        self.is_cut = False
        """Whether the turn that was sent last was ended at a limit that the agent doesn't keep
        itself."""
        self.exit: int | None = None
        """The exit code of the last process that has ended."""
        self.signal = 0
        """The last signal that came; 0 if none."""

    @property
    def is_open(self) -> bool:
        """Whether there is a process."""
        return self._child is not None

    @property
    def can_resume(self) -> bool:
        """Whether another process can go on with this session."""
        return bool(self._tracked.session) and self._command.is_saved

    def typed(self, text: str | None) -> None:
        """Take in a line that a person typed; None if there will be no more."""
        self._inbox.put((None, text))

    def signalled(self, number: int) -> None:
        """Take in a signal."""
        self._inbox.put((None, number))

    def send(self, text: str, before: str = "") -> bool:
        """Send one turn, to the process that listens or to a new one; False if the agent doesn't
        listen any more."""
        self.ended = None
        self.refused = ""
        self.is_cut = False
        if self._child is None:
            self._start(text, before)
        if self._child is None or not self.client.stays:
            return True
        return self._child.send(self.client.turn_line(text, before))

    def _start(self, text: str, before: str) -> None:
        """Start a process for a turn; one that doesn't stay gets the turn at once."""
        cap = None
        left = self._tracked.purse.budget.left
        if self.client.caps and left is not None:
            cap = int(left)
        alone = text
        if before and not text.startswith("/"):
            alone = f"{before}\n\n{text}"
        words = start_words(self._command, alone, session=self._tracked.session, cap=cap)
        listens = goes_as_input(self.client, alone)
        self._child = Child(
            words,
            environ=self._environ,
            cwd=self._cwd,
            take=lambda child, line: self._inbox.put((child, line)),
            listens=listens,
        )
        if listens and not self.client.stays:
            self._child.send(alone.encode("utf-8", "replace"))
            self._child.close_input()

    def wait(
        self, is_over: Callable[[], bool], patience: float | None = None, *, leaving: bool = False
    ) -> bool:
        """Take in what comes until *is_over*, or the process has ended. False if *patience* ended
        first.

        An agent whose every turn is a process ends with it. One that is *leaving* may speak as long
        as it likes: its patience is for silence.
        """
        self._waits_until = None
        if patience is not None:
            self._waits_until = time.monotonic() + patience
        while self._child is not None and not (self.client.stays and is_over()):
            timeout = GLANCE
            if self._waits_until is not None:
                timeout = min(GLANCE, self._waits_until - time.monotonic())
            if timeout <= 0:
                return False
            try:
                child, message = self._inbox.get(timeout=timeout)
            except queue.Empty:
                self._end_if_over(self._child)
                continue
            if child is None:
                self._take_from_person(message)
            elif child is self._child:
                self._take_from_agent(child, message)
                if leaving and patience is not None and not self.signal:
                    self._waits_until = time.monotonic() + patience
        return True

    def _end_if_over(self, child: Child) -> None:
        """End a process that has ended: one that it started keeps its output open, so that won't
        end."""
        if child.is_over:
            self.end()

    def _take_from_person(self, message: object) -> None:
        """Take in what a person did: a signal, a typed line, or None at the end of them."""
        if isinstance(message, int):
            self._interrupt(message)
        elif message is None:  # a question that comes later has no one to answer it
            self._is_person_gone = True
        elif isinstance(message, str) and message.strip():
            self.person_said(message)

    def wait_for_typed(self) -> str | None:
        """Return the next line that is typed; None at the end of them, or if a signal came."""
        while not self._is_person_gone:
            child, message = self._inbox.get()
            if isinstance(message, int):
                self._interrupt(message)
                return None
            if child is None:
                self._is_person_gone = message is None
                return message if isinstance(message, str) else None
        return None

    def leave(self) -> None:
        """Let the process end when it has done everything; end it if it stays silent."""
        if self._child is not None:
            self._child.close_input()
            self.wait(lambda: False, LEAVING_PATIENCE, leaving=True)
        self.end()

    def end(self, grace: float = 0.0) -> None:
        """End the process now, if there is one; it has *grace* seconds to do so on its own."""
        if self._child is not None:
            self.exit = self._child.end(grace)
            self._child = None

    def _take_from_agent(self, child: Child, line: object) -> None:
        """Take in a line of the agent, or None at the end of them."""
        if not isinstance(line, bytes):
            self.end(grace=1.0)
            return
        heard_line = self._tracked.take(line)
        self._face.line(line)
        self._tell(heard_line)
        self.compacted = self.compacted or heard_line.compacted
        self.refused = self.client.refusal(heard_line.line) or self.refused
        if heard_line.end is not None:
            self.ended = heard_line
            if not self.is_quiet:
                self._face.answer(self._answer(heard_line), line)
        elif self._must_cut():
            self.is_cut = child.send(self.client.interrupt_line("brim-limit"))
            self._waits_until = time.monotonic() + INTERRUPT_PATIENCE
        self._face.show(self._tracked, settled=False)
        child.read()

    def _answer(self, heard_line: Heard) -> str:
        """Return what the agent answered in the turn that a line ended; empty if it failed."""
        if heard_line.end is not None and heard_line.end.error:
            turn = self.turn_end(heard_line, heard_line.end)
            if turn.outcome != DONE:
                return ""
        return heard_line.text

    def turn_end(self, heard_line: Heard, end: End) -> TurnEnd:
        """Return how a turn ended, by its last event and the line that told it."""
        cause = self.client.end_cause(end, heard_line.line)
        return turn_end(cause, end, answered=heard_line.answered)

    def _tell(self, heard_line: Heard) -> None:
        """Tell a person what a line gives notice of."""
        for notice in heard_line.notices:
            if notice.kind != INPUT_REQUESTED:  # it is asked when the turn has ended
                self._face.tell(str(notice))
        why = self.client.silence(heard_line.line)
        if why is not None:
            reason = why[:LONGEST_REASON]
            self._face.tell(f"the model does not answer ({reason}); {self.agent} tries again")

    def _must_cut(self) -> bool:
        """Whether the turn that runs has to be ended, at a limit that the agent doesn't keep."""
        if self._tracked.purse.held is None or not self.client.stays:
            return False
        return not self.is_quiet and not self.is_cut

    def _interrupt(self, number: int) -> None:
        """End the turn at the first signal, and the agent at the second."""
        again = bool(self.signal)
        self.signal = number
        if again:
            self.end()
        elif self._child is not None:
            self._face.tell("ending the turn; once more ends the agent at once")
            request = self.client.interrupt_line("brim-interrupt")
            if not (self.client.stays and self._child.send(request)):
                self._child.interrupt()
            self._waits_until = time.monotonic() + INTERRUPT_PATIENCE


# The process --------------------------------------------------------------------------------------
#
# The agent's process: lines come in, turns go out. It's a process group of its own, so Ctrl-C
# reaches only brim.

WAITING = 256
"""Lines that may wait to be read: an agent that writes faster than brim reads has to wait too."""

GRACE = 5.0
"""Seconds that an agent has to end on its own before it is ended."""

TOO_LONG = b"\x00"
"""Stands for a line that was too long. It isn't JSON."""


class Child:
    """A process whose lines a thread hands to *take*; None is the end of them.

    ``take`` must be quick. Call ``read`` when a line was dealt with, so that the next may come.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: str,
        take: Callable[[Child, bytes | None], object],
        listens: bool,
    ) -> None:
        try:
            # What a person asked to run, without a shell.
            self._process = subprocess.Popen(  # noqa: S603
                list(words),
                stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=dict(environ),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = f"{getattr(error, 'strerror', None) or error}; try it without brim run"
            if isinstance(error, FileNotFoundError):
                why = "no such program; install it, or write its full path after --"
            elif isinstance(error, PermissionError):
                why = "it can't be run; check the path, or make it executable with chmod +x"
            raise InputError(f"{words[0][:200]}: cannot be started: {why}") from None
        self._take = take
        self._room = threading.Semaphore(WAITING)
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: bytes) -> bool:
        """Hand *line* to the process; False if it doesn't listen any more."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line)
                pipe.flush()
        except (OSError, ValueError):
            return False
        return pipe is not None

    def close_input(self) -> None:
        """Say that no more turns will come: the agent ends when it has done everything."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def read(self) -> None:
        """Say that one line was dealt with."""
        self._room.release()

    def interrupt(self) -> None:
        """Send the signal that Ctrl-C sends."""
        self._signal(signal.SIGINT)

    def end(self, grace: float = GRACE) -> int:
        """Wait *grace* seconds for the process to end; then ask it to, and then kill it. Return its
        exit code."""
        self.close_input()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                return self._process.wait(grace)
            except subprocess.TimeoutExpired:
                self._signal(number)
                grace = GRACE
        return self._process.wait()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def _signal(self, number: int) -> None:
        """Send a signal to the agent and what it started."""
        if not self.is_over:
            with suppress(OSError):  # it may end just now
                os.killpg(self._process.pid, number)

    def _listen(self) -> None:
        """Hand on all lines, and None after the last."""
        output = self._process.stdout
        if output is not None:
            with suppress(OSError):
                self._read_lines(output)
            output.close()
        self._take(self, None)

    def _read_lines(self, output: IO[bytes]) -> None:
        """Hand on each line; of one that is too long, only that it was."""
        continues = False
        while line := output.readline(LONGEST_LINE):
            if line.strip() and not continues:
                self._room.acquire()
                is_whole = len(line) < LONGEST_LINE
                self._take(self, line.removesuffix(b"\n") if is_whole else TOO_LONG)
            continues = not line.endswith(b"\n")
