"""``brim report``: what happened in past sessions, and what they took.

It is a few lines, tables, and one page of HTML to share. The page names neither files nor commands nor
projects, unless that is asked for.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

from brim.cli.commands.usage import read_sessions
from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import (
    counted,
    cut,
    dollars,
    emit,
    facts,
    heading,
    lines,
    note,
    paint,
    rounded,
    share,
    table,
)
from brim.errors import InputError
from brim.files import data_file, save
from brim.install.status import is_installed
from brim.report.cache import CAUSES
from brim.report.overview import BASIS, DAYS, LOST_KINDS, LostSum, Names, Overview, WasteSum, sessions_report
from brim.report.usage import in_calendar
from brim.report.waste import ADVICE
from brim.tracking.sessions import usage_index


@command(
    option("paths", nargs="*", metavar="PATH", help="what to read (default: the agents' own folders)"),
    option("--days", type=whole_number(1), metavar="N", help=f"the last N days (default: {DAYS}; with PATH, all)"),
    option("--project", metavar="PATH", help="this project only: its folder, or the last part of it"),
    option("--html", metavar="FILE", help="write a page to share; files and commands aren't named in it"),
    option("--full", action="store_true", help="with --html: name them"),
    add_json,
)
def report(options: Namespace) -> int:
    """Show what happened in your past sessions: cost, compactions, cache breaks, waste.

    Reads the session files that Claude Code, Codex and Gemini CLI already keep, so it works without 'brim init'.
    Nothing leaves your machine. PATH is a session's file, a folder of them, or a saved stream. Text sizes are estimated
    from bytes, with the ratio of bytes to billed tokens in that session.

    Results are cached in ~/.brim/usage.db, so the next run reads only what is new. You can delete that file.

    Examples:
      brim report
      brim report --days 7 --project .
      brim report --html report.html
    """
    if options.full and not options.html:
        raise InputError("--full belongs to --html FILE")
    found = look(options.paths, days=options.days, project=options.project)
    if options.html:
        save(options.html, page(found, full=options.full, now=time.time()))
    emit(found, show_summary, options.as_json)
    if found.bill.sessions and not options.as_json:
        print(f"\n{details(found)}")
    if options.html:
        note(f"wrote {os.path.abspath(options.html)}")
    note(*found.reading.failed)
    return 2 if found.reading.lacks(options.paths) else 0


def look(paths: list[str], *, days: int | None = None, project: str | None = None, most: int | None = None) -> Overview:
    """Return what happened in the sessions in *paths*, or in the agents' own folders, with a bar while it reads."""
    how: Any = {"days": days or (None if paths else DAYS), "project": project, "most": most}
    return read_sessions(paths, partial(sessions_report, index=usage_index(os.environ), **how))


def show_summary(found: Overview) -> None:
    """Print the report in a few lines, or that there is nothing to report."""
    if found.reading.broken_lines:
        note(f"{counted(found.reading.broken_lines, 'broken line')} left out")
    if not found.bill.sessions:
        where = f" of {found.project}" if found.project else ""
        period = f" in the last {counted(found.days, 'day')}" if found.days else ""
        note(f"no sessions{where}{period} ({counted(found.reading.files, 'file')} read)")
        return
    print(summary(found, installed=is_installed(here())))


# How the report looks --------------------------------------------------------------------------------------------

MOST_ROWS = 10
"""Rows of a table; the rest is in ``--json`` and on the page."""

_WASTE = {
    "repeated": ("{} repeated read of an unchanged file", "{} repeated reads of unchanged files"),
    "unused": ("{} long result that nothing refers to again", "{} long results that nothing refers to again"),
    "tool": ("description of {} MCP tool that was never called", "descriptions of {} MCP tools that were never called"),
    "memory": ("{} memory file", "{} memory files"),
    "start": (
        "system prompt, tools and memory files of {} session",
        "system prompts, tools and memory files of {} sessions and sub-agents",
    ),
}
"""What each kind of waste is called, one and many."""

_CAUSES = {
    "compaction": "compaction",
    "model": "model changed",
    "resume": "resumed",
    "pause": "pause",
    "part": "request changed",
    "memory": "memory file edited",
    "unknown": "not known",
}
"""What the causes of a cache break are called in a table."""
_YOURS = {"instruction": "your "}


