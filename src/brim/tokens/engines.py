"""The engines that count exactly, and which of them counts what.

An engine says which encodings it has and from how many characters on it pays to load it. The table
engine has OpenAI's encodings and is there at once. The native engine (``brim[fast]``) is several
times as fast but takes longer to load, so it takes over when there is much to count, and it brings
the open models' vocabularies. If it fails, the table takes over again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby, islice
from typing import Any
from unicodedata import normalize

from brim.tokens.stream import CUT
from brim.tokens.vocabulary import ENCODINGS, load_table_counter, without_surrogates

STAND_IN = "o200k_base"
"""The vocabulary that stands in for one that is not here."""

SLOW_TEXT = 4
"""How much slower the table engine is on a character outside ASCII."""

NOT_ADDITIVE = frozenset({"mistral"})
"""Encodings (SentencePiece) that put a mark before every text, and so before every block of one."""

ADDITIVE = frozenset({"o200k_base", "o200k_harmony", "cl100k_base"})
"""Encodings for which the tokens of lines add up to the token: a cut directly after a newline is
exact if the next line is not blank and, in o200k, does not begin with ``/``."""

_NEVER = 1 << 62
MOST_KEPT = 8_000_000
"""Characters of texts whose counts are kept."""


class EngineUnavailable(Exception):
    """An engine isn't installed, lacks the encoding, or failed its check."""


class EngineFailed(Exception):
    """An engine broke while it counted; the text itself may be fine."""


class EncodingCounter:
    """Counts text in one encoding with the fastest suitable engine."""

    def __init__(self, encoding: str) -> None:
        """Raise ``KeyError`` if no engine that is installed has *encoding*."""
        self.encoding = encoding
        self.exact = True
        """False once the only engine of this encoding has failed: counts are then those of
        ``STAND_IN``."""
        self._work = 0
        self._ask_at = NativeEngine.pays_from
        self._table: Callable[[str], int] | None = None
        self._native: Callable[[str], int] | None = None
        if encoding in ENCODINGS:
            self._table = load_table_counter(encoding)
        else:
            self._native = _load_native(encoding)
        if self._table is None and self._native is None:
            raise KeyError(encoding)

    @property
    def engine(self) -> str:
        """The engine that counts now: ``table`` or ``native``."""
        if self._native is None:
            return "table"
        return "native"

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        if self._native is None:
            self._note_work(text)
        if self._native is not None:
            try:
                return self._native(text)
            except EngineFailed:
                self._give_up_native()
        assert self._table is not None  # noqa: S101 - there is one engine or the other
        return self._table(text)

    def _note_work(self, text: str) -> None:
        """Load the native engine once there is so much to count that it pays."""
        work = len(text)
        if not text.isascii():
            work *= SLOW_TEXT
        self._work += work
        if self._work >= self._ask_at:
            self._ask_at = _NEVER
            self._native = _load_native(self.encoding)

    def _give_up_native(self) -> None:
        self._native = None
        self._ask_at = _NEVER
        if self._table is None:
            self._table = load_table_counter(STAND_IN)
            self.exact = False

    def __reduce__(self) -> tuple[Callable[[str], EncodingCounter | None], tuple[str]]:
        """Copy and pickle it by its name: its tables are a file in memory."""
        return encoding_counter, (self.encoding,)

    def sum(self, blocks: Iterable[str]) -> int:
        """Return the number of tokens of one text given in *blocks*, as ``brim.tokens.stream`` cuts
        them."""
        if self.encoding in NOT_ADDITIVE:
            return self("".join(blocks))
        return sum(map(self, blocks))


class KeptCounts:
    """Counts text as an *engine* does, and keeps the counts: a transcript's texts come again with
    every request."""

    def __init__(self, engine: EncodingCounter) -> None:
        self._engine = engine
        self.encoding: str = engine.encoding
        self._tokens: dict[str, int] = {}
        self._characters = 0

    @property
    def exact(self) -> bool:
        """Whether counts are those of the encoding."""
        return self._engine.exact

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        tokens = self._tokens.get(text)
        if tokens is not None:
            return tokens
        tokens = self._engine(text)
        self._characters += len(text)
        if self._characters > MOST_KEPT:
            self._tokens = {}
            self._characters = len(text)
        self._tokens[text] = tokens
        return tokens

    def sum(self, blocks: Iterable[str]) -> int:
        """Return the number of tokens of one text given in *blocks*."""
        return self._engine.sum(blocks)


