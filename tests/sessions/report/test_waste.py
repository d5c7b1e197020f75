"""What filled a window for nothing is found; what was used isn't called waste."""

from __future__ import annotations

from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, Message, ToolResult, Usage
from brim.memory.token_length import BilledRatio
from brim.models import cost
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.report.waste import ADVICE, KINDS, LARGE, Waste, WasteReader

MODEL = "claude-sonnet-4-5"
LINES = "".join(f"row {n}: value_{n} is fine\n" for n in range(4_000))
"""Far more than ``LARGE`` tokens."""


def found(*events: Event) -> list[Waste]:
    ratio = BilledRatio()
    reader = WasteReader(ratio)
    for event in events:
        ratio.take(event)
        reader.take(event)
    return [each for each in reader.finish() if each.kind != "start"]


def request(number: int, prompt: int = 20_000) -> Usage:
    tokens = Tokens(input=prompt, output=10)
    return Usage(session="s", time=float(number), tokens=tokens, model=MODEL, request=f"m{number}")


def read(id: str, path: str = "/home/user/shop/src/app.py", **more: Any) -> ToolCall:
    return ToolCall(session="s", id=id, name="Read", kind="read", input={"file_path": path, **more})


def run(id: str, command: str) -> ToolCall:
    return ToolCall(session="s", id=id, name="Bash", kind="shell", input={"command": command})


def answer(id: str, text: str = "x = 1\n" * 400, **more: Any) -> ToolResult:
    return ToolResult(session="s", id=id, time=1.0, text=text, **more)


def said(text: str) -> Message:
    return Message(session="s", role="assistant", text=text)


def kinds(*events: Event) -> list[str]:
    return [each.kind for each in found(*events)]


def test_an_unchanged_file_that_is_read_again_is_waste() -> None:
    (only,) = found(
        request(1),
        read("a"),
        answer("a"),
        request(2),
        read("b"),
        answer("b"),
        request(3),
        request(4),
    )
    assert (only.kind, only.key, only.what, only.requests) == (
        "repeated",
        "b",
        "/home/user/shop/src/app.py",
        2,
    )


def test_a_file_that_changed_or_another_part_of_it_isnt() -> None:
    assert (
        kinds(
            request(1), read("a"), answer("a"), read("b"), answer("b", "y = 2\n" * 400), request(2)
        )
        == []
    )
    assert (
        kinds(request(1), read("a"), answer("a"), read("b", offset=9), answer("b"), request(2))
        == []
    )
    assert (
        kinds(
            request(1),
            read("a"),
            answer("a"),
            read("b", "/home/user/b.py"),
            answer("b"),
            request(2),
        )
        == []
    )


def test_a_file_that_is_read_again_after_a_compaction_isnt() -> None:
    compacted = Compaction(session="s")
    assert (
        kinds(
            request(1),
            read("a"),
            answer("a"),
            request(2),
            compacted,
            read("b"),
            answer("b"),
            request(3),
        )
        == []
    )


def test_a_short_result_or_a_failed_call_isnt() -> None:
    assert (
        kinds(request(1), read("a"), answer("a", "x"), read("b"), answer("b", "x"), request(2))
        == []
    )
    failed = answer("b", error=True)
    assert kinds(request(1), read("a"), answer("a"), read("b"), failed, request(2)) == []


def test_a_command_counts_if_it_only_shows_a_file() -> None:
    for command, kind in (
        ("cat src/app.py", ["repeated"]),
        ("sed -n 1,80p a.py", ["repeated"]),
        ("make test", []),
    ):
        assert (
            kinds(
                request(1),
                run("a", command),
                answer("a"),
                run("b", command),
                answer("b"),
                request(2),
            )
            == kind
        )
    assert (
        kinds(
            request(1),
            run("a", "cat a > b"),
            answer("a"),
            run("b", "cat a > b"),
            answer("b"),
            request(2),
        )
        == []
    )


def test_a_long_result_that_nothing_refers_to_is_waste() -> None:
    (only,) = found(
        request(1),
        run("a", "make test"),
        answer("a", LINES),
        request(2),
        said("All is well."),
        request(3),
        request(4),
    )
    assert (only.kind, only.what, only.requests) == ("unused", "make test", 3)
    assert only.tokens > LARGE


def test_a_long_result_that_is_referred_to_isnt() -> None:
    begin = [request(1), run("a", "make test"), answer("a", LINES), request(2)]
    for later in (
        said("value_17 is odd."),
        run("b", "grep value_17 log.txt"),
        read("b", "/tmp/value_3999"),
    ):
        assert kinds(*begin, later, request(3), request(4)) == []
    path = [
        request(1),
        read("a", "/home/user/big.csv"),
        answer("a", LINES.replace("_", " ")),
        request(2),
    ]
    assert kinds(*path, said("I've looked at big.csv."), request(3), request(4)) == []


def test_the_last_result_of_a_session_may_have_been_the_answer() -> None:
    assert (
        kinds(
            request(1), run("a", "make test"), answer("a", LINES), request(2), said("All is well.")
        )
        == []
    )


def test_secrets_in_a_command_are_masked() -> None:
    command = "cat notes-AKIAIOSFODNN7EXAMPLE.txt"
    (only,) = found(
        request(1), run("a", command), answer("a"), run("b", command), answer("b"), request(2)
    )
    assert "AKIAIOSFODNN7EXAMPLE" not in only.what


def test_the_beginning_is_the_first_prompt_without_what_was_typed() -> None:
    reader, typed = WasteReader(BilledRatio()), "word " * 800
    for event in (
        Message(session="s", role="user", text=typed, human=True),
        request(1, 15_000),
        request(2, 16_000),
    ):
        reader.take(event)
    (only,) = reader.finish()
    assert (only.kind, only.requests) == ("start", 2)
    assert 13_000 < only.tokens < 14_500


def test_waste_is_written_once_and_read_by_every_later_request() -> None:
    waste = Waste("unused", "k", "x", "s", "", None, MODEL, 10_000, 5)
    written, again = (
        cost(Tokens(cache_write_5m=10_000), MODEL),
        cost(Tokens(cache_read=10_000), MODEL),
    )
    assert written is not None
    assert again is not None
    assert waste.priced(PriceList()).cost == written + 4 * again
    assert (
        Waste("unused", "k", "x", "s", "", None, "nobody-knows-me", 10, 5).priced(PriceList()).cost
        is None
    )


def test_every_kind_has_advice() -> None:
    assert KINDS.keys() == ADVICE.keys()


def test_the_bill_says_how_long_a_token_is() -> None:
    ratio = BilledRatio()
    for number in range(1, 6):
        ratio.take(request(number, 1_000 * number + 10 * number))
        ratio.take(answer("a", "x" * 3_000))
    assert ratio.bytes_per_token == 3.0
    assert ratio.tokens(600, MODEL) == 200


def test_a_session_that_is_too_short_is_estimated_by_its_model() -> None:
    ratio = BilledRatio()
    ratio.take(request(1))
    assert ratio.bytes_per_token is None
    assert 200 < ratio.tokens(1_000, MODEL) < 400
