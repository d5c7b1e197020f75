"""What each compaction of a session lost, what the agent had to find again, and what never came
back.

Before a compaction, a window holds files, commands, numbers, decisions and a person's instructions.
Whatever isn't named in anything that stands in the window afterwards is lost: summary, messages
that stayed, attached files, what hooks said. A lost file that is read again, or a lost command that
gives the same answer again, was found again: that costs turns and tokens. Tokens are estimated from
bytes by what the session's requests were billed.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Self

from brim.agents.call import Event, ToolCall
from brim.agents.events import Attachment, Compaction, Message, StateSeen, ToolResult, Usage
from brim.agents.lines import Bounded
from brim.behaviors.behavior import BehaviorKind
from brim.behaviors.learning import infer_kind
from brim.files import data_lines
from brim.memory.facts import KINDS, SENTENCE_END, measure
from brim.memory.inventory import MOST, Inventory, Thing, is_set_up, told_by
from brim.memory.quotes import masked_line
from brim.text import fold
from brim.tracking.estimate import BilledRatio, length_of

MOST_ITEMS = 200
"""Lost things that are named per compaction; the counts are of all."""

BASIS = "estimated from bytes by the session's billed ratio"
GUESSED = "estimated from bytes by the model's vocabulary; the session is too short to say more"

_LONGEST = 200
_RECENT = 2_000_000
"""Bytes of the latest events that are kept: a compaction may leave them as they are."""
_WHOLE_WINDOWS = 8
"""Threads whose latest events are kept: a session may have had thousands of sub-agents."""
_MOST_OPEN = 10_000


@dataclass(frozen=True, slots=True)
class Lost:
    """A thing that a compaction lost, and how it came back."""

    kind: str
    """``file``, ``command``, ``number``, ``decision`` or ``instruction``."""
    text: str
    uses: int
    """How often it was used before."""
    back: str = ""
    """``read``, ``changed`` or ``run`` by the agent, said by ``you`` or a ``hook``; empty if it
    never came back."""
    turns: int = 0
    tokens: int = 0
    """What the agent took to find it again."""


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """What one compaction lost."""

    time: float | None
    session: str
    agent: str = ""
    """The client: ``claude``, ``codex`` or ``gemini``."""
    sub_agent: str = ""
    """Whose window it was; empty is the main thread's."""
    trigger: str = ""
    before: int | None = None
    after: int | None = None
    had: Mapping[str, int] = field(default_factory=dict)
    """How many things of each kind the window held."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """How many of them were in nothing that stood in it afterwards."""
    came_back: Mapping[str, int] = field(default_factory=dict)
    """How many of the lost ones the agent found again, or was told again."""
    items: tuple[Lost, ...] = ()
    """Lost things, masked; those that came back first, then the most used. At most 200."""
    turns: int = 0
    tokens: int = 0
    """What finding things again took in all."""
    readable: bool = True
    """False if the client wrote no summary that can be read: then what is lost isn't known."""
    basis: str = BASIS
    """What ``tokens`` rests on."""

    @property
    def never(self) -> tuple[Lost, ...]:
        """What never came back."""
        return tuple(item for item in self.items if not item.back)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; ``counts`` has for each kind how many there were and how many were
        lost."""
        found = asdict(self)
        counts = {
            kind: [self.had[kind], self.lost.get(kind, 0)] for kind in KINDS if self.had.get(kind)
        }
        found |= {"counts": counts, "lost": found.pop("items")}
        del found["had"]
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` wrote."""
        rest = {key: value for key, value in found.items() if key not in ("counts", "lost")}
        counts = found.get("counts", {})
        had, lost = ({kind: pair[at] for kind, pair in counts.items()} for at in (0, 1))
        items = tuple(Lost(**each) for each in found.get("lost", ()))
        return cls(had=had, lost=lost, items=items, **rest)


