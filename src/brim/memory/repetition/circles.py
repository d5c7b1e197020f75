"""Going round in circles: whether a pending call was made often enough with the same result."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from brim.agents.events import Message
from brim.agents.fields import first_text
from brim.files import sha256_hex
from brim.memory.quotes import masked_line
from brim.memory.repetition.commands import unfiltered
from brim.memory.repetition.edits import FileChange, changes
from brim.memory.repetition.errors import clipped, settled
from brim.memory.repetition.findings import DeadEnd, Loop, StepRule
from brim.memory.repetition.git import git_steps, moves_tree
from brim.memory.repetition.step import SessionStep

HELD = "Held once by brim: "
"""How the refusal of a loop's next call begins. In the transcript it shows where the count starts
over."""
PASSING = 2
"""How many more failures it takes if they may pass: the network, or a lock."""
UNDONE = 2
"""How often an edit must have been undone before it goes round in circles."""

_MOST_STEPS = 120
_WIDEST = 200
_PENDING = re.compile(
    r"(?i)\b(?:running|pending|queued|scheduled|waiting|starting|provisioning|processing"
    r"|in[ _-]progress)\b"
    r"|\bnot (?:yet )?(?:ready|finished)\b|\b\d\d?(?:\.\d+)?\s?%"
)
_LOG = re.compile(r"\.(?:log|out|output)\b")
_LONGEST_STATUS = 300
"""A result that is no longer than this and says that something isn't finished is what polling
gets."""
_LONGEST_RECEIPT = 60
_NOT_MADE = ("permission", "interrupt", "cascade")


@dataclass(frozen=True)
class _CallKey:
    """What makes a call the same: its words, and the folder where a command ran."""

    words: str
    folder: str = ""


class Circles(StepRule):
    """Says before a call whether it goes on with a loop: ``loop``.

    A person's message starts the count over, and for calls that change nothing a changed file
    does too.
    """

    def __init__(self) -> None:
        self._steps: deque[SessionStep] = deque(maxlen=_MOST_STEPS)
        self._since_change: deque[SessionStep] = deque(maxlen=_MOST_STEPS)
        self._edits = _EditsOfTurn(0)
        self._has_prompt = False
        self._has_change = False

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Take in *step*; there is nothing to say before the next call."""
        self._steps.append(step)
        self._since_change.append(step)
        self._edits.take(step)
        if step.call.changes_files and not step.result.error:
            self._since_change.clear()
            self._has_change = True
        return []

    def person_spoke(self, message: Message) -> list[DeadEnd]:
        """Start over."""
        self._steps.clear()
        self._since_change.clear()
        self._edits = _EditsOfTurn(message.at)
        self._has_prompt = True
        return []

    def knows_its_start(self, *, is_edit: bool) -> bool:
        """Whether it is known where the count started; if not, more of the past is needed."""
        return self._has_prompt or (self._has_change and not is_edit)

    def loop(self, pending: SessionStep, number: int, *, is_edit: bool) -> Loop | None:
        """Return the loop that the *pending* call goes on with, None if there is none.

        *number* is how often the same call must have had the same result. Two calls in turn are a
        loop after two less than twice as many, an edit when it was undone and made again.
        """
        if _waits(pending):
            return None
        path = self._edits.circled_path(pending)
        if path:
            description = f"the same edit of {_in_quotes(path)} was undone and made again"
            return self._loop(description, [path])
        tries = _Tries()
        for step in self._steps if is_edit else self._since_change:
            tries.take(step)
        repeated = tries.repeated(pending, number)
        if repeated is None:
            return None
        description, words = repeated
        return self._loop(f"{description}{self._edits.undone_clause}", words)

    def _loop(self, description: str, words: list[str]) -> Loop:
        names = "\0".join([str(self._edits.since), *words])
        key = sha256_hex(names.encode("utf-8", "surrogatepass"))[:16]
        return Loop(description, key, goes_on=self._edits.was_held_for(words))


