"""The page to share: a report as one file of HTML that loads nothing.

``brim report --html`` writes it, and the page of a session exports it with a chart.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from brim.files import data_file
from brim.sessions.report.overview import BASIS, Names, Overview, WasteSum
from brim.sessions.report.usage import in_calendar
from brim.sessions.report.waste import ADVICE
from brim.sessions.report.words import (
    SHORT_CAUSES,
    amount,
    break_rows,
    lost_rows,
    report_facts,
    waste_line,
    waste_rows,
)

_TITLE = "What my coding agents did"


@dataclass(frozen=True)
class Chart:
    """A chart on the page: its HTML, and the script and style that draw it."""

    html: str
    script: str
    style: str


def page(overview: Overview, *, full: bool, now: float, chart: Chart | None = None) -> str:
    """Return the report as one page of HTML that loads nothing.

    With *full*, paths and commands are in it.
    """
    names = Names(hidden=not full)
    facts = [[name, text] for name, text in report_facts(overview, " · ") if text]
    style = data_file(__file__, "report.css").decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if chart is not None:
        style = f"{chart.style}\n{style}"
        digest = base64.b64encode(sha256(chart.script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    hidden = " Names of files, commands and projects are left out."
    if full:
        hidden = ""
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f'<meta name="viewport" content="width=device-width"><title>{_TITLE}</title><style>{style}</style></head>',
        f"<body><h1>{_TITLE}</h1>{_html_table([], facts, set(), 'summary')}",
        chart.html if chart is not None else "",
        _lost_section(overview, full=full),
        _breaks_section(overview, names),
        *(_waste_section(waste, names) for waste in overview.waste),
        f'<p class="note">Made by brim on {in_calendar(now)} from the agents\' own files; {escape(BASIS)}.{hidden}</p>',
        f"<script>{chart.script}</script>" if chart is not None else "",
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _lost_section(overview: Overview, *, full: bool) -> str:
    if not overview.lost.items:
        return ""
    head = ["when", "dropped", "found again", "tokens", "session"]
    about = "What was in the agent's window before a compaction, and nowhere in it afterwards."
    table = _html_table(head, lost_rows(overview), {2, 3}, "dated")
    text = f"<h2>What compactions dropped</h2><p>{about}</p>{table}"
    if full:
        items = [item for report in overview.lost.items for item in report.items]
        named = [[item.kind, item.text, item.back or "never"] for item in items]
        text += _html_table(["kind", "what", "came back"], named, set())
    return text


def _breaks_section(overview: Overview, names: Names) -> str:
    if not overview.breaks:
        return ""
    causes: Counter[str] = Counter()
    for broken in overview.breaks:
        causes[SHORT_CAUSES[broken.cause]] += broken.cost or 0
    sums = [[cause, amount(cost or None)] for cause, cost in causes.most_common()]
    bars = sorted(causes.values())[::-1]
    head = ["when", "likely cause", "tokens", "cost", "session", "project"]
    return (
        "<h2>Cache breaks</h2><p>What the provider had cached was sent again, at the full price.</p>"
        + _html_table(["likely cause", "cost", ""], sums, {1}, "bars", bars=bars)
        + _html_table(head, break_rows(overview, names), {2, 3}, "dated")
    )


def _waste_section(waste: WasteSum, names: Names) -> str:
    rows = [[name, tokens.strip(), cost] for tokens, cost, name in waste_rows(waste, names)]
    title = waste_line(waste)
    about = f"<h2>{escape(title[:1].upper() + title[1:])}</h2><p>{escape(ADVICE[waste.kind])}</p>"
    return about + (_html_table(["what", "tokens sent", "cost"], rows, {1, 2}) if rows else "")


def _html_table(
    head: list[str],
    rows: list[list[str]],
    numbers: set[int],
    kind: str = "plain",
    bars: Sequence[int] = (),
) -> str:
    """Return *rows* of text as a table; the columns *numbers* are right-aligned, *bars* are drawn
    behind the rows."""

    def line(cells: list[str], tag: str) -> str:
        marks = [' class="n"' if at in numbers else "" for at in range(len(cells))]
        return "".join(
            f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True)
        )

    drawn = []
    if any(head):
        drawn = [line(head, "th")]
    cells = [[escape(cell).replace("\n", "<br>") for cell in row] for row in rows]
    for row, size in zip(cells, bars, strict=False):
        row.append(f'<span class="bar" style="width:{100 * size // max(*bars, 1)}%"></span>')
    drawn += [line(row, "td") for row in cells]
    return f'<table class="{kind}">{"".join(f"<tr>{each}</tr>" for each in drawn)}</table>'
