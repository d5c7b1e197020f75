"""What an agent has tried since its count last started over, and the loop that a pending call
continues.

``loops`` has seen by then that the words of the call stand in the transcript's tail often enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brim.agents.call import HookCall, ToolCall, edits_in
from brim.agents.events import Message, StateSeen, ToolResult
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.files import sha256_hex
from brim.hooks.loops import EDITS, TAIL
from brim.memory.calls import changed_path
from brim.memory.quotes import masked_line
from brim.memory.repetition.commands import covers, git_steps, looks, moves_tree, parts, unfiltered
from brim.memory.repetition.edits import FileChange, changes
from brim.memory.repetition.step import SessionStep, clipped, settled
from brim.record import PlainData

Key = tuple[str, str]
"""What a call was given, and the folder where a command ran; a pending call doesn't say that."""

SIZES = (1 << 16, 1 << 18, TAIL)
"""How many of them are read, until it's known where the count starts."""
HELD = "Held once by brim: "
"""How the reason begins. In the transcript it shows where the count starts over."""
PASSING = 2
"""How many more failures it takes if they may pass: the network, or a lock."""

_MOST_STEPS = 120
_WIDEST = 200
_PENDING = (
    r"(?i)\b(?:running|pending|queued|scheduled|waiting|starting|provisioning|processing|in[ _-]progress)\b"
    r"|\bnot (?:yet )?(?:ready|finished)\b|\b\d\d?(?:\.\d+)?\s?%"
)
_LOG = r"\.(?:log|out|output)\b"
_LONGEST_STATUS = 300
"""A result that is no longer than this and says that something isn't finished is what polling
gets."""
_LONGEST_RECEIPT = 60


@dataclass(frozen=True)
class Loop(PlainData):
    """What goes round in circles."""

    said: str
    """What was tried and what came of it, for agent and person; masked."""
    key: str
    """The same for the same loop after the same prompt, in every process."""
    goes_on: bool = False
    """Whether it was held already, and reached the number again."""


def loop_in(call: HookCall, number: int, start: int, data: bytes, *, is_edit: bool) -> Loop | None:
    """Return the loop that the pending *call* continues in *data*, the transcript from byte *start*
    on."""
    pending = [SessionStep(each, ToolResult(), "") for each in _calls(call)]
    if not pending or _waits(pending[0]):
        return None
    steps, turn = _steps(call, start, data, pending[0], is_edit=is_edit)
    tries = Tries(turn)
    for each in steps[-_MOST_STEPS:]:
        tries.take(SessionStep(*each))
    return next((loop for step in pending if (loop := tries.loop(step, number)) is not None), None)


def _steps(
    call: HookCall, start: int, data: bytes, pending: SessionStep, *, is_edit: bool
) -> tuple[list[tuple[ToolCall, ToolResult, str]], TriedTurn]:
    """Return the calls since the count last started over, with result and folder, and the turn that
    they are in.

    More and more of *data* is read until it is known where that was: before an edit at a prompt,
    before any other call at a changed file too.
    """
    for size in SIZES:
        cut = data.find(b"\n", len(data) - size) + 1 if size < len(data) else 0
        reader = AnyReader(writer=call.agent)
        reader.agent = call.sub_agent
        steps: list[tuple[ToolCall, ToolResult, str]] = []
        opened: dict[str, ToolCall] = {}
        turn, folder, is_known = TriedTurn(), "", cut == 0
        for event in Feed(reader=reader, start=start + cut).feed(data[cut:]):
            if call.agent.transcripts.has_subagent_files and event.agent != call.sub_agent:
                continue
            if isinstance(event, ToolCall):
                opened[event.id] = event
            elif isinstance(event, ToolResult) and (made := opened.pop(event.id, None)) is not None:
                steps.append((made, event, folder))
                turn.take(made, event)
                has_changed = (
                    bool(changed_path(made))
                    and not event.error
                    and made.input != pending.call.input
                )
                if has_changed and not is_edit:
                    steps, is_known = [], True
            elif isinstance(event, Message) and event.human:
                steps, turn, is_known = [], TriedTurn(event.at), True
            elif isinstance(event, StateSeen) and event.name == "folder":
                folder = event.value
        if is_known:
            break
    return steps, turn


