"""``brim context``: what fills the window of a session."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from brim.cli.commands.status import newest_session
from brim.cli.commands.watch import watch
from brim.cli.gauge import draw
from brim.cli.options import add_json, command, here, option, own_prices, whole_number
from brim.cli.output import (
    counted,
    cut,
    dollars,
    emit,
    home_path,
    lines,
    note,
    paint,
    printable,
    share,
    terminal_width,
    wrapped,
)
from brim.cli.progress import file_progress
from brim.cli.tables import table
from brim.errors import InputError
from brim.run.watch import read_session
from brim.sessions.composition.composed_request import ComposedRequest, RequestPart
from brim.sessions.composition.context import ContextReport, SessionComposition, context_at
from brim.sessions.report.index import findings_cache
from brim.sessions.report.lost import named_session
from brim.workspace import Workspace

LEAST_SHARE = 0.01
"""Rows of the tree below this share of the request are summed up, unless all are asked for."""
NARROW = 60
"""Columns below which the basis of a row is left out."""
LONGEST_NAME = 60
"""Characters of a part's name."""
ALWAYS_SHOWN = 3
"""Rows of the second level that are shown however small they are."""
MOST_LEAVES = 8
"""Parts that came, or left, that are listed."""


def _share_of_window(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 100:
        raise ValueError
    return share


_share_of_window.__name__ = "share"  # argparse says: invalid share value


@command(
    option(
        "path",
        nargs="?",
        metavar="SESSION",
        help="a session's file or the beginning of its id; - is a stream",
    ),
    option("--watch", action="store_true", help="follow it live"),
    option(
        "--at",
        type=whole_number(1),
        metavar="N",
        help="show request N of the session (default: the last)",
    ),
    option(
        "--since",
        type=whole_number(1),
        metavar="M",
        help="also show what changed since request M, and its price",
    ),
    option("--all", action="store_true", help="show every row, however small"),
    option(
        "--fail-over",
        type=_share_of_window,
        metavar="SHARE",
        help="exit with 1 if the window is this full",
    ),
    add_json,
)
def context(options: Namespace) -> int:
    """Show what fills the window of a session.

    Without SESSION, brim shows the newest session of this project, or the newest of all if this
    project has none. Exits with 1 if there is no session.

    With --watch, brim follows the session: tokens used, the size of the window, the cost, the
    cache, what fills the window, sub-agents and warnings. On a terminal, the gauge updates in place
    until you press Ctrl-C. In a pipe or a file, each change is a line, with --json an object. -
    reads an agent's stream from standard input, until it closes.

    The parts add up to the billed tokens. What is recorded exactly stays as it is; brim counts the
    texts with the ratio at which earlier requests were billed, and scales them to what remains;
    what the client doesn't record is a row of its own. If the count is off by more than 25%, brim
    says that the estimate failed.

    Examples:
      brim context
      brim context --at 12 --since 11
      brim context 4f1c --json
      brim context --fail-over 0.9
      claude -p "fix the parser" --output-format stream-json --verbose | brim context --watch -
    """
    if options.path == "":
        raise InputError(
            "SESSION is empty: name a session's file, or leave it out for the newest session"
        )
    if options.watch:
        if options.at or options.since or options.all:
            raise InputError("--at, --since and --all are about one request: leave out --watch")
        return watch(options)
    if options.path == "-":
        raise InputError("- belongs to --watch: brim context --watch -")
    workspace = here()
    path = _session_path(workspace, options.path or "")
    if not path:
        note("no session found: name its file, or start your agent")
        return 1
    index = ""
    if os.path.isdir(workspace.home):
        index = findings_cache(os.environ)
    own_prices(workspace.config)
    composition = SessionComposition(path, index=index)
    with file_progress(path) as progress:
        reading = read_session(
            path,
            workspace.config,
            workspace.environ,
            on_read=progress.advance,
            observer=composition,
        )
    if not reading["format"]:
        note(f"{printable(path)}: no line of it is from a session of an agent that brim knows")
        return 1
    requests = composition.requests(options.at)
    report = context_at(reading, requests, options.at, options.since)
    emit(report, partial(show, everything=options.all), options.as_json)
    return int(options.fail_over is not None and reading["utilization"] >= options.fail_over)


def _session_path(workspace: Workspace, name: str) -> str:
    """Return the file of the session that *name* means: a path or the beginning of an id.

    Without a name it's the newest session; empty if there is none.
    """
    if name:
        sessions = named_session(workspace.environ, workspace.cwd, name)
        if not sessions:
            raise InputError(f"{name}: no such file, and no session's id begins with it")
        return sessions[0][0]
    with suppress(InputError):
        return newest_session(workspace)
    return ""


def show(report: ContextReport, *, everything: bool = False) -> str:
    """Return the gauge, and below it the tree; without a request only the gauge."""
    request = report.request
    if request is None:
        return "\n".join(draw(report.reading, terminal_width()))
    view = []
    is_last = request.number == report.count
    if is_last:
        view.append("\n".join(draw({**report.reading, "filling": {}}, terminal_width())) + "\n")
    view.append(wrapped(printable(_title(request, report.count))))
    if is_last and not report.is_now and report.reading["compactions"]:
        view.append(wrapped("the window was compacted since: this is what the last request held"))
    tree = [row.cells for row in _rows(report.parts, request.billed, 0, everything)]
    optional: tuple[int, ...] = ()
    if terminal_width() < NARROW:  # the notes below have the basis too
        optional = (3,)
    view.append(table(tree, right=(1, 2), optional=optional) + "\n")
    return lines(*view, *_notes(report), _change(report))


def _title(request: ComposedRequest, count: int) -> str:
    title = f"request {request.number:,} of {count:,}"
    if request.time is not None:
        title += f", {time.strftime('%Y-%m-%d', time.gmtime(request.time))}"
    title += f": {request.billed:,} tokens billed, {request.model}"
    if request.compacts:
        title += " (it asked for a summary)"
    return title


@dataclass(frozen=True)
class PartRow:
    """One row of the tree."""

    depth: int
    name: str
    tokens: int | None
    share: str
    basis: str

    @property
    def cells(self) -> list[str]:
        """What stands in the columns of the table."""
        tokens = "unknown"
        if self.tokens is not None:
            tokens = f"{self.tokens:,}"
        return [f"{'  ' * self.depth}{self.name}", tokens, self.share, self.basis]


def _rows(
    parts: Sequence[RequestPart], whole: int, depth: int, everything: bool
) -> Iterator[PartRow]:
    """Give the rows of the tree: all of the first level, and below it the largest."""
    hidden: list[RequestPart] = []
    for place, part in enumerate(parts):
        is_small = _is_small(part, whole) and not everything
        if is_small and place >= _always_shown(depth):
            hidden.append(part)
            continue
        yield _row(part.name, part.tokens, part.basis, whole, depth)
        if not is_small:
            yield from _rows(part.parts, whole, depth + 1, everything)
    if hidden and len(hidden) < len(parts):
        yield _hidden_row(hidden, whole, depth)


def _is_small(part: RequestPart, whole: int) -> bool:
    return part.tokens is not None and part.tokens < LEAST_SHARE * whole


def _hidden_row(hidden: Sequence[RequestPart], whole: int, depth: int) -> PartRow:
    """Return the row that stands for *hidden* parts."""
    name = f"{len(hidden):,} more"
    if len(hidden) == 1:
        name = hidden[0].name
    total = sum(part.tokens or 0 for part in hidden)
    return _row(name, total, hidden[0].basis, whole, depth)


def _always_shown(depth: int) -> int:
    """Return how many rows of a level are shown however small they are."""
    if depth == 0:
        return sys.maxsize
    if depth == 1:
        return ALWAYS_SHOWN
    return 0


def _row(name: str, tokens: int | None, basis: str, whole: int, depth: int) -> PartRow:
    return PartRow(depth, _name(name), tokens, _share(tokens, whole), basis)


def _name(name: str) -> str:
    return cut(printable(home_path(name)), LONGEST_NAME)


def _share(tokens: int | None, whole: int) -> str:
    if tokens is None:
        return ""
    text = share(abs(tokens), whole)
    if tokens < 0 and text[0] not in "<0":
        return f"-{text}"
    return text


def _notes(report: ContextReport) -> Iterator[str]:
    """Say what the numbers rest on, and what brim added."""
    request = report.request
    brim = report.brim
    if request is None or brim is None:
        return
    source = "from the lines before the answer"
    if request.recorded:
        source = "as the client recorded them"
    basis = _BASES.get(request.known.basis, request.known.basis)
    ratio = f"{request.known.ratio:.3g} ({basis})"
    scale = request.balance.scale
    if f"{scale:.3g}" != "1":
        ratio += f", scaled by {scale:.3g} to the bill"
    yield paint(wrapped(f"parts: {source}, counted in o200k_base tokens times {ratio}"), "faint")
    if brim.sent_tokens:
        tokens = f"{brim.tokens:,} tokens here, {brim.sent_tokens:,} in all requests"
        yield paint(wrapped(f"brim's texts: {tokens}, {_price(brim.cost)}"), "faint")
    if brim.resumes:
        again = f"{brim.rewritten_tokens:,} cached tokens sent again"
        without = f"{brim.rewritten_without:,} without brim's texts"
        yield paint(
            wrapped(f"resumed {counted(brim.resumes, 'time')}: {again}, {without}"), "faint"
        )


_BASES = {
    "calibrated": "by earlier requests",
    "estimated": "a prior: nothing is learned yet",
    "exact": "the model's own vocabulary",
}


def _price(cost: int | None) -> str:
    if cost is None:
        return "no known price"
    return dollars(cost)


def _leaf_rows(parts: Sequence[RequestPart]) -> list[list[str]]:
    """Return the largest leaves of the tree, and what the others take together."""
    leaves = sorted(_leaves(parts, ""), key=lambda leaf: (-leaf[0], leaf[1]))
    rows = [[cut(name, LONGEST_NAME), f"{tokens:,}"] for tokens, name in leaves[:MOST_LEAVES]]
    hidden = leaves[MOST_LEAVES:]
    if hidden:
        total = sum(tokens for tokens, _ in hidden)
        rows.append([f"{len(hidden):,} more", f"{total:,}"])
    return rows


def _leaves(parts: Sequence[RequestPart], above: str) -> Iterator[tuple[int, str]]:
    """Give the leaves of the tree, each with the way to it."""
    for part in parts:
        name = f"{above}{printable(home_path(part.name))}"
        if part.parts:
            yield from _leaves(part.parts, f"{name} > ")
        else:
            yield part.tokens or 0, name


def _change(report: ContextReport) -> str:
    change = report.change
    since = report.since
    if change is None or report.request is None or since is None:
        return ""
    rows = [["came", *row] for row in _leaf_rows(change.came)]
    rows += [["left", *row] for row in _leaf_rows(change.left)]
    if change.breaker:
        name = " > ".join(printable(home_path(part)) for part in change.breaker)
        tokens = f"{change.rewritten_tokens:,} tokens behind it are sent again"
        text = f"first difference: {name}\n{tokens}: {_price(report.rewrite_cost)} more"
    else:
        text = f"the cache holds: everything of request {since.number:,} comes first, unchanged"
    return lines(f"\nsince request {since.number:,}", table(rows, right=(2,)), text)
