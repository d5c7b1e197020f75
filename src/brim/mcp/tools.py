"""The tools: what each is called, what it takes, which answers are typed, and what they cost.

A schema is paid for in every session, so names explain themselves and a description is a line.
Where an answer has a type, models read its JSON; what is prose for a model is text. No tool takes a
path: a situation is text, and files that are named in it are compared with conditions, never
opened.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from brim.errors import BrimError
from brim.hooks.standing import Standing, standing
from brim.masking import mask
from brim.mcp import measures, memory, rules
from brim.mcp.memory import kept_entries
from brim.mcp.rules import hiding_project_text
from brim.sessions.session_files import AGENTS
from brim.tokens.counters import counter_for
from brim.tokens.protocol import TokenCounter
from brim.workspace import Workspace

INSTRUCTIONS = (
    "When the user corrects you, call `learn` with what is right. "
    "Before an edit or command, `active` has the rules that matter. "
    "After a compaction, `scratch` has what was kept."
)
"""What a model is told once. At most 60 tokens: it stands in every prompt of the session."""

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Situation = Annotated[str, Field(description="what you are doing, with files and commands")]
Id = Annotated[str, Field(description="name of a rule")]
Model = Annotated[str, Field(description="such as gpt-4o")]
Messages = Annotated[list[dict[str, Any]], Field(description="of any provider's format")]


def make_tools(clients: Clients) -> list[Tool]:  # noqa: C901 - a list of small functions
    """Return the tools of a server that *clients* use."""

    def active(situation: Situation = "", task: str = "") -> str:
        return rules.active_answer(clients.workspace, situation, task)

    def learn(right: str, wrong: str = "") -> rules.Note:
        return rules.learn_note(
            clients.workspace, right, wrong, agent=clients.agent, session=clients.session
        )

    def list_(query: str = "", limit: Annotated[int, Field(ge=1, le=500)] = 50) -> rules.Rules:
        return rules.list_rules(clients.workspace, query, limit)

    def why(id: Id, situation: Situation = "") -> str:
        return rules.why_text(clients.workspace, id, situation)

    def count(text: str, model: Model = "") -> measures.CountAnswer:
        return measures.count_text(clients.workspace, text, model)

    def budget(messages: Messages, model: Model = "", directive: str = "") -> measures.RoomAnswer:
        return measures.room_for(clients.workspace, model, messages, directive)

    def fit(
        messages: Messages,
        tokens: Annotated[int | None, Field(ge=0)] = None,
        model: Model = "",
        strategy: Literal["tiered", "fifo", "sliding", "summarize"] = "tiered",
    ) -> measures.FitAnswer:
        return measures.fit_messages(clients.workspace, messages, tokens, model, strategy)

    def status() -> Standing:
        return clients.standing()

    def scratch(
        query: Annotated[
            str, Field(description="word, or number of an entry; none: the index")
        ] = "",
        dead_end: Annotated[str, Field(description="to keep: what was tried and failed")] = "",
    ) -> str:
        if dead_end:
            return memory.keep_dead_end(clients.workspace, dead_end, session=clients.session)
        if query.strip():
            return memory.search_text(clients.workspace, query, clients.session)
        return memory.index_text(clients.workspace, clients.session)

    return [
        _tool(active, "Rules learned here that matter for what you are about to do.", READS),
        _tool(
            learn, "Keep what is right, and what you did wrong, when the user corrects you.", WRITES
        ),
        _tool(list_, "Find rules by a part of their name, tags or text.", READS, name="list"),
        _tool(why, "Explain why a rule matters now, or not.", READS),
        _tool(count, "Count the tokens of a text.", READS),
        _tool(budget, "How much of a model's window messages leave.", READS),
        _tool(
            fit, "Prune messages to a number of tokens, or the model's window, still valid.", READS
        ),
        _tool(status, "How full your context window is, what it cost, what is kept.", READS),
        _tool(scratch, "Search what was kept for after a compaction, or keep a dead end.", WRITES),
    ]


def _tool(
    function: Callable[..., Any], description: str, annotations: ToolAnnotations, name: str = ""
) -> Tool:
    tool = Tool.from_function(
        guarded(function),
        name=name or function.__name__,
        description=description,
        annotations=annotations,
        structured_output=function.__annotations__["return"] != "str",
    )
    parameters = {"type": "object", **_trimmed(tool.parameters)}
    return tool.model_copy(update={"parameters": parameters})


def _trimmed(schema: Any) -> Any:
    """Return *schema* without the titles that only repeat its names, and without defaults that say
    nothing."""
    if isinstance(schema, list):
        return [_trimmed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    trimmed = {}
    for key, value in schema.items():
        if key == "properties":  # a property may be called title
            trimmed[key] = {name: _trimmed(own) for name, own in value.items()}
        elif key != "title" and (key != "default" or value):
            trimmed[key] = _trimmed(value)
    return trimmed


# Errors -------------------------------------------------------------------------------------------

LONGEST = 600
"""Characters of a sentence about what went wrong."""


def guarded(
    function: Callable[..., Any], error: type[ToolError] | type[ResourceError] = ToolError
) -> Callable[..., Any]:
    """Return *function* with every failure told as *error*."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BrimError as problem:
            text = mask(str(problem))
            if len(text) > LONGEST:
                text = f"{text[:LONGEST]}…"
            raise error(text) from None
        except Exception as problem:
            # A defect of ours: what it is called is all that helps a client.
            raise error(
                f"brim has a defect here ({type(problem).__name__}); nothing more is known"
            ) from None

    return called


