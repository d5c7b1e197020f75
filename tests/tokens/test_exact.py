"""The exact counter gives the provider's own number, or refuses and says what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings

from brim.errors import BrimError, NoExactCounter
from brim.models import use
from brim.tokens import ExactTokenCounter, TokenCounter
from tests.conftest import Oracle
from tests.texts import ANY_TEXT, documents

PUBLIC = {
    None: "o200k_base",
    "gpt-4o": "o200k_base",
    "openai/gpt-4o": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-oss-120b": "o200k_harmony",
}
LLAMA = "azure_ai/Llama-3.3-70B-Instruct"


@pytest.mark.parametrize("model", PUBLIC)
def test_text_counts_as_in_the_models_own_vocabulary(model: str | None, oracle: Oracle) -> None:
    counter = ExactTokenCounter(model)
    assert (counter.model, counter.encoding) == (model, PUBLIC[model])
    for text in ("", "Hello world", *documents(seed=31, number=5)):
        count = counter.count(text)
        assert (count, count.basis, count.low, count.high) == (
            oracle(text, PUBLIC[model]),
            "exact",
            count,
            count,
        )


@given(text=ANY_TEXT)
@settings(deadline=None)
def test_any_text_counts_as_in_tiktoken(text: str, oracle: Oracle) -> None:
    assert ExactTokenCounter("gpt-4o").count(text) == oracle(text, "o200k_base")


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "<|im_start|>user", "a\ud800b", "\udcff", "\0", "\ufeff"]
)
def test_no_text_raises(text: str, oracle: Oracle) -> None:
    assert ExactTokenCounter("gpt-4o").count(text) == oracle(text, "o200k_base")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-7", "gemini-2.5-pro"])
def test_a_vocabulary_that_is_not_public_is_refused_and_the_other_modes_named(model: str) -> None:
    with pytest.raises(NoExactCounter) as caught:
        ExactTokenCounter(model)
    for word in (model, "'api'", "'auto'"):
        assert word in str(caught.value)
    assert isinstance(caught.value, BrimError)


@pytest.mark.parametrize("model", ["nobody-knows-me", "gpt-4o-imagined", ""])
def test_a_model_that_nobody_knows_is_refused(model: str) -> None:
    with pytest.raises(NoExactCounter, match="'auto'"):
        ExactTokenCounter(model)


def test_an_encoding_may_be_named_directly(oracle: Oracle) -> None:
    counter = ExactTokenCounter(encoding="cl100k_base")
    assert (counter.model, counter.encoding) == (None, "cl100k_base")
    assert counter.count("naïve façade") == oracle("naïve façade", "cl100k_base")
    with pytest.raises(NoExactCounter, match="nonsense"):
        ExactTokenCounter(encoding="nonsense")


def test_an_open_model_is_exact_with_the_native_engine() -> None:
    counter = ExactTokenCounter(LLAMA)
    assert counter.encoding == "llama3"
    count = counter.count("Hello world")
    assert (count, count.basis) == (2, "exact")


def test_a_count_whose_engine_failed_is_not_called_exact() -> None:
    code = f"""
from splintr import Tokenizer
from brim.tokens import counter_for
import splintr
splintr.Tokenizer = type("Tokenizer", (), {{"from_pretrained": staticmethod(lambda name: Late(name))}})
class Late:
    def __init__(self, name):
        self.real, self.calls = Tokenizer.from_pretrained(name), 0
    def __getattr__(self, name):
        def call(*arguments):
            self.calls += 1
            if self.calls > 1:
                raise RuntimeError("index out of range")
            return getattr(self.real, name)(*arguments)
        return call
counter = counter_for({LLAMA!r})
for _ in range(2):
    print(counter.count("Hello world").basis)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.split() == ["exact", "estimated"]


def test_an_open_model_without_it_is_refused_and_the_extra_named() -> None:
    code = (
        "import sys; sys.modules['splintr'] = None\nfrom brim.tokens import counter_for\n"
        f"print(counter_for({LLAMA!r}).count('Hello world').basis)\ncounter_for({LLAMA!r}, mode='exact')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "estimated\n"
    assert "NoExactCounter" in done.stderr
    assert "brim[fast]" in done.stderr


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "llama3", "mistral"])
def test_blocks_count_as_the_text(encoding: str) -> None:
    from brim.tokens import blocks

    text = "".join(documents(seed=32, number=20))
    counter = ExactTokenCounter(encoding=encoding)
    pieces = list(blocks([text[at : at + 500] for at in range(0, len(text), 500)], block=1_000))
    assert len(pieces) > 5
    assert counter.count_blocks(pieces) == counter.count(text)
    assert counter.count_blocks([]) == 0


@pytest.mark.parametrize(
    ("model", "encoding"), [("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")]
)
def test_plain_chat_is_exact_in_the_published_framing(
    model: str, encoding: str, oracle: Oracle
) -> None:
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why does naïve façade fail?"},
    ]
    count = ExactTokenCounter(model).count_messages(chat)
    text = sum(oracle(value, encoding) for message in chat for value in message.values())
    assert (count, count.basis) == (3 + 3 * len(chat) + text, "exact")


def test_tools_make_a_message_count_estimated_with_an_interval() -> None:
    chat = [{"role": "user", "content": "Hi"}]
    tools = [
        {"type": "function", "function": {"name": "f", "description": "A tool.", "parameters": {}}}
    ]
    count = ExactTokenCounter("gpt-4o").count_messages(chat, tools)
    assert count > ExactTokenCounter("gpt-4o").count_messages(chat)
    assert count.basis == "estimated"
    assert count.low <= count <= count.high
    assert count.low < count.high


def test_a_model_of_the_configuration_is_exact() -> None:
    use({"house-model": {"like": "gpt-4o"}})
    try:
        assert ExactTokenCounter("house-model").count("Hello world") == 2
    finally:
        use({})


def test_it_is_a_token_counter() -> None:
    assert isinstance(ExactTokenCounter(), TokenCounter)