def summary(found: Overview, *, installed: bool) -> str:
    """Return the report in a few lines."""
    return facts([*_facts(found), ("brim init", "" if installed else "keeps what the next compaction drops")])


def one_line(found: Overview) -> str:
    """Return the report in one line; empty if there are no sessions."""
    if not found.bill.sessions:
        return ""
    parts = [counted(found.bill.sessions, "session"), _total(found)]
    parts += [counted(len(found.lost.items), "compaction")] if found.lost.items else []
    cost = f" ({dollars(found.break_cost)})" if found.break_cost else ""
    parts += [f"{counted(len(found.breaks), 'cache break')}{cost}"] if found.breaks else []
    rest = "not all of them are read yet: " if found.reading.unread else ""
    return f"{', '.join(parts)} in the last {counted(found.days or 0, 'day')}; {rest}brim report"


def details(found: Overview) -> str:
    """Return the whole report: the few lines, then what they are made of."""
    names = Names()
    parts = [_lost_table(found), _breaks_table(found, names)]
    for each in found.waste:  # the sum, the advice, and the largest
        largest = [f"  {tokens}  {cut(name, 60)}" for tokens, _, name in _waste_rows(each, names)[:3]]
        parts.append(lines(_waste_line(each), paint(f"  {ADVICE[each.kind]}", "faint"), *largest))
    return "\n\n".join([*filter(None, parts), paint(BASIS, "faint")])


def _total(found: Overview) -> str:
    """Return what all sessions cost; if some requests have no price, that is less than it was."""
    total, unpriced = found.bill.total, found.bill.unpriced
    if not unpriced:
        return dollars(total)
    return f"more than {dollars(total, up=False)}" if total else "unknown cost"


def _facts(found: Overview, between: str = "   ") -> list[tuple[str, str]]:
    """Return the lines of the report; *between* separates the sums in the first one."""
    bill, money = found.bill, [counted(found.bill.sessions, "session"), _total(found)]
    if bill.client_sessions == bill.sessions:
        money.append(f"(clients' own total: {dollars(bill.client_total)})")
    return [
        (f"last {counted(found.days, 'day')}" if found.days else "in all", between.join(money)),
        ("money", _adding_up(found)),
        ("compactions", _lost(found.lost)),
        ("cache", _cache(found)),
        ("every request", _start(found)),
        ("waste", "; ".join(_waste_line(each) for each in found.waste if each.kind in ("repeated", "unused"))),
    ]


def _adding_up(found: Overview) -> str:
    """Return what the total is made of, as far as that isn't plain."""
    bill, said = found.bill, []
    if bill.compactions or bill.unexplained:
        said.append(f"requests {dollars(bill.requests)}, compactions {dollars(bill.compactions)}")
        said[0] += f", not explained {dollars(bill.unexplained)} ({share(bill.unexplained, bill.total)})"
    if 0 < bill.client_sessions < bill.sessions:
        some = f"{bill.client_sessions:,} of {counted(bill.sessions, 'session')}"
        said.append(f"{some} have a total of the client's own: {dollars(bill.client_total)}")
        said[-1] += f"; brim counts {dollars(bill.client_counted)} for them"
    if abs(bill.client_prices) >= 5_000:
        said.append(f"the client's own prices make {dollars(bill.client_prices)} of the difference")
    if bill.unpriced:
        has, models = ("has", "the model") if bill.unpriced == 1 else ("have", "the models")
        some = f"{counted(bill.unpriced, 'request')} that {has} no known price"
        said.append(f"without {some}: brim usage names {models}")
    return "\n".join(said)


def _lost(found: LostSum) -> str:
    """Return what compactions dropped, and what finding files again cost."""
    if not found.items:
        return ""
    parts = [
        f"{lost:,} of {_YOURS.get(kind, '')}{counted(had, kind)}"
        for kind, (had, lost, _) in found.counts.items()
        if lost and kind != "number"  # these are in 'brim memory lost'
    ]
    text = f"{len(found.items):,}: dropped {', '.join(parts) or 'nothing'}" if found.counts else f"{len(found.items):,}"
    text += f" ({found.unreadable:,} can't be read)" if found.unreadable else ""
    if not found.tokens:
        return text
    what = f"read {found.read_again:,} of those files again" if found.read_again else "had to find some of it again"
    return f"{text}\nthe agent {what}: about {rounded(found.tokens)} tokens{_priced(found.cost)}"


