"""``fit`` never gives too much, nothing that the provider refuses, and hides nothing that left."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brim
from brim.errors import InputError
from brim.messages import PROVIDERS, FifoPruner, Fitted, Provider, TieredPruner, fit, validate
from brim.tokens import counter_for
from tests.messages.histories import valid_histories
from tests.messages.samples import step, talk, user, words

MODELS: dict[Provider, str] = {
    **{"openai": "gpt-4o", "responses": "gpt-5"},
    **{"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"},
}
STRATEGIES: list[Any] = ["fifo", "sliding", "summarize", "watermark", "cap", "tiered"]
SYSTEM = "You are careful. " * 5
TOOLS = [
    {
        "name": "read",
        "description": "Reads a file.",
        "input_schema": {"type": "object", "properties": {}},
    }
]


def request_size(provider: Provider, fitted: Fitted[Any], tools: Any = None) -> int:
    whole = [{"role": "system", "content": SYSTEM}, *fitted.messages]
    return int(counter_for(MODELS[provider]).count_messages(whole, tools))


def listed(fitted: Fitted[Any]) -> list[int]:
    return sorted(index for unit in fitted.receipt.dropped for index in unit.indices)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(
    data=st.data(),
    target=st.integers(0, 400),
    strategy=st.sampled_from(STRATEGIES),
    sure=st.booleans(),
)
@settings(max_examples=40)
def test_what_fits_is_small_enough_valid_and_accounted_for(
    provider: Provider, data: st.DataObject, target: int, strategy: Any, sure: bool
) -> None:
    history = data.draw(valid_histories(provider, rare=False))
    before = [repr(message) for message in history]
    about: Any = {"model": MODELS[provider], "system": SYSTEM, "tools": TOOLS, "provider": provider}
    fitted = fit(history, target=target, strategy=strategy, conservative=sure, **about)
    assert validate(fitted.messages, provider) == []
    assert [repr(message) for message in history] == before
    size = request_size(provider, fitted, TOOLS)
    assert int(fitted.tokens) == size or strategy == "summarize"
    assert fitted.fits == ((fitted.tokens.high if sure else fitted.tokens) <= target)
    assert fitted.fits == (not fitted.receipt.reason)
    # The receipt lists everything that isn't there any more, and every message that is another one.
    gone, changed = (
        set(listed(fitted)),
        {at for step in fitted.receipt.steps for at in step.indices},
    )
    kept = [message for at, message in enumerate(history) if at not in gone]
    assert len(kept) <= len(fitted.messages) <= len(kept) + 1
    if len(kept) == len(fitted.messages):
        for at, sent in zip(
            (at for at in range(len(history)) if at not in gone), fitted.messages, strict=True
        ):
            assert sent is history[at] or at in changed or strategy == "cap"


def test_the_target_comes_from_the_model() -> None:
    history = talk("openai", 300, 1_000)
    fitted = fit(history, model="gpt-4o", max_output=16_384, strategy="fifo")
    assert fitted.fits
    assert fitted.target == 128_000 - 16_384 - 6_400
    assert 0.9 * fitted.target < fitted.tokens <= fitted.target
    assert fit(history, model="gpt-4o").max_output == 4_096
    assert fit(history, model="gpt-4").target == 8_192 - 1_228 - 409
    assert fit(history, model="gpt-5", max_output=1_000).target == 272_000  # its longest input


def test_system_and_tools_take_room() -> None:
    history = talk("anthropic", 40, 20)
    plain = fit(history, model="claude-sonnet-4-5", target=1_500)
    with_both = fit(
        history, model="claude-sonnet-4-5", target=1_500, system=words(200), tools=TOOLS
    )
    assert len(with_both.messages) < len(plain.messages)
    assert with_both.tokens <= 1_500
    assert with_both.system == words(200)


def test_what_cannot_fit_says_so() -> None:
    fitted = fit([user("openai", words(500))], model="gpt-4o", target=100, system="Be short.")
    assert not fitted.fits
    assert fitted.messages == [user("openai", words(500))]
    assert "too many" in fitted.receipt.reason


def test_sure_drops_one_more_where_the_upper_end_is_just_over() -> None:
    history = [{"role": "user", "content": "w " * 500}] * 9
    fitted = fit(history, model="claude-sonnet-4-5", target=3_000, conservative=True)
    assert fitted.fits
    assert len(fitted.messages) == 3


def test_sure_compares_the_upper_end() -> None:
    history = talk("anthropic", 40, 20)
    about: Any = {"model": "claude-sonnet-4-5", "target": 1_000, "strategy": "fifo"}
    assert fit(history, **about).tokens.high > 1_000
    sure = fit(history, conservative=True, **about)
    assert sure.fits
    assert sure.tokens.high <= 1_000 < 2 * int(sure.tokens)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("strategy", ["fifo", "sliding", "tiered", "summarize", "cap"])
def test_the_newest_step_is_shortened_rather_than_dropped(
    provider: Provider, strategy: Any
) -> None:
    history = [
        user(provider, "Read the log."),
        *step(provider, "a", "small"),
        *step(provider, "b", words(5_000)),
    ]
    fitted = fit(
        history, model=MODELS[provider], target=1_000, strategy=strategy, provider=provider
    )
    assert fitted.fits
    assert validate(fitted.messages, provider) == []
    assert (
        len(history) - 1 in {at for step in fitted.receipt.steps for at in step.indices}
        or strategy == "cap"
    )
    assert "tokens are cut out here" in json.dumps(fitted.messages[-1])


def test_messages_keep_the_callers_type() -> None:
    history: list[dict[str, str]] = [{"role": "user", "content": "Hi"}]
    fitted: Fitted[dict[str, str]] = fit(history, model="gpt-4o")
    assert fitted.messages[0] is history[0]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"strategy": "best"}, "strategy"),
        ({"strategy": object()}, "strategy"),
        ({"target": -1}, "target"),
        ({"target": "many"}, "target"),
        ({"max_output": -1}, "max_output"),
        ({"model": None}, "model"),
        ({"tools": 5}, "tools: expected a list of tools, not int"),
        ({"tools": "read"}, "tools: expected a list of tools, not str"),
        (
            {"tools": {"name": "read", "input_schema": {}}},
            "tools: expected a list of tools, not dict",
        ),
        ({"system": 5}, "system: expected text or a list of parts, not int"),
        ({"system": b"Be brief."}, "system: expected text or a list of parts, not bytes"),
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        fit([{"role": "user", "content": "Hi"}], **{"model": "gpt-4o", **wrong})


def test_a_value_becomes_json() -> None:
    fitted = fit(talk("openai", 9), model="gpt-4o", target=100)
    plain = json.loads(json.dumps(fitted.to_dict()))
    assert plain["receipt"]["dropped"][0]["reason"]
    assert plain["tokens"] == int(fitted.tokens)


def test_brim_exports_it() -> None:
    exported: Callable[..., Any] = brim.fit
    assert exported is fit
    assert brim.fit([{"role": "user", "content": "Hi"}], model="gpt-4o", strategy=FifoPruner()).fits
    assert isinstance(brim.messages.TieredPruner(), TieredPruner)


def test_a_guessed_window_is_noted() -> None:
    (note,) = brim.fit(talk("openai", 1), model="in-house").receipt.notes
    assert "in-house isn't a known model" in note
    assert brim.fit(talk("openai", 1), model="in-house", target=500).receipt.notes == ()
