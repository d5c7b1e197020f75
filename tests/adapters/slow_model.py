"""Anthropic's Messages, streamed slowly and without an end: for clients that leave."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

PROMPT = 1_000
"""Tokens of each prompt, as it reports them at once."""


class SlowModel:
    """``with SlowModel() as model``: each answer goes on until its client leaves."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        """Set once the first client has left."""
        handler = type("Handler", (_SlowHandler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


class _SlowHandler(BaseHTTPRequestHandler):
    model: SlowModel

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        usage = {"input_tokens": PROMPT, "output_tokens": 1}
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
        }
        message |= {"model": "claude-sonnet-4-5", "usage": usage}
        try:
            self._event("message_start", message=message)
            self._event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            while not self.model.ended.wait(0.05):
                self._event(
                    "content_block_delta", index=0, delta={"type": "text_delta", "text": "word "}
                )
        except OSError:
            self.model.ended.set()

    def _event(self, kind: str, **fields: Any) -> None:
        data = json.dumps({"type": kind, **fields})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