def _cache(found: Overview) -> str:
    if not found.breaks:
        return ""
    cause, count = Counter(each.cause for each in found.breaks).most_common(1)[0]
    most = f"{count:,} " if count < len(found.breaks) else "all " if count > 1 else ""
    priced = f" cost {dollars(found.break_cost)}" if any(each.cost is not None for each in found.breaks) else ""
    return f"{counted(len(found.breaks), 'break')}{priced} ({most}{CAUSES[cause]})"


def _start(found: Overview) -> str:
    """Return what every request begins with: in all, and, as far as that is recorded, what could go."""
    if not found.start:
        return ""
    cost = sum(each.cost for each in found.waste if each.kind == "start")
    text = f"sends {rounded(found.start)} tokens before your first word (median)"
    text += f": {dollars(cost)} in all" if cost else ""
    parts = [f"CLAUDE.md and other memory files: {rounded(found.memory)} tokens"] if found.memory else []
    count, tokens = found.idle_tools
    parts += [f"{counted(count, 'MCP tool')} never called: {rounded(tokens)} tokens"] if count else []
    return lines(text, "; ".join(parts))


def _waste_line(each: WasteSum) -> str:
    one, many = _WASTE[each.kind]
    is_lasting = each.kind in ("memory", "tool")  # the same one in many sessions
    count = len({item.what for item in each.items}) if is_lasting else len(each.items)
    what = (one if count == 1 else many).format(f"{count:,}")
    return f"{what}: about {rounded(each.tokens)} tokens sent{_priced(each.cost)}"


def _priced(cost: int) -> str:
    """Return how a sentence goes on that has a *cost*; 0 is that nothing of it has a price."""
    return f", {dollars(cost)}" if cost else ""


def _amount(cost: int | None) -> str:
    return "unknown" if cost is None else dollars(cost)


def _lost_table(found: Overview) -> str:
    rows = _lost_rows(found)
    if not rows:
        return ""
    head = ["compaction", "dropped", "found again", "tokens", "session"]
    drawn = heading(table([head, *rows[-MOST_ROWS:]], right=(2, 3)))
    earlier = f"and {len(rows) - MOST_ROWS:,} earlier; " if len(rows) > MOST_ROWS else ""
    return lines(drawn, paint(f"{earlier}brim memory lost SESSION lists what was dropped", "faint"))


def _lost_rows(found: Overview) -> list[list[str]]:
    """Return when, what was dropped and found again, and what that took, of each compaction."""
    rows = []
    for each in found.lost.items:
        counts = [(kind, each.had.get(kind, 0), each.lost.get(kind, 0)) for kind in LOST_KINDS]
        dropped = ", ".join(f"{lost:,} of {counted(had, kind)}" for kind, had, lost in counts if lost)
        dropped = dropped if each.readable else "not known: its summary can't be read"
        back = sum(each.came_back.values())
        again = f"{back:,}" if each.readable else ""
        rows.append([_when(each.time), dropped or "nothing", again, rounded(each.tokens), each.session[:8]])
    return rows


def _breaks_table(found: Overview, names: Names) -> str:
    rows = _break_rows(found, names)
    if not rows:
        return ""
    head = ["cache break", "likely cause", "tokens", "cost", "session", "project"]
    drawn = heading(table([head, *rows[:MOST_ROWS]], right=(2, 3), optional=(5, 4)))
    more = len(rows) - MOST_ROWS
    about = "a break: what the provider had cached was sent again, at the full price"
    return lines(drawn, paint(f"and {more:,} more (--json lists all); {about}" if more > 0 else about, "faint"))


def _break_rows(found: Overview, names: Names) -> list[list[str]]:
    rows = []
    for each in found.breaks:
        project = names.of(os.path.basename(found.projects.get(each.session, "")), "project")
        cause = _CAUSES[each.cause] + (f": {names.part(each.part)}" if each.part else "")
        if each.cause in ("pause", "resume") and each.pause is not None:
            hours, minutes = divmod(round(each.pause / 60), 60)
            cause += f" ({hours} h {minutes} min)" if hours else f" ({minutes} min)"
        rows.append([_when(each.time), cause, f"{each.tokens:,}", _amount(each.cost), each.session[:8], project])
    return rows


def _when(moment: float | None) -> str:
    return in_calendar(moment, "%Y-%m-%d %H:%M") or "no date"


