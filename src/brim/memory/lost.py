"""What a compaction lost: the things, how they came back, what that took, and what of
them comes back in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from brim.memory.comparison import KINDS
from brim.memory.entries import MemoryEntry, draft
from brim.memory.quotes import code, masked_line
from brim.memory.ranking import BINDING, LATEST, OTHER
from brim.record import PlainData

MOST_ITEMS = 200
"""Lost things that are named per compaction; the counts are of all."""

BASIS = "estimated from bytes by the session's billed ratio"
GUESSED = "estimated from bytes by the model's vocabulary; the session is too short to say more"


@dataclass(frozen=True, slots=True)
class LostFact(PlainData):
    """A thing that a compaction lost, and how it came back."""

    kind: str
    """``instruction``, ``decision``, ``file`` or ``command``."""
    text: str
    uses: int
    """How often it was used before."""
    back: str = ""
    """``read``, ``changed`` or ``run`` by the agent, said by ``you`` or a ``hook``; empty if it
    never came back."""
    turns: int = 0
    tokens: int = 0
    """What the agent took to find it again."""
    level: int = OTHER
    """How much it mattered that it came back: 0 for a person's own words, 5 for the rest."""
    given_back: bool = False
    """Whether brim gave it back."""
    used_again: bool = False
    """Whether the agent read, changed or ran it afterwards."""

    @property
    def is_usable(self) -> bool:
        """Whether an agent can use it: nobody can tell whether it followed an instruction."""
        return self.kind in ("file", "command")


@dataclass(frozen=True, slots=True)
class CompactionReport(PlainData):
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
    in_window: Mapping[str, int] = field(default_factory=dict)
    """How many things of each kind the window held."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """How many of them were in nothing that stood in it afterwards."""
    came_back: Mapping[str, int] = field(default_factory=dict)
    """How many of the lost ones the agent found again, or was told again."""
    items: tuple[LostFact, ...] = ()
    """Lost things, masked, in the order in which they come back. At most 200."""
    turns: int = 0
    tokens: int = 0
    """What finding things again took in all."""
    readable: bool = True
    """False if the client wrote no summary that can be read: then what is lost isn't known."""
    basis: str = BASIS
    """What ``tokens`` rests on."""
    steps: int | None = None
    """Calls until the first edit afterwards; None if there was none yet."""

    @property
    def never(self) -> tuple[LostFact, ...]:
        """What never came back."""
        return tuple([item for item in self.items if not item.back])

    @property
    def given_back(self) -> tuple[LostFact, ...]:
        """What brim gave back."""
        return tuple([item for item in self.items if item.given_back])

    @property
    def total_lost(self) -> int:
        """How many things were lost in all."""
        return sum(self.lost.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON.

        ``counts`` has for each kind how many things there were and how many were lost, ``lost``
        the things themselves.
        """
        values = asdict(self)
        values["counts"] = {}
        for kind in KINDS:
            if self.in_window.get(kind):
                values["counts"][kind] = [self.in_window[kind], self.lost.get(kind, 0)]
        values["lost"] = values.pop("items")
        del values["in_window"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` wrote."""
        fields = dict(values)
        counts = fields.pop("counts", {})
        fields["items"] = tuple([LostFact(**item) for item in fields.get("lost", ())])
        fields["in_window"] = {kind: pair[0] for kind, pair in counts.items()}
        fields["lost"] = {kind: pair[1] for kind, pair in counts.items()}
        return cls(**fields)


HEADING = "- The summary of the last compaction left these out"
"""How the text begins; by it brim knows later what it gave back."""

MOST_LINES = 40
"""Lost things that are given back at most; ``brim memory lost`` shows all of them."""

LINES = 20
"""Those that are given back at most beside a person's own words."""

FILES = 2
"""Lost files that are given back at most: however many were lost, few are opened again."""

COMMANDS = 4
"""Lost commands that ran once and are given back at most."""

_LONGEST_LINE = 140
_LABELS = {"instruction": "your user said", "decision": "decided"}


@dataclass(frozen=True)
class ReturnedText(PlainData):
    """What the agent gets back: a heading and a line for each thing."""

    text: str
    items: tuple[LostFact, ...]
    """The things in it."""


def give_back(report: CompactionReport, scratch_path: str = "") -> ReturnedText | None:
    """Return what of the lost things in *report* the agent gets back; None if nothing was lost.

    *scratch_path* names the file with the rest.
    """
    if not report.items:
        return None
    items = chosen(report.items)
    lines = [f"{HEADING}:"]
    lines += [f"  - {line_of(item.kind, item.text)}" for item in items]
    remaining = report.total_lost - len(items)
    if remaining > 0:
        place = f"{scratch_path} has them" if scratch_path else "`brim memory lost` shows them"
        lines.append(f"  - and {remaining:,} more: {place}")
    elif scratch_path:
        lines[0] = f"{HEADING}; {scratch_path} has more about the session:"
    return ReturnedText("\n".join(lines) + "\n", items)


def chosen(items: Sequence[LostFact]) -> tuple[LostFact, ...]:
    """Return those of *items* that are worth giving back, in order.

    How many there are depends on what speaks for each, not on a number to reach. The rest is left
    to the memory's file.
    """
    own_words = [item for item in items if item.level == BINDING]
    important = [item for item in _without_repeated_files(items) if BINDING < item.level < OTHER]
    files = [item for item in important if item.kind == "file"]
    ran_once = [item for item in important if item.kind == "command" and item.level == LATEST]
    surplus = {*files[FILES:], *ran_once[COMMANDS:]}
    important = [item for item in important if item not in surplus]
    return tuple([*own_words, *important[:LINES]][:MOST_LINES])


def _without_repeated_files(items: Sequence[LostFact]) -> list[LostFact]:
    """Return *items* without the files that a command which matters names."""
    commands = [item.text for item in items if item.kind == "command" and item.level < OTHER]
    files = {("file", word) for word in " ".join(commands).split()}
    return [item for item in items if (item.kind, item.text) not in files]


def line_of(kind: str, text: str) -> str:
    """Return the line of the lost *text* of that *kind*."""
    text = masked_line(text, _LONGEST_LINE)
    label = _LABELS.get(kind, kind)
    if kind == "instruction":
        return f'{label}: "{text}"'
    if kind == "decision":
        return f"{label}: {text}"
    return f"{label}: {code(text, _LONGEST_LINE)}"


def lost_entries(report: CompactionReport) -> list[MemoryEntry]:
    """Return the lost things as entries of the journal, what matters most last.

    The index shows the newest of them.
    """
    compaction = f"{report.session} {report.time}"
    entries = []
    for item in reversed(report.items):
        entries.append(
            draft(
                "lost",
                item.text,
                session=report.session,
                time=report.time,
                source=f"{compaction} {item.kind}",
                refs={"noun": item.kind, "compaction": compaction},
            )
        )
    return entries
