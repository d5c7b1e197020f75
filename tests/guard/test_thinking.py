"""Models that bind thinking to the conversation before it, and cache markers that the caller
moves."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.guard import Guard
from brim.guard.fake import FakeModel, Refused
from brim.messages import fit, validate
from brim.messages.markers import count_markers
from brim.messages.thinking import has_thinking, without_thinking
from tests.messages.samples import words

BINDING = "claude-opus-5-5"
SYSTEM = "You are a careful agent."
TOOLS: list[Any] = [
    {"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object"}}
]
MARKER = {"type": "ephemeral"}


def play(
    guard: Guard, client: FakeModel, sizes: list[int], *, edit: dict[int, str] | None = None
) -> list[Any]:
    """Play one request for each result size with growing messages, and return the calls."""
    messages: list[Any] = [{"role": "user", "content": "Find the bug."}]
    calls = []
    for turn, size in enumerate(sizes):
        if edit and turn in edit:
            messages[0] = {"role": "user", "content": edit[turn]}
        with guard.call(messages, system=SYSTEM, tools=TOOLS) as call:
            response = client.create(
                model=call.model,
                messages=call.messages,
                max_tokens=call.max_output,
                system=call.system,
                tools=call.tools,
            )
            call.done(response)
        calls.append(call)
        messages.append({"role": "assistant", "content": response.content})
        tool_calls = [block for block in response.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": words(size)}
            for block in tool_calls
        ]
        if not results:
            break
        messages.append({"role": "user", "content": results})
    return calls


def reading(turns: int) -> FakeModel:
    """Return a model that thinks and reads a file in each turn."""
    return FakeModel([("read_file", {"path": f"src/{n}.py"}) for n in range(turns)], thinks=True)


def cuts(calls: list[Any]) -> list[int]:
    """Return the turns in which the thinking before a cut was left out."""
    notes = [" ".join(call.receipt.notes) for call in calls]
    return [
        turn
        for turn, note in enumerate(notes)
        if "thinking made before the cut is left out" in note
    ]


@pytest.mark.parametrize("strategy", [None, "fifo", "sliding", "watermark", "cap"])
@pytest.mark.parametrize(
    "model", [BINDING, "claude-fable-5-1", "us.anthropic.claude-sonnet-5-5-v1:0"]
)
def test_thirty_turns_with_thinking_are_accepted(model: str, strategy: Any) -> None:
    guard = Guard(model, target=5_000, max_output=500, strategy=strategy)
    calls = play(guard, reading(40), [40 * (1 + turn % 9) for turn in range(40)])
    assert len(calls) == 40
    left_out = cuts(calls)
    assert left_out
    step = next(step for step in calls[-1].receipt.steps if step.action == "without thinking")
    assert len(step.indices) > 1


def test_thinking_made_after_a_cut_is_sent() -> None:
    calls = play(Guard(BINDING, target=5_000, max_output=500), reading(40), [150] * 40)
    last_cut = cuts(calls)[-1]
    assert last_cut < 39
    kept = [message for message in calls[-1].messages if has_thinking(message)]
    assert len(kept) == 39 - last_cut


@pytest.mark.parametrize("size", [20, 60, 110])
@pytest.mark.parametrize("strategy", [None, "fifo", "watermark"])
def test_a_steady_conversation_is_cut_at_most_once_in_twenty_turns(
    size: int, strategy: Any
) -> None:
    guard = Guard(BINDING, target=8_000, max_output=500, strategy=strategy)
    turns = 120 if size > 20 else 300
    left_out = cuts(play(guard, reading(turns), [size] * turns))
    assert left_out
    assert all(later - earlier >= 20 for earlier, later in pairwise(left_out))


def test_a_model_that_does_not_bind_its_thinking_keeps_it() -> None:
    client = FakeModel([("read_file", {"path": f"src/{n}.py"}) for n in range(40)])
    guard = Guard("claude-sonnet-4-6", target=5_000, max_output=500)
    calls = play(guard, client, [150] * 40)
    assert cuts(calls) == []


def test_a_changed_transcript_loses_its_thinking() -> None:
    guard = Guard(BINDING, target=5_000, max_output=500)
    calls = play(guard, reading(40), [150] * 40, edit={30: "Find the other bug."})
    assert len(calls) == 40
    assert "started over" in " ".join(calls[30].receipt.notes)


def test_the_newest_result_is_not_shortened_to_make_room_for_later_turns() -> None:
    sizes = [100] * 12 + [1_200]
    calls = play(Guard(BINDING, target=5_000, max_output=500), reading(14), [*sizes, 10])
    newest = calls[-1].messages[-1]["content"][0]["content"]
    assert newest == words(1_200)


def test_fit_leaves_out_all_thinking_if_it_cuts() -> None:
    client = reading(30)
    messages: list[Any] = [{"role": "user", "content": "Find the bug."}]
    for _ in range(30):
        fitted = fit(messages, model=BINDING, target=3_000, system=SYSTEM, tools=TOOLS)
        about: Any = {"max_tokens": 500, "system": SYSTEM, "tools": TOOLS}
        response = client.create(model=BINDING, messages=fitted.messages, **about)
        messages.append({"role": "assistant", "content": response.content})
        result = {
            "type": "tool_result",
            "tool_use_id": response.content[1].id,
            "content": words(150),
        }
        messages.append({"role": "user", "content": [result]})
    assert fitted.receipt.dropped
    assert not any(map(has_thinking, fitted.messages))
    assert "without thinking" in str(fitted.receipt)
    assert not any("thinking blocks stay" in note for note in fitted.receipt.notes)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([None, "fifo", "sliding", "watermark", "cap"]))
def test_whatever_the_turns_are_nothing_is_refused(seed: int, strategy: Any) -> None:
    rng = random.Random(seed)
    script = []
    for turn in range(25):
        tools: list[Any] = [
            ("read_file", {"path": f"{turn}_{n}"}) for n in range(rng.randrange(1, 4))
        ]
        script.append(["I'll look.", *tools] if rng.random() < 0.3 else tools)
    client = FakeModel(script, thinks=True)
    guard = Guard(BINDING, target=4_000, max_output=500, strategy=strategy)
    calls = play(guard, client, [rng.randrange(5, 260) for _ in range(25)])
    assert len(calls) == 25


# The fake model refuses as the provider does


def thoughtful(*contents: Any) -> list[Any]:
    return [
        {"role": ("user", "assistant")[at % 2], "content": content}
        for at, content in enumerate(contents)
    ]


def test_the_fake_model_refuses_thinking_with_another_prefix() -> None:
    client = FakeModel(["One.", "Two.", "Three.", "Four.", "Five.", "Six."], thinks=True)
    about: Any = {"model": BINDING, "max_tokens": 100}
    messages = thoughtful("Hi.")
    for text in ("And?", "Go on."):
        answer = client.create(messages=messages, **about)
        messages += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": text},
        ]
    client.create(messages=messages, **about)
    marked = [
        {"role": "user", "content": [{"type": "text", "text": "Hi.", "cache_control": MARKER}]},
        *messages[1:],
    ]
    client.create(messages=marked, **about)
    without_oldest = [messages[0], without_thinking(messages[1]), *messages[2:]]
    client.create(messages=without_oldest, **about)
    for broken, more in (
        ([{"role": "user", "content": "Ho."}, *messages[1:]], {}),
        (messages, {"system": "Be brief."}),
        (messages, {"tools": TOOLS}),
        (messages[2:], {}),
    ):
        with pytest.raises(Refused, match="bound to a different conversation"):
            client.create(messages=broken, **about, **more)


def test_the_fake_model_refuses_thinking_that_was_put_back_or_taken_from_the_middle() -> None:
    client = FakeModel(["One.", "Two.", "Three."], thinks=True)
    about: Any = {"model": BINDING, "max_tokens": 100}
    messages = thoughtful("Hi.")
    for text in ("And?", "Go on.", "More."):
        answer = client.create(messages=messages, **about)
        messages += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": text},
        ]
    middle = [*messages[:3], without_thinking(messages[3]), *messages[4:]]
    with pytest.raises(Refused, match=r"messages.5.content.0: Invalid `signature`"):
        client.create(messages=middle, **about)


# Cache markers


def marked(messages: list[Any]) -> list[Any]:
    """Mark the last two messages of the user's, as callers do with every request."""
    copies = [dict(message) for message in messages]
    users = [message for message in copies if message["role"] == "user"]
    for message in users[-2:]:
        blocks = message["content"]
        blocks = (
            [{"type": "text", "text": blocks}]
            if isinstance(blocks, str)
            else [dict(block) for block in blocks]
        )
        blocks[-1]["cache_control"] = MARKER
        message["content"] = blocks
    return copies


