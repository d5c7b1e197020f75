"""What a request held, part by part, next to what was billed; and what changed between two
requests.

A provider's own vocabulary isn't always public, so texts are counted with a stand-in and multiplied
by a ratio. The ratio is what was known before the request: that of the request before it, or the
family's prior. Then the texts are scaled to what remains of the bill: see ``balance``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from brim.models.light import lookup
from brim.models.usage import Tokens
from brim.record import PlainData
from brim.sessions.composition.balance import Balance, balance
from brim.sessions.composition.pieces import UNRESOLVED, Label, RequestPiece
from brim.sessions.composition.thread import Sent, Thread, ThreadItem
from brim.tokens.calibrate import ANY_FAMILY, CalibrationStore, Ratio, ratio_for

UNRECORDED = "not recorded"
EXACT = "recorded exactly"
CALIBRATED = "calibrated"
FAILED = "this estimate failed"

LEAST_RATIO = 0.4
MOST_RATIO = 3.0
"""An observed ratio beyond these is of a request that held more, or less, than its parts show."""
_LEAST_LOCAL = 500
_JUMP = 0.1
"""How much a request may raise the ratio whatever it adds.

Beyond, what it adds must have a ratio of a text.
"""
_LEAST_SPAN = 300
"""Local tokens by which two requests must differ before their difference says anything about the
ratio."""


@dataclass(frozen=True, slots=True)
class KnownParts:
    """What was known about a model's billing before a request."""

    ratio: float
    basis: str
    """``calibrated``: learned from earlier requests; ``estimated``: a prior; ``exact``: the model's
    own vocabulary."""
    hidden: int | None = None
    """Tokens of what isn't recorded, by the request before; None if nothing says."""


@dataclass(frozen=True, slots=True)
class RequestSizes:
    """What a request held, before anything is scaled."""

    counted: int
    """Tokens of all texts in the stand-in's vocabulary."""
    exact: int
    """Tokens that are recorded exactly."""
    unresolved: int
    """Items that the request names and no line holds."""


@dataclass(frozen=True, slots=True)
class RequestPart(PlainData):
    """A row of the tree; ``tokens`` is None for what nothing says the size of."""

    name: str
    tokens: int | None
    basis: str
    items: int = 1
    parts: tuple[RequestPart, ...] = ()


