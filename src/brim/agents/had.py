"""What a session had before its compaction, of what a summary should not lose: from its journal, and its last calls."""

from __future__ import annotations

from brim.agents.lost import numbers_in, paths_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.agents.call import HookCall
    from brim.scratch.entries import Entry

TAIL = 1 << 21
"""Bytes of the transcript's end in which the last checks are looked for."""

MOST = 60
"""So many of each kind are compared, the latest."""

_LONGEST_COMMAND = 200


def had_before(call: HookCall, entries: Iterable[Entry], checks: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of kind and text: decisions, changed and named files, commands, and numbers."""
    from brim.scratch.entries import View
    from brim.scratch.index import sentence

    view = View(entry for entry in entries if entry.session in ("", call.session))
    said = [entry.text for entry in view.of("human")]
    decided = [sentence(entry) for entry in view.of("decision")]
    paths = [entry.text for entry in view.of("artifact")]
    commands = [entry.text for entry in view.of("command") if len(entry.text) <= _LONGEST_COMMAND]
    found = {
        "decision": decided,
        "path": [*paths, *[path for text in (*said, *decided) for path in paths_in(text)]],
        "command": [*commands, *checks],
        "number": [number for text in (*said, *decided) for number in numbers_in(text)],
    }
    return [(kind, text) for kind, texts in found.items() for text in list(dict.fromkeys(texts))[-MOST:]]


def last_checks(call: HookCall) -> tuple[list[str], str]:
    """Return the commands with which the work was last checked, and the summary if the transcript alone has it."""
    import os

    from brim.agents.transcript_file import FORMATS, size_of, whole_lines
    from brim.scratch.dead_ends.commands import check_in, parts, unwrapped
    from brim.tracking.events import Message, ToolCall
    from brim.tracking.readers import AnyReader
    from brim.tracking.readers.stream import Feed

    checks: dict[str, None] = {}
    summary = ""
    reader = AnyReader(FORMATS[call.agent])
    start = max(0, size_of(call.transcript) - TAIL)
    feed = Feed(reader=reader, start=start)
    events = [
        event
        for _, data in whole_lines(call.transcript, start + 1 if start else 0, most=TAIL)
        for event in feed.feed(data)
    ]
    for event in [*events, *reader.finish()]:
        if isinstance(event, ToolCall) and event.tool == "shell":
            command = event.input.get("command")
            command = unwrapped(command).strip() if isinstance(command, str) else ""
            if command and len(command) <= _LONGEST_COMMAND and check_in(parts(command))[0] is not None:
                checks.pop(command, None)
                checks[command] = None
        elif isinstance(event, Message) and event.role == "summary":
            summary = event.text
    return [_without_folder(check, os.sep) for check in list(checks)[-5:]], summary


def _without_folder(command: str, separator: str) -> str:
    """Return *command* without the ``cd`` to where it was run, which a summary need not repeat."""
    first, found, rest = command.partition("&&")
    words = first.split()
    return rest.strip() if found and len(words) == 2 and words[0] == "cd" and separator in words[1] else command