@pytest.mark.parametrize("model", [BINDING, "claude-sonnet-4-5"])
@pytest.mark.parametrize("strategy", [None, "fifo", "cap", "watermark"])
def test_markers_are_those_of_the_caller_now(model: str, strategy: Any) -> None:
    guard = Guard(model, target=4_000, max_output=500, strategy=strategy)
    system = [{"type": "text", "text": SYSTEM, "cache_control": MARKER}]
    client = FakeModel([("read_file", {"path": f"src/{n}.py"}) for n in range(30)])
    messages: list[Any] = [{"role": "user", "content": "Find the bug."}]
    for turn in range(30):
        with guard.call(marked(messages), system=system, tools=TOOLS) as call:
            about: Any = {"system": call.system, "tools": call.tools, "max_tokens": call.max_output}
            response = client.create(model=model, messages=call.messages, **about)
            call.done(response)
        assert sum(map(count_markers, call.messages)) == min(turn + 1, 2)
        messages.append({"role": "assistant", "content": response.content})
        result = {
            "type": "tool_result",
            "tool_use_id": response.content[0].id,
            "content": words(40 * (1 + turn % 9)),
        }
        messages.append({"role": "user", "content": [result]})
    assert call.receipt.steps or call.receipt.dropped


def test_markers_over_the_limit_are_removed_the_oldest_first() -> None:
    system = [{"type": "text", "text": SYSTEM, "cache_control": MARKER}]
    messages = [
        {"role": role, "content": [{"type": "text", "text": f"{n}", "cache_control": MARKER}]}
        for n, role in enumerate(["user", "assistant"] * 3)
    ]
    assert [violation.rule for violation in validate(messages, "anthropic")] == ["few-markers"]
    fitted = fit(messages, model=BINDING, system=system)
    assert [count_markers(message) for message in fitted.messages] == [0, 0, 0, 1, 1, 1]
    assert any("cache markers" in note for note in fitted.receipt.notes)
    assert [count_markers(message) for message in messages] == [1] * 6


def test_the_marker_of_a_whole_request_counts_for_the_limit() -> None:
    """A request with ``cache_control`` of its own is marked at its last block by the provider."""
    options = {"cache_control": MARKER}
    system = [{"type": "text", "text": SYSTEM, "cache_control": MARKER}]
    tools = [{**TOOLS[0], "cache_control": MARKER}]
    messages: list[Any] = thoughtful("Find the bug.", "I'll look.", "Go on.")
    about: Any = {"system": system, "tools": tools}
    with Guard(BINDING, max_output=500).call(marked(messages), options=options, **about) as call:
        assert sum(map(count_markers, call.messages)) == 1
        client = FakeModel(["Done."])
        request: Any = {**about, **options, "model": BINDING, "max_tokens": call.max_output}
        with pytest.raises(Refused, match="Found 5"):
            client.create(messages=marked(messages), **request)
        call.done(client.create(messages=call.messages, **request))
