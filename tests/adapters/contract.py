"""What every adapter has to pass, with its real framework.

Subclass ``Contract`` as ``TestSomething`` and say in ``agent`` how an agent of the framework is
made. It runs against a strict model (``tests.adapters.model``) and a real ledger. Asserted
everywhere: no request was invalid or too long, no reservation is left open, and the money that was
settled is the sum of the usages that the model reported.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from brim.errors import BrimError, DoesNotFit, LimitReached
from brim.money import open_ledger
from tests.adapters.model import Model, parallel

ROOT = Path(__file__).parent.parent.parent
TASK = "Find the bug in the parser."
SYSTEM = "You are a careful agent."
TARGET, MAX_OUTPUT, WINDOW = 5_000, 500, 6_000
SCOPE = "shop/agent"
WAYS = ("plain", "stream", "async", "async-stream")
RUN = WAYS if os.environ.get("BRIM_ADAPTER") else ("plain", "async-stream")
"""The ways that are tested: all of them in ``make adapters``, two that have everything in ``make
test``."""
TURNS = 30 if os.environ.get("BRIM_ADAPTER") else 15
"""The turns of the long conversation: an SDK takes longer for each one, and after eight it has to
be cut."""

Read = Callable[[str], str]
"""The tool of every agent, ``read_file``: takes a path and returns a text."""


class Agent:
    """An agent of some framework that has brim inside: it calls ``read_file`` until the model says
    something else."""

    more: Mapping[str, Any] = {}
    """What each request asks for besides, as the framework calls it."""

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        """Run one conversation to its end, and return what the model said last."""
        raise NotImplementedError

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        """Do the same in an event loop."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close what the event loop holds; then the agent is used no more."""

    def close(self) -> None:
        """Close what was opened outside of an event loop."""


def contents(path: str) -> str:
    """Return the contents of a file: some are ten times as long as others."""
    return f"# {path}\n" + "value = compute(value, 17)\n" * (8 + 16 * (sum(path.encode()) % 5))


ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"line": {"type": "integer", "description": "The line of the bug."}},
    "required": ["line"],
    "additionalProperties": False,
}
"""The schema of an answer."""
NOT_JSON: dict[str, Any] = {"extra_body": {"user": object()}}
"""What no SDK can write as JSON."""


class Failed(Exception):
    """A tool of the caller's failed."""