class CompactionReader:
    """Takes the events of one session, and of its sub-agents, each of which has its own window.

    *agent* is the client. A *ratio* that gets the same events from its owner isn't fed here.
    """

    def __init__(self, agent: str = "", *, ratio: BilledRatio | None = None) -> None:
        self.agent = agent
        self._ratio, self._feeds_ratio = ratio or BilledRatio(), ratio is None
        self._windows: dict[str, _Window] = {}
        self._last = self._folder = ""

    def take(self, event: Event) -> None:
        """Take in one event. Nothing in it raises."""
        if isinstance(event, StateSeen) and event.name == "folder":
            self._folder = self._folder or event.value
        if self._feeds_ratio:
            self._ratio.take(event)
        if event.agent != self._last or not self._windows:
            self._switch(event.agent)
        self._windows[event.agent].take(event)

    def _switch(self, agent: str) -> None:
        """Go on with the window of *agent*; of all but the last few, the latest events are
        forgotten."""
        self._last = agent
        self._windows[agent] = (
            self._windows.pop(agent) if agent in self._windows else _Window(self._folder)
        )
        if len(self._windows) > _WHOLE_WINDOWS:
            next(islice(reversed(self._windows.values()), _WHOLE_WINDOWS, None)).forget_recent()

    def finish(self) -> list[CompactionReport]:
        """Return the compactions so far, in the order of their time; the session may go on
        afterwards."""
        found = [
            each
            for window in self._windows.values()
            for each in window.results(self.agent, self._ratio)
        ]
        return sorted(found, key=lambda each: each.time if each.time is not None else 0.0)


class _Cost:
    """What finding one thing again took, and how often it was used before it was lost."""

    __slots__ = ("back", "seen", "size", "turns", "uses")

    def __init__(self, uses: int) -> None:
        self.uses, self.back, self.size = uses, "", 0
        self.turns: set[int] = set()
        self.seen: set[int] = set()


class _Measured:
    """One compaction while the session goes on: what was lost, and what of it came back."""

    def __init__(self, event: Compaction) -> None:
        self.event = event
        self.had: dict[str, int] = {}
        self.lost: dict[Thing, _Cost] = {}
        self.readable = False


class _Window:
    """One thread's window, through its compactions."""

    def __init__(self, folder: str) -> None:
        self._inventory = Inventory(folder)
        self._done: list[_Measured] = []
        self._open: _Measured | None = None
        self._standing: list[str] = []
        self._data: list[str] = []
        self._lost: dict[Thing, _Measured] = Bounded(MOST)
        self._recent: deque[Event] = deque()
        self._recent_size = 0
        self._calls = Bounded(_MOST_OPEN)
        self._answers = Bounded(_MOST_OPEN)
        self._turn = 0
        self._model = ""

    def take(self, event: Event) -> None:
        if isinstance(event, Compaction):
            self._settle()
            self._open = _Measured(event)
            return
        if self._open is not None and not self._is_standing(event):
            self._settle()
        if isinstance(event, Usage):
            self._turn += 1
            self._model = event.model or self._model
        elif isinstance(event, Attachment) and self._lost:
            self._said_again(event.text, "hook" if event.kind.startswith("hook") else "")
        elif isinstance(event, ToolCall):
            self._calls[event.id] = event
        self._remember(event)
        self._use(event)

    # Before a compaction --------------------------------------------------------------------------

    def _use(self, event: Event) -> None:
        """Hold what *event* names, and note what of it had been lost."""
        call = self._calls.pop(event.id, None) if isinstance(event, ToolResult) else None
        used = self._inventory.take(event)
        if isinstance(event, Message) and event.text:
            stated: list[Thing] = []
            if event.human and not is_set_up(event.text):
                stated = [("instruction", text) for text in instructions_in(event.text)]
            elif event.role == "assistant":
                stated = [("decision", text) for text in decisions_in(event.text)]
            for thing in stated:
                self._inventory.add(thing)
            if event.human and self._lost:
                self._said_again(event.text, "you")
        for thing in used:
            if isinstance(event, ToolResult):
                self._found(thing, call, event)

    def _remember(self, event: Event) -> None:
        """Keep the latest events whole: a compaction may leave them in the window."""
        if not isinstance(event, Message | ToolCall | ToolResult | Attachment):
            return
        self._recent.append(event)
        self._recent_size += len(getattr(event, "text", "")) + 200
        while self._recent_size > _RECENT and len(self._recent) > 1:
            self._recent_size -= len(getattr(self._recent.popleft(), "text", "")) + 200

    def forget_recent(self) -> None:
        """Forget the latest events: another thread has gone on since."""
        self._recent.clear()
        self._recent_size = 0

    # At a compaction ------------------------------------------------------------------------------

    def _is_standing(self, event: Event) -> bool:
        """Whether *event* is part of what the compaction leaves; if so, take its text."""
        if isinstance(event, Attachment):
            (self._data if event.path else self._standing).append(f"{event.path}\n{event.text}")
        elif isinstance(event, Message) and event.role != "assistant":
            if event.human and not is_set_up(event.text):
                return False
            self._standing.append(event.text)
            if self._open is not None and event.role == "summary":
                self._open.readable = True
        else:
            return not isinstance(event, Message | ToolCall | ToolResult)
        return True

    def _settle(self) -> None:
        """Compare what the window held with what the last compaction left, now that all of that is
        known."""
        done, self._open = self._open, None
        if done is None:
            return
        done.readable = not done.event.hidden and (
            done.readable or bool(self._standing or self._data)
        )
        places = set(done.event.kept)
        for event in self._recent:
            if event.at in places:
                (self._standing if isinstance(event, Message) else self._data).append(
                    _text_of(event)
                )
        held = self._inventory.held
        measured = measure(
            "\n".join(self._standing), self._inventory.ranked(), data="\n".join(self._data)
        )
        done.had = {kind: had for kind, (had, _) in measured.counts().items()}
        if done.readable:
            done.lost = {thing: _Cost(held[thing].uses) for thing in measured.lost}
            for thing in done.lost:
                self._lost[thing] = done
            self._inventory.keep_only(set(measured.had) - set(measured.lost))
        self._standing, self._data = [], []
        self._done.append(done)

    # After a compaction ---------------------------------------------------------------------------

    def _found(self, thing: Thing, call: ToolCall | None, result: ToolResult) -> None:
        """Note that *thing* was used by a call; if it had been lost, what finding it again took.

        A file costs what is read of it, each part once, until it is changed. A command costs only
        if its answer is the one from before: another answer is news.
        """
        answer = hash(result.text)
        same = thing[0] == "command" and self._answers.get(thing) == answer
        self._answers[thing] = answer
        lost = self._lost.get(thing)
        if lost is None or call is None:
            return
        cost, changed = (
            lost.lost[thing],
            call.kind in ("write", "edit") or bool(told_by(call).changed),
        )
        cost.back = cost.back or (
            "run" if thing[0] == "command" else "changed" if changed else "read"
        )
        if not changed and (same if thing[0] == "command" else answer not in cost.seen):
            cost.seen.add(answer)
            cost.turns.add(self._turn)
            cost.size += length_of(result.text) + length_of(_text_of(call))
        if changed or thing[0] == "command":
            del self._lost[thing]

    def _said_again(self, text: str, by: str) -> None:
        """Note what of the last compaction's losses *text* names: a person or a hook brought it
        back."""
        last = self._done[-1]
        waiting = [
            thing
            for thing, cost in last.lost.items()
            if not cost.back and self._lost.get(thing) is last
        ]
        gone = set(measure(text, waiting).lost) if by and text else set(waiting)
        for thing in waiting:
            if thing not in gone:
                last.lost[thing].back = by  # reading the file again still costs something
                self._inventory.add(thing)

    def results(self, agent: str, ratio: BilledRatio) -> Iterator[CompactionReport]:
        """Yield what is known of each compaction."""
        self._settle()
        for done in self._done:
            yield _result(done, agent, ratio, self._model)