def _waste_rows(each: WasteSum, names: Names) -> list[list[str]]:
    """Return tokens, cost and name of each thing; the same file only once."""
    sums: dict[str, list[int]] = {}
    for item in each.items if each.kind != "start" else ():
        kind = {"repeated": "file", "memory": "file", "tool": "tool"}.get(item.kind, "result")
        one = sums.setdefault(names.of(item.what, kind) or kind, [0, 0])
        one[0] += item.tokens * item.requests
        one[1] += item.cost or 0
    ranked = sorted(sums.items(), key=lambda pair: (-pair[1][1], -pair[1][0], pair[0]))
    return [[f"{rounded(tokens):>6}", _amount(cost or None), name] for name, (tokens, cost) in ranked]


# The page -------------------------------------------------------------------------------------------------------

_TITLE = "What my coding agents did"


def page(found: Overview, *, full: bool, now: float) -> str:
    """Return the report as one page of HTML that loads nothing; with *full*, paths and commands are in it."""
    names = Names(hidden=not full)
    shown = [[name, text] for name, text in _facts(found, " · ") if text]
    style = data_file(__file__, "report.css").decode()
    hidden = "" if full else " Names of files, commands and projects are left out."
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f'<meta name="viewport" content="width=device-width"><title>{_TITLE}</title><style>{style}</style></head>',
        f"<body><h1>{_TITLE}</h1>{_html_table([], shown, set(), 'facts')}",
        _lost_section(found, full=full),
        _breaks_section(found, names),
        *(_waste_section(each, names) for each in found.waste),
        f'<p class="note">Made by brim on {in_calendar(now)} from the agents\' own files; {escape(BASIS)}.{hidden}</p>',
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _lost_section(found: Overview, *, full: bool) -> str:
    if not found.lost.items:
        return ""
    head = ["when", "dropped", "found again", "tokens", "session"]
    about = "What was in the agent's window before a compaction, and nowhere in it afterwards."
    shown = _html_table(head, _lost_rows(found), {2, 3}, "dated")
    text = f"<h2>What compactions dropped</h2><p>{about}</p>{shown}"
    if full:
        items = [item for each in found.lost.items for item in each.items]
        named = [[item.kind, item.text, item.back or "never"] for item in items]
        text += _html_table(["kind", "what", "came back"], named, set())
    return text


def _breaks_section(found: Overview, names: Names) -> str:
    if not found.breaks:
        return ""
    causes: Counter[str] = Counter()
    for each in found.breaks:
        causes[_CAUSES[each.cause]] += each.cost or 0
    sums, bars = [[cause, _amount(cost or None)] for cause, cost in causes.most_common()], sorted(causes.values())[::-1]
    head = ["when", "likely cause", "tokens", "cost", "session", "project"]
    return (
        "<h2>Cache breaks</h2><p>What the provider had cached was sent again, at the full price.</p>"
        + _html_table(["likely cause", "cost", ""], sums, {1}, "bars", bars=bars)
        + _html_table(head, _break_rows(found, names), {2, 3}, "dated")
    )


def _waste_section(each: WasteSum, names: Names) -> str:
    rows = [[name, tokens.strip(), cost] for tokens, cost, name in _waste_rows(each, names)]
    title = _waste_line(each)
    about = f"<h2>{escape(title[:1].upper() + title[1:])}</h2><p>{escape(ADVICE[each.kind])}</p>"
    return about + (_html_table(["what", "tokens sent", "cost"], rows, {1, 2}) if rows else "")


def _html_table(
    head: list[str], rows: list[list[str]], numbers: set[int], kind: str = "plain", bars: Sequence[int] = ()
) -> str:
    """Return *rows* of text as a table; the columns *numbers* are right-aligned, *bars* are drawn behind the rows."""

    def line(cells: list[str], tag: str) -> str:
        marks = [' class="n"' if at in numbers else "" for at in range(len(cells))]
        return "".join(f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True))

    drawn = [line(head, "th")] if any(head) else []
    cells = [[escape(cell).replace("\n", "<br>") for cell in row] for row in rows]
    for row, size in zip(cells, bars, strict=False):
        row.append(f'<span class="bar" style="width:{100 * size // max(*bars, 1)}%"></span>')
    drawn += [line(row, "td") for row in cells]
    return f'<table class="{kind}">{"".join(f"<tr>{each}</tr>" for each in drawn)}</table>'
