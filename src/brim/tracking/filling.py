"""What fills the window? Estimated from the length of what was seen, so that the parts add up to what was reported."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.tracking.estimate import by_length, length_of
from brim.tracking.events import Message, ToolCall, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import Event

CATEGORIES = ("system and tools", "summary", "your words", "agent's words", "tool results", "other")
"""What can fill a window. ``other`` is what no line shows: reasoning, reminders, attachments, images."""

FIXED, SUMMARY, YOURS, AGENTS, RESULTS, OTHER = CATEGORIES

BASIS = "estimated from the length of each text, scaled to the reported total"

_MOST_SCALE = 2.0
"""A text is at most so many times its estimate; what is reported beyond that is something else."""
_CALLS_KEPT = 4_096
_NAMES_KEPT = 200


class Part(Frozen):
    """One part of what fills a window; ``name`` is the tool's, for results."""

    __slots__ = ("category", "name", "tokens")

    category: str
    name: str
    tokens: int

    def __init__(self, category: str, name: str, tokens: int) -> None:
        self._fill(category=category, name=name, tokens=tokens)

    def __str__(self) -> str:
        return f"{self.category}{f' of {self.name}' if self.name else ''}: {self.tokens:,}"


class Filling(Frozen):
    """What fills the window, largest part first. The parts add up to ``tokens``; ``basis`` says how they were found."""

    __slots__ = ("basis", "parts", "tokens")

    tokens: int
    parts: tuple[Part, ...]
    basis: str

    def __init__(self, tokens: int, parts: tuple[Part, ...], basis: str = BASIS) -> None:
        self._fill(tokens=tokens, parts=parts, basis=basis)

    def by_category(self) -> dict[str, int]:
        """Return the tokens of each category that is there, in the order of ``CATEGORIES``."""
        sums = dict.fromkeys(CATEGORIES, 0)
        for part in self.parts:
            sums[part.category] += part.tokens
        return {category: tokens for category, tokens in sums.items() if tokens}


class Contents:
    """What was put into a window since it was empty or compacted, in bytes by category and tool."""

    def __init__(self) -> None:
        self._inside: dict[tuple[str, str], int] = {}
        self._coming: dict[tuple[str, str], int] = {}
        self._names: dict[str, str] = {}
        self._fixed = 0
        self._measured = False

    def add(self, event: Event, text: str) -> None:
        """Take a message, a call or a result of this window's thread, and its *text*."""
        if isinstance(event, Message):
            if event.role == "assistant":
                self._put(AGENTS, "", text)
            elif event.role == "summary":
                self._put(SUMMARY, "", text)
            elif event.role != "error":
                self._put(YOURS if event.human else OTHER, "", text)
        elif isinstance(event, ToolCall):
            self._put(AGENTS, "", text)
            self._names[event.id] = event.name or event.tool
            if len(self._names) > _CALLS_KEPT:
                del self._names[next(iter(self._names))]
        elif isinstance(event, ToolResult):
            self._put(RESULTS, self._names.get(event.id, ""), text)

    def report(self, prompt: int, model: str) -> None:
        """Take that a prompt was reported: what came before is in it. The first tells what is there by itself."""
        for key, size in self._coming.items():
            room = key in self._inside or len(self._inside) < _NAMES_KEPT
            place = key if room else (key[0], "")
            self._inside[place] = self._inside.get(place, 0) + size
        self._coming = {}
        if not self._measured:
            seen = int(by_length(sum(self._inside.values()), model)) if self._inside else 0
            alone = max(0, prompt - seen)
            self._fixed = min(self._fixed, alone) if self._fixed else alone
            self._measured = True

    def compact(self) -> None:
        """Take that everything was replaced by a summary, which is yet to come."""
        self._inside, self._coming, self._measured = {}, {}, False

    def filling(self, used: int, model: str, basis: str) -> Filling:
        """Return how *used* tokens are shared out; *basis* is what that number rests on."""
        if used <= 0:
            return Filling(0, ())
        if basis in ("compaction", "guess"):
            return Filling(used, (Part(SUMMARY if basis == "compaction" else OTHER, "", used),))
        if basis == "total":
            return Filling(used, (Part(OTHER, "", used),))
        fixed = min(self._fixed, used)
        room = used - fixed
        sizes = {key: float(int(by_length(size, model))) for key, size in self._inside.items() if size}
        whole = sum(sizes.values())
        scale = min(_MOST_SCALE, room / whole) if whole else 0.0
        shares = {key: size * scale for key, size in sizes.items()}
        parts = {(FIXED, ""): fixed, **{key: int(share) for key, share in shares.items()}}
        missing = used - sum(parts.values())
        if scale < _MOST_SCALE:  # what is missing is rounding alone: the largest remainders get it
            for key in sorted(shares, key=lambda key: (int(shares[key]) - shares[key], key))[:missing]:
                parts[key] += 1
                missing -= 1
        parts[OTHER, ""] = parts.get((OTHER, ""), 0) + missing
        ranked = sorted(((tokens, key) for key, tokens in parts.items() if tokens), key=lambda one: (-one[0], one[1]))
        return Filling(used, tuple(Part(*key, tokens) for tokens, key in ranked))

    def _put(self, category: str, name: str, text: str) -> None:
        key = (category, name)
        self._coming[key] = self._coming.get(key, 0) + length_of(text)


def text_of(event: Event) -> str:
    """Return what an event puts into a window: its text, or the name and the input of a call, as JSON."""
    if not isinstance(event, ToolCall):
        return event.text if isinstance(event, (Message, ToolResult)) else ""
    import json

    try:
        return f"{event.name} {json.dumps(event.input, ensure_ascii=False, default=str)}"
    except (ValueError, TypeError, RecursionError):
        return event.name
