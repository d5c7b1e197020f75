"""LiteLLM's proxy as a team runs it: a process with brim's guard, in front of a model on 127.0.0.1."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brim.money import open_ledger
from brim.money.team_keys import TeamKeys
from tests.waiting import PATIENCE

PROGRAM = """
import sys, uvicorn
from litellm.proxy.proxy_server import app
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""
MODELS = {
    "gpt-4o": ("openai/gpt-4o", "/v1"),
    "gpt-4o-mini": ("openai/gpt-4o-mini", "/v1"),
    "claude-sonnet-4-5": ("anthropic/claude-sonnet-4-5", ""),
    "gemini-2.5-flash": ("gemini/gemini-2.5-flash", "/v1beta/models"),
    "claude-*": ("anthropic/claude-*", ""),
    "gpt-*": ("openai/gpt-*", "/v1"),
    "gemini-*": ("gemini/gemini-*", "/v1beta/models"),
}
"""The names that clients know, LiteLLM's names, and the path that it needs in an address."""


@dataclass(frozen=True)
class Answer:
    """What the proxy answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The JSON in it."""
        return json.loads(self.text)

    @property
    def message(self) -> str:
        """The sentence of an error, in whatever form."""
        return str(self.body["error"]["message"])


class Proxy:
    """One instance: ``with Proxy(folder, model.url, store) as proxy``."""

    def __init__(
        self,
        folder: Path,
        upstream: str,
        store: str,
        *,
        wait: float = PATIENCE,
        settings: Mapping[str, Any] | None = None,
        guarded: bool = True,
        callbacks: bool = True,
        python: str = sys.executable,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._python = python
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MASTER_KEY": "sk-only-admins-have-this",
            "CONFIG_FILE_PATH": str(folder / "config.yaml"),
            "BRIM_STORE": store,
            "BRIM_WAIT": str(wait),
            "NO_DOCS": "True",
        }
        config = configuration(upstream, settings or {}, guarded=guarded)
        if not callbacks:
            del config["litellm_settings"]["callbacks"]
        (folder / "config.yaml").write_text(json.dumps(config))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """The end of what it wrote."""
        return (self._folder / "log").read_text(errors="replace")[-4_000:]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [self._python, "-W", "ignore", "-c", PROGRAM, str(self.port)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=log, stderr=log
            )
        deadline = time.monotonic() + PATIENCE
        while not self._is_there():
            assert self._process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)

    def _is_there(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/health/liveliness", timeout=5).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ask(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        key: str,
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request, and return the whole answer."""
        data = None
        if body is not None:
            data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, method=method)
        request.add_header("content-type", "application/json")
        request.add_header("authorization", f"Bearer {key}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            lower = {name.lower(): value for name, value in error.headers.items()}
            return Answer(error.code, lower, error.read().decode())


def configuration(upstream: str, settings: Mapping[str, Any], *, guarded: bool) -> dict[str, Any]:
    """Return LiteLLM's configuration, with models at *upstream*."""
    models = []
    for name, (model, path) in MODELS.items():
        params = {"model": model, "api_base": f"{upstream}{path}", "api_key": "x", "max_retries": 0}
        models.append({"model_name": name, "litellm_params": params})
    config: dict[str, Any] = {
        "model_list": models,
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "litellm_settings": dict(settings),
        "general_settings": {},
    }
    if guarded:
        config["litellm_settings"]["callbacks"] = "brim.adapters.litellm_team.guard"
        config["general_settings"]["custom_auth"] = "brim.adapters.litellm_team.authenticate"
    return config


def new_key(store: str, person: str = "acme/ann", project: str = "") -> str:
    """Return a new key of *person*'s."""
    with open_ledger(store) as ledger:
        return TeamKeys(ledger).add(person, project)[0]


def at_once(count: int, function: Any) -> list[Any]:
    """Return what *function* returns for each number, called from so many threads at the same
    time."""
    results: list[Any] = [None] * count
    barrier = threading.Barrier(count)

    def one(number: int) -> None:
        barrier.wait()
        results[number] = function(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
