"""Long results of tools, shortened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import PROVIDERS, Provider, Pruned, Pruner, ToolResultCap, validate
from brim.messages.cap import LEAST, map_texts
from brim.messages.content import result_text
from brim.messages.shortening import shorten_text, shorten_together
from brim.tokens import ApproximateTokenCounter, counter_for
from tests.messages.histories import as_object, valid_histories
from tests.messages.samples import (
    MODELS,
    answers,
    assistant,
    chat_calls,
    chat_result,
    function_calls,
    function_responses,
    item_call,
    item_output,
    places,
    step,
    text_block,
    tool_result,
    tool_use,
    user,
)

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
LIMIT = 100
LONG = "begin " + "tree " * 1_000 + "end"
SHORTENED = "tokens are cut out here"


def prune(messages: list[Any], target: int, provider: Provider, **options: Any) -> Pruned:
    return ToolResultCap(LIMIT).prune(
        messages, target, provider=provider, model=MODELS[provider], **options
    )


def tokens(provider: Provider, text: str) -> int:
    return int(counter_for(MODELS[provider]).count(text))


def one_step(provider: Provider, text: str = LONG) -> list[Any]:
    return [user(provider, "Go"), *step(provider, "f", text)]


def test_it_is_a_pruner() -> None:
    assert isinstance(ToolResultCap(), Pruner)
    assert ToolResultCap().limit == 2_000


@every_provider
def test_nothing_changes_when_it_fits(provider: Provider) -> None:
    messages = one_step(provider)
    pruned = prune(messages, 10_000, provider)
    assert places(messages, pruned.messages) == [0, 1, 2]
    assert (pruned.receipt.notes, pruned.receipt.cache) == ((), None)


@every_provider
def test_the_beginning_and_the_end_stay_and_a_note_between_them(provider: Provider) -> None:
    messages = one_step(provider)
    pruned = prune(messages, 500, provider)
    text = result_text(pruned.messages[2])
    assert ("begin tree" in text, "tree end" in text, SHORTENED in text) == (True, True, True)
    assert (pruned.fits, pruned.receipt.dropped, validate(pruned.messages, provider)) == (
        True,
        (),
        [],
    )
    assert pruned.receipt.notes == ("results were shortened in messages 2",)
    assert places(messages, pruned.messages[:2]) == [0, 1]


@every_provider
def test_a_result_has_at_most_the_limit(provider: Provider) -> None:
    text = result_text(prune(one_step(provider), 500, provider).messages[2])
    assert (
        LIMIT * 0.7 <= tokens(provider, text) <= LIMIT + (10 if provider == "gemini" else 0)
    )  # its JSON is more


@every_provider
def test_the_oldest_results_are_shortened_first_and_no_more_than_it_takes(
    provider: Provider,
) -> None:
    messages = [
        user(provider, "Go"),
        *(message for n in range(3) for message in step(provider, f"f{n}", LONG)),
    ]
    total = int(counter_for(MODELS[provider]).count_messages(messages))
    for number in (1, 2, 3):
        pruned = prune(messages, total - (number - 1) * tokens(provider, LONG) - 1, provider)
        shortened = [at for at, message in enumerate(pruned.messages) if SHORTENED in str(message)]
        assert (shortened, pruned.fits) == ([2, 4, 6][:number], True)


@every_provider
def test_a_short_result_is_left_alone(provider: Provider) -> None:
    messages = [user(provider, "Go"), *step(provider, "a", "done"), *step(provider, "b", LONG)]
    pruned = prune(messages, 500, provider)
    assert places(messages, pruned.messages[:4]) == [0, 1, 2, 3]


@every_provider
def test_only_results_are_shortened(provider: Provider) -> None:
    messages = [user(provider, LONG), *step(provider, "f", LONG)]
    pruned = prune(messages, 1_900, provider)
    assert pruned.messages[0] is messages[0]
    assert SHORTENED in str(pruned.messages[2])


@every_provider
def test_what_does_not_fit_with_short_results_is_dropped(provider: Provider) -> None:
    messages = [
        user(provider, "Go"),
        *(message for n in range(9) for message in step(provider, f"f{n}", LONG)),
    ]
    pruned = prune(messages, 500, provider)
    assert (pruned.fits, validate(pruned.messages, provider)) == (True, [])
    assert 3 < len(pruned.messages) < len(messages)
    assert pruned.messages[0] is messages[0]


@every_provider
def test_a_pinned_result_stays_as_it_is(provider: Provider) -> None:
    messages = [user(provider, "Go"), *step(provider, "a", LONG), *step(provider, "b", LONG)]
    pruned = prune(messages, 2_000, provider, pin=[2])
    assert places(messages, pruned.messages[:4]) == [0, 1, 2, 3]
    assert SHORTENED in str(pruned.messages[4])


@every_provider
def test_the_callers_messages_are_untouched(provider: Provider) -> None:
    messages = one_step(provider)
    before = repr(messages)
    prune(messages, 500, provider)
    assert repr(messages) == before


@every_provider
def test_objects_are_shortened_like_dicts(provider: Provider) -> None:
    messages = [as_object(message) for message in one_step(provider)]
    before = repr(messages)
    short = prune(messages, 500, provider).messages[2]
    assert isinstance(short, SimpleNamespace)
    assert SHORTENED in result_text(short)
    assert repr(messages) == before


@dataclass(frozen=True)
class Frozen:
    content: str
    role: str = "tool"
    tool_call_id: str = "f"


@dataclass(frozen=True, slots=True)
class Slotted:
    content: str
    role: str = "tool"
    tool_call_id: str = "f"


class Named(NamedTuple):
    content: str
    role: str = "tool"
    tool_call_id: str = "f"


class Model:
    """As pydantic's."""

    def __init__(self, content: str) -> None:
        self.__dict__.update(content=content, role="tool", tool_call_id="f")

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("instance is frozen")

    def model_copy(self, *, update: dict[str, Any]) -> Model:
        return Model(**update)


