"""The engine that is best for the amount of work counts, and whatever happens to it, the number is
the same."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from brim.tokens.engines import MOST_KEPT, EncodingCounter, KeptCounts, encoding_counter
from tests.conftest import Oracle
from tests.texts import documents

OPENAI = ("o200k_base", "o200k_harmony", "cl100k_base")
TEXT = "".join(documents(seed=21, number=400))
assert len(TEXT) > 300_000
LARGE = TEXT * (1 + 600_000 // len(TEXT))


class Panic(BaseException):
    """Stands for pyo3's PanicException, which is no Exception."""


class Broken:
    """The real tokenizer until it is told to break, and from then on one that panics."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.broken = False
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.broken:
                raise Panic("index out of range")
            return getattr(self.real, name)(*arguments)

        return call


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[Broken]:
    """Make splintr give tokenizers that can be broken; they are listed as they are made."""
    import splintr

    made: list[Broken] = []

    class Tokenizer:
        @staticmethod
        def from_pretrained(name: str) -> Broken:
            made.append(Broken(splintr.Tokenizer.from_pretrained(name)))
            return made[-1]

    module: Any = type(sys)("splintr")
    module.Tokenizer = Tokenizer
    monkeypatch.setitem(sys.modules, "splintr", module)
    return made


@pytest.mark.parametrize("encoding", OPENAI)
def test_little_text_is_counted_by_the_table(encoding: str, oracle: Oracle) -> None:
    count = EncodingCounter(encoding)
    assert count("Hello world") == oracle("Hello world", encoding)
    assert count.engine == "table"


@pytest.mark.parametrize("encoding", OPENAI)
def test_the_native_engine_takes_over_when_there_is_much_and_counts_the_same(
    encoding: str, oracle: Oracle
) -> None:
    count = EncodingCounter(encoding)
    assert count(LARGE) == oracle(LARGE, encoding)
    assert count.engine == "native"
    assert count("Hello world") == oracle("Hello world", encoding)


def test_many_small_texts_are_much_too() -> None:
    count = EncodingCounter("o200k_base")
    piece = TEXT[:20_000]
    counts = {count(piece) for _ in range(40)}
    assert count.engine == "native"
    assert len(counts) == 1


def test_the_native_engine_is_not_loaded_for_little_text(broken: list[Broken]) -> None:
    count = EncodingCounter("o200k_base")
    for _ in range(4):
        count("word\n" * 20_000)
    assert (count.engine, broken) == ("table", [])


def test_the_table_answers_when_the_native_engine_fails(
    broken: list[Broken], oracle: Oracle
) -> None:
    count = EncodingCounter("o200k_base")
    right = oracle(LARGE, "o200k_base")
    assert count(LARGE) == right
    broken[0].broken = True
    assert count(LARGE) == right
    assert count.engine == "table"
    calls = broken[0].calls
    assert count("Hello world") == 2
    assert (broken[0].calls, len(broken)) == (calls, 1)


def test_an_open_vocabulary_whose_engine_fails_is_estimated_and_never_raises(
    broken: list[Broken],
) -> None:
    count = EncodingCounter("llama3")
    assert count("Hello world") == 2
    broken[0].broken = True
    assert count("Hello world, again") == encoding_counter("o200k_base")("Hello world, again")  # type: ignore[misc]


def test_the_table_answers_when_the_native_engine_counts_the_canary_wrongly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Wrong:
        @staticmethod
        def from_pretrained(name: str) -> Any:
            return Wrong()

        def encode_ordinary(self, text: str) -> list[int]:
            return []

        def encode_flat(self, text: str) -> bytes:
            return b""

        def encode_batch_flat(self, texts: list[str]) -> tuple[bytes, bytes]:
            return b"", b""

    module: Any = type(sys)("splintr")
    module.Tokenizer = Wrong
    monkeypatch.setitem(sys.modules, "splintr", module)
    count = EncodingCounter("o200k_base")
    assert count("word\n" * 120_000) == 240_000
    assert count.engine == "table"


def test_without_the_native_engine_the_table_counts_everything(
    monkeypatch: pytest.MonkeyPatch, oracle: Oracle
) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    count = EncodingCounter("cl100k_base")
    assert count(LARGE) == oracle(LARGE, "cl100k_base")
    assert count.engine == "table"
    with pytest.raises(KeyError, match="llama3"):
        EncodingCounter("llama3")


@pytest.mark.parametrize("encoding", ["llama3", "qwen3", "deepseek", "mistral"])
def test_open_vocabularies_are_the_native_engines(encoding: str) -> None:
    count = EncodingCounter(encoding)
    assert count.engine == "native"
    assert count("Hello world") == 2


@pytest.mark.parametrize(
    "encoding", ["claude", "claude-4.7", "gemini", "r50k_base", "", "nonsense", "\ud800"]
)
def test_no_engine_has_a_vocabulary_that_is_not_public(encoding: str) -> None:
    assert encoding_counter(encoding) is None
    with pytest.raises(KeyError):
        EncodingCounter(encoding)


def test_a_counter_is_made_once() -> None:
    assert encoding_counter("o200k_base") is encoding_counter("o200k_base")
    assert encoding_counter("o200k_base") is not encoding_counter("cl100k_base")


@pytest.mark.parametrize("encoding", OPENAI)
def test_harmony_counts_as_o200k_and_special_tokens_are_text(encoding: str, oracle: Oracle) -> None:
    text = "<|start|>system<|message|>hi<|end|><|endoftext|>"
    assert EncodingCounter(encoding)(text) == oracle(text, encoding)
    assert EncodingCounter(encoding)(LARGE + text) == oracle(LARGE + text, encoding)


class Watched(EncodingCounter):
    """Notes how many characters it was given."""

    characters = 0

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        return super().__call__(text)


def test_counts_of_texts_that_come_again_are_kept() -> None:
    engine = Watched("o200k_base")
    kept = KeptCounts(engine)
    texts = ["one word", "another text " * 50, ""]
    counts = [kept(text) for text in texts]
    assert counts == [engine(text) for text in texts]
    before = engine.characters
    assert [kept(text) for text in texts] == counts
    assert engine.characters == before
    assert (kept.encoding, kept.exact) == ("o200k_base", True)
    assert kept.sum(["a\n", "b"]) == engine.sum(["a\n", "b"])


def test_kept_counts_are_forgotten_when_they_are_many() -> None:
    engine = Watched("o200k_base")
    kept = KeptCounts(engine)
    kept("word")
    for number in range(3):
        kept(f"{number} " + "x" * (MOST_KEPT // 2))
    before = engine.characters
    assert kept("word") == 1
    assert engine.characters == before + 4
