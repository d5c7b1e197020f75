"""The engines that count exactly, and which of them counts what.

An engine says which encodings it has and from how many characters on it pays to load it. The table engine has OpenAI's
encodings and is there at once. The native engine (``brim[fast]``) is several times as fast but takes longer to load, so
it takes over when there is much to count, and it brings the open models' vocabularies. Whatever happens to it, the
table stands behind it.
"""

from __future__ import annotations

from brim.tokens.encoding import ENCODINGS, load_table_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STAND_IN = "o200k_base"
"""The vocabulary that stands in for one that is not here."""

ASK_FROM = 100_000
"""Characters counted before the native engine is asked at all: to look whether it is installed costs more than to count
a prompt."""

SLOW_TEXT = 4
"""How many characters one outside ASCII is worth when work is measured: the table engine is that much slower on it."""

NOT_ADDITIVE = frozenset({"mistral"})
"""Encodings (SentencePiece) that put a mark before every text, and so before every block of one."""

ADDITIVE = frozenset({"o200k_base", "o200k_harmony", "cl100k_base"})
"""Encodings for which the tokens of lines add up to the token: a cut directly after a newline is exact if the next line
is not blank and, in o200k, does not begin with ``/``."""

_NEVER = 1 << 62


class EngineUnavailable(Exception):
    """An engine is not installed, lacks the encoding, or failed its check when it was loaded. Its text says which."""


class EngineFailed(Exception):
    """An engine broke while it counted; the text itself may be fine."""


class EncodingCounter:
    """Counts text in one encoding, with the engine that is best for the amount of work."""

    def __init__(self, encoding: str) -> None:
        """Raise ``KeyError`` if no engine that is installed has *encoding*."""
        self.encoding = encoding
        self.exact = True
        """False once the only engine of this encoding has failed: counts are then those of ``STAND_IN``."""
        self._work = 0
        self._ask_at = ASK_FROM
        self._native: Callable[[str], int] | None = None
        self._table: Callable[[str], int] | None = None
        if encoding in ENCODINGS:
            self._table = load_table_counter(encoding)
        else:
            self._native = _load_native(encoding)
            if self._native is None:
                raise KeyError(encoding)

    @property
    def engine(self) -> str:
        """The engine that counts now: ``table`` or ``native``."""
        return "table" if self._native is None else "native"

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        if self._native is None:
            self._work += len(text) * (1 if text.isascii() else SLOW_TEXT)
            if self._work >= self._ask_at:
                self._ask_native()
        if self._native is not None:
            try:
                return self._native(text)
            except EngineFailed:
                self._give_up_native()
        assert self._table is not None  # noqa: S101 - there is one engine or the other
        return self._table(text)

    def sum(self, blocks: Iterable[str]) -> int:
        """Return the number of tokens of one text given in *blocks*, as ``brim.tokens.stream`` cuts them."""
        return self("".join(blocks)) if self.encoding in NOT_ADDITIVE else sum(map(self, blocks))

    def _ask_native(self) -> None:
        """Load the native engine if there is enough work for it; remember when to ask again, or never to."""
        from brim.tokens.native import NativeEngine

        if self._work < NativeEngine.pays_from:
            self._ask_at = NativeEngine.pays_from
        else:
            self._ask_at = _NEVER
            self._native = _load_native(self.encoding)

    def _give_up_native(self) -> None:
        self._native, self._ask_at = None, _NEVER
        if self._table is None:
            self._table, self.exact = load_table_counter(STAND_IN), False


def _load_native(encoding: str) -> Callable[[str], int] | None:
    """Return the native counter of *encoding*, or None if it is not installed, lacks it, or failed its check."""
    from brim.tokens.native import NativeEngine

    try:
        return NativeEngine().load(encoding)
    except EngineUnavailable:
        return None


_counters: dict[str, EncodingCounter | None] = {}


def encoding_counter(encoding: str) -> EncodingCounter | None:
    """Return the counter of *encoding*, made once per process, or None if no engine here has it."""
    if encoding not in _counters:
        try:
            _counters[encoding] = EncodingCounter(encoding)
        except KeyError:
            _counters[encoding] = None
    return _counters[encoding]
