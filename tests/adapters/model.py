"""A model API on 127.0.0.1 that is as strict as the real ones, for the tests of the adapters.

It speaks Anthropic's Messages, OpenAI's Chat Completions and Responses, Google's generateContent
and Amazon's Converse, plain and streamed. What the real APIs refuse, it refuses: unknown roles,
calls without results, results without calls, prompts that are too long, and thinking that is bound
to another conversation. It plays a script for each conversation, and keeps every request with what
it was answered.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from brim.guard import fake
from brim.guard.fake import refuse_many_markers, refuse_unbound_thinking, thinking_signature
from brim.messages import validate
from brim.models import cost
from brim.tokens import counter_for
from tests.adapters.wires import WIRES, Refused, Reply, Wire, event_stream

Answer = str | tuple[str, dict[str, Any]]
"""A text, or the name of a tool and its arguments."""
Script = Callable[[int], Sequence[Answer]]
"""What the model answers in a turn of a conversation, counted from 0: texts and calls, several at
once."""
TOOL = "read_file"
"""The tool that the script calls, with a ``path``."""


def parallel(turns: int) -> Script:
    """Return a script that reads one to three files at once in each of *turns* turns, then says
    "Done."."""

    def answer(turn: int) -> list[Answer]:
        if turn >= turns:
            return ["Done."]
        calls: list[Answer] = [(TOOL, {"path": f"src/{turn}_{n}.py"}) for n in range(1 + turn % 3)]
        return ["I'll look.", *calls] if turn % 4 == 0 else calls

    return answer


@dataclass
class Request:
    """One request, and what it was answered."""

    path: str
    body: dict[str, Any]
    conversation: str
    """The first text of the user's."""
    tokens: int = 0
    """The size of its prompt."""
    most_output: int = 0
    """The cap of its answer; 0 if it has none."""
    status: int = 0
    reason: str = ""
    """Why it was refused."""
    usage: dict[str, Any] = field(default_factory=dict)
    """What was reported, if it was answered."""

    @property
    def messages(self) -> list[Any]:
        """The messages, or the items of a Responses request."""
        found: list[Any] = (
            self.body.get("messages") or self.body.get("input") or self.body.get("contents") or []
        )
        return found


