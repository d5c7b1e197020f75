"""``brim context``: what fills the window of a session."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress

from brim.cli.commands.status import newest_session, session_of
from brim.cli.commands.watch import watch
from brim.cli.gauge import draw
from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import (
    counted,
    cut,
    day,
    dollars,
    emit,
    file_progress,
    home_path,
    lines,
    note,
    paint,
    printable,
    share,
    table,
    terminal_width,
    wrapped,
)
from brim.errors import InputError
from brim.report.context import ContextReport, context_report
from brim.report.index import findings_cache
from brim.tracking.requests import RequestPart

LEAST_SHARE = 0.01
"""Rows of the tree below this share of the request are summed up, unless all are asked for."""
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

    brim counts each part with the ratio at which earlier requests were billed. The row 'not
    explained' is the difference to the billed tokens.

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
    path = options.path
    with suppress(InputError):
        path = path or newest_session(workspace)
    reading = session_of(workspace, path or "")
    if reading is None:
        note("no session found: name its file, or start your agent")
        return 1
    if not reading["format"]:
        note(
            f"{printable(reading['path'])}: no line of it is from a session of an agent that brim knows"
        )
        return 1
    index = findings_cache(os.environ) if os.path.isdir(workspace.home) else ""
    with file_progress(reading["path"]) as progress:
        report = context_report(
            reading, at=options.at, since=options.since, index=index, on_read=progress.advance
        )
    emit(report, lambda each: show(each, everything=options.all), options.as_json)
    return int(options.fail_over is not None and reading["utilization"] >= options.fail_over)


def show(report: ContextReport, *, everything: bool = False) -> str:
    """Return the gauge, and below it the tree; without a request only the gauge."""
    request = report.request
    if request is None:
        return "\n".join(draw(report.reading, terminal_width()))
    is_last = request.number == report.count
    gauge = "\n".join(draw({**report.reading, "filling": {}}, terminal_width())) if is_last else ""
    when = f", {day(request.time)}" if request.time is not None else ""
    head = f"request {request.number:,} of {report.count:,}{when}: {request.billed:,} tokens billed, {request.model}"
    if request.compacts:
        head += " (it asked for a summary)"
    is_compacted = is_last and not report.is_now and report.reading["compactions"]
    later = (
        "the window was compacted since: this is what the last request held" if is_compacted else ""
    )
    rows = [
        [f"{'  ' * depth}{name}", "unknown" if tokens is None else f"{tokens:,}", part_share, basis]
        for depth, name, tokens, part_share, basis in _rows(
            report.parts, request.billed, 0, everything
        )
    ]
    optional = (3,) if terminal_width() < 60 else ()  # the notes below have the basis too
    tree = table(rows, right=(1, 2), optional=optional)
    above = (f"{gauge}\n" if gauge else "", wrapped(printable(head)), wrapped(later))
    return lines(*above, f"{tree}\n", *_notes(report), _change(report))


def _rows(
    parts: Sequence[RequestPart], whole: int, depth: int, everything: bool
) -> Iterator[tuple[int, str, int | None, str, str]]:
    """Give the rows of the tree: all of the first level, and below it the largest."""
    small: list[RequestPart] = []
    for at, part in enumerate(parts):
        is_small = part.tokens is not None and part.tokens < LEAST_SHARE * whole
        if is_small and not everything and at >= (ALWAYS_SHOWN if depth == 1 else 0) and depth:
            small.append(part)
            continue
        yield (
            depth,
            cut(printable(home_path(part.name)), 60),
            part.tokens,
            _share(part.tokens, whole),
            part.basis,
        )
        if everything or not is_small:
            yield from _rows(part.parts, whole, depth + 1, everything)
    if small and len(small) < len(parts):
        total = sum(part.tokens or 0 for part in small)
        name = small[0].name if len(small) == 1 else f"{len(small):,} more"
        yield (
            depth,
            cut(printable(home_path(name)), 60),
            total,
            _share(total, whole),
            small[0].basis,
        )


def _share(tokens: int | None, whole: int) -> str:
    if tokens is None:
        return ""
    said = share(abs(tokens), whole)
    return f"-{said}" if tokens < 0 and said[0] not in "<0" else said


def _notes(report: ContextReport) -> Iterator[str]:
    """Say what the numbers rest on, and what brim added."""
    request, brim = report.request, report.brim
    if request is None or brim is None:
        return
    source = (
        "as the client recorded them" if request.recorded else "from the lines before the answer"
    )
    learned = {
        "calibrated": "by earlier requests",
        "estimated": "a prior: nothing is learned yet",
        "exact": "the model's own vocabulary",
    }
    ratio = f"{request.known.ratio:.3g} ({learned.get(request.known.basis, request.known.basis)})"
    yield paint(wrapped(f"parts: {source}, counted in o200k_base tokens times {ratio}"), "faint")
    if brim.sent_tokens:
        cost = "no known price" if brim.cost is None else dollars(brim.cost)
        told = f"brim's texts: {brim.tokens:,} tokens here, {brim.sent_tokens:,} in all requests, {cost}"
        yield paint(wrapped(told), "faint")
    if brim.resumes:
        again = f"{brim.rewritten_tokens:,} cached tokens sent again, {brim.rewritten_without:,} without brim's texts"
        yield paint(wrapped(f"resumed {counted(brim.resumes, 'time')}: {again}"), "faint")


def _leaves(parts: Sequence[RequestPart]) -> list[list[str]]:
    """Return the largest leaves of the tree, each with the way to it, and what the others take
    together."""

    def leaves(parts: Sequence[RequestPart], above: str) -> Iterator[tuple[int, str]]:
        for part in parts:
            name = f"{above}{printable(home_path(part.name))}"
            yield from (
                leaves(part.parts, f"{name} > ") if part.parts else [(part.tokens or 0, name)]
            )

    found = sorted(leaves(parts, ""), key=lambda each: (-each[0], each[1]))
    rows = [[cut(name, 60), f"{tokens:,}"] for tokens, name in found[:MOST_LEAVES]]
    if rest := found[MOST_LEAVES:]:
        rows.append([f"{len(rest):,} more", f"{sum(tokens for tokens, _ in rest):,}"])
    return rows


def _change(report: ContextReport) -> str:
    change, request, since = report.change, report.request, report.since
    if change is None or request is None or since is None:
        return ""
    rows = [
        [word, *row]
        for word, parts in (("came", change.came), ("left", change.left))
        for row in _leaves(parts)
    ]
    if not change.breaker:
        told = f"the cache holds: everything of request {since.number:,} comes first, unchanged"
    else:
        cost = report.rewrite_cost
        price = "no known price" if cost is None else dollars(cost)
        name = " > ".join(printable(home_path(each)) for each in change.breaker)
        told = f"first difference: {name}\n{change.rewritten_tokens:,} tokens behind it are sent again: {price} more"
    return lines(f"\nsince request {since.number:,}", table(rows, right=(2,)), told)
