"""Serves the pages for a home of their own, in a thread of the tests' process, and asks for them as
a browser does."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
import uvicorn

from brim import loopback
from brim.ui.background import StillReading
from brim.ui.place import Place
from brim.ui.server import build_app
from brim.ui.session import Picture, read_picture
from tests.cli.conftest import Brim
from tests.ui.story import Story

READING = 202
"""The status of a page that is still being made: it loads itself again."""


class Answer(NamedTuple):
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class World:
    """A home and a project of their own."""

    def __init__(self, root: Path) -> None:
        self._run = Brim(root)
        self.home, self.environ = self._run.home, self._run.environ
        if "TZ" in os.environ:
            self.environ["TZ"] = os.environ["TZ"]  # both say the same of today
        self.project = root / "shop"
        (self.home / ".claude").mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)

    def brim(self, *words: str, code: int = 0) -> str:
        """Run a command of brim in the project, and return what it printed."""
        ran = self._run(*words, cwd=self.project)
        assert ran.code == code, ran.err
        return ran.out

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.brim(*words, "--json", code=code))

    def story(self, **about: Any) -> Story:
        """Return a session of this project that began two hours ago."""
        return Story(
            self.environ, self.project, **{"begin": time.time() - 7_000, "scale": 0.05, **about}
        )


class Pages:
    """The pages of *world*, served at ``port``; the cookie is there already."""

    def __init__(self, world: World, place: Place, port: int) -> None:
        self.world, self.place, self.port = world, place, port
        self.origin = f"http://127.0.0.1:{port}"
        self.cookie = f"brim-{port}={place.keys.cookie}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request with *headers* and nothing else."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Get a page; again, while it says that a session is being read, as a browser does."""
        while True:
            answer = self.ask("GET", path, headers={"Cookie": self.cookie, **headers})
            if answer.status != READING:
                return answer

    def post(self, path: str, headers: Mapping[str, str] | None = None, /, **form: str) -> Answer:
        """Send a form as our own pages do."""
        body = urlencode({"form_token": self.place.keys.form, **form}).encode()
        known = {
            "Cookie": self.cookie,
            "Origin": self.origin,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self.ask("POST", path, body, {**known, **(headers or {})})


@contextmanager
def kept_reading(pages: Pages, story: Story) -> Iterator[None]:
    """Let the session of *story* be read until the block ends, as a long one on a busy machine."""
    file = pages.place.file(story.id)
    block_ends = Event()

    def read(advance: Callable[[int], object]) -> Picture:
        assert block_ends.wait(300)
        return read_picture(pages.place, file, story.id, advance)

    with suppress(StillReading):
        key = ("session", file.path, file.stamp)
        pages.place.work.get(key, "this session", file.stamp.size, read, patience=0)
    try:
        yield
    finally:
        block_ends.set()


@contextmanager
def served(world: World, cwd: Path | None = None) -> Iterator[Pages]:
    """Serve the pages of *world* until the block ends."""
    place = Place(world.environ, str(cwd or world.project))
    with loopback.listen(0) as bound:
        port = bound.getsockname()[1]
        config = uvicorn.Config(
            build_app(place, port), ws="none", log_level="critical", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            yield Pages(world, place, port)
        finally:
            place.live.ending = server.should_exit = True
            thread.join(300)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def pages(world: World) -> Iterator[Pages]:
    with served(world) as found:
        yield found