@pytest.mark.parametrize("kind", [Frozen, Slotted, Named, Model])
def test_a_result_of_any_class_is_shortened_in_a_copy(kind: Any) -> None:
    messages = [*one_step("openai")[:2], kind(LONG)]
    short = prune(messages, 500, "openai").messages[2]
    assert type(short) is kind
    assert (SHORTENED in short.content, short.tool_call_id, messages[2].content) == (
        True,
        "f",
        LONG,
    )


def test_several_results_of_one_message_have_the_limit_each() -> None:
    long, short = tool_result("a", LONG), tool_result("b", "done")
    listed = tool_result("c", [text_block(LONG), {"type": "image", "source": {}}])
    results = answers(long, short, listed, text_block(LONG))
    messages = [user("anthropic", "Go"), assistant(*map(tool_use, "abc")), results]
    blocks = prune(messages, 3_000, "anthropic").messages[2]["content"]
    assert (SHORTENED in blocks[0]["content"], blocks[0]["tool_use_id"]) == (True, "a")
    assert tokens("anthropic", blocks[0]["content"]) <= LIMIT
    assert blocks[1] is short
    assert SHORTENED in blocks[2]["content"][0]["text"]
    assert blocks[2]["content"][1] is listed["content"][1]
    assert blocks[3] is results["content"][3]


@pytest.mark.parametrize(
    ("parts", "text"), [(1, LONG), (5, LONG), (40, LONG), (400, "one short text")]
)
def test_the_parts_of_a_result_have_the_limit_together(parts: int, text: str) -> None:
    several = [text_block(text) for _ in range(parts)]
    chat = [user("openai", "Go"), chat_calls("a"), chat_result("a", several)]
    items = [user("responses", "Go"), item_call("a"), item_output("a", several)]
    for provider, messages in (("openai", chat), ("responses", items)):
        short = result_text(prune(messages, 1_000, provider).messages[2])  # type: ignore[arg-type]
        assert tokens("openai", "".join(short.splitlines())) <= LIMIT
        assert SHORTENED in short
        assert short.startswith(text[:5])
        assert short.endswith(text[-3:])


def test_the_many_texts_of_a_function_response_keep_the_first_and_the_last() -> None:
    rows = [{"name": f"row number {n}"} for n in range(400)]
    answer = {
        "role": "user",
        "parts": [{"functionResponse": {"name": "f", "response": {"rows": rows}}}],
    }
    pruned = prune([user("gemini", "Go"), function_calls("f"), answer], 1_500, "gemini")
    assert (len(pruned.messages), pruned.fits) == (3, True)
    short = str(pruned.messages[2])
    assert ("row number 0" in short, "row number 399" in short, SHORTENED in short) == (
        True,
        True,
        True,
    )


def test_a_result_that_holds_itself_many_times_is_read_in_few_steps() -> None:
    content: list[Any] = ["Hello"]
    content.extend([content] * 8)
    texts: list[str] = []
    map_texts(content, lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
    assert len(texts) < 10_000


@pytest.mark.parametrize(
    "response",
    [
        {"output": LONG},
        {"output": LONG, "error": LONG},
        {"output": {"text": LONG}},
        {"output": [LONG, LONG]},
    ],
    ids=["text", "texts", "nested", "list"],
)
def test_a_function_response_has_the_limit_whatever_its_fields(response: Any) -> None:
    answer = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}
    pruned = prune([user("gemini", "Go"), function_calls("f"), answer], 700, "gemini")
    assert (len(pruned.messages), pruned.fits) == (3, True)
    assert tokens("gemini", result_text(pruned.messages[2])) <= LIMIT + 20
    assert SHORTENED in str(pruned.messages[2])


