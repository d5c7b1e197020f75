"""What ``brim watch`` draws: the bar with its two marks, and below it where the tokens and the money went.

Every line is at most as wide as it is told, so that the next drawing can take its place.
"""

from __future__ import annotations

from brim.cli.output import dollars, paint, printable, symbols, width_of
from brim.tracking.windows import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.cli.reading import Reading

LEAST_WIDTH = 20
"""Columns that a gauge needs; in fewer there is only the number, since lines that wrap cannot be drawn in place."""

MOST_ROWS = 6
"""Rows that a list gets at most; the rest is summed up in one."""

SUMS_ALONE = ("codex-exec", "gemini-stream")
"""Formats that say what a session took in all, and never what is in its window."""

_NAMES = 11
"""Columns of the names on the left."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_SHORTEST_BAR, _LONGEST_BAR = 8, 40


def draw(reading: Reading, width: int) -> list[str]:
    """Return the lines of the gauge, none wider than *width*."""
    if width < LEAST_WIDTH:
        full = percent(reading["utilization"]) if reading["used_tokens"] else symbols("…", "-")
        return [paint(_cut(full, max(1, width)), colour_of(reading))]
    lines = _head(reading, width)
    if reading["context_window"]:
        lines += [_bar(reading, width), _marks(reading, width)]
    for name, rows in _sections(reading, width):
        lines += [_row(name if at == 0 else "", row, width) for at, row in enumerate(rows)]
    if reading["warning"]:
        lines += _wrapped(f"! {printable(reading['warning'])}", width, colour_of(reading))
    if reading["cost_warning"]:
        lines += _wrapped(f"! {printable(reading['cost_warning'])}", width, "red")
    return lines


def one_line(reading: Reading) -> str:
    """Return the state in one line, for a file or a pipe."""
    parts = [level(reading)]
    if reading["model"]:
        parts.append(printable(reading["model"]))
    if reading["cost"] or reading["unpriced"]:
        parts.append(_cost(reading, short=True))
    if reading["compactions"]:
        parts.append(_times(reading["compactions"], "compaction"))
    return "  ".join(parts)


def level(reading: Reading) -> str:
    """Return how full the window is, in words and numbers."""
    if not reading["used_tokens"]:
        only_sums = reading["format"] in SUMS_ALONE
        return "only sums are reported here: watch the session's own file" if only_sums else "nothing reported yet"
    if not reading["context_window"]:
        return f"{reading['used_tokens']:,} tokens, of a window that is not known"
    of = f"{reading['used_tokens']:,} of {reading['context_window']:,} tokens"
    return f"{of}  {percent(reading['utilization'], digits=1)}"


def percent(share: float, *, digits: int = 0) -> str:
    """Return *share* in per cent; a whole is 100 %."""
    return f"{100 * share:,.{digits}f} %"


def colour_of(reading: Reading) -> str:
    """Return the colour of how full it is: that of the highest threshold it is over."""
    if reading["utilization"] >= reading["compact_threshold"]:
        return "red"
    return "yellow" if reading["utilization"] >= reading["warn_threshold"] else "green"


def _head(reading: Reading, width: int) -> list[str]:
    left = level(reading)
    who = [printable(reading["model"])] if reading["model"] else []
    if reading["session"]:
        who.append(f"session {printable(reading['session'][:8])}")
    right = "  ".join(who)
    gap = width - width_of(left) - width_of(right)
    colour = colour_of(reading)
    if right and gap >= 2:
        return [paint(left, colour) + " " * gap + paint(right, "faint")]
    return [paint(_cut(left, width), colour), *([paint(_cut(right, width), "faint")] if right else [])]


def _bar(reading: Reading, width: int) -> str:
    nice = symbols(f"█░│{_EIGHTHS}", "") != ""
    eighths = min(8 * width, max(0, round(reading["utilization"] * 8 * width)))
    filled, part = divmod(eighths, 8)
    if not nice:
        part = 0
    full = ("█" if nice else "#") * filled + (_EIGHTHS[part] if part else "")
    rest = [("░" if nice else "-")] * (width - len(full))
    for share in (reading["warn_threshold"], reading["compact_threshold"]):
        at = _column(share, width) - len(full)
        if 0 <= at < len(rest):
            rest[at] = "│" if nice else "|"
    return paint(full, colour_of(reading)) + (paint("".join(rest), "faint") if rest else "")


def _marks(reading: Reading, width: int) -> str:
    """Return the line below the bar: a pointer to each threshold, named on its outer side if there is room."""
    mark = symbols("▲", "^")
    thresholds = (("warn", reading["warn_threshold"]), ("compact", reading["compact_threshold"]))
    columns = [_column(share, width) for _, share in thresholds]
    cells = [" "] * width
    for at, (word, share) in zip(columns, thresholds, strict=True):
        cells[at] = mark
        before = word == "warn"
        for label in (f"{word} {percent(share)}", percent(share)):
            start = at - 1 - len(label) if before else at + 2
            if start >= 0 and start + len(label) <= width and (before or columns[0] < at):
                cells[start : start + len(label)] = label
                break
    return paint("".join(cells).rstrip(), "faint")


def _column(share: float, width: int) -> int:
    return min(width - 1, max(0, round(share * width)))


def _sections(reading: Reading, width: int) -> list[tuple[str, list[str]]]:
    sections: list[tuple[str, list[str]]] = [("window", [_window(reading)])]
    if reading["cost"] or reading["unpriced"]:
        sections.append(("cost", [_cost(reading)]))
    if reading["used_tokens"]:
        sections.append(("cache", [f"{percent(reading['cache_hit_share'])} of all prompts was read from it"]))
    if reading["filling"] and reading["used_tokens"]:
        sections.append(("filled by", _filling(reading, width - _NAMES)))
    if reading["agents"]:
        sections.append(("sub-agents", _agents(reading)))
    if reading["compactions"]:
        sections.append(("compacted", [_times(reading["compactions"], "")]))
    if reading["broken_lines"]:
        sections.append(("skipped", [f"{_counted(reading['broken_lines'], 'line')} that cannot be read"]))
    return sections


def _window(reading: Reading) -> str:
    others = [f"{SOURCES.get(source, source)}: {tokens:,}" for source, tokens in reading["window_others"].items()]
    said = SOURCES.get(reading["window_source"], reading["window_source"])
    return printable(f"{reading['context_window']:,} tokens ({'; '.join([said, *others])})")


def _cost(reading: Reading, *, short: bool = False) -> str:
    unpriced = ", ".join(reading["unpriced"])
    text = dollars(reading["cost"])
    if reading["cost_limit"] is not None:
        text += f" of {dollars(reading['cost_limit'])}"
    if unpriced and reading["unattributed"]:  # the client's own total has what they cost
        said = dollars(reading["unattributed"])
        return f"{text} ({said} of it as the agent says: no price of {printable(unpriced)} is known)"
    if unpriced:
        return f"{text} and what {printable(unpriced)} costs: no price is known"
    if reading["unattributed"] and not short:
        return f"{text} ({dollars(reading['unattributed'])} of it for what no line shows)"
    return text


def _filling(reading: Reading, width: int) -> list[str]:
    """Return what fills the window, the largest first, each with a bar if there is room for one."""
    items = sorted(reading["filling"].items(), key=lambda item: (-item[1], item[0]))
    items = [(printable(name), tokens) for name, tokens in items if tokens > 0]
    if not items:
        return []
    if len(items) > MOST_ROWS:
        rest = items[MOST_ROWS - 1 :]
        items = [*items[: MOST_ROWS - 1], (f"{len(rest)} more", sum(tokens for _, tokens in rest))]
    whole = max(1, reading["used_tokens"])
    shares = [percent(tokens / whole) if tokens * 200 >= whole else "< 1 %" for _, tokens in items]
    names, numbers, parts = (
        max(map(width_of, column)) for column in ([name for name, _ in items], [f"{t:,}" for _, t in items], shares)
    )
    room = width - names - numbers - parts - 6
    lines = []
    for (name, tokens), share in zip(items, shares, strict=True):
        if room < 0:
            lines.append(f"{share:>{parts}}  {name}")
            continue
        length = round(min(1.0, tokens / whole) * min(room, _LONGEST_BAR)) if room >= _SHORTEST_BAR else 0
        bar = symbols("█", "#") * length
        padded = name + " " * (names - width_of(name))
        lines.append(f"{padded}  {tokens:>{numbers},}  {share:>{parts}}  {bar}".rstrip())
    return lines


def _agents(reading: Reading) -> list[str]:
    shown = reading["agents"][-MOST_ROWS:]
    widest = max(len(f"{agent['used_tokens']:,}") for agent in shown)
    rows = []
    for agent in shown:
        full = f"{agent['used_tokens']:>{widest},}  {percent(agent['utilization']):>5} of {agent['context_window']:,}"
        rows.append(f"{full}  {printable(agent['model'])}  {printable(agent['id'][:8])}")
    hidden = len(reading["agents"]) - len(shown)
    return [f"{hidden} earlier ones", *rows] if hidden else rows


def _row(name: str, text: str, width: int) -> str:
    if width < 3 * _NAMES:
        return _cut(f"{name} {text}" if name else f"  {text}", width)
    return paint(f"{name:<{_NAMES}}", "faint") + _cut(text, width - _NAMES)


def _wrapped(text: str, width: int, colour: str) -> list[str]:
    import textwrap

    return [paint(_cut(line, width), colour) for line in textwrap.wrap(text, width, subsequent_indent="  ")]


def _cut(text: str, width: int) -> str:
    """Return as much of *text* as fits into *width* columns."""
    if width_of(text) <= width:
        return text
    end = symbols("…", ".")
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return text + end


def _times(number: int, what: str) -> str:
    if what:
        return _counted(number, what)
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def rows_of(lines: Sequence[str], height: int) -> list[str]:
    """Return the *lines* that fit into a terminal of *height* rows, one of them left for the cursor."""
    return list(lines[: max(1, height - 1)])