class Contract:
    """The scenarios; ``ways`` are those in which the framework can run."""

    ways: ClassVar[tuple[str, ...]] = WAYS
    model_name: ClassVar[str] = "gpt-4o"
    ways_with_thinking: ClassVar[tuple[str, ...]] = WAYS
    """The ways in which the agent sends thinking back."""
    thinking_mark: ClassVar[str] = "'thinking'"
    """What shows that a request has thinking."""
    answer_schema: ClassVar[Mapping[str, Any]]
    """How an agent asks for an answer that follows a schema."""
    named_tool: ClassVar[Mapping[str, Any]]
    """How an agent asks for a call of ``read_file``."""
    unsendable: ClassVar[Mapping[str, Mapping[str, Any]]]
    """What an agent asks for that its framework or its SDK refuses before anything is sent, by what
    is wrong."""

    def agent(self, url: str, **settings: Any) -> Agent:
        """Return an agent that sends requests to *url*; *settings* are those of the adapter."""
        raise NotImplementedError

    def thinking_agent(self, url: str, **settings: Any) -> Agent | None:
        """Return an agent whose model binds its thinking to the conversation; None if the framework
        has none here."""
        return None

    @pytest.fixture
    def model(self) -> Iterator[Model]:
        """Return a model that has a script of 30 turns."""
        with Model(window=WINDOW) as model:
            yield model

    @pytest.fixture
    def ledger(self, tmp_path: Path) -> Iterator[Any]:
        """Return a ledger without a limit."""
        with open_ledger(f"{tmp_path}/spend.db") as opened:
            yield opened

    @pytest.fixture(params=RUN)
    def way(self, request: pytest.FixtureRequest) -> str:
        """Return how the agent is run."""
        if request.param not in self.ways:
            pytest.skip(f"not a way of this framework: {request.param}")
        return str(request.param)

    def made(self, model: Model, ledger: Any, **settings: Any) -> Agent:
        """Return an agent with the settings that fit the model."""
        about = {
            "ledger": ledger,
            "scope": SCOPE,
            "target": TARGET,
            "max_output": MAX_OUTPUT,
            **settings,
        }
        return self.agent(model.url, **about)

    def go(self, agent: Agent, way: str, task: str = TASK, read_file: Read = contents) -> str:
        """Run one conversation."""
        return self.go_all(agent, way, [task], read_file)[0]

    def go_all(
        self, agent: Agent, way: str, tasks: list[str], read_file: Read = contents
    ) -> list[str]:
        """Run several conversations at once, and return what the model said last in each."""
        stream = way.endswith("stream")

        async def together() -> list[str]:
            try:
                return await asyncio.gather(
                    *(agent.arun(task, read_file, stream=stream) for task in tasks)
                )
            finally:
                await agent.aclose()

        try:
            if way.startswith("async"):
                return asyncio.run(together())
            with ThreadPoolExecutor(len(tasks)) as threads:
                running = [
                    threads.submit(agent.run, task, read_file, stream=stream) for task in tasks
                ]
            return [each.result() for each in running]
        finally:
            agent.close()

    def settled(self, model: Model, ledger: Any) -> None:
        """Assert that nothing was refused, nothing is reserved, and every answer was paid."""
        assert model.refused == []
        status = ledger.status(SCOPE)
        assert status.reserved == 0
        assert status.spent == model.spent

    def counted(self, model: Model, way: str, more: Mapping[str, Any]) -> int:
        """Return the tokens that brim counts for the first request of an agent that asks for
        *more*."""
        agent = self.agent(model.url, target=20, max_output=MAX_OUTPUT)
        agent.more = more
        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(agent, way)
        refused = found_in(raised.value, DoesNotFit)
        assert isinstance(refused, DoesNotFit)
        fitted: Any = refused.fitted
        return int(fitted.tokens)

    def test_the_schema_of_an_answer_is_counted(self, model: Model, way: str) -> None:
        assert self.counted(model, way, self.answer_schema) > self.counted(model, way, {}) + 10

    def test_the_choice_of_a_tool_is_counted(self, model: Model, way: str) -> None:
        assert self.counted(model, way, self.named_tool) > self.counted(model, way, {})

    def test_many_turns_with_parallel_tools(self, model: Model, ledger: Any, way: str) -> None:
        model.script = parallel(TURNS)
        read: list[str] = []

        def reading(path: str) -> str:
            read.append(path)
            return contents(path)

        assert self.go(self.made(model, ledger), way, read_file=reading) == "Done."
        self.settled(model, ledger)
        assert len(model.answered) == TURNS + 1
        assert len(read) == len(set(read)) == 2 * TURNS
        assert all(request.tokens <= TARGET + 100 for request in model.answered)
        rewritten = model.rewritten(TASK)
        assert 1 <= rewritten <= TURNS // 2  # it was cut, and in most turns the cache was warm

    def test_thirty_turns_with_thinking_that_is_bound(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        about = {"ledger": ledger, "scope": SCOPE, "target": TARGET, "max_output": MAX_OUTPUT}
        agent = self.thinking_agent(model.url, **about)
        if agent is None:
            pytest.skip("no model of this framework binds its thinking")
        model.thinks, model.script = True, parallel(30)
        assert self.go(agent, way) == "Done."
        self.settled(model, ledger)
        assert len(model.answered) == 31
        assert model.rewritten(TASK) >= 1
        # What was made after the last cut is still sent.
        assert (self.thinking_mark in str(model.answered[-1].messages)) is (
            way in self.ways_with_thinking
        )

    @pytest.mark.parametrize("status", [500, 529])
    def test_a_retry_is_paid_once(self, model: Model, ledger: Any, way: str, status: int) -> None:
        model.script = parallel(3)
        model.fail(status, 0, status, status)
        assert self.go(self.made(model, ledger), way) == "Done."
        assert len(model.requests) == len(model.answered) + 3
        self.settled(model, ledger)

    def test_a_request_that_is_refused_costs_nothing(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        model.fail(0, 0, *[400] * 8)  # some try it again
        with pytest.raises(Exception):  # noqa: B017, PT011 (the framework's own)
            self.go(self.made(model, ledger), way)
        assert len(model.answered) == 2
        self.settled(model, ledger)

    def test_no_connection_costs_nothing(self, ledger: Any, way: str) -> None:
        with Model() as gone:
            url = gone.url
        agent = self.agent(url, ledger=ledger, scope=SCOPE, target=TARGET, max_output=MAX_OUTPUT)
        with pytest.raises(Exception):  # noqa: B017, PT011 (the framework's own)
            self.go(agent, way)
        assert ledger.status(SCOPE).reserved == ledger.status(SCOPE).spent == 0

    def test_an_error_before_anything_is_sent_costs_nothing(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        for problem, more in self.unsendable.items():
            agent = self.made(model, ledger)
            agent.more = more
            with pytest.raises(Exception) as raised:  # noqa: PT011 (the framework's own)
                self.go(agent, way)
            assert found_in(raised.value, BrimError) is None, problem
            assert model.requests == [], problem
            assert ledger.status(SCOPE).reserved == ledger.status(SCOPE).spent == 0, problem

    def test_an_exception_in_the_caller(self, model: Model, ledger: Any, way: str) -> None:
        def failing(path: str) -> str:
            if path.startswith("src/2_"):
                raise Failed(path)
            return contents(path)

        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(self.made(model, ledger), way, read_file=failing)
        assert found_in(raised.value, Failed)
        assert len(model.answered) == 3
        self.settled(model, ledger)

    def test_a_spent_limit(self, model: Model, ledger: Any, way: str) -> None:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(self.made(model, ledger, limit_usd="0.05"), way)
        refused = found_in(raised.value, LimitReached)
        assert isinstance(refused, LimitReached)
        assert refused.limit == 50_000
        assert 2 <= len(model.answered) < 31
        self.settled(model, ledger)
        assert 20_000 < ledger.status(SCOPE).spent <= 50_000

    @pytest.mark.filterwarnings("ignore:brim. an answer may take")
    def test_a_small_limit_lowers_the_cap_of_answers(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        model.script, model.window = parallel(3), 400_000
        agent = self.made(
            model, ledger, max_output=None, limit_usd="0.08"
        )  # the longest answer costs more
        assert self.go(agent, way) == "Done."
        assert all(0 < each.most_output <= 8_000 for each in model.answered)
        self.settled(model, ledger)
        assert ledger.status(SCOPE).spent <= 80_000

    def test_a_limit_that_is_too_small_for_an_answer(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(self.made(model, ledger, max_output=None, limit_usd="0.006"), way)
        assert "max_output=" in str(found_in(raised.value, LimitReached))
        assert model.requests == []
        self.settled(model, ledger)

    def test_a_request_that_cannot_fit_is_not_sent(
        self, model: Model, ledger: Any, way: str
    ) -> None:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(self.made(model, ledger), way, task="word " * 9_000)
        assert found_in(raised.value, DoesNotFit)
        assert model.requests == []
        self.settled(model, ledger)

    def test_two_conversations_at_once(self, model: Model, ledger: Any, way: str) -> None:
        model.script, tasks = parallel(10), [TASK, "Write the tests."]
        said = self.go_all(self.made(model, ledger), way, tasks)
        assert said == ["Done.", "Done."]
        self.settled(model, ledger)
        assert len(model.answered) == 22
        assert all(1 <= model.rewritten(task) <= 5 for task in tasks)

    def test_a_limit_without_a_ledger_holds(self, model: Model, way: str) -> None:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            self.go(self.made(model, None, limit_usd="0.05"), way)
        assert found_in(raised.value, LimitReached)
        assert model.refused == []
        assert 0 < model.spent <= 50_000


def found_in(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """Return the error of this kind that caused *error*, if one did: frameworks wrap errors in
    their own."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        if isinstance(each, kind):
            return each
        seen.add(id(each))
        waiting += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
    return None


def program(name: str) -> str:
    """Return the program that the page of an adapter shows."""
    page = (ROOT / "docs" / "adapters" / f"{name}.md").read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def said_by_program(
    name: str, model: Model, folder: Path, *, asks_only_what_is_allowed: bool = True
) -> str:
    """Run the program of a page in *folder* against *model*, as a user does, and return what it
    prints."""
    environment = {
        **{key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ},
        **{
            "HOME": str(folder),
            "OPENAI_API_KEY": "x",
            "ANTHROPIC_API_KEY": "x",
            "ANTHROPIC_BASE_URL": model.url,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.url,
            "GOOGLE_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": model.url,
        },
        **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), f"{model.url}/v1"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    model.window = max(model.window, 100_000)
    command = [sys.executable, "-W", "ignore", "-c", program(name)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if asks_only_what_is_allowed:
        assert model.refused == []
    return done.stdout.strip()
