"""Loops: the same call with the same result, two calls in turn, an edit that is undone and made again.

The next call of a loop is held once, with what was tried; if the agent goes on with it, its user is told. Most calls are
new, so the first look is cheap: whether the words of the pending call are often enough in the transcript's tail. Only
then are the tail's lines read. A prompt, a changed file and waiting start the count over.
"""

from __future__ import annotations

import os
import re

from brim.hooks.transcript import FORMATS, tail_bytes
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.hooks.event import Answer, HookCall
    from brim.hooks.state import HookWorkspace
    from brim.scratch.dead_ends.edits import Change
    from brim.scratch.dead_ends.step import Step
    from brim.tracking.events import Event, ToolCall

    Key = tuple[str, str]
    """What a call was given, and the folder where a command ran; a pending call doesn't say that."""

TAIL = 1 << 20
"""Bytes of the transcript that are looked at."""
LAST = 1 << 18
"""Bytes at its end in which a call of a loop is at least once."""
HELD = "Held once by brim: "
"""How the reason begins. In the transcript it shows where the count starts over."""
EDITS = 2
"""How often an edit must have been made that the pending one undoes."""

_TELLING = ("command", "cmd", "new_string", "old_string", "content")
"""Of a call's input, the first of these is looked for; without any, all its texts are."""
_ESCAPED = str.maketrans("\\\n\r\t", '""""')
"""Characters that look different in JSON, all as one of them."""
_LOOKED_AT = 4_000
_SHORT = 12
_FEWEST = 2
_MOST_STEPS = 400
_WIDEST = 200
_PENDING = (
    r"(?i)\b(?:running|pending|queued|waiting|starting|processing|in[ _-]progress)\b|\bnot (?:yet )?(?:ready|finished)\b"
)
_LONGEST_STATUS = 300
"""A result that is no longer than this and says that something isn't finished is what polling gets."""


class Loop(Record):
    """What goes round in circles."""

    said: str
    """What was tried and what came of it, for agent and person; masked."""
    key: str
    """The same for the same loop after the same prompt, in every process."""
    goes_on: bool = False
    """Whether it was held already, and reached the number again."""