def _calls(call: HookCall) -> list[ToolCall]:
    """Return the pending *call* as a transcript's reader gives it: of a patch, one for each
    file."""
    tool = call.tool
    if tool.patch:
        edits = edits_in(tool.patch)
        return [ToolCall(name=tool.name, kind=kind, input=edit) for kind, edit in edits]
    return [ToolCall(name=tool.name, kind=tool.kind, input=tool.input)]


class Tries:
    """What an agent has tried since the count started over."""

    def __init__(self, turn: TriedTurn) -> None:
        self._turn = turn
        self._seen: dict[Key, SessionStep] = {}
        """The last time of each call."""
        self._last: list[tuple[Key, bool]] = []
        """The last calls, and whether each said something new."""
        self._failures: dict[Key, int] = {}
        """How often each call failed the same way with no other try in between."""

    def take(self, step: SessionStep) -> None:
        """Take in the next *step*."""
        key = _key(step)
        if HELD in step.result.text:
            self._last, self._failures = [], {}
        elif not (step.is_try or step.call.kind == "agent") or step.outcome.kind in (
            "permission",
            "interrupt",
            "cascade",
        ):
            return
        elif _waits(step):  # what changes with time may have changed; what a check looks at has not
            self._last = []
            self._failures = {
                key: times
                for key, times in self._failures.items()
                if self._seen[key].check is not None
            }
        else:
            is_same = key in self._seen and _alike(self._seen[key], step)
            is_look = (
                step.call.kind in ("read", "search") or step.check is not None or looks(step.parts)
            )
            if moves_tree(step.parts) or (step.changes and not is_same):
                self._last, self._failures, self._seen = [], {}, {}
            elif not is_same and not is_look:
                self._failures = {}
            self._seen[key] = step
            self._last.append((key, not is_same))
            times = self._failures.pop(key, 0) if is_same else 0
            if step.failed:
                self._failures[key] = times + 1

    def loop(self, pending: SessionStep, number: int) -> Loop | None:
        """Return the loop that the *pending* call continues, None if there is none."""
        path = next((change.path for change in pending.changes if self._turn.circles(change)), "")
        if path:
            return self._found(
                f"the same edit of {_shown(path)} was undone and made again", [(path, "")]
            )
        words = (_key(pending)[0], _key(pending, failed=True)[0])
        key = next((key for key, _ in reversed(self._last) if key[0] in words), None)
        if key is None:
            return None
        since = max([at for at, (_, is_new) in enumerate(self._last) if is_new], default=0)
        failures = self._failures.get(key, 0)
        times = max(sum(each == key for each, _ in self._last[since:]), failures)
        last = self._seen[key]
        passing = last.outcome.transient and last.check is None  # it may help to try again
        if times >= number + (PASSING if passing else 0):
            how = "failed the same way" if failures else "gave the same result"
            return self._found(
                f"{_shown(last.what)} {how} {times} times{self._turn.undone()}", [key]
            )
        turns = self._last[2 - 2 * number :]
        calls = [each for each, _ in turns]
        in_turn = (
            len(turns) == 2 * number - 2 and calls[0] == key != calls[1] and calls[2:] == calls[:-2]
        )
        if not in_turn or any(is_new for _, is_new in turns[2:]):
            return None
        one, other = (_shown(self._seen[each].what) for each in calls[:2])
        said = f"{one} and {other} took turns for {len(turns)} calls, each with the same result every time"
        return self._found(f"{said}{self._turn.undone()}", sorted(calls[:2]))

    def _found(self, said: str, keys: list[Key]) -> Loop:
        words = [words for words, _ in keys]
        whole = "\0".join([str(self._turn.since), *words]).encode("utf-8", "surrogatepass")
        return Loop(said, sha256_hex(whole)[:16], goes_on=not self._turn.held.isdisjoint(words))


