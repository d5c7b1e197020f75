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
    from collections.abc import Callable

ASK_FROM = 100_000
"""Characters counted in a process before the native engine is asked at all: looking whether it is installed costs more
than counting a prompt."""


class EncodingCounter:
    """Counts text in one encoding, with the engine that is best for the amount of work."""

    def __init__(self, encoding: str) -> None:
        """Raise ``KeyError`` if no engine that is installed has *encoding*."""
        self.encoding = encoding
        self.fallbacks = 0
        """How often a native engine failed and the table stepped in."""
        self._counted = 0
        self._native: Callable[[str], int] | None = None
        self._ask_at = ASK_FROM
        self._table = load_table_counter(encoding) if encoding in ENCODINGS else None
        if self._table is None:
            self._native = _load_native(encoding)
            if self._native is None:
                raise KeyError(encoding)

    @property
    def engine(self) -> str:
        """The engine that counts now: ``table`` or ``native``."""
        return "table" if self._native is None else "native"

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        if self._table is None:
            return self._native(text)  # type: ignore[misc]  # the constructor saw to it
        if self._native is None:
            self._counted += len(text)
            if self._counted < self._ask_at:
                return self._table(text)
            self._ask_native()
            if self._native is None:
                return self._table(text)
        from brim.tokens.native import EngineFailed

        try:
            return self._native(text)
        except EngineFailed:
            self.fallbacks += 1
            self._native, self._ask_at = None, _NEVER
            return self._table(text)

    def _ask_native(self) -> None:
        """Load the native engine if this is enough work for it; remember when to ask again, or never to."""
        from brim.tokens.native import NativeEngine

        pays_from = NativeEngine.pays_from
        if self._counted < pays_from:
            self._ask_at = pays_from
            return
        self._native = _load_native(self.encoding)
        self._ask_at = _NEVER


_NEVER = 1 << 62


def _load_native(encoding: str) -> Callable[[str], int] | None:
    """Return the native counter of *encoding*, or None if it is not installed, lacks it, or failed its check."""
    from brim.tokens.native import EngineUnavailable, NativeEngine

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
