"""The middleware and a guarded model with LangChain itself: OpenAI's chat and Responses APIs, and Anthropic's."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

if os.environ.get("BRIM_ADAPTER") != "langchain":
    pytest.skip(
        "LangChain is tested in an environment of its own: scripts/adapters langchain",
        allow_module_level=True,
    )

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy, StructuredOutputValidationError
from langchain.tools import ToolRuntime, tool
from langchain_anthropic import ChatAnthropic
from langchain_core.caches import InMemoryCache
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from brim.adapters import langchain as adapter
from brim.errors import InputError, LimitReached
from brim.money import open_ledger
from brim.rules import Rule
from brim.tokens import counter_for
from tests.adapters.contract import (
    ANSWER,
    NOT_JSON,
    SYSTEM,
    TASK,
    WINDOW,
    Agent,
    Contract,
    Read,
    contents,
    said_by_program,
)
from tests.adapters.model import Model, parallel

# LangChain's models keep their connections open, and a later test collects them.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Collect the connections of the last tests while no warning of them counts."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


class Bug(BaseModel):
    """What was found."""

    line: int


class Choosing(AgentMiddleware[Any, Any, Any]):
    """Asks the model for more."""

    def __init__(self, more: Mapping[str, Any]) -> None:
        super().__init__()
        self.more = more

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(**self.more))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(**self.more))


class Asking(Contract):
    """What the agents of the contract ask for."""

    answer_schema: ClassVar[dict[str, Any]] = {"response_format": ProviderStrategy(Bug)}
    named_tool: ClassVar[dict[str, Any]] = {"tool_choice": "read_file"}
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": {"model_settings": NOT_JSON},
        "a parameter that the SDK doesn't take": {"model_settings": {"nonsense": 1}},
        "a parameter that LangChain doesn't take": {"model_settings": {"metadata": {"a": 1}}},
        "an image without data": {"messages": [HumanMessage([{"type": "image", "url": object()}])]},
        "a setting that is given twice": {"model_settings": {"tool_choice": "auto"}},
    }


class LangChainAgent(Agent):
    def __init__(self, model: Any, **settings: Any) -> None:
        self.model, self.middleware = model, adapter.guard(**settings)

    def made(self, read_file: Read) -> Any:
        tool = StructuredTool.from_function(
            read_file, name="read_file", description="Reads a file."
        )
        about: Any = {"system_prompt": SYSTEM, "middleware": [Choosing(self.more), self.middleware]}
        return create_agent(self.model, [tool], **about)

    def run(self, task: str, read_file: Read, *, stream: bool) -> str:
        given: Any = {"messages": [("user", task)]}
        if not stream:
            return str(self.made(read_file).invoke(given, ABOUT)["messages"][-1].text)
        last = None
        for mode, seen in self.made(read_file).stream(
            given, ABOUT, stream_mode=["messages", "values"]
        ):
            last = seen if mode == "values" else last
        return str(last["messages"][-1].text) if last else ""

    async def arun(self, task: str, read_file: Read, *, stream: bool) -> str:
        given: Any = {"messages": [("user", task)]}
        if not stream:
            return str((await self.made(read_file).ainvoke(given, ABOUT))["messages"][-1].text)
        last = None
        async for mode, seen in self.made(read_file).astream(
            given, ABOUT, stream_mode=["messages", "values"]
        ):
            last = seen if mode == "values" else last
        return str(last["messages"][-1].text) if last else ""


ABOUT: Any = {"recursion_limit": 200}


class TestChat(Asking):
    def agent(self, url: str, **settings: Any) -> Agent:
        about: Any = {"base_url": f"{url}/v1", "api_key": "none", "stream_usage": True}
        return LangChainAgent(ChatOpenAI(model="gpt-4o", **about), **settings)


class TestResponses(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async-stream")

    def agent(self, url: str, **settings: Any) -> Agent:
        about: Any = {"base_url": f"{url}/v1", "api_key": "none", "use_responses_api": True}
        return LangChainAgent(ChatOpenAI(model="gpt-4o", **about), **settings)


class TestAnthropic(Asking):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async-stream")
    model_name: ClassVar[str] = "claude-sonnet-4-6"

    def agent(self, url: str, **settings: Any) -> Agent:
        model: Any = ChatAnthropic(model_name="claude-sonnet-4-6", base_url=url, api_key="none")
        return LangChainAgent(model, **settings)

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        model: Any = ChatAnthropic(model_name="claude-opus-5-5", base_url=url, api_key="none")
        return LangChainAgent(model, **settings)


class GraphAgent(Agent):
    """A graph of the caller's own around a guarded chat model."""

    def __init__(self, model: Any, **settings: Any) -> None:
        self.model = adapter.guard(model, **settings)

    def made(self, read_file: Read) -> Any:
        tool = StructuredTool.from_function(
            read_file, name="read_file", description="Reads a file."
        )
        bound = self.model.bind_tools([tool]).bind(**self.more)
        graph = StateGraph(MessagesState)

        def prompt(state: Any) -> list[Any]:
            return [SystemMessage(SYSTEM), *state["messages"]]

        async def answer(state: Any) -> Any:
            return {"messages": [await bound.ainvoke(prompt(state))]}

        node = RunnableLambda(lambda state: {"messages": [bound.invoke(prompt(state))]}, answer)
        graph.add_node("model", node)
        graph.add_node("tools", ToolNode([tool], handle_tool_errors=False))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        return graph.compile()

    run = LangChainAgent.run
    arun = LangChainAgent.arun


