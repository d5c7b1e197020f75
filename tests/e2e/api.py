"""A model API for tests: it listens on 127.0.0.1 only, answers from the script, and keeps every
request.

It is also the proxy that the programs are given: whatever they want from the network is refused at
once, and kept.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.e2e.script import Asked, Overflow, Reply, Say, Sent, Step, about
from tests.e2e.wires import Completions, Contents, Messages, Responses, Wire


class ModelApi:
    """A model API for one test: write ``script`` and ``summary``, run a program, read ``asked``.

    Every turn takes the next step of the script; when it is used up, the model says "Done.". A
    request for a summary is answered with ``summary`` and takes no step, nor does what clients ask
    beside the conversation.
    """

    def __init__(self) -> None:
        self.script: list[Step | Callable[[Asked], Step]] = []
        self.summary = "The work went on as it was asked."
        self.summary_tokens: int | None = None
        self.bill: Callable[[Mapping[str, Any]], int] = about
        """How many tokens the model counts in a request, where no step says it."""
        self.asked: list[Asked] = []
        self.replies: list[Reply] = []
        """What was answered, with what it took."""
        self.elsewhere: list[str] = []
        """What was wanted from the network, and refused."""
        self._numbers = 0
        self._cached = 0
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def turns(self) -> list[Asked]:
        """The requests of the conversation itself."""
        return [each for each in self.asked if each.kind == "turn"]

    @property
    def compactions(self) -> list[Asked]:
        """The requests for a summary."""
        return [each for each in self.asked if each.kind == "compaction"]

    def will(self, *steps: Step | Callable[[Asked], Step]) -> None:
        """Write a new script. A step may be a function of the request."""
        self.script = list(steps)

    def answer(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Sent:
        """Keep a request, and say what it is answered with."""
        wire = wire_of(path)
        if wire is None:
            return Sent(
                404, {"error": {"type": "not_found_error", "message": f"nothing is at {path}"}}
            )
        kind = wire.kind_of(path, body)
        with self._lock:
            self.asked.append(Asked(kind, path, headers, body, wire.parts_of(body)))
            self._numbers += 1
            number = self._numbers
            step: Step = Say()
            if kind == "turn" and self.script:
                following = self.script.pop(0)
                step = following(self.asked[-1]) if callable(following) else following
        size = self.bill({key: value for key, value in body.items() if key != "metadata"})
        if kind == "count":
            return Sent(200, wire.counted(size))
        if kind == "compaction":
            step = Say(wire.summary(self.summary), self.summary_tokens)
        elif kind == "side":
            step = Say(wire.side(body))
        if isinstance(step, Overflow):
            return wire.overflow(step)
        total = step.tokens if step.tokens is not None else size
        read = self._cache(total) if kind == "turn" else 0
        whole = not (body.get("stream") or path.endswith("streamGenerateContent"))
        model = str(body.get("model") or path.rpartition("/")[2].partition(":")[0])
        written = step.output_tokens or about(step[0])
        reply = Reply(number, step, model, read, total - read, written, whole)
        self.replies.append(reply)
        return wire.write(reply)

    def _cache(self, total: int) -> int:
        """Return how much of a turn is cached: all that the one before it held, unless the window
        became smaller."""
        with self._lock:
            before, self._cached = self._cached, total
        return before if before <= total else 0

    def __enter__(self) -> ModelApi:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def wire_of(path: str) -> Wire | None:
    """Return which provider speaks at *path*."""
    if path.endswith(("/v1/messages", "/v1/messages/count_tokens")):
        return Messages()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Completions()
    if path.endswith((":generateContent", ":streamGenerateContent", ":countTokens")):
        return Contents()
    return None


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP; what is said is the API's."""

    api: ModelApi
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self._body()
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        if self._from_elsewhere():
            return
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        self._send(
            self.api.answer(path, {name.lower(): text for name, text in self.headers.items()}, body)
        )

    def do_GET(self) -> None:
        if not self._from_elsewhere():
            known = self.path.partition("?")[0].endswith("/models")
            self._send(
                Sent(200, {"data": [], "models": []})
                if known
                else Sent(404, {"error": {"message": "no"}})
            )

    do_HEAD = do_GET

    def do_CONNECT(self) -> None:
        self.api.elsewhere.append(self.path)
        self.close_connection = True
        self._send(Sent(403, {"error": {"message": "there is no network here"}}))

    def _from_elsewhere(self) -> bool:
        """Refuse what a program asks of another machine through the proxy that it was given."""
        if not self.path.startswith("http") or self.path.startswith(self.api.url):
            return False
        self.do_CONNECT()
        return True

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        return b"".join(iter(self._chunk, b""))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().partition(b";")[0], 16)
        content = self.rfile.read(size)
        self.rfile.readline()
        return content

    def _send(self, sent: Sent) -> None:
        if sent.events:
            content, kind = b"".join(_events(sent.events)), "text/event-stream"
        else:
            content, kind = json.dumps(sent.value).encode(), "application/json"
        try:
            self.send_response(sent.status)
            for name, text in {
                "content-type": kind,
                "content-length": str(len(content)),
                **sent.headers,
            }.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):  # the program was ended, or did not wait
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept, and standard error is the tests'."""


def _events(events: Iterable[Mapping[str, Any]]) -> Iterable[bytes]:
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