def test_snake_case_function_responses_are_shortened_too() -> None:
    call = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}
    answer = {
        "role": "user",
        "parts": [{"function_response": {"name": "f", "response": {"output": LONG}}}],
    }
    pruned = prune([user("gemini", "Go"), call, answer], 500, "gemini")
    response = pruned.messages[2]["parts"][0]["function_response"]
    assert (response["name"], SHORTENED in response["response"]["output"]) == ("f", True)


def test_several_function_responses_of_one_content_have_the_limit_each() -> None:
    messages = [
        user("gemini", "Go"),
        function_calls("f", "g"),
        function_responses("f", "g", text=LONG),
    ]
    parts = prune(messages, 500, "gemini").messages[2]["parts"]
    assert all(
        tokens("gemini", part["functionResponse"]["response"]["a"]) <= LIMIT for part in parts
    )


def test_an_old_function_message_is_shortened() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": LONG}
    assert (
        SHORTENED
        in prune([user("openai", "Go"), call, result], 500, "openai").messages[2]["content"]
    )


@every_provider
@settings(max_examples=40)
@given(data=st.data(), share=st.floats(0.1, 0.9))
def test_shortening_makes_no_history_invalid_or_larger(
    provider: Provider, data: st.DataObject, share: float
) -> None:
    messages = data.draw(valid_histories(provider))
    model = MODELS[provider]
    target = int(share * int(counter_for(model).count_messages(messages)))
    pruned = ToolResultCap(LEAST).prune(messages, target, provider=provider, model=model)
    assert validate(pruned.messages, provider) == []
    assert pruned.tokens <= pruned.receipt.before


@pytest.mark.parametrize("limit", [0, 49, -1, True, 100.0, "100", None])
def test_the_limit_is_a_whole_number_that_leaves_room_for_the_note(limit: Any) -> None:
    with pytest.raises(InputError, match="limit must be a whole number of tokens, 50 or more"):
        ToolResultCap(limit)


EXACT = counter_for("gpt-4o")
LINES = "\n".join(f"line {n}: nothing happened here" for n in range(500))
NOTE = re.compile(r"\n\[about ([\d,]+) tokens are cut out here\]\n")


def test_a_text_that_is_not_longer_is_itself() -> None:
    text = "word " * 100
    assert shorten_text(text, int(EXACT.count(text)), EXACT) is text
    assert shorten_text("", 50, EXACT) == ""


def test_the_beginning_and_the_end_stay() -> None:
    begin, _, end = NOTE.split(shorten_text(LINES, 200, EXACT))
    assert LINES.startswith(begin)
    assert LINES.endswith(end)
    assert len(begin) > len(end) > 0


def test_whole_lines_stay() -> None:
    begin, _, end = NOTE.split(shorten_text(LINES, 200, EXACT))
    assert set(begin.split("\n")) | set(end.split("\n")) <= set(LINES.split("\n"))


def test_the_note_says_about_how_much_is_gone() -> None:
    short = shorten_text(LINES, 200, EXACT)
    begin, gone, end = NOTE.split(short)
    really = EXACT.count(LINES) - EXACT.count(begin) - EXACT.count(end)
    assert int(gone.replace(",", "")) == pytest.approx(really, rel=0.1)


def test_most_of_the_limit_is_used() -> None:
    assert 150 <= EXACT.count(shorten_text(LINES, 200, EXACT)) <= 200
    assert 1_700 <= EXACT.count(shorten_text(LINES * 3, 2_000, EXACT)) <= 2_000


@pytest.mark.parametrize(
    "piece", ["😀", "xxxxxxxx", "\n\n\n", "语言", "        ", "a1\ud800", "<|endoftext|>"]
)
@pytest.mark.parametrize("limit", [50, 300])
def test_any_text_comes_within_the_limit(piece: str, limit: int) -> None:
    text = piece * 2_000
    for counter in (EXACT, ApproximateTokenCounter()):
        short = shorten_text(text, limit, counter)
        assert counter.count(short) <= limit
        assert "tokens are cut out here" in short or short is text


@given(
    piece=st.text(min_size=1, max_size=80), times=st.integers(1, 300), limit=st.integers(50, 200)
)
def test_every_text_comes_within_every_limit(piece: str, times: int, limit: int) -> None:
    text = piece * times
    short = shorten_text(text, limit, EXACT)
    assert EXACT.count(short) <= limit
    assert (short == text) == (EXACT.count(text) <= limit)


def test_many_long_texts_have_one_note_that_is_true() -> None:
    texts = [f"file {n}: " + "some words of text " * 400 for n in range(60)]
    total = sum(int(EXACT.count(text)) for text in texts)
    short = shorten_together(texts, 2_000, EXACT)
    found = re.findall(r"about ([\d,]+) tokens are cut out", "\n".join(short))
    assert len(found) == 1
    left = sum(int(EXACT.count(text)) for text in short)
    assert left <= 2_000
    assert int(found[0].replace(",", "")) == pytest.approx(total - left, rel=0.01)
    assert short[0].startswith("file 0")
    assert short[-1].endswith("text ")