class AskingModel(Contract):
    """What a bound chat model asks for."""

    answer_schema: ClassVar[dict[str, Any]] = {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "bug", "schema": ANSWER, "strict": True},
        }
    }
    named_tool: ClassVar[dict[str, Any]] = {"tool_choice": "read_file"}
    unsendable: ClassVar[dict[str, Any]] = {
        "a body that isn't JSON": NOT_JSON,
        "a parameter that the SDK doesn't take": {"nonsense": 1},
    }


class TestModelInGraph(AskingModel):
    def agent(self, url: str, **settings: Any) -> Agent:
        about: Any = {"base_url": f"{url}/v1", "api_key": "none"}
        return GraphAgent(ChatOpenAI(model="gpt-4o", **about), **settings)


class TestAnthropicModelInGraph(AskingModel):
    ways: ClassVar[tuple[str, ...]] = ("plain", "async-stream")
    model_name: ClassVar[str] = "claude-sonnet-4-6"
    answer_schema: ClassVar[dict[str, Any]] = {
        "output_config": {"format": {"type": "json_schema", "schema": ANSWER}}
    }

    def agent(self, url: str, **settings: Any) -> Agent:
        model: Any = ChatAnthropic(model_name="claude-sonnet-4-6", base_url=url, api_key="none")
        return GraphAgent(model, **settings)

    def thinking_agent(self, url: str, **settings: Any) -> Agent:
        model: Any = ChatAnthropic(model_name="claude-opus-5-5", base_url=url, api_key="none")
        return GraphAgent(model, **settings)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(window=WINDOW, script=parallel(1)) as started:
        yield started


def chat(model: Model, **more: Any) -> Any:
    return ChatOpenAI(model="gpt-4o", base_url=f"{model.url}/v1", api_key="none", **more)


def ask(agent: Any, *messages: Any, thread: str = "") -> Any:
    about: Any = {"configurable": {"thread_id": thread}} if thread else {}
    return agent.invoke({"messages": list(messages)}, about)


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    return contents(path)


def test_the_state_keeps_what_the_request_leaves_out(model: Model) -> None:
    model.script = parallel(20)
    brim = adapter.guard(target=2_000, max_output=500)
    found = create_agent(chat(model), [read_file], middleware=[brim]).invoke(
        {"messages": [("user", TASK)]}, {"recursion_limit": 100}
    )
    texts = [message.content for message in found["messages"] if message.type == "tool"]
    assert texts == [contents(path) for path in (text.split()[1] for text in texts)]
    assert any("[Cleared" in str(request.messages) for request in model.answered)


def test_a_thread_is_a_conversation_and_stays_cut(model: Model) -> None:
    model.script = lambda turn: ["Done."] if turn % 6 == 5 else parallel(99)(turn)
    brim = adapter.guard(limit_usd="1", target=4_000, max_output=500)
    agent = create_agent(chat(model), [read_file], middleware=[brim], checkpointer=InMemorySaver())
    for question in (TASK, "And now?", "And then?", "Sure?"):
        ask(agent, ("user", question), thread="one")
    assert len(model.answered) == 24
    assert 1 <= model.rewritten(TASK) <= 10
    assert brim.guard.status().spent == model.spent  # type: ignore[union-attr]