class _Tries:
    """What an agent has tried since the count started over."""

    def __init__(self) -> None:
        self._last_step: dict[_CallKey, SessionStep] = {}
        """The last time of each call."""
        self._calls: list[tuple[_CallKey, bool]] = []
        """The last calls, and whether each said something new."""
        self._failures: dict[_CallKey, int] = {}
        """How often each call failed the same way with no other try in between."""

    def take(self, step: SessionStep) -> None:
        """Take in the next *step*."""
        if HELD in step.result.text:
            self._calls = []
            self._failures = {}
            return
        if not step.is_try and step.call.kind != "agent":
            return
        if step.outcome.kind in _NOT_MADE:
            return
        if _waits(step):
            self._take_waiting()
        else:
            self._take_try(step)

    def _take_waiting(self) -> None:
        """What changes with time may have changed; what a check looks at has not."""
        self._calls = []
        for key in list(self._failures):
            if self._last_step[key].check is None:
                del self._failures[key]

    def _take_try(self, step: SessionStep) -> None:
        key = _key(step)
        before = self._last_step.get(key)
        is_same = before is not None and _are_alike(before, step)
        if moves_tree(step.parts) or (step.changes and not is_same):
            self._calls = []
            self._failures = {}
            self._last_step = {}
        elif not is_same and not _leaves_things(step):
            self._failures = {}
        self._last_step[key] = step
        self._calls.append((key, not is_same))
        self._count_failure(key, step, is_same=is_same)

    def _count_failure(self, key: _CallKey, step: SessionStep, *, is_same: bool) -> None:
        times = self._failures.pop(key, 0)
        if not step.failed:
            return
        if not is_same:
            times = 0
        self._failures[key] = times + 1

    def repeated(self, pending: SessionStep, number: int) -> tuple[str, list[str]] | None:
        """Return what the *pending* call repeats, in words and as the words of its calls."""
        key = self._key_of(pending)
        if key is None:
            return None
        last_step = self._last_step[key]
        failures = self._failures.get(key, 0)
        times = max(self._times_in_a_row(key), failures)
        if last_step.outcome.transient and last_step.check is None:
            number_needed = number + PASSING  # it may help to try again
        else:
            number_needed = number
        if times >= number_needed:
            how = "failed the same way" if failures else "gave the same result"
            return f"{_in_quotes(last_step.subject)} {how} {times} times", [key.words]
        return self._turns(key, number)

    def _key_of(self, pending: SessionStep) -> _CallKey | None:
        """Return the key of the last call that is the *pending* one; its folder isn't known."""
        words = (_key(pending).words, _key(pending, failed=True).words)
        for key, _ in reversed(self._calls):
            if key.words in words:
                return key
        return None

    def _times_in_a_row(self, key: _CallKey) -> int:
        """Return how often *key* was called since a call last said something new."""
        start = 0
        for place, (_, is_new) in enumerate(self._calls):
            if is_new:
                start = place
        return sum(call == key for call, _ in self._calls[start:])

    def _turns(self, key: _CallKey, number: int) -> tuple[str, list[str]] | None:
        """Return the two calls that take turns, if *key* is the next of them."""
        size = 2 * number - 2
        turns = self._calls[-size:]
        if len(turns) < size or any(is_new for _, is_new in turns[2:]):
            return None
        calls = [call for call, _ in turns]
        if calls[0] != key or calls[1] == key or calls[2:] != calls[:-2]:
            return None
        one = _in_quotes(self._last_step[calls[0]].subject)
        other = _in_quotes(self._last_step[calls[1]].subject)
        description = (
            f"{one} and {other} took turns for {size} calls, each with the same result every time"
        )
        keys = sorted(calls[:2], key=lambda call: (call.words, call.folder))
        return description, [call.words for call in keys]


@dataclass(frozen=True)
class _Mark:
    """One edit: enough of it to tell it from others, and to know its opposite."""

    path: str
    before: int
    after: int

    @property
    def opposite(self) -> _Mark:
        """The edit that takes it back."""
        return _Mark(self.path, self.after, self.before)


