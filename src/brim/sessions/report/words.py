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


def total_cost(found: Overview) -> str:
    """Return what all sessions cost; if some requests have no price, that is less than it was."""
    total, unpriced = found.bill.total, found.bill.unpriced
    if not unpriced:
        return dollars(total)
    return f"more than {dollars(total, up=False)}" if total else "unknown cost"


def report_facts(found: Overview, between: str = "   ") -> list[tuple[str, str]]:
    """Return the lines of the report; *between* separates the sums in the first one."""
    bill, money = found.bill, [counted(found.bill.sessions, "session"), total_cost(found)]
    if bill.client_sessions == bill.sessions:
        money.append(f"(clients' own total: {dollars(bill.client_total)})")
    return [
        (f"last {counted(found.days, 'day')}" if found.days else "in all", between.join(money)),
        ("money", _adding_up(found)),
        ("compactions", _lost(found.lost)),
        ("cache", _cache(found)),
        ("every request", _start(found)),
        (
            "waste",
            "; ".join(
                waste_line(each) for each in found.waste if each.kind in ("repeated", "unused")
            ),
        ),
    ]


def _adding_up(found: Overview) -> str:
    """Return what the total is made of, as far as that isn't plain."""
    bill, said = found.bill, []
    if bill.compactions or bill.unexplained:
        said.append(f"requests {dollars(bill.requests)}, compactions {dollars(bill.compactions)}")
        said[0] += (
            f", not explained {dollars(bill.unexplained)} ({share(bill.unexplained, bill.total)})"
        )
    if 0 < bill.client_sessions < bill.sessions:
        some = f"{bill.client_sessions:,} of {counted(bill.sessions, 'session')}"
        said.append(f"{some} have a total of the client's own: {dollars(bill.client_total)}")
        said[-1] += f"; brim counts {dollars(bill.client_counted)} for them"
    if bill.client_prices >= 5_000:
        said.append(f"the client's own prices add {dollars(bill.client_prices)}")
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
        if lost
    ]
    text = (
        f"{len(found.items):,}: dropped {', '.join(parts) or 'nothing'}"
        if found.counts
        else f"{len(found.items):,}"
    )
    text += f" ({found.unreadable:,} can't be read)" if found.unreadable else ""
    text += _given_back(found)
    if not found.tokens:
        return text
    what = (
        f"read {found.read_again:,} of those files again"
        if found.read_again
        else "had to find some of it again"
    )
    return f"{text}\nthe agent {what}: about {rounded(found.tokens)} tokens{_priced(found.cost)}"


def _given_back(losses: LostSum) -> str:
    """Return what brim gave back, and how long the agent took to its next edit, as more lines."""
    lines = []
    if losses.given_back:
        count = counted(losses.given_back, "thing")
        lines.append(f"brim gave back {count}, {losses.used_again:,} of them were used again")
    with_brim = losses.steps(with_brim=True)
    without = losses.steps(with_brim=False)
    if with_brim is not None and without is not None:
        lines.append(
            f"calls until the first edit afterwards: {with_brim[1]:.1f} with what brim gave back, "
            f"{without[1]:.1f} without ({with_brim[0]:,} and {without[0]:,} compactions)"
        )
    return "".join([f"\n{line}" for line in lines])


def _cache(found: Overview) -> str:
    if not found.breaks:
        return ""
    cause, count = Counter(each.cause for each in found.breaks).most_common(1)[0]
    most = f"{count:,} " if count < len(found.breaks) else "all " if count > 1 else ""
    priced = (
        f" cost {dollars(found.break_cost)}"
        if any(each.cost is not None for each in found.breaks)
        else ""
    )
    return f"{counted(len(found.breaks), 'break')}{priced} ({most}{CAUSES[cause]})"


def _start(found: Overview) -> str:
    """Return what every request begins with: in all, and, as far as that is recorded, what could
    go."""
    if not found.start:
        return ""
    cost = sum(each.cost for each in found.waste if each.kind == "start")
    text = f"sends {rounded(found.start)} tokens before your first word (median)"
    text += f": {dollars(cost)} in all" if cost else ""
    parts = (
        [f"CLAUDE.md and other memory files: {rounded(found.memory)} tokens"]
        if found.memory
        else []
    )
    count, tokens = found.idle_tools
    parts += (
        [f"{counted(count, 'MCP tool')} never called: {rounded(tokens)} tokens"] if count else []
    )
    return "\n".join(filter(None, (text, "; ".join(parts))))


def waste_line(each: WasteSum) -> str:
    """Return what was sent for nothing, in a sentence."""
    one, many = _WASTE[each.kind]
    is_lasting = each.kind in ("memory", "tool")  # the same one in many sessions
    count = len({item.what for item in each.items}) if is_lasting else len(each.items)
    what = (one if count == 1 else many).format(f"{count:,}")
    return f"{what}: about {rounded(each.tokens)} tokens sent{_priced(each.cost)}"


def _priced(cost: int) -> str:
    """Return how a sentence goes on that has a *cost*; 0 is that nothing of it has a price."""
    return f", {dollars(cost)}" if cost else ""


def amount(cost: int | None) -> str:
    """Return a cost in dollars, or that it isn't known."""
    return "unknown" if cost is None else dollars(cost)


def lost_rows(found: Overview) -> list[list[str]]:
    """Return when, what was dropped and found again, and what that took, of each compaction."""
    rows = []
    for each in found.lost.items:
        counts = [
            (kind, each.in_window.get(kind, 0), each.lost.get(kind, 0)) for kind in LOST_KINDS
        ]
        dropped = ", ".join(
            f"{lost:,} of {counted(had, kind)}" for kind, had, lost in counts if lost
        )
        dropped = dropped if each.readable else "not known: its summary can't be read"
        back = sum(each.came_back.values())
        again = f"{back:,}" if each.readable else ""
        rows.append(
            [_when(each.time), dropped or "nothing", again, rounded(each.tokens), each.session[:8]]
        )
    return rows


def break_rows(found: Overview, names: Names) -> list[list[str]]:
    """Return when, why, tokens, cost, session and project of each cache break."""
    rows = []
    for each in found.breaks:
        project = names.of(os.path.basename(found.projects.get(each.session, "")), "project")
        cause = SHORT_CAUSES[each.cause] + (f": {names.part(each.part)}" if each.part else "")
        if each.cause in ("pause", "resume") and each.pause is not None:
            hours, minutes = divmod(round(each.pause / 60), 60)
            cause += f" ({hours} h {minutes} min)" if hours else f" ({minutes} min)"
        rows.append(
            [
                _when(each.time),
                cause,
                f"{each.tokens:,}",
                amount(each.cost),
                each.session[:8],
                project,
            ]
        )
    return rows


def _when(moment: float | None) -> str:
    return in_calendar(moment, "%Y-%m-%d %H:%M") or "no date"


def waste_rows(each: WasteSum, names: Names) -> list[list[str]]:
    """Return tokens, cost and name of each thing; the same file only once."""
    sums: dict[str, list[int]] = {}
    for item in each.items if each.kind != "start" else ():
        kind = {"repeated": "file", "memory": "file", "tool": "tool"}.get(item.kind, "result")
        one = sums.setdefault(names.of(item.what, kind) or kind, [0, 0])
        one[0] += item.tokens * item.requests
        one[1] += item.cost or 0
    ranked = sorted(sums.items(), key=lambda pair: (-pair[1][1], -pair[1][0], pair[0]))
    return [
        [f"{rounded(tokens):>6}", amount(cost or None), name] for name, (tokens, cost) in ranked
    ]