def test_the_answers_own_limit_and_the_models_are_kept(model: Model) -> None:
    for brim, about, sent in (
        (adapter.guard(limit_usd="1"), {"max_tokens": 300}, 300),
        (adapter.guard(limit_usd="1", max_output=200), {"max_tokens": 300}, 200),
        (adapter.guard(limit_usd="1", max_output=500), {"max_tokens": 300}, 300),
        (adapter.guard(limit_usd="1"), {}, None),
    ):
        ask(create_agent(chat(model, **about), [], middleware=[brim]), ("user", TASK))
        assert model.answered[-1].body.get("max_completion_tokens") == sent


def test_rules_are_told_in_the_system_prompt(model: Model) -> None:
    brim = adapter.guard(
        rules=[Rule("uv", "use-uv", "constraint", "Install packages with uv.")], max_output=500
    )
    ask(create_agent(chat(model), [], system_prompt=SYSTEM, middleware=[brim]), ("user", TASK))
    said = model.answered[-1].messages[0]
    assert said["role"] == "system"
    assert said["content"].startswith(SYSTEM)
    assert "Install packages with uv." in said["content"]


def test_an_answer_that_is_not_valid_is_paid(model: Model) -> None:
    model.script = lambda _: ["no JSON"]
    brim = adapter.guard(limit_usd="1", max_output=500)
    agent = create_agent(chat(model), [], response_format=ProviderStrategy(Bug), middleware=[brim])
    with pytest.raises(StructuredOutputValidationError):
        ask(agent, ("user", TASK))
    found = brim.guard.status()
    assert found is not None
    assert (found.reserved, found.spent) == (0, model.spent)
    assert model.spent > 0


def test_what_the_provider_does_besides_is_reserved_for(model: Model) -> None:
    def reserved(chat_model: Any) -> int:
        brim = adapter.guard(limit_usd="0", max_output=500)
        with pytest.raises(LimitReached) as refused:
            ask(create_agent(chat_model, [], middleware=[brim]), ("user", TASK))
        return refused.value.amount

    def claude(**more: Any) -> Any:
        return ChatAnthropic(
            model_name="claude-opus-5-5", base_url=model.url, api_key="none", **more
        )

    assert reserved(chat(model, use_responses_api=True)) < 10_000
    kept = chat(model, use_responses_api=True, use_previous_response_id=True)
    assert reserved(kept) > 300_000  # a window of 128,000 tokens
    compact = {"edits": [{"type": "compact_20260112", "trigger": {"value": 1}}]}
    assert reserved(claude(context_management=compact)) > reserved(claude()) + 1_000_000
    schema = {"format": {"type": "json_schema", "schema": Bug.model_json_schema()}}
    assert reserved(claude(output_config=schema)) > reserved(claude())
    assert model.requests == []


def test_an_answer_from_langchains_cache_costs_nothing(model: Model) -> None:
    model.script = lambda _: ["Done."]
    brim = adapter.guard(limit_usd="1", max_output=500)
    agent = create_agent(chat(model, cache=InMemoryCache()), [], middleware=[brim])
    for _ in range(3):
        ask(agent, HumanMessage(TASK, id="m1"))
    found = brim.guard.status()
    assert len(model.answered) == 1
    assert found is not None
    assert (found.reserved, found.spent) == (0, model.spent)


def test_a_response_without_usage_keeps_its_reservation_and_its_answer(model: Model) -> None:
    model.script = lambda _: ["Done."]
    brim = adapter.guard(limit_usd="1", max_output=500)
    agent = create_agent(chat(model), [], middleware=[brim])
    with pytest.warns(UserWarning, match="its money stays reserved"):
        *_, last = agent.stream({"messages": [("user", TASK)]}, stream_mode=["messages", "values"])
    assert last[1]["messages"][-1].text == "Done."
    assert brim.guard.status().reserved > 0  # type: ignore[union-attr]


class Nameless(FakeListChatModel):
    """A model that doesn't say what it is."""


def test_a_model_without_a_name_is_refused_unless_it_is_named() -> None:
    agent = create_agent(Nameless(responses=["Done."]), [], middleware=[adapter.guard()])
    with pytest.raises(InputError, match="Nameless doesn't say which model it calls: name it"):
        ask(agent, ("user", TASK))
    named = create_agent(
        Nameless(responses=["Done."]), [], middleware=[adapter.guard(model="gpt-4o")]
    )
    with pytest.warns(UserWarning, match="couldn't settle"):
        assert ask(named, ("user", TASK))["messages"][-1].text == "Done."


