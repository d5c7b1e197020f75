"""Where the pages look: a person's home, the project that ``brim ui`` was started in, and the
agents' sessions."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from brim.agents.agent import subagent_of
from brim.agents.events import Message, StateSeen
from brim.agents.stream import Feed
from brim.errors import InputError
from brim.figures import (
    age,
    clock,
    counted,
    dollars,
    home_path,
    percent,
    printable,
    readable_size,
    rounded,
    share,
)
from brim.memory.quotes import masked_line
from brim.models.configured import use
from brim.sessions.index import index_path
from brim.sessions.report.index import findings_cache
from brim.sessions.session_files import SessionFile, Stamp, newest_first, own_files
from brim.ui.background import Live, Work
from brim.ui.gate import Keys
from brim.workspace import Workspace

HEAD_BYTES = 1 << 18
"""How much of a file is read to learn what its session is about."""
LONGEST_TITLE = 70
FRESH = 1.0
"""Seconds for which a list of the agents' files is taken to stay as it is."""


@dataclass(frozen=True)
class Head:
    """What a session is about, as its first lines say."""

    title: str = ""
    """The first words of the person, masked."""
    folder: str = ""
    branch: str = ""


@dataclass
class Place:
    """One start of ``brim ui``."""

    environ: Mapping[str, str]
    cwd: str | None
    store: str = ""
    """The address of a team's ledger; empty for none."""
    keys: Keys = field(default_factory=Keys)
    live: Live = field(default_factory=Live)
    work: Work = field(default_factory=Work)
    _listed: list[SessionFile] = field(default_factory=list)
    _listed_at: float = 0.0

    def workspace(
        self, folder: str | None = None, flags: Mapping[str, object] | None = None
    ) -> Workspace:
        """Return the workspace of this moment: here, or in *folder*. Prices are the user's own."""
        workspace = Workspace(
            self.environ, folder or self.cwd, who="person", now=time.time(), flags=flags
        )
        use(workspace.config.yours["models"])
        return workspace

    @property
    def index(self) -> str:
        """The index of requests."""
        return index_path(self.environ)

    @property
    def cache(self) -> str:
        """The file that remembers what reports found."""
        return findings_cache(self.environ)

    def files(self, since: float = 0.0) -> list[SessionFile]:
        """Return the files of all sessions that were written to *since* then, sub-agents' too."""
        if time.monotonic() - self._listed_at > FRESH or not self._listed:
            begin = time.monotonic()
            self._listed = own_files(self.environ)
            # Thousands of files take a while to list: then they are listed less often.
            self._listed_at = begin + 20 * (time.monotonic() - begin)
        return [file for file in self._listed if file.stamp.modified / 1e9 >= since]

    def file(self, id: str) -> SessionFile:
        """Return the file of the session *id* as it is now."""
        file = self._listed_file(id)
        if file is None:
            self._listed = []  # it may have begun since the files were listed
            file = self._listed_file(id)
        if file is None:
            raise InputError("There is no such session: its file may have been removed.")
        with suppress(OSError):
            return file._replace(stamp=Stamp.of(os.stat(file.path)))
        raise InputError(
            "The file of this session is gone: its agent removes old ones, or you did."
        )

    def _listed_file(self, id: str) -> SessionFile | None:
        for file in self.files():
            if file.session == id and not subagent_of(file.path):
                return file
        return None

    def newest(self, count: int) -> list[SessionFile]:
        """Return the *count* sessions that were written to last."""
        newest = newest_first(self.environ, None, self.files())
        return [file for file, _ in islice(newest, count)]


@lru_cache(512)
def head_of(path: str, _inode: int) -> Head:
    """Return what the session in the file *path* is about."""
    feed = Feed()
    states = {"folder": "", "branch": ""}
    for line in _beginning(path).splitlines(keepends=True):
        for event in feed.feed(line):
            if isinstance(event, StateSeen) and event.name in states:
                states[event.name] = states[event.name] or event.value
            elif isinstance(event, Message) and event.human and event.text.strip():
                return Head(_title(event.text), **states)
    return Head("", **states)


def _beginning(path: str) -> bytes:
    """Return the first bytes of a file; none if it can't be read."""

    def without_waiting(path: str, flags: int) -> int:
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    with suppress(OSError), open(path, "rb", opener=without_waiting) as file:
        return file.read(HEAD_BYTES)
    return b""


def _title(text: str) -> str:
    """Return the beginning of a prompt: its first sentence, if that is short enough, else whole
    words."""
    line = masked_line(text, 4 * LONGEST_TITLE)
    sentence = re.split(r"(?<=[.?!]) ", line, maxsplit=1)[0].rstrip(".")
    if len(sentence) <= LONGEST_TITLE:
        return sentence
    return f"{line[:LONGEST_TITLE].rpartition(' ')[0] or line[:LONGEST_TITLE]}…"


def about(file: SessionFile) -> Head:
    """Return what the session in *file* is about, with the name of its project if no line says its
    folder."""
    head = head_of(file.path, file.stamp.inode)
    if head.folder:
        return head
    return Head(head.title, file.slug, head.branch)


def clock_time(moment: float | None) -> str:
    """Return *moment* as ``14:32``; empty if it isn't known."""
    if moment is None:
        return ""
    try:
        return time.strftime("%H:%M", time.localtime(moment))
    except (OverflowError, ValueError, OSError):
        return ""


@cache
def templates() -> Any:
    """Return the templates; they are compiled when they are first used."""
    environment = Environment(
        loader=PackageLoader("brim.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = (
        age,
        clock,
        clock_time,
        counted,
        dollars,
        home_path,
        percent,
        printable,
        readable_size,
        rounded,
        share,
    )
    for function in filters:
        environment.filters[function.__name__] = function
    environment.filters["basename"] = lambda path: os.path.basename(path.rstrip("/")) or path
    return environment


def render(name: str, place: Place, **values: Any) -> str:
    """Return the template *name* with *values*; text in them is escaped."""
    common = {"form_token": place.keys.form, "now": time.time(), "said": ""}
    text: str = templates().get_template(name).render({**common, **values})
    return text


def page(name: str, place: Place, status: int = 200, **values: Any) -> Response:
    """Return the template *name* as an answer."""
    return HTMLResponse(render(name, place, **values), status)
