"""The SDK is not installed here: these are its messages, by name and field, and a client that plays
them back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from brim.agents.claude.sdk import line_of
from brim.errors import InputError, LimitReached
from brim.money import open_ledger
from brim.run import supervised
from brim.run.sdk import SupervisedClient
from brim.usd import Money

SESSION = "5e55a000-0000-4000-8000-000000000001"


@dataclass
class TextBlock:
    text: str


@dataclass
class ToolUseBlock:
    id: str
    name: str
    input: dict[str, Any]


@dataclass
class AssistantMessage:
    content: list[Any]
    model: str = "claude-sonnet-4-5"
    parent_tool_use_id: str | None = None
    error: str | None = None
    usage: dict[str, Any] | None = None
    message_id: str | None = None
    stop_reason: str | None = None
    session_id: str | None = SESSION


@dataclass
class SystemMessage:
    subtype: str
    data: dict[str, Any]


@dataclass
class ResultMessage:
    total_cost_usd: float
    subtype: str = "success"
    is_error: bool = False
    num_turns: int = 1
    session_id: str = SESSION
    usage: dict[str, Any] | None = None
    result: str | None = "done"
    model_usage: dict[str, Any] | None = None


@dataclass
class Options:
    env: dict[str, str] = field(default_factory=dict)
    max_budget_usd: float | None = None
    resume: str | None = None
    continue_conversation: bool = False
    fork_session: bool = False
    cwd: str | None = None


class Client:
    """Answers as the program behind the SDK would; ``BIG`` fills the window, every turn costs what
    *costs* says."""

    def __init__(self, options: Options, sent: list[Any], costs: list[float]) -> None:
        self.options, self.sent, self.costs = options, sent, costs
        self.text = ""

    async def connect(self) -> None:
        self.sent.append(self.options)

    async def disconnect(self) -> None:
        self.sent.append("disconnected")

    async def interrupt(self) -> None:
        self.sent.append("interrupted")

    async def query(self, lines: AsyncIterator[dict[str, Any]]) -> None:
        async for line in lines:
            content = line["message"]["content"]
            self.sent.append(content)
            self.text = str(content)

    async def receive_response(self) -> AsyncIterator[Any]:
        total = self.costs.pop(0)
        if self.text.startswith("/compact"):
            if "ENDLESS" in self.text:
                await asyncio.sleep(600)
            if "STUBBORN" in self.text:
                yield ResultMessage(total, num_turns=0)
                return
            about = {"trigger": "manual", "pre_tokens": 170_000, "post_tokens": 3_000}
            yield SystemMessage(
                "compact_boundary", {"session_id": SESSION, "compact_metadata": about}
            )
        else:
            used = 170_000 if "BIG" in self.text else 1_000
            blocks = [
                TextBlock("working"),
                ToolUseBlock("t1", "Write", {"file_path": "/p/a.py", "content": "x"}),
            ]
            usage = {"input_tokens": used, "output_tokens": 5}
            yield AssistantMessage(blocks, usage=usage, message_id=f"m{total}")
        if "CUT" in self.text and len(self.sent) < 3:
            yield ResultMessage(total, subtype="error_max_budget_usd", is_error=True)
            return
        yield ResultMessage(total, usage={"input_tokens": 1_000, "output_tokens": 5})


def play(
    folder: Path, turns: list[str], costs: list[float], **settings: Any
) -> tuple[SupervisedClient, list[Any]]:
    sent: list[Any] = []

    async def run() -> SupervisedClient:
        connect = lambda options: Client(options, sent, costs)  # noqa: E731
        async with supervised(Options(cwd=str(folder)), connect=connect, **settings) as client:
            for turn in turns:
                async for _ in client.turn(turn):
                    pass
            return client

    return asyncio.run(run()), sent


def test_turns_are_tracked_and_written_down(tmp_path: Path) -> None:
    client, sent = play(tmp_path, ["fix it", "and test"], [0.25, 0.5], task="the parser")
    assert (client.context.used_tokens, client.spending.spent, client.session) == (
        1_000,
        500_000,
        SESSION,
    )
    options, *rest = sent
    assert options.env == {"BRIM_RUN_ID": client.run}
    assert rest == ["fix it", "and test", "disconnected"]
    text = (tmp_path / ".context" / "scratch.md").read_text()
    assert all(part in text for part in ("# Scratch: the parser", "fix it", "and test", "/p/a.py"))


def test_a_full_window_is_compacted_and_the_next_turn_says_where_the_notes_are(
    tmp_path: Path,
) -> None:
    client, sent = play(tmp_path, ["BIG work", "go on"], [0.1, 0.2, 0.3], task="the parser")
    assert client.context.compactions == 1
    assert sent[2].startswith("/compact focus on the parser\n")
    assert [block["text"] for block in sent[3]][-1] == "go on"
    assert [notice.kind for notice in client.notices] == ["CONTEXT_WARNING", "COMPACT_DUE"]


def test_at_the_limit_the_work_is_wrapped_up_and_nothing_follows(tmp_path: Path) -> None:
    with pytest.raises(LimitReached):
        play(tmp_path, ["work", "more"], [0.96, 0.98], budget_usd="1")
    _, sent = play(tmp_path, ["work"], [0.96, 0.98], budget_usd="1")
    first, _, gone, second, wrap_up, _ = sent
    assert (first.max_budget_usd, second.max_budget_usd, second.resume) == (
        0.95,
        pytest.approx(0.04),
        SESSION,
    )
    assert gone == "disconnected"
    assert wrap_up.startswith("The cost limit is reached")


def test_a_bare_number_of_dollars_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"budget_usd must be dollars .* write '2' for"):
        play(tmp_path, ["work"], [0.1], budget_usd=2)


def test_whoever_is_asked_may_raise_the_limit(tmp_path: Path) -> None:
    from brim.money import Raise

    client, _ = play(
        tmp_path,
        ["work", "more"],
        [0.96, 0.98],
        budget_usd="1",
        on_limit=lambda _: Raise(Money(2_000_000)),
    )
    assert (client.spending.limit, client.spending.spent) == (2_000_000, 980_000)


def test_two_projects_with_one_name_have_limits_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name / "shop" for name in ("a", "b")]
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        for folder in folders:
            (folder / ".git").mkdir(parents=True)
            config = f'[remote "origin"]\n\turl = https://example.org/{folder.parent.name}/shop\n'
            (folder / ".git" / "config").write_text(config)
            (folder / "src").mkdir()
        clients = [play(folder / "src", ["one"], [0.25], ledger=ledger)[0] for folder in folders]
        scopes = [client.spending.scope.partition("/")[0] for client in clients]
        assert scopes == ["example.org-a-shop", "example.org-b-shop"]
        assert ledger.status(scopes[0]).spent == 250_000
        assert (
            ledger.status(scopes[1]).spent > 200_000
        )  # one request of both has the same id here, and counts once


def test_a_turn_that_was_cut_short_goes_on_when_the_limit_is_raised(tmp_path: Path) -> None:
    from brim.money import Raise

    raised = {"budget_usd": "1", "on_limit": lambda _: Raise(Money(2_000_000))}
    _, sent = play(tmp_path, ["CUT work", "more"], [0.96, 0.98, 0.99], **raised)
    said = [each for each in sent if isinstance(each, str) and not each.startswith("disc")]
    assert said[0] == "CUT work"
    assert said[1].startswith("You were cut short. First read .context/scratch.md")
    assert said[2:] == ["more"]


def test_what_a_resumed_session_had_cost_before_is_left_out(tmp_path: Path) -> None:
    sent: list[Any] = []

    async def run() -> SupervisedClient:
        connect = lambda options: Client(options, sent, [40.0])  # noqa: E731
        options = Options(cwd=str(tmp_path), resume=SESSION)
        async with supervised(options, connect=connect, budget_usd="1") as client:
            assert [type(message).__name__ async for message in client.turn("go on")][
                -1
            ] == "ResultMessage"
            return client

    assert asyncio.run(run()).spending.spent < 1_000_000


def test_a_turn_that_nobody_heard_to_its_end_is_interrupted_by_the_next(tmp_path: Path) -> None:
    sent: list[Any] = []

    async def run() -> None:
        connect = lambda options: Client(options, sent, [0.1, 0.2, 0.3])  # noqa: E731
        async with supervised(Options(cwd=str(tmp_path)), connect=connect) as client:
            async for _ in client.turn("one"):
                break
            assert [type(message).__name__ async for message in client.turn("two")][
                -1
            ] == "ResultMessage"

    asyncio.run(run())
    assert sent[1:] == ["one", "interrupted", "two", "disconnected"]


def test_a_turn_that_was_left_at_its_result_is_over(tmp_path: Path) -> None:
    sent: list[Any] = []

    async def run() -> None:
        connect = lambda options: Client(options, sent, [0.1, 0.2])  # noqa: E731
        async with supervised(Options(cwd=str(tmp_path)), connect=connect) as client:
            for text in ("one", "two"):
                async for message in client.turn(text):
                    if isinstance(message, ResultMessage):
                        break

    asyncio.run(run())
    assert sent[1:] == ["one", "two", "disconnected"]


def test_an_agent_that_never_compacts_is_asked_twice(tmp_path: Path) -> None:
    costs = [number / 10 for number in range(1, 8)]
    _, sent = play(tmp_path, ["BIG one", "BIG two", "BIG three"], costs, task="STUBBORN")
    assert sum(str(each).startswith("/compact") for each in sent) == 2


def test_a_compaction_that_takes_too_long_is_given_up_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    costs = [number / 10 for number in range(1, 8)]
    settings = {"task": "ENDLESS", "compact_patience": 0.01}
    client, sent = play(tmp_path, ["BIG one", "two"], costs, **settings)
    (asked,) = [at for at, each in enumerate(sent) if str(each).startswith("/compact")]
    assert sent[asked + 1] == "disconnected"
    assert isinstance(sent[asked + 2], Options)
    assert sent[asked + 2].resume == SESSION
    assert sent[asked + 3 :] == ["two", "disconnected"]
    assert client.context.compactions == 0


def test_a_message_that_says_nothing_is_no_line() -> None:
    assert line_of(object()) == {}