def argument_problems(error: ValidationError) -> str:
    """Return in one line which arguments are wrong, and how."""
    problems = []
    for problem in error.errors(include_url=False):
        argument = ".".join(map(str, problem["loc"]))
        problems.append(f"{argument}: {problem['msg']}")
    return "; ".join(problems)[:LONGEST]


# Costs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolCost:
    """What a client that shows a model everything has to show it of one tool."""

    name: str
    description: str
    tokens: int


def tool_costs(counter: TokenCounter | None = None) -> list[ToolCost]:
    """Return the cost of each tool's name, description and input schema as JSON, by *counter*
    (default: o200k)."""
    counter = counter or counter_for(None)
    costs = []
    for tool in make_tools(Clients({}, None)):
        schema = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.parameters,
        }
        tokens = int(counter.count(json.dumps(schema, separators=(",", ":"))))
        costs.append(ToolCost(tool.name, tool.description, tokens))
    return costs


# Who asks -----------------------------------------------------------------------------------------

_asking: ContextVar[str] = ContextVar("asking", default="")
"""The session that the call in hand has named."""
_client: ContextVar[str] = ContextVar("client", default="")
"""What the client calls itself that makes the call in hand."""


class Clients:
    """Where the server was started, and the clock it goes by.

    *shared* is whether several clients may come to it.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        folder: str | None,
        *,
        clock: Callable[[], float] = time.time,
        shared: bool = False,
    ) -> None:
        self.environ = dict(environ)
        self.folder = folder
        self.clock = clock
        self._shared = shared
        self._last = ""
        self._client = ""

    @property
    def workspace(self) -> Workspace:
        """What this call may use.

        It is looked up for each call: a project may be trusted meanwhile.
        """
        return Workspace(self.environ, self.folder, who="agent", now=self.clock())

    @property
    def session(self) -> str:
        """The session that this call is for: the one it named, else the last that the only client
        did; or empty."""
        return _asking.get() or self._last

    @property
    def agent(self) -> str:
        """The agent that asks, by what it calls itself; empty if that says nothing."""
        name = _client.get() or self._client
        for agent in AGENTS:
            if agent in name.casefold():
                return agent
        return ""

    def standing(self) -> Standing:
        """Return how things stand for the session that asks."""
        workspace = self.workspace
        count_entries = partial(kept_entries, workspace)
        read = hiding_project_text(standing)
        return read(workspace, self.session, self.agent, kept=count_entries)

    def remember(self, session: str, client: str = "") -> None:
        """Note that the call in hand is for *session*, and made by *client*, if it says so."""
        _asking.set(session)
        _client.set(client)
        if self._shared:
            return
        if session:
            self._last = session
        if client:
            self._client = client