def _result(done: _Measured, agent: str, ratio: BilledRatio, model: str) -> CompactionReport:
    event, lost, back = done.event, dict.fromkeys(done.had, 0), dict.fromkeys(done.had, 0)
    for (kind, _), cost in done.lost.items():
        lost[kind] += 1
        back[kind] += bool(cost.back)
    ranked = sorted(
        done.lost.items(), key=lambda one: (not one[1].back, -one[1].size, -one[1].uses)
    )
    items = tuple(
        Lost(
            kind,
            _masked(text),
            cost.uses,
            cost.back,
            len(cost.turns),
            ratio.tokens(cost.size, model),
        )
        for (kind, text), cost in ranked[:MOST_ITEMS]
    )
    return CompactionReport(
        time=event.time,
        session=event.session,
        agent=agent,
        sub_agent=event.agent,
        trigger=event.trigger,
        before=event.before,
        after=event.after,
        had=done.had,
        lost=lost,
        came_back=back,
        items=items,
        turns=len(frozenset[int]().union(*[cost.turns for cost in done.lost.values()])),
        tokens=ratio.tokens(sum(cost.size for cost in done.lost.values()), model),
        readable=done.readable,
        basis=GUESSED if ratio.bytes_per_token is None else BASIS,
    )


@lru_cache(maxsize=4_096)
def _masked(text: str) -> str:
    return masked_line(text, _LONGEST)


