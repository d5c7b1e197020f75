"""Whatever the messages are, the numbers hold together."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.tokens.messages import measure
from brim.tokens.messages.parts import CALLS, PARTS, RESULTS, TEXTS

NAMES = [
    "type", "role", "content", "parts", "text", "name", "tool_calls", "function", "function_call", "arguments", "input",
    "output", "thinking", "signature", "data", "source", "image_url", "url", "detail", "inlineData", "mimeType",
    "functionCall", "summary", "functionResponse", "response", "args", "message", "reasoning_content", "audio", "file",
    "refusal", "encrypted_content", "title", "toolUse", "toolResult", "messages", "media_type", "file_data",
]  # fmt: skip
TYPES = sorted(
    {
        *PARTS,
        *CALLS,
        *RESULTS,
        *TEXTS,
        "user",
        "assistant",
        "tool",
        "system",
        "model",
        "image/png",
        "audio/wav",
    }
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(TYPES),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=25,
)
FIELDS = st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), JSON, max_size=4)
MESSAGES = st.one_of(
    st.text(max_size=20),
    st.builds(
        lambda fields, name, value: {**fields, name: value},
        FIELDS,
        st.sampled_from(["role", "content", "parts", "type", "tool_calls"]),
        JSON.filter(lambda value: value is not None),
    ),
)
MODELS = st.sampled_from(
    [
        "gpt-4o",
        "gpt-4",
        "gpt-5.5",
        "claude-sonnet-4-5",
        "claude-opus-5",
        "gemini-2.5-pro",
        "gemini-3",
        "",
    ]
)
RATIOS = st.tuples(st.floats(0.5, 1), st.floats(1, 1.5), st.floats(1.5, 2))


@settings(deadline=None)
@given(st.lists(MESSAGES, max_size=5), st.one_of(st.none(), JSON), MODELS, RATIOS)
def test_the_numbers_hold_together(
    messages: list[object], tools: object, model: str, ratio: tuple[float, float, float]
) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text.encode("utf-8", "replace")) // 3

    tally = measure(messages, tools, model_name=model, encoding="o200k_base", count_text=count)
    assert len(counted) == len(set(counted))
    for result in (tally, tally.scaled(ratio[1], ratio[0], ratio[2])):
        assert result.low <= result.tokens <= result.high
        assert sum(result.per_message) + result.fixed == result.tokens
        assert len(result.per_message) == len(messages)
        assert min(result.per_message, default=0) >= 0
        assert result.exact == (not result.reasons)
        assert not result.exact or result.low == result.tokens == result.high
    again = measure(messages, tools, model_name=model, encoding="o200k_base", count_text=count)
    assert again == tally


@settings(deadline=None)
@given(st.lists(MESSAGES, max_size=4), MODELS)
def test_a_message_costs_the_same_beside_others(messages: list[object], model: str) -> None:
    def run(several: list[object]) -> tuple[int, ...]:
        return measure(several, model_name=model, encoding="o200k_base", count_text=len).per_message

    shown: list[object] = [{"role": "user", "content": "x"}]
    assert run([*messages, *shown])[-1] == run(shown)[0]


@settings(deadline=None)
@given(JSON)
def test_any_input_is_measured_or_refused(given_: object) -> None:
    from brim.errors import InputError

    try:
        tally = measure(given_, model_name="gpt-4o", encoding="o200k_base", count_text=len)
    except InputError:
        return
    assert tally.low <= tally.tokens <= tally.high
