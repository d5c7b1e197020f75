"""Prints LiteLLM's routes as JSON: ``python tests/adapters/routes.py``. FastAPI includes routers
lazily, so they are opened here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def every_route(routes: Any) -> Iterator[Any]:
    for route in routes:
        if type(route).__name__ == "_IncludedRouter":
            yield from every_route(route.original_router.routes)
        else:
            yield route


def asks_for_a_key(dependant: Any) -> bool:
    for dependency in getattr(dependant, "dependencies", ()):
        if "user_api_key_auth" in getattr(dependency.call, "__name__", ""):
            return True
        if asks_for_a_key(dependency):
            return True
    return False


def main() -> None:
    from litellm.proxy._lazy_features import register_all_features
    from litellm.proxy.proxy_server import app

    register_all_features(app)
    rows = []
    for route in every_route(app.routes):
        kind = "http"
        if "WebSocket" in type(route).__name__:
            kind = "websocket"
        methods = sorted(getattr(route, "methods", None) or [])
        is_guarded = asks_for_a_key(getattr(route, "dependant", None))
        rows.append([kind, methods, route.path, is_guarded])
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