def _text_of(event: Event) -> str:
    """Return all that *event* says."""
    if isinstance(event, ToolCall):
        try:
            return json.dumps(event.input, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            return ""
    return str(getattr(event, "text", ""))


# Instructions and decisions -----------------------------------------------------------------------
#
# By form alone, in English: an instruction asks for something to be done or left, a decision names
# what was chosen. Of instructions in other languages those are found that forbid or prefer
# something.

LONGEST_PROMPT = 4_000
"""Characters of a prompt that are looked at: what is longer is pasted, and a paste says little
about what is wanted."""

LONGEST_STATEMENT = 300
"""Characters of one statement."""

MOST_STATEMENTS = 20
"""Statements of one message."""

_MARKS = " \t-*+>•\"'`(_"
_OPENERS = (
    "please",
    "also",
    "and",
    "then",
    "now",
    "ok",
    "okay",
    "so",
    "but",
    "oh",
    "first",
    "next",
    "finally",
    "just",
)
_PASTED = re.compile(
    r"^\s*(?:at |File \"|\$ |>>> |[{}<\[#/|]|\S+:\d+[:\s]|\d{4}-\d\d-\d\d)|[{};]\s*$|```"
)
_REQUEST = re.compile(
    r"(?i)(?:can|could|would|will) you\b|let'?s\b|(?:i|we)(?:'d like| want| need| would like)\b"
)
"""How a request opens that has no verb first."""
_REQUIRED = re.compile(r"(?i)\b(?:must|has to|have to|needs to|should)\b")
_PERSONAL = re.compile(r"(?i)^(?:i|you should see|you must have|this should have|it should have)\b")
"""What has to be is a requirement, unless it is about the one who writes or about what was
expected."""
_CONDITION = re.compile(
    r"(?i)(?:if|when|whenever|once|before|after|until|unless|while|for|in|on|whatever)\b[^,]*,\s*"
)
_CHOSEN = re.compile(
    r"(?i)^decision:|\b(?:(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|agreed|opted|settled|went with)"
    r"|(?:i|we)(?:'ll|'m|'re| will| am| are) (?:go(?:ing)? with|use)|let's (?:go with|use)|the plan is to)\b"
    r"|^(?:going|went) with\b|^(?:chose|decided|opted|settled)\b|^as agreed\b"
)
_MAY_CHOOSE = re.compile(
    r"(?i)\b(?:decision|with|chose|decided|opted|settled|agreed|plan is|use)\b"
)
"""Quickly tells most answers apart that choose nothing."""
_OPEN = re.compile(
    r"(?i)\?\s*$|\b(?:should (?:i|we)|would you|do you want|if you (?:want|prefer)|could|might|maybe|before i decide)\b"
)
"""What leaves a choice open."""


def instructions_in(prompt: str) -> list[str]:
    """Return the sentences of a typed *prompt* that ask for something to be done or left.

    >>> instructions_in("The login page is slow. Please never touch the migrations. Use pnpm! Why does it fail?")
    ['Please never touch the migrations.', 'Use pnpm!']
    """
    return [sentence for sentence in _sentences(prompt[:LONGEST_PROMPT]) if _asks(sentence)][
        :MOST_STATEMENTS
    ]


def decisions_in(answer: str) -> list[str]:
    """Return the sentences of an agent's *answer* that say what was chosen.

    >>> decisions_in("Both work. I'll go with SQLite because it needs no server. Should we use WAL?")
    ["I'll go with SQLite because it needs no server."]
    """
    if not _MAY_CHOOSE.search(answer):
        return []
    found = [sentence.strip(_MARKS) for sentence in _sentences(answer[: 4 * LONGEST_PROMPT])]
    return [
        sentence for sentence in found if _CHOSEN.search(sentence) and not _OPEN.search(sentence)
    ][:MOST_STATEMENTS]


def _sentences(text: str) -> list[str]:
    plain = re.sub(r"(?s)```.*?(?:```|\Z)", "\n", text)
    lines = [line.strip() for line in SENTENCE_END.split(plain)]
    return [
        fold(line, LONGEST_STATEMENT)
        for line in lines
        if len(line) > 3 and not _PASTED.search(line)
    ]


def _asks(sentence: str) -> bool:
    plain = sentence.strip(_MARKS).replace("’", "'")
    if _REQUEST.match(plain):
        return True
    if plain.endswith("?"):
        return False
    if _REQUIRED.search(plain) and not _PERSONAL.match(plain):
        return True
    return _is_asked(plain) or _is_asked(_CONDITION.sub("", plain, count=1))


def _is_asked(clause: str) -> bool:
    """Whether *clause* opens with a verb that asks for something, or forbids or prefers
    something."""
    words = [word.strip(",:;.!*_").lower() for word in clause.split()]
    while words and words[0] in _OPENERS:
        words = words[1:]
    if len(words) < 2:
        return False
    return words[0] in data_lines(__file__, "asking_verbs.txt") or infer_kind(" ".join(words)) in (
        BehaviorKind.CONSTRAINT,
        BehaviorKind.PREFERENCE,
    )