def _load_native(encoding: str) -> Callable[[str], int] | None:
    """Return the native counter of *encoding*, or None if it is not installed, lacks it, or failed
    its check."""
    try:
        return NativeEngine().load(encoding)
    except EngineUnavailable:
        return None


@cache
def encoding_counter(encoding: str) -> EncodingCounter | None:
    """Return the counter of *encoding*, made once per process, or None if no engine here has it."""
    try:
        return EncodingCounter(encoding)
    except KeyError:
        return None


# The native engine: splintr, which comes with ``brim[fast]``, for bulk work and for the open
# models' vocabularies.
#
# Why this one, and what was measured: docs/decisions/README.md. What the package cannot
# promise is kept here:
#
# - it counts a canary text when it loads and is refused if one number differs (another Unicode version would show);
# - a panic, which pyo3 raises as a ``BaseException``, becomes ``EngineFailed``, so that the table can step in;
# - special-token strings are ordinary text, lone surrogates are replaced as tiktoken replaces them, and the one
#   spelling that splintr splits otherwise than tiktoken goes to the table; Qwen's text is composed first;
# - large text is counted in groups of blocks, on splintr's threads and outside the GIL; never in a forked child of a
#   process that did so, where those threads are gone and the call would wait for them for ever.


BATCH_FROM = 1 << 16
"""Text of at least so many characters is cut into blocks for the threads.

Shorter text is one call on this thread.
"""

BLOCK = 1 << 13
"""The least characters of a block."""

GROUP = 128
"""Blocks counted at a time, about a million characters: held in memory in addition to the text."""

_VOCABULARIES = {
    **{name: name for name in ("o200k_base", "o200k_harmony", "cl100k_base", "llama3", "qwen3")},
    **{"deepseek": "deepseek_v3", "tekken": "mistral_v3", "mistral": "mistral_v2"},
}
"""brim's name of an encoding to splintr's, if its counts were compared with the publisher's own
files. The package has more (GLM, Kimi, Llama 2), which haven't been compared, and an unchecked
count is not an exact one."""

_COMPOSED = frozenset({"qwen3"})
"""Encodings whose publisher composes characters (NFC) before splitting, which splintr leaves to the
caller."""

_CANARY = (
    "The canary's 12,345 feathers weren't IN THE CAGE; they'RE in Zürich — naïve façade, größte Straße.\r\n"
    "def _count(self, text: str) -> int:\n\treturn sum(1 for piece in self.split(text))  # O(n)\n\n\n"
    '    {"id": "3f2504e0-4f89-11d3", "ok": true, "path": "/usr/lib/x86_64"}/\n// end   \n \t \n'
    "今日は、上下文窗口的预算！ 안녕하세요. Привет, مرحبا नमस्ते สวัสดี ١٢٣ Ⅷ½ "
    "👩🏽‍💻🇩🇪✅ e\u0301 \u00a0\u3000\u2028x\u0000 ǅ ʰ ª ------=====  aaaaaaaaaaaaaaaaaaaaaaaa "
    # Letters that Unicode 17 added: tiktoken does not know them as letters, and an engine that does
    # counts otherwise.
    "a\u088fb \u0c5c\u0cdcx \ua7ceY\ua7cf"
)
_CANARY_SPECIAL = _CANARY + "<|endoftext|><|im_start|>system<|message|>"
_CANARY_COUNTS = {"o200k_base": (182, 200), "o200k_harmony": (182, 200), "cl100k_base": (216, 234)}
"""What tiktoken counts in the two canary texts."""


