"""A team's proxy: how many streamed Messages per second go through LiteLLM with brim's guard and a
ledger in PostgreSQL, as a share of LiteLLM alone.

It needs LiteLLM's environment: ``.adapters/litellm/bin/python bench/team.py``, once ``make
adapters`` has made it. It isn't part of ``make bench``.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.adapters.proxy import Proxy, new_key
from tests.money.server import Server

RUNS = 5
REQUESTS = 40
AT_ONCE = 16
WORDS = 40
"""Pieces of an answer."""
TARGET = 0.7
PORT_LINE = "listening on "
ADMIN = "sk-only-admins-have-this"
UPSTREAM = """
import json, socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

USAGE = {"input_tokens": 2000, "output_tokens": 1}
START = {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
    "model": "claude-sonnet-4-5", "content": [], "stop_reason": None, "usage": USAGE}}
BEGIN = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
WORD = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
STOP = {"type": "content_block_stop", "index": 0}
DELTA = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": WORDS}}
EVENTS = [START, BEGIN, *[WORD] * WORDS, STOP, DELTA, {"type": "message_stop"}]
LINES = [f"event: {e['type']}\\ndata: {json.dumps(e)}\\n\\n".encode() for e in EVENTS]

async def messages(request):
    await request.body()
    async def lines():
        for line in LINES:
            yield line
    return StreamingResponse(lines(), media_type="text/event-stream")

bound = socket.socket()
bound.bind(("127.0.0.1", 0))
print("listening on", bound.getsockname()[1], flush=True)
app = Starlette(routes=[Route("/v1/messages", messages, methods=["POST"])])
uvicorn.Server(uvicorn.Config(app, log_level="error")).run([bound])
"""
TEXT = "The quick brown fox jumps over the lazy dog, and reads the file again. " * 100
BODY = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1_000,
    "stream": True,
    "messages": [{"role": "user", "content": TEXT}],
}


async def throughput(url: str, key: str) -> float:
    """Return how many answers per second arrive."""
    left = iter(range(REQUESTS))
    headers = {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120) as client:

        async def caller() -> None:
            for number in left:
                body = {**BODY, "system": f"Answer {number}."}
                async with client.stream("POST", "/v1/messages", json=body) as answer:
                    text = "".join([part async for part in answer.aiter_text()])
                assert answer.status_code == 200, text
                assert "message_stop" in text, text[-500:]

        begin = time.perf_counter()
        await asyncio.gather(*[caller() for _ in range(AT_ONCE)])
        return REQUESTS / (time.perf_counter() - begin)


def main() -> int:
    server = Server()
    program = UPSTREAM.replace("WORDS", str(WORDS))
    environment = {"PATH": os.environ["PATH"]}
    upstream = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert upstream.stdout is not None
    url = f"http://127.0.0.1:{upstream.stdout.readline().split()[-1]}"
    alone: list[float] = []
    guarded: list[float] = []
    try:
        key = new_key(server.url)
        with (
            tempfile.TemporaryDirectory() as folder,
            Proxy(Path(folder) / "alone", url, server.url, guarded=False) as plain,
            Proxy(Path(folder) / "guarded", url, server.url) as team,
        ):
            for proxy, own_key in ((plain, ADMIN), (team, key)):
                asyncio.run(throughput(proxy.url, own_key))  # both have loaded everything
            for _ in range(RUNS):
                alone.append(asyncio.run(throughput(plain.url, ADMIN)))
                guarded.append(asyncio.run(throughput(team.url, key)))
    finally:
        upstream.kill()
        server.remove()
    share = statistics.median(guarded) / statistics.median(alone)
    ratios = [own / other for own, other in zip(guarded, alone, strict=True)]
    print(json.dumps({"alone": alone, "guarded": guarded, "ratios": ratios, "share": share}))
    print(
        f"LiteLLM alone {statistics.median(alone):.0f}/s, with brim's guard"
        f" {statistics.median(guarded):.0f}/s: {share:.2f} of it (target {TARGET})"
    )
    return int(share < TARGET)


if __name__ == "__main__":
    sys.exit(main())
