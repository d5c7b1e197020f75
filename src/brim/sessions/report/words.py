"""The words and rows of a report, on a terminal and on the page."""

from __future__ import annotations

import os
from collections import Counter

from brim.figures import counted, dollars, rounded, share
from brim.sessions.report.cache import CAUSES
from brim.sessions.report.overview import LOST_KINDS, LostSum, Names, Overview, WasteSum
from brim.sessions.report.usage import in_calendar

_WASTE = {
    "repeated": ("{} repeated read of an unchanged file", "{} repeated reads of unchanged files"),
    "unused": (
        "{} long result that nothing refers to again",
        "{} long results that nothing refers to again",
    ),
    "tool": (
        "description of {} MCP tool that was never called",
        "descriptions of {} MCP tools that were never called",
    ),
    "memory": ("{} memory file", "{} memory files"),
    "start": (
        "system prompt, tools and memory files of {} session",
        "system prompts, tools and memory files of {} sessions and sub-agents",
    ),
}
"""What each kind of waste is called, one and many."""

SHORT_CAUSES = {
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


def total_cost(overview: Overview) -> str:
    """Return what all sessions cost; if some requests have no price, that is less than it was."""
    total = overview.bill.total
    unpriced = overview.bill.unpriced
    if not unpriced:
        return dollars(total)
    if total:
        return f"more than {dollars(total, up=False)}"
    return "unknown cost"


def report_facts(overview: Overview, between: str = "   ") -> list[tuple[str, str]]:
    """Return the lines of the report; *between* separates the sums in the first one."""
    bill = overview.bill
    money = [counted(overview.bill.sessions, "session"), total_cost(overview)]
    if bill.client_sessions == bill.sessions:
        money.append(f"(clients' own total: {dollars(bill.client_total)})")
    return [
        (
            f"last {counted(overview.days, 'day')}" if overview.days else "in all",
            between.join(money),
        ),
        ("money", _adding_up(overview)),
        ("compactions", _lost(overview.lost)),
        ("cache", _cache(overview)),
        ("every request", _start(overview)),
        (
            "waste",
            "; ".join(
                waste_line(waste)
                for waste in overview.waste
                if waste.kind in ("repeated", "unused")
            ),
        ),
    ]


def _adding_up(overview: Overview) -> str:
    """Return what the total is made of, as far as that isn't plain."""
    bill = overview.bill
    sentences = []
    if bill.compactions or bill.unexplained:
        sentences.append(
            f"requests {dollars(bill.requests)}, compactions {dollars(bill.compactions)}"
        )
        sentences[0] += (
            f", not explained {dollars(bill.unexplained)} ({share(bill.unexplained, bill.total)})"
        )
    if 0 < bill.client_sessions < bill.sessions:
        some = f"{bill.client_sessions:,} of {counted(bill.sessions, 'session')}"
        sentences.append(f"{some} have a total of the client's own: {dollars(bill.client_total)}")
        sentences[-1] += f"; brim counts {dollars(bill.client_counted)} for them"
    if bill.client_prices >= 5_000:
        sentences.append(f"the client's own prices add {dollars(bill.client_prices)}")
    if bill.unpriced:
        has, models = ("has", "the model") if bill.unpriced == 1 else ("have", "the models")
        some = f"{counted(bill.unpriced, 'request')} that {has} no known price"
        sentences.append(f"without {some}: brim usage names {models}")
    return "\n".join(sentences)


def _lost(lost_sum: LostSum) -> str:
    """Return what compactions dropped, and what finding files again cost."""
    if not lost_sum.items:
        return ""
    parts = [
        f"{lost:,} of {_YOURS.get(kind, '')}{counted(before, kind)}"
        for kind, (before, lost, _) in lost_sum.counts.items()
        if lost
    ]
    text = (
        f"{len(lost_sum.items):,}: dropped {', '.join(parts) or 'nothing'}"
        if lost_sum.counts
        else f"{len(lost_sum.items):,}"
    )
    text += f" ({lost_sum.unreadable:,} can't be read)" if lost_sum.unreadable else ""
    text += _given_back(lost_sum)
    if not lost_sum.tokens:
        return text
    summary = "had to find some of it again"
    if lost_sum.read_again:
        summary = f"read {lost_sum.read_again:,} of those files again"
    return f"{text}\nthe agent {summary}: about {rounded(lost_sum.tokens)} tokens{_priced(lost_sum.cost)}"


def _given_back(losses: LostSum) -> str:
    """Return what brim gave back, and how long the agent took to its next edit, as more lines."""
    lines = []
    if losses.given_back:
        lines.append(losses.given_back_words)
    with_brim = losses.steps(with_brim=True)
    without = losses.steps(with_brim=False)
    if with_brim is not None and without is not None:
        lines.append(
            f"calls until the first edit afterwards: {with_brim[1]:.1f} with what brim gave back, "
            f"{without[1]:.1f} without ({with_brim[0]:,} and {without[0]:,} compactions)"
        )
    return "".join([f"\n{line}" for line in lines])


def _cache(overview: Overview) -> str:
    if not overview.breaks:
        return ""
    cause, count = Counter(broken.cause for broken in overview.breaks).most_common(1)[0]
    share_words = f"{count:,} " if count < len(overview.breaks) else "all " if count > 1 else ""
    priced = ""
    if any(broken.cost is not None for broken in overview.breaks):
        priced = f" cost {dollars(overview.break_cost)}"
    return f"{counted(len(overview.breaks), 'break')}{priced} ({share_words}{CAUSES[cause]})"


def _start(overview: Overview) -> str:
    """Return what every request begins with: in all, and, as far as that is recorded, what could
    go."""
    if not overview.start:
        return ""
    cost = sum(waste.cost for waste in overview.waste if waste.kind == "start")
    text = f"sends {rounded(overview.start)} tokens before your first word (median)"
    text += f": {dollars(cost)} in all" if cost else ""
    parts = []
    if overview.memory:
        parts = [f"CLAUDE.md and other memory files: {rounded(overview.memory)} tokens"]
    count, tokens = overview.idle_tools
    parts += (
        [f"{counted(count, 'MCP tool')} never called: {rounded(tokens)} tokens"] if count else []
    )
    return "\n".join(filter(None, (text, "; ".join(parts))))


def waste_line(waste: WasteSum) -> str:
    """Return what was sent for nothing, in a sentence."""
    one, several = _WASTE[waste.kind]
    is_lasting = waste.kind in ("memory", "tool")  # the same one in many sessions
    count = len({item.what for item in waste.items}) if is_lasting else len(waste.items)
    sentence = (one if count == 1 else several).format(f"{count:,}")
    return f"{sentence}: about {rounded(waste.tokens)} tokens sent{_priced(waste.cost)}"


def _priced(cost: int) -> str:
    """Return how a sentence goes on that has a *cost*; 0 is that nothing of it has a price."""
    if cost:
        return f", {dollars(cost)}"
    return ""


def amount(cost: int | None) -> str:
    """Return a cost in dollars, or that it isn't known."""
    if cost is None:
        return "unknown"
    return dollars(cost)


def lost_rows(overview: Overview) -> list[list[str]]:
    """Return when, what was dropped and found again, and what that took, of each compaction."""
    rows = []
    for report in overview.lost.items:
        counts = [
            (kind, report.in_window.get(kind, 0), report.lost.get(kind, 0)) for kind in LOST_KINDS
        ]
        dropped = ", ".join(
            f"{lost:,} of {counted(before, kind)}" for kind, before, lost in counts if lost
        )
        dropped = dropped if report.readable else "not known: its summary can't be read"
        back = sum(report.came_back.values())
        again = ""
        if report.readable:
            again = f"{back:,}"
        rows.append(
            [
                _when(report.time),
                dropped or "nothing",
                again,
                rounded(report.tokens),
                report.session[:8],
            ]
        )
    return rows


def break_rows(overview: Overview, names: Names) -> list[list[str]]:
    """Return when, why, tokens, cost, session and project of each cache break."""
    rows = []
    for broken in overview.breaks:
        project = names.of(os.path.basename(overview.projects.get(broken.session, "")), "project")
        cause = SHORT_CAUSES[broken.cause] + (f": {names.part(broken.part)}" if broken.part else "")
        if broken.cause in ("pause", "resume") and broken.pause is not None:
            hours, minutes = divmod(round(broken.pause / 60), 60)
            cause += f" ({hours} h {minutes} min)" if hours else f" ({minutes} min)"
        rows.append(
            [
                _when(broken.time),
                cause,
                f"{broken.tokens:,}",
                amount(broken.cost),
                broken.session[:8],
                project,
            ]
        )
    return rows


def _when(moment: float | None) -> str:
    return in_calendar(moment, "%Y-%m-%d %H:%M") or "no date"


def waste_rows(waste: WasteSum, names: Names) -> list[list[str]]:
    """Return tokens, cost and name of each thing; the same file only once."""
    sums: dict[str, list[int]] = {}
    for item in waste.items if waste.kind != "start" else ():
        kind = {"repeated": "file", "memory": "file", "tool": "tool"}.get(item.kind, "result")
        one = sums.setdefault(names.of(item.what, kind) or kind, [0, 0])
        one[0] += item.tokens * item.requests
        one[1] += item.cost or 0
    ranked = sorted(sums.items(), key=lambda pair: (-pair[1][1], -pair[1][0], pair[0]))
    return [
        [f"{rounded(tokens):>6}", amount(cost or None), name] for name, (tokens, cost) in ranked
    ]