class NativeEngine:
    """The registry's view of splintr: what it can count, from what size on, and a counter for each
    encoding."""

    encodings = frozenset(_VOCABULARIES)
    """OpenAI's three, and the open models' that the package carries."""

    pays_from = 500_000
    """From so many characters on, loading it (about a quarter of a second) beats the table.

    Before that, brim doesn't even look for it: that costs more than counting a prompt.
    """

    def load(self, encoding: str) -> Callable[[str], int]:
        """Return the counter of *encoding*, or raise ``EngineUnavailable``."""
        if encoding not in self.encodings:
            raise EngineUnavailable(f"the native engine has no encoding {encoding!r}")
        vocabulary = _VOCABULARIES[encoding]
        try:
            from splintr import Tokenizer

            counter = NativeCounter(encoding, Tokenizer.from_pretrained(vocabulary))
        except ImportError as error:
            raise EngineUnavailable("splintr is not installed; it comes with brim[fast]") from error
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise EngineUnavailable(f"splintr cannot load {vocabulary!r}: {error}") from error
        counter.check()
        return counter


class NativeCounter:
    """Counts text in one encoding with splintr.

    Raises ``EngineFailed`` if splintr breaks, and nothing else.
    """

    _pool_owner: int | None = None
    """The process that started splintr's threads; they do not live on in its forked children."""

    def __init__(self, encoding: str, tokenizer: Any) -> None:
        """Take a splintr *tokenizer*, of which three calls are used.

        Special-token strings are ordinary text in ``encode_ordinary``, and one token in the flat
        calls, which give four bytes for each token. ``encode_batch_flat`` runs on several threads,
        and also says where each text begins.
        """
        self.encoding = encoding
        self._tokenizer = tokenizer

    def check(self) -> None:
        """Count the canary texts, and raise ``EngineUnavailable`` if a number is not the right
        one."""
        right = _CANARY_COUNTS.get(self.encoding)
        if right is None:
            return
        try:
            counts = (self(_CANARY), self(_CANARY_SPECIAL))
        except EngineFailed as error:
            raise EngineUnavailable(
                f"splintr failed on the {self.encoding} canary: {error}"
            ) from error
        if counts != right:
            raise EngineUnavailable(
                f"splintr counts the {self.encoding} canary as {counts}, which is {right}"
            )

    def handles(self, text: str) -> bool:
        """Whether splintr counts *text* as tiktoken does: o200k takes ``'ſ`` for a contraction,
        splintr does not."""
        if self.encoding == "cl100k_base" or self.encoding not in ADDITIVE:
            return True
        return "'ſ" not in text

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        try:
            if len(text) < BATCH_FROM or self.encoding in NOT_ADDITIVE:
                return self._count(text)
            total = 0
            for is_plain, run in groupby(_blocks(text), self._plain):
                while group := list(islice(run, GROUP)):
                    total += self._count_group(group) if is_plain else sum(map(self._count, group))
            return total
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic of pyo3's
            raise EngineFailed(f"{type(error).__name__}: {error}") from error

    def _plain(self, text: str) -> bool:
        """Whether the fast calls, which match special tokens, count *text* as ordinary text."""
        return self.encoding in ADDITIVE and "<|" not in text and self.handles(text)

    def _count(self, text: str) -> int:
        """Count in one call, on this thread."""
        if not self.handles(text):
            return load_table_counter(self.encoding)(text)
        if self.encoding in _COMPOSED and not text.isascii():
            text = normalize("NFC", text)
        try:
            if self._plain(text):
                return len(self._tokenizer.encode_flat(text)) // 4
            return len(self._tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            return self._count(without_surrogates(text))

    def _count_group(self, blocks: list[str]) -> int:
        """Count plain *blocks* at once, on splintr's threads where they exist."""
        process = os.getpid()
        if len(blocks) > 1 and NativeCounter._pool_owner in (None, process):
            NativeCounter._pool_owner = process
            try:
                return len(self._tokenizer.encode_batch_flat(blocks)[0]) // 4
            except UnicodeEncodeError:
                pass  # lone surrogates: they are replaced one block at a time
        return sum(map(self._count, blocks))


def _blocks(text: str) -> Iterator[str]:
    """Cut *text* into blocks of ``BLOCK`` characters or a little more, whose counts add up."""

    start = 0
    while len(text) - start > BLOCK:
        cut = CUT.search(text, start + BLOCK)
        if cut is None:
            break
        yield text[start : cut.end()]
        start = cut.end()
    if start < len(text):
        yield text[start:]
