"""The whole is what the provider reported, and a count of what came after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens.anchor import Anchor, AnchoredTokenCounter, MemoryAnchorStore
from brim.tokens.calibrate import MemoryCalibrationStore, Ratio
from brim.tokens.count import Count
from brim.tokens.counters import counter_for


class Words:
    """A word is a token, give or take a half; it writes down what it was asked."""

    model = "claude-sonnet-4-5"
    encoding = "claude"

    def __init__(self) -> None:
        self.asked: list[tuple[int, bool]] = []

    def count(self, text: str, /) -> Count:
        words = len(text.split())
        return Count(words, "estimated", words // 2, words * 2)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        self.asked.append((len(messages), bool(tools)))
        total = sum((self.count(str(message["content"])) for message in messages), Count(0))
        return Count(int(total), "estimated", total.low, total.high)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


conversation = st.lists(st.builds(user, st.text(max_size=20)), min_size=1, max_size=8)


def test_the_whole_is_the_report_and_the_count_of_the_tail() -> None:
    counter = AnchoredTokenCounter(Words())
    sent = [user("one two three")]
    assert counter.count_messages(sent) == 3
    assert counter.count_messages(sent).basis == "estimated"
    counter.report(sent, 1_000)
    count = counter.count_messages([*sent, assistant("four five"), user("six seven")])
    assert repr(count) == "Count(1004, anchored, 962 to 1048)"


@given(conversation, conversation, st.integers(1, 10**6))
def test_whole_is_reported_plus_tail(prefix: list[Any], tail: list[Any], reported: int) -> None:
    words = Words()
    counter = AnchoredTokenCounter(words)
    counter.report(prefix, reported)
    whole, rest = counter.count_messages(prefix + tail), words.count_messages(tail)
    assert whole == reported + rest
    assert whole.basis == "anchored"
    margin = whole.high - whole - (rest.high - rest)
    assert reported * 0.04 <= margin < reported * 0.04 + 1  # only the tail's own part widens
    assert whole - whole.low == margin + (rest - rest.low)


@given(conversation, conversation, st.data())
def test_any_change_in_the_prefix_invalidates(
    prefix: list[Any], tail: list[Any], data: st.DataObject
) -> None:
    counter = AnchoredTokenCounter(Words())
    counter.report(prefix, 12_345)
    at = data.draw(st.integers(0, len(prefix) - 1))
    changed = [*prefix[:at], user(prefix[at]["content"] + "!"), *prefix[at + 1 :], *tail]
    assert counter.count_messages(changed).basis == "estimated"
    assert counter.count_messages(prefix[:at] + prefix[at + 1 :]).basis == "estimated"


@given(conversation, st.data())
def test_the_longest_report_counts(messages: list[Any], data: st.DataObject) -> None:
    counter = AnchoredTokenCounter(Words())
    reports = data.draw(st.lists(st.integers(1, len(messages)), min_size=1))
    for length in reports:
        counter.report(messages[:length], 1_000 * length)
    words = Words().count_messages(messages[max(reports) :])
    assert counter.count_messages(messages) == 1_000 * max(reports) + int(words)


def test_only_the_tail_is_counted_and_without_the_tools() -> None:
    words = Words()
    counter = AnchoredTokenCounter(words)
    tools = [{"name": "search"}]
    messages = [user(str(number)) for number in range(50)]
    counter.report(messages[:48], 9_000, tools)
    counter.count_messages(messages, tools)
    assert words.asked == [(2, False)]


def test_other_tools_and_another_model_do_not_apply() -> None:
    store = MemoryAnchorStore()
    counter = AnchoredTokenCounter(Words(), anchors=store)
    counter.report([user("a")], 500, [{"name": "search"}])
    assert counter.count_messages([user("a")], [{"name": "search"}]).basis == "anchored"
    assert counter.count_messages([user("a")], [{"name": "fetch"}]).basis == "estimated"
    assert counter.count_messages([user("a")]).basis == "estimated"
    other = AnchoredTokenCounter(Words(), anchors=store, model="claude-opus-4-5")
    assert other.count_messages([user("a")], [{"name": "search"}]).basis == "estimated"


def test_no_tools_and_an_empty_list_are_the_same() -> None:
    counter = AnchoredTokenCounter(Words())
    counter.report([user("a")], 500, None)
    assert counter.count_messages([user("a")], []) == 500


def test_a_reply_in_the_prefix_brings_its_output_tokens() -> None:
    counter = AnchoredTokenCounter(Words())
    anchor = counter.report([user("a"), assistant("b c")], 500, output_tokens=20)
    assert anchor is not None
    assert (anchor.tokens, anchor.messages, anchor.model) == (520, 2, "claude-sonnet-4-5")
    assert counter.count_messages([user("a"), assistant("b c"), user("d")]) == 521


@dataclass
class Message:
    role: str
    content: Any


@dataclass(slots=True)
class Slotted:
    role: str
    content: Any


class Private:
    def __init__(self, role: str, content: str) -> None:
        self.role, self._content = role, content

    @property
    def content(self) -> str:
        return self._content


@pytest.mark.parametrize(
    "same",
    [
        {"content": "hello", "role": "user"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}],
        },
        {"role": "user", "content": "hello", "name": None},
        Message("user", "hello"),
        Slotted("user", "hello"),
        SimpleNamespace(role="user", content="hello"),
        MappingProxyType({"role": "user", "content": "hello"}),
    ],
)
def test_what_the_provider_sees_alike_is_alike(same: Any) -> None:
    counter = AnchoredTokenCounter(Words())
    counter.report([user("hello")], 700)
    assert counter.count_messages([same, user("x")]) == 701


@pytest.mark.parametrize(
    "kind",
    [Message, Slotted, Private, lambda role, content: SimpleNamespace(role=role, text=content)],
)
def test_objects_with_other_content_are_others(kind: Any) -> None:
    counter = AnchoredTokenCounter(Words(), anchors=MemoryAnchorStore())
    counter.report([kind("user", "hello")], 700)
    assert counter.count_messages([kind("user", "hello")]) == 700
    assert counter.report([kind("user", "hallo")], 300) != counter.report(
        [kind("user", "hello")], 300
    )


def test_messages_that_cannot_be_seen_into_are_never_taken_for_others() -> None:
    holds_itself: dict[str, Any] = {"role": "user", "content": "x"}
    holds_itself["self"] = holds_itself
    counter = AnchoredTokenCounter(Words())
    for odd in (
        holds_itself,
        {"role": "user", "content": object()},
        {"role": "user", "content": {1, 2}},
    ):
        assert counter.report([user("a"), odd], 700) is None
        assert counter.count_messages([user("a"), odd]).basis == "estimated"
    counter.report([user("a")], 700)
    assert counter.count_messages([user("a"), holds_itself]).basis == "anchored"


def test_lone_surrogates_and_bytes_are_content_too() -> None:
    counter = AnchoredTokenCounter(Words(), model="\ud800")
    counter.report([user("\ud800"), {"role": "user", "content": b"\xff"}], 700)
    assert counter.count_messages([user("\ud800"), {"role": "user", "content": b"\xff"}]) == 700
    assert (
        counter.count_messages([user("\ud800"), {"role": "user", "content": b"\xfe"}]).basis
        == "estimated"
    )


@pytest.mark.parametrize(
    ("messages", "tokens", "output"), [([], 500, 0), ([user("a")], 0, 0), ([user("a")], 5, -1)]
)
def test_a_report_of_nothing_is_not_remembered(
    messages: list[Any], tokens: int, output: int
) -> None:
    store = MemoryAnchorStore()
    assert (
        AnchoredTokenCounter(Words(), anchors=store).report(messages, tokens, output_tokens=output)
        is None
    )
    assert len(store) == 0


def test_the_store_forgets_what_was_not_used_for_longest() -> None:
    store = MemoryAnchorStore(limit=2)
    first, second, third = (Anchor(digest, 1, 10, "m") for digest in "abc")
    store.put(first)
    store.put(second)
    assert store.get("a") is first
    store.put(third)
    assert (store.get("a"), store.get("b"), store.get("c"), len(store)) == (first, None, third, 2)
    with pytest.raises(ValueError, match="limit"):
        MemoryAnchorStore(limit=0)


def test_text_is_the_wrapped_counters_business() -> None:
    assert AnchoredTokenCounter(Words()).count("one two") == 2


def test_reports_teach_the_ratio_from_what_came_between_them() -> None:
    store = MemoryCalibrationStore()
    counter = AnchoredTokenCounter(Words(), calibrations=store, local=Words(), encoding="claude")
    messages: list[Any] = []
    hidden, words = 40_000, 0  # a system text that the messages do not show
    for _ in range(5):
        messages += [user("word " * 3_000), assistant("word " * 1_000)]
        words += 4_000
        counter.report(messages, hidden + round(words * 1.3))
    known = store.get("claude-sonnet-4-5")
    assert known is not None
    assert known.ratio == pytest.approx(1.3, rel=1e-3)
    assert known.samples == 4  # the first report is ten times too high to be a ratio


def test_the_same_report_teaches_once() -> None:
    store = MemoryCalibrationStore()
    counter = AnchoredTokenCounter(Words(), calibrations=store, local=Words(), encoding="claude")
    for _ in range(3):
        counter.report([user("word " * 3_000)], 3_900)
    known = store.get("claude-sonnet-4-5")
    assert known is not None
    assert known.samples == 1


class Scaled(Words):
    ratio = Ratio(1.5, 1.0, 2.0, "estimated")

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        return super().count_messages(messages, tools).scaled(*self.ratio)


def test_a_ratio_is_not_learned_from_itself() -> None:
    store = MemoryCalibrationStore()
    AnchoredTokenCounter(Scaled(), calibrations=store).report([user("word " * 3_000)], 3_900)
    known = store.get("claude-sonnet-4-5")
    assert known is not None
    assert known.ratio == pytest.approx(1.3)
    with pytest.raises(ValueError, match="local="):
        AnchoredTokenCounter(Words(), calibrations=store)


def test_a_name_that_nobody_knows_is_calibrated_too() -> None:
    store = MemoryCalibrationStore()
    counter = AnchoredTokenCounter(
        counter_for("some-new-model", calibrations=store), calibrations=store
    )
    history: list[dict[str, str]] = []
    for _ in range(5):
        history.append(
            {"role": "user", "content": "What was decided about the importer, and why? " * 300}
        )
        local = int(counter_for("some-new-model").count_messages(history))
        counter.report(history, int(local * 1.3))
    learned = counter_for("some-new-model", calibrations=store).count(
        "What was decided about the importer? " * 100
    )
    assert learned.basis == "calibrated"
    assert (
        1.2
        < learned
        / counter_for("some-new-model").count("What was decided about the importer? " * 100)
        < 1.4
    )