class Model:
    """A model for one test: ``with Model() as model`` and send requests to ``model.url``.

    Conversations are told apart by the first text of the user's, and each plays the script from its
    beginning.
    """

    def __init__(self, script: Script | None = None, *, window: int = 6_000) -> None:
        self.script: Script = script or parallel(30)
        self.window: int = window
        """Tokens that it holds, the answer included."""
        self.thinks: bool = False
        """Whether Anthropic's answers begin with a thinking block, bound to the request that it
        answers."""
        self.breaks_off: bool = False
        """Whether streams end in their middle, as when a connection is lost."""
        self.requests: list[Request] = []
        """Everything that it was asked, in order."""
        self._failures: list[int] = []
        self._turns: dict[str, int] = defaultdict(int)
        self._cached: dict[str, int] = defaultdict(int)
        self._stored: dict[str, list[Any]] = {}
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens, for Anthropic's clients; for OpenAI's, ``/v1`` is added."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def answered(self) -> list[Request]:
        """The requests that were answered."""
        return [each for each in self.requests if each.status == 200]

    @property
    def refused(self) -> list[str]:
        """Why requests were refused; those that ``fail`` asked for aside."""
        return [
            each.reason
            for each in self.requests
            if each.status == 400 and each.reason != "as asked"
        ]

    @property
    def spent(self) -> int:
        """What all answers together cost, in micro-dollars."""
        return sum(int(cost(each.usage, each.body["model"]) or 0) for each in self.answered)

    def fail(self, *statuses: int) -> None:
        """Let the next requests fail with these statuses, one each; 0 answers the request."""
        self._failures += statuses

    def rewritten(self, conversation: str) -> int:
        """Return how often a request of a conversation didn't begin as the one before it: each one
        costs the cache."""
        sent = [each.messages for each in self.answered if each.conversation == conversation]
        return sum(later[: len(earlier)] != earlier for earlier, later in itertools.pairwise(sent))

    def answer(
        self, path: str, body: dict[str, Any]
    ) -> tuple[int, dict[str, Any], list[dict[str, Any]] | None]:
        """Return the status, the answer, and the events if it's streamed."""
        wire = next((each for end, each in WIRES.items() if path.endswith(end)), None)
        if wire is None:
            return (
                404,
                {"error": {"type": "not_found_error", "message": f"nothing is at {path}"}},
                None,
            )
        body = wire.read(path, body)
        with self._lock:
            request = Request(path, body, "")
            self.requests.append(request)
            try:
                self._check(wire, request)
                status = self._failures.pop(0) if self._failures else 0
                if status:
                    raise Refused("as asked", status)
                reply = self._reply(wire, request)
            except Refused as refused:
                request.status, request.reason = refused.status, str(refused)
                return refused.status, wire.error(refused), None
            request.status, request.usage = 200, wire.usage(reply)
        if body.get("stream"):
            events = list(wire.events(reply, body))
            return 200, {}, events[: len(events) // 2] if self.breaks_off else events
        return 200, wire.whole(reply), None

    def _check(self, wire: Wire, request: Request) -> None:
        body = request.body
        before = self._before(body)
        wire.check(body, before)
        messages, system, tools = wire.parts(body, before)
        request.conversation = wire.first_text(messages)
        if problems := validate(messages, wire.provider):
            raise Refused(f"messages.{problems[0].index}: {problems[0].text}")
        if wire.provider == "anthropic":
            try:
                refuse_many_markers(system, tools, messages)
                refuse_unbound_thinking(system, tools, messages)
            except fake.Refused as refused:
                raise Refused(str(refused)) from None
        whole = [*([{"role": "system", "content": system}] if system else []), *messages]
        request.tokens = int(counter_for(body["model"]).count_messages(whole, tools))
        request.most_output = most = wire.most_output(body)
        if request.tokens + most > self.window:
            raise Refused(
                f"prompt is too long: {request.tokens} + {most} tokens > {self.window} maximum"
            )

    def _before(self, body: Mapping[str, Any]) -> list[Any]:
        """Return the items that the provider keeps for a Responses request."""
        name = body.get("previous_response_id")
        if name is not None and name not in self._stored:
            raise Refused(f"Previous response with id '{name}' not found.")
        return self._stored[name] if name is not None else []

    def _reply(self, wire: Wire, request: Request) -> Reply:
        name, number = request.conversation, len(self.requests)
        answers = self.script(self._turns[name])
        self._turns[name] += 1
        texts = [each for each in answers if isinstance(each, str)]
        calls = [each for each in answers if not isinstance(each, str)]
        read = self._cached[name] if self._cached[name] <= request.tokens else 0
        self._cached[name] = request.tokens
        output = 20 + sum(len(json.dumps(each)) for each in answers) // 4
        messages, system, tools = wire.parts(request.body, self._before(request.body))
        signature = thinking_signature(system, tools, messages) if self.thinks else ""
        about = number, request.body["model"], "\n".join(texts), calls, request.tokens, read, output
        reply = Reply(*about, signature)
        if wire.provider == "responses":
            self._stored[f"resp_{number}"] = [*messages, *wire.whole(reply)["output"]]
        return reply

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP; what is said is the model's."""

    model: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, value, events = self.model.answer(
            self.path.partition("?")[0], json.loads(raw or b"{}")
        )
        if events is not None and self.path.endswith("/converse-stream"):
            self._send(status, "application/vnd.amazon.eventstream", event_stream(events))
        elif events is None:
            self._send(status, "application/json", json.dumps(value).encode())
        else:
            self._send(status, "text/event-stream", b"".join(_lines(events)))

    def _send(self, status: int, kind: str, content: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):  # the client didn't wait
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _lines(events: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
    if events and "object" in events[0] and "type" not in events[0]:
        yield b"data: [DONE]\n\n"
