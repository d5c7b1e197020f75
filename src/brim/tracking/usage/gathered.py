"""Puts the files together: each request once, whichever files report it and in whichever order they are read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brim.tracking.usage.request import Request, Total


class FileUsage:
    """What one file reports: its requests by key, and the last total of each session.

    ``folder`` is the folder that the agent worked in, empty if no line says; ``broken`` counts the lines that should
    have said something and could not be read.
    """

    __slots__ = ("broken", "folder", "requests", "totals")

    def __init__(
        self,
        requests: Iterable[Request] = (),
        totals: Iterable[Total] = (),
        folder: str = "",
        broken: int = 0,
    ) -> None:
        self.requests: dict[str, Request] = {each.key: each for each in requests}
        self.totals: dict[str, Total] = {each.session: each for each in totals}
        self.folder, self.broken = folder, broken

    def add(self, request: Request) -> None:
        """Take *request* in, if it counts more than what is known of it."""
        known = self.requests.get(request.key)
        if known is None or request.outranks(known):
            self.requests[request.key] = request

    def add_total(self, total: Total) -> None:
        """Take *total* in, if it is the larger."""
        known = self.totals.get(total.session)
        if known is None or total.outranks(known):
            self.totals[total.session] = total


class Source:
    """Where a request was found: whose file it is (``claude``, ``codex``, ``gemini`` or ``other``) and its project."""

    __slots__ = ("agent", "project")

    def __init__(self, agent: str, project: str) -> None:
        self.agent, self.project = agent, project


class Gathered:
    """Everything that files report, each request once."""

    def __init__(self) -> None:
        self._requests: dict[str, tuple[Request, Source]] = {}
        self._copies: dict[tuple[str, str], Request] = {}
        self._side = False
        self.totals: dict[str, Total] = {}
        self.sources: dict[str, Source] = {}
        """Where each session was found first."""

    def add(self, found: FileUsage, source: Source) -> None:
        """Take in what a file reports."""
        requests, sources = self._requests, self.sources
        for key, request in found.requests.items():
            known = requests.get(key)
            if known is not None and known[0].session != request.session:
                self._copies[known[0].session, key] = known[0]
                self._copies[request.session, key] = request
            if known is None or request.outranks(known[0]):
                requests[key] = (request, source)
            if request.session not in sources:
                sources[request.session] = source
            if not request.main:
                self._side = True
        for session, total in found.totals.items():
            sources.setdefault(session, source)
            before = self.totals.get(session)
            if before is None or total.outranks(before):
                self.totals[session] = total

    def copies(self) -> list[Request]:
        """Return what sessions report that counts as another session's: a fork begins with the lines of its parent."""
        return [each for (session, key), each in self._copies.items() if self._requests[key][0].session != session]

    def requests(self) -> list[tuple[Request, Source]]:
        """Return every request once, without the replays of the main thread in sub-agents' files."""
        found = self._requests
        repeated = _named_twice(found)
        if repeated:
            found = {key: each for key, each in found.items() if key not in repeated}
        if not self._side:
            return list(found.values())
        main = {request.message for request, _ in found.values() if request.main}
        return [each for each in found.values() if each[0].main or each[0].message not in main]


def _named_twice(requests: Mapping[str, tuple[Request, Source]]) -> set[str]:
    """Return the keys that do not count because one file names a request by its message alone, and another in full."""
    short = {key for key in requests if ":" not in key}
    dropped = set()
    for key in requests if short else ():
        name = requests[key][0].message
        if name in short and name != key:
            dropped.add(key if requests[name][0].outranks(requests[key][0]) else name)
    return dropped