@dataclass(frozen=True)
class ComposedRequest:
    """One answered request, with what was known before it."""

    number: int
    """From 1, in the order of the answers."""
    model: str
    time: float | None
    usage: Tokens
    recorded: bool
    resumed: bool
    """Whether it's the first after the session was resumed."""
    compacts: bool
    """Whether it asked for a summary of the conversation."""
    known: KnownParts
    hidden: tuple[str, ...]
    """What the client doesn't record of it."""
    sizes: RequestSizes
    settings: str
    id: str
    _thread: Thread = field(repr=False, compare=False)
    _sent: Sent = field(repr=False, compare=False)

    @property
    def billed(self) -> int:
        """The tokens of the whole prompt, as they were billed."""
        return self.usage.prompt

    @property
    def head(self) -> str:
        """What names its tools and system prompt; empty if they aren't recorded."""
        return self._sent.head

    @property
    def items(self) -> list[ThreadItem]:
        """What it held, in the order in which a cache reads it."""
        return self._thread.items_of(self._sent)

    @property
    def pieces(self) -> list[RequestPiece]:
        """The pieces of all items, in the same order."""
        return [piece for item in self.items for piece in item.pieces]

    @property
    def balance(self) -> Balance:
        """How its parts add up to the bill."""
        return balance(
            self.billed,
            exact=self.sizes.exact,
            texts=self.sizes.counted * self.known.ratio,
            has_unrecorded=bool(self.hidden) or self.compacts or self.sizes.unresolved > 0,
        )

    def tokens_of(self, pieces: Iterable[RequestPiece]) -> int:
        """Return the tokens of *pieces*, as they are shared out of the bill."""
        return self._tokens_of(pieces, self.balance)

    def _tokens_of(self, pieces: Iterable[RequestPiece], shares: Balance) -> int:
        if shares.failed:
            return 0
        counted = 0
        exact = 0
        for piece in pieces:
            counted += piece.local
            exact += piece.own
        return int(counted * self.known.ratio * shares.scale) + exact

    @property
    def parts(self) -> tuple[RequestPart, ...]:
        """The tree, the largest part first. It adds up to what was billed."""
        shares = self.balance
        if shares.failed:
            off = f"its parts would be {_off(shares.scale)} the bill"
            return (RequestPart(FAILED, self.billed, off),)
        pieces = [
            piece
            for piece in self.pieces
            if piece.local or piece.own or piece.label[0] == UNRESOLVED
        ]
        rows = self.tree(pieces)
        if shares.not_recorded or self.hidden:
            rows.append(RequestPart(self._unrecorded_name(), shares.not_recorded, UNRECORDED))
        rows.sort(key=_by_size)
        if self.billed and rows:
            missing = self.billed - _sum_of(rows)
            largest = 0
            if rows[0].basis == UNRECORDED and len(rows) > 1 and rows[1].tokens:
                largest = 1
            rows[largest] = _with_rounding(rows[largest], missing)
        return tuple(rows)

    def _unrecorded_name(self) -> str:
        if not self.hidden:
            return UNRECORDED
        return f"{' and '.join(self.hidden)} ({UNRECORDED})"

    @property
    def remainder(self) -> int:
        """What was billed beyond the unscaled estimate of all parts, negative if they are more: how
        good the estimate was."""
        estimate = round(self.sizes.counted * self.known.ratio) + self.sizes.exact
        hidden = 0
        if self.hidden:
            hidden = self.known.hidden or 0
        return self.billed - estimate - hidden

    def tree(self, pieces: Iterable[RequestPiece], depth: int = 0) -> list[RequestPart]:
        """Return *pieces* as rows, the largest first, from the level *depth* of their labels on."""
        return self._tree(pieces, self.balance, depth)

    def _tree(
        self, pieces: Iterable[RequestPiece], shares: Balance, depth: int
    ) -> list[RequestPart]:
        groups: dict[str, list[RequestPiece]] = {}
        for piece in pieces:
            name = ""
            if depth < len(piece.label):
                name = piece.label[depth]
            groups.setdefault(name, []).append(piece)
        rows = [self._row(name, group, shares, depth) for name, group in groups.items()]
        return sorted(rows, key=_by_size)

    def _row(
        self, name: str, pieces: Sequence[RequestPiece], shares: Balance, depth: int
    ) -> RequestPart:
        tokens = None
        if any(piece.label[0] != UNRESOLVED for piece in pieces):
            tokens = self._tokens_of(pieces, shares)
        below: tuple[RequestPart, ...] = ()
        if any(len(piece.label) > depth + 1 for piece in pieces):
            largest, *smaller = self._tree(pieces, shares, depth + 1)
            missing = (tokens or 0) - _sum_of((largest, *smaller))
            below = (_with_rounding(largest, missing), *smaller)
        return RequestPart(name or "other", tokens, self._basis(pieces), len(pieces), below)

    def _basis(self, pieces: Sequence[RequestPiece]) -> str:
        if any(piece.local for piece in pieces):
            if self.known.basis == "estimated" and self.balance.not_recorded:
                return self.known.basis
            return CALIBRATED
        if any(piece.label[0] == UNRESOLVED for piece in pieces):
            return f"named by the request, {UNRECORDED}"
        return EXACT


def _sum_of(parts: Iterable[RequestPart]) -> int:
    return sum(part.tokens or 0 for part in parts)


def _with_rounding(part: RequestPart, missing: int) -> RequestPart:
    """Return *part* with the tokens that were *missing* by rounding, in its largest leaf too."""
    if not missing:
        return part
    below = part.parts
    if below:
        below = (_with_rounding(below[0], missing), *below[1:])
    return replace(part, tokens=(part.tokens or 0) + missing, parts=below)


