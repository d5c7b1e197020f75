"""Tokens of tool schemas, against what OpenAI's API reported: ``python bench/schemas.py [--json
FILE]``.

The requests and their counts are published (``tests/tokens/messages/tool_counts.json`` names the
sources). Everyone counts the whole request: messages, tools and the choice of a tool. Exits with 1
if a target is missed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from brim.tokens import counter_for
from peers import write_vocabularies
from report import ROOT, Target, arguments, finish, markdown, measured, table, this_machine
from trimmers import OFFLINE

Request = dict[str, Any]
Count = Callable[[Request], int]

COUNTS = ROOT / "tests" / "tokens" / "messages" / "tool_counts.json"
MOST = 0.01
"""The mean error that brim may have where the serialization is known."""


def brim_count(request: Request) -> int:
    """Count with brim."""
    body: Any = {name: request[name] for name in ("messages", "tools", "tool_choice")}
    return int(counter_for(request["model"]).count_messages(body))


def litellm_count() -> Count:
    """Return LiteLLM's ``token_counter``."""
    from litellm import token_counter

    def count(request: Request) -> int:
        given = {name: request[name] for name in ("messages", "tools", "tool_choice")}
        return int(token_counter(model=request["model"].replace("gpt-35", "gpt-3.5"), **given))

    return count


def langchain_count() -> Count:
    """Return LangChain's ``count_tokens_approximately``, which its middleware uses unless it's
    given another."""
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import count_tokens_approximately

    return lambda request: int(
        count_tokens_approximately(convert_to_messages(request["messages"]), tools=request["tools"])
    )


def tiktoken_count() -> Count:
    """Return the way of most scripts: tiktoken over the JSON, and three tokens around each
    message."""
    import tiktoken

    def count(request: Request) -> int:
        model = request["model"].replace("gpt-35", "gpt-3.5")
        encode = tiktoken.encoding_for_model(model).encode_ordinary
        said = sum(len(encode(str(each["content"]))) + 4 for each in request["messages"])
        return said + 3 + len(encode(json.dumps(request["tools"])))

    return count


def brim_only() -> Count:
    """Return brim's counter."""
    return brim_count


PEERS: dict[str, tuple[str, Callable[[], Count]]] = {
    "brim": ("brim", brim_only),
    "LiteLLM, `token_counter`": ("litellm", litellm_count),
    "tiktoken over the JSON": ("tiktoken", tiktoken_count),
    "LangChain, `count_tokens_approximately`": ("langchain-core", langchain_count),
}


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="nothing: it takes seconds").parse_args()
    print(this_machine())
    os.environ.update(OFFLINE)
    requests = json.loads(COUNTS.read_text(encoding="utf-8"))["counts"]
    with tempfile.TemporaryDirectory() as folder:
        write_vocabularies(Path(folder))
        errors = {name: errors_of(start(), requests) for name, (_, start) in PEERS.items()}
    head = ["", "exact", "mean error", "worst"]
    rows = [
        [
            name,
            f"{each.count(0)} of {len(each)}",
            f"{statistics.mean(map(abs, each)):.1%}",
            f"{worst(each):+.1%}",
        ]
        for name, each in errors.items()
    ]
    table("Requests with tools, against the counts that the API reported", head, rows, [])
    versions = {
        name: importlib.metadata.version(name) for name, _ in PEERS.values() if name != "brim"
    }
    tables = {
        "schemas": measured(options, f"{len(requests)} published counts", versions)
        + markdown(head, rows)
    }
    targets = [Target("brim: mean error", statistics.mean(map(abs, errors["brim"])), at_most=MOST)]
    return finish(options, {"errors": errors}, targets, tables)


def errors_of(count: Count, requests: list[Request]) -> list[float]:
    """Return how far off each count is, as a share of what the API reported."""
    return [(count(request) - request["tokens"]) / request["tokens"] for request in requests]


def worst(errors: list[float]) -> float:
    """Return the largest error, with its sign."""
    return max(errors, key=abs)


if __name__ == "__main__":
    sys.exit(main())
