"""A call with its end, understood once for every rule: what it was, how it ended, and which error
it is.

Of an error the lines count that say it, without what differs each time: line numbers, times,
durations, addresses, ids and names of temporary files go (``data/volatile.tsv``). Short numbers
stay: whether twelve or three things fail is a difference, and tells progress.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brim.agents.call import ToolCall
from brim.agents.events import End, Message, ToolResult
from brim.files import data_lines, data_rows, sha256_hex
from brim.memory.calls import EXIT, exit_code
from brim.memory.entries import MemoryEntry, draft
from brim.memory.quotes import begun, masked_line, telling_line
from brim.memory.repetition.commands import (
    Check,
    CommandPart,
    any_of,
    check_in,
    parts,
    polls,
    unfiltered,
    writes,
)
from brim.memory.repetition.edits import changes
from brim.record import PlainData
from brim.rules.shell import unwrapped

RULES = {
    "same-call": "failed the same way {} times",
    "same-error": "{} ways, one error",
    "alternating": "to and fro {} times, nothing changed",
    "missed-edit": "the text to replace was not there, {} times",
    "undone-edit": "undone",
    "failing-test": "failed the same way {} times",
    "sub-agent": "ended in error",
    "backtrack": "given up",
}
"""How each rule says what it found. The first four only suspect; what the others find is
confirmed."""

STATUSES = ("suspect", "confirmed", "resolved")

CLIP = 4_000
"""How much of a text is looked at."""
_WAITS = r"(?i)output|wait|status|poll|monitor|stdin"
_TELLING = (
    "file_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
    "name",
    "skill",
)
"""Of a call's input, the first of these says what it is about."""
_NO_TRY = ("todo", "question", "plan", "agent")
_END = 8_000
_MOST_LINES = 24
_WIDEST = 240
_FEWEST = 8
"""A signature with fewer letters says too little to be the same thing."""

_PLACE = r'File "[^"]{1,300}", line \d|--> \S|[┌╭]─+\[? ?\S'
_AT = (":<n>", "(<n>)", "line <n>")
_QUOTED = r"(?m)^[ \t]{0,12}(?:>[ \t]{0,12})?(\d{1,6})[ \t]{0,4}[|│][ \t]*(\S.{0,200})$"
_MOST_QUOTED = 8
_MOVED = 10
"""An error more lines away than these, in other code, is at another place."""


@dataclass(frozen=True)
class DeadEnd(PlainData):
    """Something that didn't lead anywhere. The same ``key`` again is the same dead end, changed."""

    rule: str
    """One of ``RULES``."""
    status: str
    """One of ``STATUSES``."""
    what: str
    """What was tried: one line, masked."""
    times: int = 1
    """How often it was tried."""
    error: str = ""
    """What came of it: one line, masked; text of a tool, so data and never an instruction. Empty if
    nothing did."""
    at: tuple[int, ...] = ()
    """At which bytes of the stream the tries begin: the first ones and the last."""
    agent: str = ""
    session: str = ""
    key: str = ""

    def entry(self, time: float | None) -> MemoryEntry:
        """Return it as an entry. Only a confirmed one is shown; the journal alone keeps what is
        suspected."""
        said = (
            "worked in the end"
            if self.status == "resolved"
            else RULES[self.rule].format(self.times)
        )
        refs = {"outcome": said, "output": self.error, "rule": self.rule, "times": self.times}
        refs |= {"at": list(self.at), "key": self.key}
        kind = "dead-end" if self.status == "confirmed" else self.status
        where = {"session": self.session, "agent": self.agent, "source": f"{self.key} {self.times}"}
        return draft(kind, self.what, time=time, refs=refs, **where)


def dead_end(
    event: ToolCall | End | Message, rule: str, status: str, key: str, what: str, **more: Any
) -> DeadEnd:
    """Return what *rule* found in the session and by the agent of *event*: the same key in every
    process."""
    parts = (rule, event.session, event.agent, key) if key else (rule, event.session, event.agent)
    whole = sha256_hex("\0".join(parts).encode("utf-8", "surrogatepass"))[:16]
    return DeadEnd(rule, status, what, agent=event.agent, session=event.session, key=whole, **more)


def places(at: tuple[int, ...], *more: int) -> tuple[int, ...]:
    """Return *at* with *more* places: the first seven stay, the eighth is always the last."""
    at = (*at, *more)
    return at if len(at) <= 8 else (*at[:7], at[-1])