def _off(scale: float) -> str:
    """Say how much the estimate of the texts is beside the bill."""
    if scale <= 0:
        return "more than"
    return f"{1 / scale:.0%} of"


def _by_size(part: RequestPart) -> tuple[int, str]:
    return -(part.tokens or 0), part.name


def requests_of(
    thread: Thread,
    calibrations: CalibrationStore | None = None,
    hidden_before: Mapping[str, int] | None = None,
) -> list[ComposedRequest]:
    """Return the requests of *thread*, each with what was known before it.

    *calibrations* and *hidden_before* are what other sessions showed: a model's ratio, and how many
    tokens its client sends without recording them.
    """
    learned: dict[str, _Learned] = {}
    requests = []
    for number, (sent, size) in enumerate(zip(thread.sent, thread.sizes(), strict=True), 1):
        hidden = thread.hidden(sent)
        if sent.model not in learned:
            learned[sent.model] = _Learned(
                _prior(sent.model, calibrations), (hidden_before or {}).get(sent.model)
            )
        state = learned[sent.model]
        # A request for a summary may be sent without tools, and with words that no line holds.
        known = state.known(is_hidden=bool(hidden) and not sent.compacts)
        about = (
            sent.usage,
            sent.recorded,
            sent.resumed,
            sent.compacts,
            known,
            hidden,
            RequestSizes(*size),
            sent.settings,
            sent.id,
        )
        requests.append(ComposedRequest(number, sent.model, sent.time, *about, thread, sent))
        if not sent.compacts:
            state.observe(sent.usage.prompt, *size, is_hidden=bool(hidden))
    return requests


def tokens_of_part(requests: Sequence[ComposedRequest], name: str) -> list[int]:
    """Return the tokens of the part *name*, of the first level, in each of *requests*: a thread's
    first ones."""
    if not requests:
        return []
    tokens: list[int] = []
    for request, (counted, exact, _) in zip(
        requests, requests[0]._thread.sizes(name), strict=False
    ):
        shares = request.balance
        if shares.failed:
            tokens.append(0)
        else:
            tokens.append(int(counted * request.known.ratio * shares.scale) + exact)
    return tokens


def _prior(model: str, calibrations: CalibrationStore | None) -> Ratio:
    light = lookup(model)
    return ratio_for(model, light.encoding if light.resolved else ANY_FAMILY, calibrations)


