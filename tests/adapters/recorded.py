"""Messages, tools and responses of a real run, so that the contract also runs where a framework
isn't installed.

``python -m tests.adapters.recorded langchain``, in that adapter's environment, writes
``data/langchain.json``.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from brim.adapters import guards
from tests.adapters.contract import TASK, contents
from tests.adapters.model import Model, parallel

DATA = Path(__file__).parent / "data"
TURNS = 14
TARGET = 2_500
SETTINGS: guards.Settings = {"scope": "shop", "target": TARGET, "max_output": 500}
"""Of the run that was recorded: what was reported belongs to what was sent."""


def objects(value: Any) -> Any:
    """Return messages, their parts and responses as objects, and everything else as it is."""
    if isinstance(value, list):
        return [objects(item) for item in value]
    is_object = isinstance(value, dict) and (
        {"part_kind", "kind", "usage_metadata", "usage"} & set(value)
    )
    is_chain = isinstance(value, dict) and value.get("type") in ("human", "ai", "tool", "system")
    if is_object or is_chain:
        return SimpleNamespace(**{name: objects(inner) for name, inner in value.items()})
    return value


def record(name: str) -> None:
    """Run the framework's agent and write down what its adapter gave to the guard."""
    os.environ["BRIM_ADAPTER"] = name  # otherwise its tests skip themselves
    tests = import_module(f"tests.adapters.test_{name}")
    asked: list[dict[str, Any]] = []
    inner_call, inner_settle = guards.Guards.call, guards.settle

    def call(self: Any, model: str, messages: Any, **about: Any) -> Any:
        asked.append({"count": len(messages), "model": model, "messages": messages, "about": about})
        return inner_call(self, model, messages, **about)

    def settle(made: Any, response: Any) -> None:
        asked[-1]["response"] = _plain(response)
        inner_settle(made, response)

    guards.Guards.call = call  # type: ignore[method-assign]
    import_module(f"brim.adapters.{name}").settle = settle  # type: ignore[attr-defined]
    contract = getattr(tests, "TestChat" if name != "openai_agents" else "TestResponses")()
    with Model(script=parallel(TURNS)) as model:
        contract.agent(model.url, **SETTINGS).run(TASK, contents, stream=False)
    last = asked[-1]
    found = {
        "model": last["model"],
        "about": {
            key: value
            for key, value in last["about"].items()
            if key in ("provider", "system", "tools")
        },
        "messages": [_plain(message) for message in last["messages"]],
        "calls": [{"count": each["count"], "response": _usage(each["response"])} for each in asked],
    }
    path = DATA / f"{name}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(found['messages'])} messages, {len(found['calls'])} calls")


def _plain(value: Any) -> Any:
    """Return the fields of a message or response that are set."""
    if hasattr(value, "model_dump"):
        kind = {"type": value.type} if hasattr(value, "type") else {}
        return _without_nothing(value.model_dump(mode="json", exclude_defaults=True) | kind)
    if not isinstance(value, dict):
        from pydantic import TypeAdapter

        value = TypeAdapter(type(value)).dump_python(value, mode="json")
    return _without_nothing(value)


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_nothing(inner)
            for name, inner in value.items()
            if inner not in (None, {}, [])
        }
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


def _usage(response: dict[str, Any]) -> dict[str, Any]:
    """Return what a guard reads of a response."""
    kept = (
        "id",
        "model_name",
        "response_id",
        "usage",
        "usage_metadata",
        "response_metadata",
        "provider_details",
    )
    return {name: response[name] for name in kept if name in response}


if __name__ == "__main__":
    for each in sys.argv[1:]:
        record(each)