def test_wrong_settings_are_refused_at_once() -> None:
    with pytest.raises(InputError):
        adapter.guard(limit_usd="a lot")
    with pytest.raises(InputError):
        adapter.guard(strategy="none")  # type: ignore[call-overload]


def test_the_tools_that_langchain_puts_in_are_not_counted() -> None:
    @tool
    def inspect(path: str, runtime: ToolRuntime) -> str:
        """Reads a file."""
        return path

    hello = [{"role": "user", "content": "Hi"}]
    for name in ("gpt-4o", "claude-sonnet-4-6", "gemini-2.5-pro"):
        counter = counter_for(name)
        told = counter.count_messages(hello, [convert_to_openai_tool(inspect)])
        assert int(counter.count_messages(hello, [inspect])) == int(told)


def test_the_program_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    model.script, model.window = parallel(3), 128_000
    assert said_by_program("langchain", model, tmp_path).endswith("Done.")
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        assert ledger.status("shop/agent-1").spent == model.spent


# A guarded chat model -----------------------------------------------------------------------------


def test_a_guarded_model_is_still_a_model_of_its_class(model: Model) -> None:
    plain = chat(model)
    guarded = adapter.guard(plain, limit_usd="1", max_output=500)
    assert isinstance(guarded, ChatOpenAI)
    assert type(guarded).__name__ == "ChatOpenAI"
    assert guarded._get_ls_params() == plain._get_ls_params()
    assert not hasattr(plain, "brim_calls")
    with pytest.raises(InputError, match="a chat model"):
        adapter.guard("gpt-4o")


def test_structured_output_batch_and_chains_are_guarded(model: Model, tmp_path: Path) -> None:
    model.script = lambda _: ['{"line": 3}']
    calls: list[Any] = []
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        about: Any = {"max_output": 500, "on_call": lambda *about: calls.append(about)}
        guarded = adapter.guard(chat(model), ledger=ledger, scope="shop", **about)
        structured = guarded.with_structured_output(Bug, method="json_schema")
        assert structured.invoke("Where?") == Bug(line=3)
        chain = PromptTemplate.from_template("Find {bug}") | structured
        assert chain.batch([{"bug": "one"}, {"bug": "two"}]) == [Bug(line=3), Bug(line=3)]
        status = ledger.status("shop")
    assert (status.reserved, status.spent) == (0, model.spent)
    assert sum(cost for _, cost in calls) == model.spent
    assert len(calls) == len(model.answered) == 3


def test_the_summarizer_of_langchain_is_guarded(model: Model) -> None:
    model.script, model.window = parallel(12), 100_000
    guarded = adapter.guard(chat(model), limit_usd="1", max_output=500)
    summarizer = SummarizationMiddleware(guarded, trigger=("messages", 8), keep=("messages", 4))
    agent = create_agent(guarded, [read_file], middleware=[summarizer])
    agent.invoke({"messages": [("user", TASK)]}, {"recursion_limit": 200})
    status = type(guarded).brim_calls.guard.status()
    assert any("<messages>" in str(request.messages) for request in model.answered)
    assert (status.reserved, status.spent) == (0, model.spent)


def test_a_guarded_models_own_lower_limit_for_answers_stays(model: Model) -> None:
    for own_cap, sent in ((300, 300), (700, 500)):
        guarded = adapter.guard(chat(model, max_tokens=own_cap), limit_usd="1", max_output=500)
        guarded.invoke(TASK)
        assert model.answered[-1].body["max_completion_tokens"] == sent


@pytest.mark.parametrize("use_responses_api", [False, True])
def test_a_stream_of_a_guarded_model_is_paid(model: Model, use_responses_api: bool) -> None:
    plain = chat(model, use_responses_api=use_responses_api)
    guarded = adapter.guard(plain, limit_usd="1", max_output=500)
    assert list(guarded.stream(TASK))
    status = type(guarded).brim_calls.guard.status()
    assert (status.reserved, status.spent) == (0, model.spent)
    assert model.spent > 0


def test_a_streaming_model_is_paid_once(model: Model) -> None:
    guarded = adapter.guard(chat(model, streaming=True), limit_usd="1", max_output=500)
    guarded.invoke(TASK)
    status = type(guarded).brim_calls.guard.status()
    assert (status.reserved, status.spent) == (0, model.spent)
