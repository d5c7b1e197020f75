"""What every pruner does with what it should not have been given."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from brim.errors import InputError
from brim.history import (
    PROVIDERS,
    FifoPruner,
    Provider,
    Pruner,
    SlidingWindowPruner,
    SummarizePruner,
    ToolResultCap,
    WatermarkPruner,
    validate,
)
from brim.history.draft import draft
from brim.history.formats import as_list
from brim.tokens import Count
from tests.history.samples import (
    MODELS,
    WordCounter,
    chat_calls,
    chat_result,
    places,
    says,
    step,
    talk,
    user,
    words,
)

PRUNERS: dict[str, Callable[[], Pruner]] = {
    "fifo": FifoPruner,
    "sliding": SlidingWindowPruner,
    "summarize": SummarizePruner,
    "watermark": WatermarkPruner,
    "auto": lambda: WatermarkPruner(low="auto"),
    "cap": lambda: ToolResultCap(50),
}
every_pruner = pytest.mark.parametrize("name", PRUNERS)
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


@every_pruner
@pytest.mark.parametrize("messages", [None, 5, 1.5, True, "text", b"", bytearray(), object()])
def test_what_is_no_list_is_an_input_error(name: str, messages: Any) -> None:
    with pytest.raises(InputError, match="expected a list of messages"):
        PRUNERS[name]().prune(messages, 100)


@every_pruner
@pytest.mark.parametrize("messages", [{"messages": []}, {"role": "user", "content": "Hello"}, {}])
def test_a_request_body_or_one_message_is_an_input_error(name: str, messages: Any) -> None:
    with pytest.raises(InputError, match="give its list of messages"):
        PRUNERS[name]().prune(messages, 100)


@every_pruner
def test_anything_that_gives_messages_is_a_list(name: str) -> None:
    messages = talk("openai", 3)
    givens: list[Any] = [tuple(messages), iter(messages), (message for message in messages), deque(messages)]
    for given in givens:
        assert places(messages, PRUNERS[name]().prune(given, 1_000).messages) == [*range(6)]


def test_a_list_is_not_copied_and_all_else_is() -> None:
    messages = talk("openai", 1)
    assert as_list(messages) is messages
    assert as_list(tuple(messages)) == messages


@every_pruner
@every_provider
@pytest.mark.parametrize("target", [0, 10**9])
def test_an_empty_history_stays_empty(name: str, provider: Provider, target: int) -> None:
    pruned = PRUNERS[name]().prune([], target, provider=provider, counter=WordCounter())
    assert (pruned.messages, pruned.fits, pruned.receipt.dropped) == ([], True, ())


@every_pruner
@pytest.mark.parametrize("target", [-1, True, False, 1.0, "100", None, [100]])
def test_a_target_that_is_no_whole_number_is_an_input_error(name: str, target: Any) -> None:
    with pytest.raises(InputError, match="target must be a whole number of tokens, 0 or more"):
        PRUNERS[name]().prune(talk("openai", 2), target)


@every_pruner
@pytest.mark.parametrize("provider", ["claude", "OpenAI", "", None, 5, ["openai"]])
def test_an_unknown_provider_is_an_input_error(name: str, provider: Any) -> None:
    with pytest.raises(InputError, match="use one of openai, responses, anthropic, gemini, or auto"):
        PRUNERS[name]().prune(talk("openai", 2), 100, provider=provider)


@every_pruner
@pytest.mark.parametrize("pin", [5, "a", b"a", object()])
def test_a_pin_of_a_wrong_type_is_an_input_error(name: str, pin: Any) -> None:
    with pytest.raises(InputError, match="pin must be a predicate or a collection"):
        PRUNERS[name]().prune(talk("openai", 2), 100, pin=pin)


@every_pruner
@pytest.mark.parametrize(("provider", "field"), [("anthropic", "'system'"), ("gemini", "'systemInstruction'")])
def test_a_leading_system_message_is_an_input_error_where_it_has_another_place(
    name: str, provider: Provider, field: str
) -> None:
    messages = [{"role": "system", "content": "Be brief."}, *talk(provider, 2)]
    with pytest.raises(InputError, match=f"message 0 is a system message.*{field}"):
        PRUNERS[name]().prune(messages, 100, provider=provider)


@every_pruner
@every_provider
@pytest.mark.parametrize(
    "strange",
    [None, 5, "", b"bytes", [], {}, {"role": "stranger", "content": "Hi"}, {"content": "Hi"}, object(), {"role": 5}],
)
def test_a_message_that_makes_no_sense_leaves_with_a_reason(name: str, provider: Provider, strange: Any) -> None:
    messages = [user(provider, "Hello"), strange, user(provider, "Bye")]
    pruned = PRUNERS[name]().prune(messages, 1_000, provider=provider, model=MODELS[provider])
    assert places(messages, pruned.messages) == [0, 2]
    [dropped] = pruned.receipt.dropped
    assert (dropped.indices, dropped.kind) == ((1,), "broken")
    assert dropped.reason.endswith(": the provider refuses it, and repair can mend it")


@every_pruner
@every_provider
def test_calls_and_results_without_ids_leave_with_a_reason(name: str, provider: Provider) -> None:
    call, result = step(provider, "", "done")
    messages = [user(provider, "Hello"), call, result, user(provider, "Bye")]
    pruned = PRUNERS[name]().prune(messages, 1_000, provider=provider, model=MODELS[provider])
    assert places(messages, pruned.messages) == [0, 3]
    assert [(unit.indices, unit.kind) for unit in pruned.receipt.dropped] == [((1,), "broken"), ((2,), "broken")]


@every_pruner
@every_provider
def test_one_message_larger_than_the_target_stays_and_says_so(name: str, provider: Provider) -> None:
    messages = [user(provider, words(500))]
    pruned = PRUNERS[name]().prune(messages, 100, provider=provider, counter=WordCounter())
    assert (places(messages, pruned.messages), pruned.fits, pruned.receipt.over_by) == ([0], False, 400)
    assert pruned.receipt.reason == (
        "what is never dropped takes 500 tokens, 400 too many (the last user message 500)"
    )  # fmt: skip


def deep() -> list[Any]:
    content: list[Any] = [{"type": "text", "text": words(100)}]
    for _ in range(5_000):
        content = [{"type": "text", "text": words(100)}, content]
    return content


def itself() -> list[Any]:
    content: list[Any] = [{"type": "text", "text": words(100)}]
    content.append(content)
    return content


@every_pruner
@every_provider
@pytest.mark.parametrize("make", [deep, itself])
def test_content_that_is_deep_or_holds_itself_raises_nothing(
    name: str, provider: Provider, make: Callable[[], list[Any]]
) -> None:
    content: Any = make()
    call, result = step(provider, "f", content)
    messages = [user(provider, "Hello"), {**user(provider, ""), "content": content}, says(provider, content)]
    messages += [user(provider, "Go"), call, result, *talk(provider, 3)]
    for target in (10, 150, 1_000):
        pruned = PRUNERS[name]().prune(messages, target, provider=provider, model=MODELS[provider])
        assert validate(pruned.messages, provider) == []


class CountingCounter:
    """A token for every message, and how often each was counted."""

    model = None

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()
        self.texts = 0

    def count(self, text: str, /) -> Count:
        self.texts += 1
        return Count(len(text) // 4)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        self.asked.update(id(message) for message in messages)
        return Count(sum(len(str(message)) // 4 for message in messages))


LARGE = [*(("fifo", provider) for provider in PROVIDERS), *((name, "anthropic") for name in PRUNERS if name != "fifo")]


@pytest.mark.parametrize(("name", "provider"), LARGE)
def test_each_of_ten_thousand_messages_is_counted_once(name: str, provider: Provider) -> None:
    messages = [message for turn in range(2_500) for message in (user(provider, f"Go {turn}"), says(provider, "Hi"))]
    messages += [message for n in range(2_500) for message in step(provider, f"f{n}", f"done {n}")]
    counter = CountingCounter()
    pruned = PRUNERS[name]().prune(messages, 50_000, provider=provider, counter=counter, fill=True)
    assert 0 < len(pruned.messages) < len(messages) == 10_000
    assert max(counter.asked[id(message)] for message in messages) == 1
    assert sum(counter.asked.values()) <= 10_010
    assert counter.texts <= 12_000


def test_a_draft_reads_each_message_as_often_for_ten_times_the_messages() -> None:
    class Message(dict[str, Any]):
        read = 0

        def __getitem__(self, key: str) -> Any:
            Message.read += 1
            return super().__getitem__(key)

    reads = []
    for number in (200, 2_000):
        Message.read = 0
        pairs = ([chat_calls(f"a{n}"), chat_result(f"a{n}")] for n in range(number))
        draft([Message(message) for pair in pairs for message in pair], 100, counter=CountingCounter())
        reads.append(Message.read)
    assert 0 < reads[1] <= 10 * reads[0]
