"""``brim check``: would the provider accept this history?"""

from __future__ import annotations

from brim.cli.messages import Document, add_file, add_provider, read_document, say_object
from brim.cli.output import heading, listed, note, say, table
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable
    from typing import Any

HELP = """\
Check whether a provider would accept a history: every call answered, every answer called for, roles and order as its
API wants them. FILE holds messages in JSON, a whole request body, or a Claude Code transcript, whose lines are then
named. Ends with 1 if the history is not valid.

Examples:
  brim check chat.json
  brim check ~/.claude/projects/-home-me-shop/SESSION.jsonl
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_file(parser, "messages in JSON, a request body, or a transcript")
    add_provider(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Check, print, and return the exit code."""
    from brim.history import validate

    document = read_document(options.file)
    provider, found_by = document.provider(options.provider)
    violations = validate(document.messages, provider=provider)
    if options.as_json:
        facts = {
            "valid": not violations,
            "messages": len(document.messages),
            "provider": provider,
            "found_by": found_by,
        }
        say_object(
            {**facts, "violations": [placed(document, each) for each in violations], "broken_lines": document.broken}
        )
    elif violations:
        what = "problem" if len(violations) == 1 else "problems"
        say(f"{document.name}: {len(violations):,} {what} by the rules of {provider} ({found_by})")
        say(places(document, ((each.index, each.rule, each.text) for each in violations)))
    else:
        how_many = f"{len(document.messages):,} message{'' if len(document.messages) == 1 else 's'}"
        say(f"{document.name}: {how_many}, valid by the rules of {provider} ({found_by})")
    tell_broken(document)
    if document.looks_otherwise(options.provider):
        note(document.looks_otherwise(options.provider))
    return 1 if violations else 0


def placed(document: Document, found: Any) -> dict[str, Any]:
    """Return a violation or a change as JSON: with the line, if it is a transcript's."""
    fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
    return fields if document.lines is None else {"line": document.place(found.index), **fields}


def places(document: Document, rows: Iterable[tuple[int, str, str]]) -> str:
    """Return a table of what was found where; texts are cut to a line."""
    shown, more = listed([[f"{document.place(index):,}", rule, short(text)] for index, rule, text in rows])
    lines = heading(table([[document.unit, "rule", "what"], *shown], right=frozenset({0})))
    return f"{lines}\n{more}" if more else lines


def short(text: str, most: int = 100) -> str:
    """Return *text* in one line of at most *most* characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def tell_broken(document: Document) -> None:
    """Say which lines of a transcript are not JSON: the last may be half written, if the agent is at work."""
    if document.broken:
        one = len(document.broken) == 1
        where = ", ".join(f"{number:,}" for number in document.broken[:5])
        more = f" and {len(document.broken) - 5:,} more" if len(document.broken) > 5 else ""
        note(f"{document.name}: not JSON, and left out: line{'' if one else 's'} {where}{more}")