class _Learned:
    """What the requests of one model have shown so far."""

    def __init__(self, prior: Ratio, hidden: int | None) -> None:
        self._prior = prior
        self._hidden = hidden
        self._ratio: float | None = None
        self._last = (0, 0)
        self._unresolved = 0
        self._excess = 0.0
        """Tokens billed for what no part shows: they must not make every other part look larger."""
        self._extremes: list[tuple[int, int]] = []
        """The smallest and the largest request with a hidden part: its counted tokens, and those
        that were billed."""

    def known(self, *, is_hidden: bool) -> KnownParts:
        """Return what is known now."""
        hidden = None
        if is_hidden:
            hidden = self._hidden
        if self._ratio is None:
            return KnownParts(self._prior.value, self._prior.basis, hidden)
        return KnownParts(self._ratio, "calibrated", hidden)

    def observe(
        self, billed: int, local: int, own: int, unresolved: int, *, is_hidden: bool
    ) -> None:
        """Take what one request was billed for.

        *local* are the tokens of its texts in the stand-in vocabulary; *own* those of images and
        thinking, which no ratio changes.
        """
        texts = billed - own
        if texts <= 0:
            return
        if unresolved:
            self._observe_growth(local, texts, unresolved)
        elif is_hidden:
            self._observe_hidden(local, texts)
        elif local >= _LEAST_LOCAL:
            self._observe_all(local, texts)
        self._last = (local, texts)
        self._unresolved = unresolved

    def _observe_all(self, local: int, texts: int) -> None:
        """Take a request all of whose parts are recorded: the ratio is that of its sums."""
        if self._ratio is not None:
            before, billed = self._last
            added = 0.0
            if local > before:
                added = (texts - billed) / (local - before)
            if local < before:
                # Much has left: what wasn't explained may have gone with it.
                error_if_gone = abs(texts / local - self._ratio)
                error_if_there = abs((texts - self._excess) / local - self._ratio)
                if error_if_gone <= error_if_there:
                    self._excess = 0.0
            elif texts - self._excess > local * self._ratio * (1 + _JUMP) and added > MOST_RATIO:
                self._excess = texts - local * self._ratio
        ratio = (texts - self._excess) / local
        if LEAST_RATIO <= ratio <= MOST_RATIO:
            self._ratio = ratio

    def _observe_growth(self, local: int, texts: int, unresolved: int) -> None:
        """Take a request with messages that no line holds: only what came since the one before says
        something."""
        if self._ratio is None and unresolved == self._unresolved:
            before, billed_before = self._last
            self._learn_ratio(local - before, texts - billed_before)

    def _observe_hidden(self, local: int, texts: int) -> None:
        """Take a request with a hidden part, such as tools that aren't recorded.

        All requests have it, so it isn't in the difference between two of them: that tells the
        ratio, and the ratio how large the hidden part is.
        """
        requests = sorted([*self._extremes, (local, texts)])
        self._extremes = [requests[0], requests[-1]]
        smallest, smallest_billed = requests[0]
        largest, largest_billed = requests[-1]
        self._learn_ratio(largest - smallest, largest_billed - smallest_billed)
        # The smallest request says most about what all of them share.
        visible = smallest * (self._ratio or self._prior.value)
        self._hidden = max(0, round(smallest_billed - visible))

    def _learn_ratio(self, local: int, billed: int) -> None:
        """Take that *local* counted tokens were *billed* as so many, if they are enough to tell."""
        if local < _LEAST_SPAN:
            return
        ratio = billed / local
        if LEAST_RATIO <= ratio <= MOST_RATIO:
            self._ratio = ratio


@dataclass(frozen=True, slots=True)
class CompositionChange(PlainData):
    """What is different between two requests."""

    came: tuple[RequestPart, ...]
    left: tuple[RequestPart, ...]
    breaker: Label
    """The first part that differs where the later request doesn't simply go on; empty if it
    does."""
    kept_tokens: int
    """Tokens before the first difference: what a cache can still give."""
    rewritten_tokens: int
    """Tokens after it that the earlier request had too: cached before, and paid for again."""


def compare(
    before: ComposedRequest, after: ComposedRequest, *, without: str = ""
) -> CompositionChange:
    """Return what changed from *before* to *after*.

    *without* leaves out one part, as if it had never been there.
    """
    olds, news = (
        [each for each in request.pieces if each.label[0] != without] for request in (before, after)
    )
    same = 0
    if (before.model, before.settings and after.settings) != (
        after.model,
        after.settings and before.settings,
    ):
        breaker: Label = ("settings",)
        if before.model != after.model:
            breaker = ("model",)
    else:
        while same < min(len(olds), len(news)) and _key(olds[same]) == _key(news[same]):
            same += 1
        breaker = ()
        if same < len(olds):
            breaker = (news[same] if same < len(news) else olds[same]).label
    had = Counter(map(_key, olds))
    has = Counter(map(_key, news))
    came = _only(news, had)
    left = _only(olds, has)
    again = [piece for piece in news[same:] if had[_key(piece)]]
    return CompositionChange(
        tuple(after.tree(came)),
        tuple(before.tree(left)),
        breaker,
        after.tokens_of(news[:same]),
        after.tokens_of(again) if breaker else 0,
    )


def _key(piece: RequestPiece) -> tuple[Label, str]:
    return piece.label, piece.mark


def _only(
    pieces: list[RequestPiece], known_counts: Counter[tuple[Label, str]]
) -> list[RequestPiece]:
    """Return the *pieces* that the *others* don't have as often."""
    left = Counter(known_counts)
    only = []
    for piece in pieces:
        if left[_key(piece)] > 0:
            left[_key(piece)] -= 1
        else:
            only.append(piece)
    return only