class _EditsOfTurn:
    """Which edits were made and taken back since the prompt at byte *since*."""

    def __init__(self, since: int) -> None:
        self.since = since
        self._held: set[str] = set()
        """The words of the calls, and the files, that were held."""
        self._made: dict[_Mark, int] = {}
        self._restored: dict[str, int] = {}
        self._standing: list[_Mark] = []
        self._whole: dict[str, int] = {}
        self._undone = 0

    def take(self, step: SessionStep) -> None:
        """Take in what *step* changed, restored with git, or was held for."""
        if HELD in step.result.text:
            unfoldered = SessionStep(step.call, step.result)
            self._held.add(_key(unfoldered).words)
            self._held.add(_key(unfoldered, failed=True).words)
            if step.call.changes_files:
                self._held.update(step.call.files)
            self._made = {}
            self._restored = {}
        if step.result.error or step.result.refusal:
            return
        if "git" in step.call.command:
            self._take_git(step)
        for change in changes(step.call, "", []):
            if change.is_reported:
                self._take_change(change)

    def _take_change(self, change: FileChange) -> None:
        mark = self._mark(change)
        if mark == mark.opposite:
            return
        self._made[mark] = self._made.get(mark, 0) + 1
        if mark.opposite in self._standing:
            self._standing.remove(mark.opposite)
            self._undone += 1
        else:
            self._standing.append(mark)
        if change.whole is not None:
            self._whole[change.path] = hash(change.whole)

    def _take_git(self, step: SessionStep) -> None:
        for git_step in git_steps(step.parts):
            if git_step.does not in ("restore", "reset"):
                continue
            for path in {mark.path for mark in self._made}:
                if git_step.takes_back(path):
                    self._take_back(path)

    def _take_back(self, path: str) -> None:
        self._restored[path] = self._restored.get(path, 0) + 1
        standing = [mark for mark in self._standing if mark.path != path]
        self._undone += len(self._standing) - len(standing)
        self._standing = standing

    def circled_path(self, pending: SessionStep) -> str:
        """Return the file in which *pending* makes again what was undone, if any."""
        for change in pending.changes:
            mark = self._mark(change)
            undone = self._made.get(mark.opposite, 0) + self._restored.get(change.path, 0)
            if mark in self._made and undone >= UNDONE:
                return change.path
        return ""

    def was_held_for(self, words: list[str]) -> bool:
        """Whether one of the calls with these *words* was held already."""
        return not self._held.isdisjoint(words)

    @property
    def undone_clause(self) -> str:
        """That the last edits were undone, as the end of a sentence; empty if they weren't."""
        if not self._undone or self._standing:
            return ""
        if self._undone == 1:
            return "; the last edit was undone"
        return f"; the last {self._undone} edits were undone"

    def _mark(self, change: FileChange) -> _Mark:
        if change.whole is not None:
            return _Mark(change.path, self._whole.get(change.path, 0), hash(change.whole))
        return _Mark(change.path, hash(change.old or ""), hash(change.new or ""))


def _key(step: SessionStep, *, failed: bool = False) -> _CallKey:
    """Return what makes a call the same.

    What only cuts the output of a check that *failed* doesn't matter: its errors are compared.
    """
    if not step.command:
        name = step.call.name
        # Servers are named differently to a hook.
        return _CallKey(name.rpartition("__")[2] + step.input[len(name) :])
    if (step.failed or failed) and step.check is not None:
        words = unfiltered(step.parts)
    else:
        words = " ".join(step.command.split())
    folder = first_text(step.call.input, "workdir", "dir_path") or step.folder
    return _CallKey(words, folder)


def _are_alike(before: SessionStep, after: SessionStep) -> bool:
    """Whether the same call had the same result twice, except for what differs each time."""
    if before.failed != after.failed or _is_receipt(after):
        return False
    if before.result.text == after.result.text:
        return True
    if after.failed and (after.signature or before.signature):
        return before.signature == after.signature
    return settled(clipped(before.result.text)) == settled(clipped(after.result.text))


def _is_receipt(step: SessionStep) -> bool:
    """Whether a result doesn't show what a tool did: a picture, or "Clicked" from ``click``."""
    text = step.result.text.strip().lower()
    if step.command or step.failed or len(text) > _LONGEST_RECEIPT:
        return False
    if not text:
        return True
    words = re.split(r"[\W_]+", step.call.name.lower())
    openings = tuple([word[:4] for word in words if len(word) > 3])
    return text.startswith(openings)


def _leaves_things(step: SessionStep) -> bool:
    """Whether a call leaves everything as it was: it looks, or it checks."""
    return step.only_looks or step.check is not None


def _reads_log(step: SessionStep) -> bool:
    reads = step.call.kind == "read" or (bool(step.parts) and step.only_looks)
    subject = step.command or " ".join(step.call.files)
    return reads and _LOG.search(subject) is not None


def _waits(step: SessionStep) -> bool:
    """Whether a call waits for something, or asks how far it is.

    Such is reading a log, and a short answer that something isn't finished.
    """
    if step.polls or step.check is not None:
        return step.polls
    if _reads_log(step):
        return True
    text = step.result.text
    if step.failed or len(text) > _LONGEST_STATUS:
        return False
    return _PENDING.search(text) is not None


def _in_quotes(subject: str) -> str:
    return f"`{masked_line(subject, _WIDEST)}`"