class TriedTurn:
    """What was held since the prompt at byte *since*, and which edits were made and taken back."""

    def __init__(self, since: int = 0) -> None:
        self.since = since
        self.held: set[str] = set()
        """The calls, as in ``Key``, and the files."""
        self._made: dict[tuple[str, int, int], int] = {}
        self._restored: dict[str, int] = {}
        self._standing: list[tuple[str, int, int]] = []
        self._whole: dict[str, int] = {}
        self._undone = 0

    def take(self, call: ToolCall, result: ToolResult) -> None:
        """Take in what *call* changed, restored with git, or was held for."""
        if HELD in result.text:
            step = SessionStep(call, result, "")
            self.held |= {_key(step)[0], _key(step, failed=True)[0], changed_path(call)}
            self._made, self._restored = {}, {}
        if result.error or result.refusal:
            return
        if call.kind == "shell" and "git" in (command := str(call.input.get("command"))):
            self._restore(command)
        for change in changes(call, "", []):
            mark = self._mark(change)
            if change.is_told and mark != _opposite(mark):
                self._made[mark] = self._made.get(mark, 0) + 1
                if _opposite(mark) in self._standing:
                    self._standing.remove(_opposite(mark))
                    self._undone += 1
                else:
                    self._standing.append(mark)
                if change.whole is not None:
                    self._whole[change.path] = hash(change.whole)

    def _restore(self, command: str) -> None:
        for git in [git for git in git_steps(parts(command)) if git.does in ("restore", "reset")]:
            for path in {path for path, _, _ in self._made}:
                if git.everything or any(covers(given, path) for given in git.paths):
                    self._restored[path] = self._restored.get(path, 0) + 1
                    self._undone += sum(mark[0] == path for mark in self._standing)
                    self._standing = [mark for mark in self._standing if mark[0] != path]

    def circles(self, change: FileChange) -> bool:
        """Whether *change* was made before, and was undone and made again since."""
        mark = self._mark(change)
        undone = self._made.get(_opposite(mark), 0) + self._restored.get(change.path, 0)
        return mark in self._made and undone >= EDITS

    def undone(self) -> str:
        """Return that the last edits were undone, if they were, as the end of a sentence."""
        if not self._undone or self._standing:
            return ""
        return (
            "; the last edit was undone"
            if self._undone == 1
            else f"; the last {self._undone} edits were undone"
        )

    def _mark(self, change: FileChange) -> tuple[str, int, int]:
        if change.whole is not None:
            return change.path, self._whole.get(change.path, 0), hash(change.whole)
        return change.path, hash(change.old or ""), hash(change.new or "")


def _opposite(mark: tuple[str, int, int]) -> tuple[str, int, int]:
    return mark[0], mark[2], mark[1]


def _key(step: SessionStep, *, failed: bool = False) -> Key:
    """Return what makes a call the same.

    What only cuts the output of a check that *failed* doesn't matter: its errors are compared.
    """
    if not step.command:
        name = step.call.name
        return name.rpartition("__")[2] + step.input[
            len(name) :
        ], ""  # servers are named differently to a hook
    cut = (step.failed or failed) and step.check is not None
    words = unfiltered(step.parts) if cut else " ".join(step.command.split())
    given = step.call.input
    return words, str(given.get("workdir") or given.get("dir_path") or step.folder)


def _alike(one: SessionStep, other: SessionStep) -> bool:
    """Whether the same call had the same result twice, except for what differs each time."""
    said, before = other.result.text, one.result.text
    if one.failed != other.failed or _says_nothing(other):
        return False
    if said != before and other.failed and (other.signature or one.signature):
        return one.signature == other.signature
    return said == before or settled(clipped(said)) == settled(clipped(before))


def _says_nothing(step: SessionStep) -> bool:
    """Whether a result doesn't show what a tool did: a picture, or "Clicked" from ``click``."""
    said = step.result.text.strip().lower()
    if step.command or step.failed or len(said) > _LONGEST_RECEIPT:
        return False
    return not said or any(
        said.startswith(word[:4])
        for word in re.split(r"[\W_]+", step.call.name.lower())
        if word[3:]
    )


def _waits(step: SessionStep) -> bool:
    """Whether a call waits for something, or asks how far it is: a log, or a short answer that it
    isn't finished."""
    if step.polls or step.check is not None:
        return step.polls
    said, given = step.result.text, step.command or str(step.call.input.get("file_path"))
    is_log = (step.call.kind == "read" or looks(step.parts)) and re.search(_LOG, given) is not None
    return is_log or (
        not step.failed and len(said) <= _LONGEST_STATUS and re.search(_PENDING, said) is not None
    )


def _shown(what: str) -> str:
    return f"`{masked_line(what, _WIDEST)}`"