def hold_loop(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call* that continues a loop, or the note to its user; mostly None."""
    number = workspace.config["hooks.loops"]
    only_injects = workspace.only_injects and not workspace.supervised
    if number is None or only_injects or not (call.session and call.tool and call.transcript):
        return None
    loop = find_loop(call, number)
    if loop is None:
        return None
    from brim.hooks.event import Answer

    if not workspace.state(call.session).tell_once(f"loop {loop.key} {loop.goes_on}"):
        return None
    if loop.goes_on:
        return Answer(note=f"brim: the agent goes in circles: {loop.said}. It was held for that once and went on.")
    return Answer(
        deny=f"{HELD}{loop.said}. Find out why before you try again, try something else, or ask your user. "
        "If the call is still right, make it again: it isn't held a second time."
    )


def find_loop(call: HookCall, number: int) -> Loop | None:
    """Return the loop that the pending *call* continues, None if it doesn't.

    *number* is how often the same call gave the same result. Two calls in turn are a loop after two less than twice as
    many, an edit when it was undone and made again.
    """
    path = call.transcript
    if call.sub_agent and call.agent == "claude":
        path = os.path.join(path.removesuffix(".jsonl"), "subagents", f"agent-{call.sub_agent}.jsonl")
    needles = _needles(call.tool, call.input)
    if not _are_in(tail_bytes(path, LAST)[1], needles, 1):
        return None
    start, data = tail_bytes(path, TAIL)
    is_edit = call.tool_kind in ("edit", "write") or "*** Begin Patch" in str(call.input.get("command"))
    if not _are_in(data, needles, EDITS if is_edit else number - 1):
        return None
    from brim.scratch.dead_ends.step import Step
    from brim.tracking.events import ToolResult
    from brim.tracking.readers import AnyReader
    from brim.tracking.readers.stream import Feed

    reader = AnyReader(FORMATS[call.agent])
    reader.agent = call.sub_agent
    tries = Tries()
    for event in Feed(reader=reader, start=start).feed(data):
        if event.agent == call.sub_agent or call.agent != "claude":
            tries.take(event)
    pending = [Step(each, ToolResult(), "") for each in _calls(call)]
    found = (tries.loop(step, number) for step in pending)
    return next((loop for loop in found if loop is not None), None)


def _are_in(data: bytes, needles: list[list[bytes]], least: int) -> bool:
    """Whether *data* holds every one of *needles*, in all its forms together, at least so often."""
    return all(sum(map(data.count, forms)) >= least for forms in needles)


def _needles(tool: str, given: Mapping[str, Any]) -> list[list[bytes]]:
    """Return for each text of a call the longest stretch of it that is the same in any JSON, in all its forms."""
    telling = next((given[key] for key in _TELLING if given.get(key)), None)
    texts = [each for each in (given.values() if telling is None else [telling]) if isinstance(each, str)]
    found = []
    for text in texts or [tool]:
        start = text.partition("|")[0] if text is given.get("command") else text  # what only cuts the output may differ
        stretches = start[:_LOOKED_AT].translate(_ESCAPED).split('"')
        stretch = max([each for each in stretches if each.isascii()], key=len, default="").strip("+- ")
        if len(stretch) >= _SHORT or _FEWEST <= len(stretch) < len(text):
            found.append([stretch.encode()])
        elif stretch:  # all of it
            found.append([f'"{stretch}"'.encode(), f'"{stretch}\\"'.encode()])
    return found


def _calls(call: HookCall) -> list[ToolCall]:
    """Return the pending *call* as a transcript's reader gives it: of a patch, one for each file."""
    from brim.hooks.rules import patch_of
    from brim.tracking.events import ToolCall
    from brim.tracking.readers.fields import named

    if patch := patch_of(call):
        from brim.tracking.readers.codex import edits

        return [ToolCall(name=call.tool, tool=tool, input=edit) for tool, edit in edits(patch)]
    return [ToolCall(name=call.tool, tool=call.tool_kind, input=named(call.tool_kind, call.input))]


class Tries:
    """What an agent has tried since its user's last prompt, as far as the transcript's tail shows it."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._folder = ""
        self._begin(0)

    def _begin(self, since: int) -> None:
        self._since = since
        """The byte at which the last prompt begins."""
        self._held: set[str] = set()
        """What was held, as in ``Key``."""
        self._results: dict[Key, str] = {}
        """The last result of each call."""
        self._whats: dict[Key, str] = {}
        self._last: list[tuple[Key, bool]] = []
        """The last calls, and whether each said something new."""
        self._failures: dict[Key, tuple[int, bool]] = {}
        """How often each call failed the same way with no other try in between, and whether it is a check."""
        self._edits = Edits()

    def take(self, event: Event) -> None:
        """Take in the next *event*."""
        from brim.scratch.dead_ends.step import Step
        from brim.tracking.events import Message, StateSeen, ToolCall, ToolResult

        if isinstance(event, ToolCall):
            self._open[event.id] = event
        elif isinstance(event, ToolResult):
            if (call := self._open.pop(event.id, None)) is not None:
                self._step(Step(call, event, self._folder))
        elif isinstance(event, Message) and event.human:
            self._begin(event.at)
        elif isinstance(event, StateSeen) and event.name == "folder":
            self._folder = event.value

    def _step(self, step: Step) -> None:
        from brim.scratch.calls import changed_path
        from brim.scratch.dead_ends.commands import looks, moves_tree

        key = _key(step)
        if HELD in step.result.text:
            self._held |= {key[0], changed_path(step.call)}
            self._last, self._failures = [], {}
        elif not step.is_try or step.outcome.kind in ("permission", "interrupt", "cascade"):
            return
        elif _waits(step):  # what changes with time may have changed; what a check looks at has not
            self._last = []
            self._failures = {key: one for key, one in self._failures.items() if one[1]}
        else:
            result = step.signature or step.result.text[:_WIDEST] if step.failed else step.result.text
            is_same = key in self._results and _alike(self._results[key], result, step)
            self._results[key], self._whats[key] = result, step.what
            is_look = step.call.tool in ("read", "search") or step.check is not None or looks(step.parts)
            if moves_tree(step.parts) or (not is_same and (step.changes or not is_look)):
                self._failures = {}
            if moves_tree(step.parts) or (not is_same and step.changes):
                self._last = []
                self._results = {key: result}
            self._last = [*self._last, (key, not is_same)][-_MOST_STEPS:]
            times = self._failures.pop(key, (0, False))[0] if is_same else 0
            if step.failed:
                self._failures[key] = times + 1, step.check is not None
            self._edits.take(step)

    def loop(self, pending: Step, number: int) -> Loop | None:
        """Return the loop that the *pending* call continues, None if there is none."""
        path = next((change.path for change in pending.changes if self._edits.circles(change)), "")
        if path:
            return self._found(f"the same edit of {_shown(path)} was undone and made again", [(path, "")])
        words = (_key(pending)[0], _key(pending, failed=True)[0])
        key = next((key for key, _ in reversed(self._last) if key[0] in words), None)
        if key is None or _waits(pending):
            return None
        since = max([at for at, (_, is_new) in enumerate(self._last) if is_new], default=0)
        failures = self._failures.get(key, (0, False))[0]
        times = max(sum(each == key for each, _ in self._last[since:]), failures)
        if times >= number:
            how = "failed the same way" if failures else "gave the same result"
            return self._found(f"{_shown(self._whats[key])} {how} {times} times{self._edits.undone()}", [key])
        turns = self._last[2 - 2 * number :]
        calls = [each for each, _ in turns]
        in_turn = len(turns) == 2 * number - 2 and calls[0] == key != calls[1] and calls[2:] == calls[:-2]
        if not in_turn or any(is_new for _, is_new in turns[2:]):
            return None
        one, other = (_shown(self._whats[each]) for each in calls[:2])
        said = f"{one} and {other} took turns for {len(turns)} calls, each with the same result every time"
        return self._found(f"{said}{self._edits.undone()}", sorted(calls[:2]))

    def _found(self, said: str, keys: list[Key]) -> Loop:
        from brim._sha import sha256_hex

        words = [words for words, _ in keys]
        whole = "\0".join([str(self._since), *words]).encode("utf-8", "surrogatepass")
        return Loop(said, sha256_hex(whole)[:16], goes_on=not self._held.isdisjoint(words))


class Edits:
    """Which edits were made, and which of them were taken back."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int, int], int] = {}
        self._restored: dict[str, int] = {}
        self._standing: list[tuple[str, int, int]] = []
        self._whole: dict[str, int] = {}
        self._undone = 0

    def take(self, step: Step) -> None:
        """Take in what *step* changed, or restored with git."""
        from brim.scratch.dead_ends.commands import covers, git_steps

        for git in git_steps(step.parts) if step.outcome.kind == "ok" else ():
            for path in {path for path, _, _ in self._made} if git.does in ("restore", "reset") else ():
                if git.everything or any(covers(given, path) for given in git.paths):
                    self._restored[path] = self._restored.get(path, 0) + 1
                    self._undone += sum(mark[0] == path for mark in self._standing)
                    self._standing = [mark for mark in self._standing if mark[0] != path]
        for change in step.changes:
            if change.is_told and not change.by:
                mark = self._mark(change)
                self._made[mark] = self._made.get(mark, 0) + 1
                if _opposite(mark) in self._standing:
                    self._standing.remove(_opposite(mark))
                    self._undone += 1
                else:
                    self._standing.append(mark)
                if change.whole is not None:
                    self._whole[change.path] = hash(change.whole)

    def circles(self, change: Change) -> bool:
        """Whether *change* was made before, and was undone and made again since."""
        if not change.is_told or change.by:
            return False
        mark = self._mark(change)
        undone = self._made.get(_opposite(mark), 0) + self._restored.get(change.path, 0)
        return mark in self._made and undone >= EDITS

    def undone(self) -> str:
        """Return that the last edits were undone, if they were, as the end of a sentence."""
        if not self._undone or self._standing:
            return ""
        return "; the last edit was undone" if self._undone == 1 else f"; the last {self._undone} edits were undone"

    def _mark(self, change: Change) -> tuple[str, int, int]:
        if change.whole is not None:
            return change.path, self._whole.get(change.path, 0), hash(change.whole)
        return change.path, hash(change.old or ""), hash(change.new or "")


def _opposite(mark: tuple[str, int, int]) -> tuple[str, int, int]:
    return mark[0], mark[2], mark[1]


def _key(step: Step, *, failed: bool = False) -> Key:
    """Return what makes a call the same.

    What only cuts the output of a check that *failed* doesn't matter: its errors are compared.
    """
    if not step.command:
        name = step.call.name
        return name.rpartition("__")[2] + step.input[len(name) :], ""  # servers are named differently to a hook
    from brim.scratch.dead_ends.commands import unfiltered

    cut = (step.failed or failed) and step.check is not None
    words = unfiltered(step.parts) if cut else " ".join(step.command.split())
    given = step.call.input
    return words, str(given.get("workdir") or given.get("dir_path") or step.folder)


def _alike(one: str, other: str, step: Step) -> bool:
    """Whether two results of the same call say the same, except for what differs each time."""
    if not other.strip() and not step.command:  # a picture, or nothing to compare
        return False
    from brim.scratch.dead_ends.step import clipped, settled

    return one == other or settled(clipped(one)) == settled(clipped(other))


def _waits(step: Step) -> bool:
    """Whether a call waits for something, or asks how far it is."""
    said = step.result.text
    return step.polls or (
        not step.failed and len(said) <= _LONGEST_STATUS and step.check is None and bool(re.search(_PENDING, said))
    )


def _shown(what: str) -> str:
    from brim.scratch.quotes import masked_line

    return f"`{masked_line(what, _WIDEST)}`"