class StepRule:
    """One way to see a dead end, in the steps of one agent. It keeps a bounded memory and never
    raises."""

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Return what is new or changed by *step*."""
        raise NotImplementedError

    def person_spoke(self, _: Message, /) -> list[DeadEnd]:
        """Return what is new or changed because a person wrote a message."""
        return []

    def turn_ended(self) -> list[DeadEnd]:
        """Return what is new or changed because a turn ended."""
        return []


class SessionStep:
    """One call and how it ended."""

    def __init__(self, call: ToolCall, result: ToolResult, folder: str, root: str = "") -> None:
        self.call, self.result, self.folder = call, result, folder
        self.root = root
        """The folder of the project; empty if unknown."""
        given = call.input.get("command") if call.kind == "shell" else None
        self.command = unwrapped(given) if isinstance(given, str) else ""
        """What the shell was given; empty for any other tool."""
        self.parts = parts(self.command) if self.command else []
        self.check, is_last = check_in(self.parts)
        self.polls = (
            polls(self.parts) and self.check is None
            if self.command
            else bool(re.search(_WAITS, call.name))
        )
        self.outcome = outcome(result, call.kind, self.parts, None if is_last else self.check)
        written = writes(self.parts)
        self.changes = changes(call, self.command, written) if self.outcome.kind == "ok" else []
        """What the call changed in files; nothing if it failed."""

    @cached_property
    def input(self) -> str:
        """What the call was given, made the same for calls that do the same."""
        given = self.call.input
        if self.command:
            where = given.get("workdir") or given.get("cwd") or given.get("dir_path") or self.folder
            return f"{self.call.kind}\0{where}\0{unfiltered(self.parts) or self.command}"
        idle = data_lines(__file__, "idle_inputs.txt")
        try:
            told = repr(
                [(name, given[name]) for name in sorted(given, key=str) if name not in idle]
            )
        except RecursionError:
            told = ""
        return f"{self.call.name}\0{told}"

    @property
    def is_try(self) -> bool:
        """Whether the call tries something: plans, questions and notes do not, and a sub-agent is
        its own rule."""
        return self.call.kind not in _NO_TRY

    @property
    def failed(self) -> bool:
        """Whether it failed: not refused, not interrupted, not left out because another call of the
        batch failed."""
        return self.outcome.kind == "failed"

    @cached_property
    def signature(self) -> str:
        """What makes its error the same as another."""
        return signature(self.result.text)

    @property
    def quoted(self) -> tuple[tuple[int, int], ...]:
        """The code that its error quotes, as compilers do (``14 |  total = x``): numbers of lines, and their hashes."""
        text = self.result.text
        found = (
            re.findall(_QUOTED, clipped(text))[:_MOST_QUOTED] if "|" in text or "│" in text else []
        )
        return tuple([(int(number), hash(code.strip())) for number, code in found])

    @property
    def raw_error(self) -> str:
        """The line that says what went wrong, as it is: mask it before anyone sees it. Empty if it
        did not fail."""
        return (
            begun(telling_line(clipped(self.result.text).splitlines()), CLIP) if self.failed else ""
        )

    @property
    def error(self) -> str:
        """The line that says what went wrong, for a person; empty if it did not fail."""
        return masked_line(self.raw_error)

    @property
    def what(self) -> str:
        """What was tried, for a person."""
        given = self.call.input
        told = next(
            (value for name in _TELLING if isinstance(value := given.get(name), str) and value), ""
        )
        if not told:
            few = [
                (name, value)
                for name, value in list(given.items())[:4]
                if isinstance(value, str | int)
            ]
            told = ", ".join([f"{name}={str(value)[:1_000]}" for name, value in few])
        return masked_line(self.command or f"{self.call.name} {told}")


def grown(times: int, first: int) -> bool:
    """Whether *times* is worth a word: when it is *first*, and whenever it has doubled since."""
    quotient, rest = divmod(times, first)
    return rest == 0 and quotient > 0 and quotient & (quotient - 1) == 0


@dataclass(frozen=True)
class StepOutcome(PlainData):
    """How a call ended; of a failure, whether it passes on its own, or an edit found no text."""

    kind: str
    """``ok``, ``failed``, ``cascade``, ``permission``, ``interrupt``, ``protocol`` (the client's
    rules of use were not kept) or ``unclear`` (it ended, but the output doesn't say how)."""
    transient: bool = False
    not_found: bool = False


OK = StepOutcome("ok")


def outcome(
    result: ToolResult, tool: str, command: list[CommandPart], hidden: Check | None
) -> StepOutcome:
    """Return how the call of a *tool* ended; *command* is what a shell was given.

    *hidden* is the check in it whose exit code something after it hides; None if there is none.
    """
    if result.refusal:
        return StepOutcome(result.refusal)
    if not result.error:
        return _quiet_end(result.text, hidden)
    head = result.text[:600]
    refused = data_rows(__file__, "refused.tsv")
    if why := next(
        (why for why, pattern in refused if re.match(pattern, head.lstrip(), re.IGNORECASE)), ""
    ):
        return StepOutcome(why)
    if tool == "shell":
        if exit_code(result) == 1 and _answers(command, result.text):
            return OK
    elif any_of("protocol.txt").search(head):
        return StepOutcome("protocol")
    transient = any_of("transient.txt").search(_ends(result.text, 2_000)) is not None
    not_found = tool in ("edit", "write") and any_of("not_found.txt").search(head) is not None
    return StepOutcome("failed", transient, not_found)


def _ends(text: str, most: int) -> str:
    return text if len(text) < 2 * most else f"{text[:most]}\n{text[-most:]}"


def _answers(command: list[CommandPart], text: str) -> bool:
    """Whether exit code 1 of *command* is an answer: of its last part, or of any part if nothing
    was said."""
    programs = data_lines(__file__, "answers.txt")
    if command and command[-1].filters and command[-1].words[0] in programs:
        return True
    if re.sub(EXIT, "", text[:400], count=1).strip():
        command = [part for part in command if not part.filters][-1:] or command[-1:]
    return any(
        part.words[0] in programs or " ".join(part.words[:2]) in programs for part in command
    )


def _quiet_end(text: str, hidden: Check | None) -> StepOutcome:
    """Say how a call ended that isn't reported as a failure: after a pipe or ``|| true`` only the
    output can tell."""
    if hidden is None or hidden.kind == "lint":
        return OK
    ends = _ends(text, 4_000)
    if any_of("failed.txt").search(ends):
        return StepOutcome("failed")
    return OK if any_of("passed.txt").search(ends) or not ends.strip() else StepOutcome("unclear")


def clipped(text: str) -> str:
    """Return the beginning and the end of *text*, which is where a command says what went wrong."""
    # No half lines: a secret isn't recognized by its half.
    return (
        text
        if len(text) <= 2 * _END
        else begun(text, _END) + "\n" + text[-_END:].partition("\n")[2]
    )


def settled(text: str) -> str:
    """Return *text* without what differs each time.

    >>> settled("a.py:12:5: error after 0.31s at 0x7f3a2c, 3 left")
    'a.py:<n>: error after <duration> at <address>, 3 left'
    """
    for put, pattern in data_rows(__file__, "volatile.tsv"):
        text = re.sub(pattern, put, text, flags=re.IGNORECASE | re.MULTILINE)
    return text


def error_lines(text: str) -> list[str]:
    """Return the lines of *text* that say what went wrong, and where; if none does, the last few
    that say anything.

    The same error in another file is another error: going through files one by one is progress.
    """
    says, retells = any_of("error_lines.txt"), any_of("summary_lines.txt")
    found: list[str] = []
    told: list[str] = []
    place = ""
    for line in [line.strip()[:_WIDEST] for line in clipped(text).splitlines() if line.strip()]:
        if re.match(_PLACE, line):
            # Of a trace, the last place before an error is where it is; a compiler says the place
            # after the error.
            place = line if line.startswith("File") else ""
            found += [line] if found and not place else []
        elif not retells.match(line):
            told.append(line)
            if says.search(line):
                found += [place, line] if place else [line]
                place = ""
    return (
        found[: _MOST_LINES // 2] + found[_MOST_LINES // 2 :][-_MOST_LINES // 2 :]
        if found
        else told[-3:]
    )


def signature(text: str) -> str:
    """Return what makes the error *text* the same as another; empty if it says too little.

    The order of its lines does not matter: tests that run at the same time end in any order. At how
    many places of a file an error is does: four, then three, is progress.
    """
    told = error_lines(text)
    places: dict[str, set[str]] = {}
    for at, line in enumerate(settled("\n".join(told)).splitlines()):
        places.setdefault(" ".join(line.split()), set()).add(told[at] if at < len(told) else line)
    for line, lines in list(places.items()):
        if len(lines) > 1 and any(mark in line for mark in _AT):
            places[f"{line} at {len(lines)} places"] = places.pop(line)
    whole = "\n".join(sorted(places))
    return whole if sum(letter.isalpha() for letter in whole[:200]) >= _FEWEST else ""


def moved(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """Whether two outputs quote other code, far from each other: the same error at another
    place."""
    return bool(one and other) and all(
        code != there and abs(number - line) > _MOVED
        for number, code in one
        for line, there in other
    )
