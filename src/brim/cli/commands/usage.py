"""``brim usage``: what all sessions together took."""

from __future__ import annotations

import os

from brim.cli.options import add_json, settings
from brim.cli.output import note, say_json
from brim.cli.usage_reading import price_version, read_all
from brim.cli.usage_view import Answer, say_answer
from brim.errors import InputError
from brim.tracking.readers.scan_files import AGENTS, named_files, own_files
from brim.tracking.usage.groups import BY, Days, grouped, unpriced
from brim.tracking.usage.unattributed import unattributed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.cli.usage_reading import Reading
    from brim.tracking.usage.gathered import Source

HELP = """\
Add up the tokens and the cost of your agents' sessions, each request once.

Without a PATH the folders of Claude Code, Codex and Gemini CLI are read. A PATH is a session's file, a folder of
them, or a saved stream. Days are those of your time zone. What was read is remembered in ~/.brim/usage.db, so that the
next time only what is new is read; that file may be deleted.

Examples:
  brim usage
  brim usage --by model --since 2026-11-01
  brim usage --by session --project shop --json
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="what to read (default: the agents' own folders)")
    parser.add_argument("--by", choices=BY, default="day", help="what to add up by (default: day)")
    parser.add_argument("--since", type=_date, metavar="DATE", help="from this day on: 2026-11-15")
    parser.add_argument("--until", type=_date, metavar="DATE", help="up to and with this day")
    parser.add_argument("--agent", choices=AGENTS, help="this agent only")
    parser.add_argument("--project", metavar="NAME", help="this project only: its folder, or the last part of it")
    parser.add_argument("--utc", action="store_true", help="days of UTC, not of your time zone")
    parser.add_argument("--no-index", action="store_true", help="read everything, and remember nothing")
    add_json(parser)


def run(options: Namespace) -> int:
    """Read, add up, print, and return the exit code."""
    import time

    from brim.config import user_folder
    from brim.store.usage_index import FILE

    if options.since and options.until and options.since > options.until:
        raise InputError(f"--since {options.since} is after --until {options.until}: no day is between them")
    config = settings()
    agents = (options.agent,) if options.agent else AGENTS
    problems: list[str] = []
    if options.paths:
        files = named_files(options.paths, on_problem=problems.append)
    else:
        files = own_files(os.environ, agents, on_problem=problems.append)
    index = None if options.no_index else os.path.join(user_folder(os.environ), FILE)
    reading = read_all(files, index=index, prices=price_version(config["models"]), now=time.time())
    reading.failed[:0] = problems
    answer = _answer(reading, options)
    if options.as_json:
        say_json(answer.as_dict())
    else:
        say_answer(answer)
    for problem in reading.failed:
        note(problem)
    named = [os.path.realpath(path) for path in options.paths if not os.path.isdir(path)]
    return 2 if any(problem.startswith(f"{path}: ") for problem in reading.failed for path in named) else 0


def _answer(reading: Reading, options: Namespace) -> Answer:
    day_of = Days(utc=options.utc)

    def is_wanted(source: Source, time: float | None) -> bool:
        if options.agent and source.agent != options.agent:
            return False
        if options.project and not _is_named(source.project, options.project):
            return False
        day = day_of(time)
        return (not options.since or day >= options.since) and (not options.until or "" < day <= options.until)

    gathered = reading.gathered
    everything = gathered.requests()
    filtered = options.agent or options.project or options.since or options.until
    wanted = [each for each in everything if is_wanted(each[1], each[0].time)] if filtered else everything
    rest = unattributed([request for request, _ in everything], gathered.totals, gathered.copies())
    sources = gathered.sources
    return Answer(
        options.by,
        grouped(wanted, options.by, day_of),
        unpriced(wanted),
        [each for each in rest if not filtered or is_wanted(sources[each.session], each.time)],
        reading,
        filters={"since": options.since, "until": options.until, "agent": options.agent, "project": options.project},
        utc=options.utc,
    )


def _is_named(project: str, wanted: str) -> bool:
    """Whether *wanted* means *project*: its folder, the last part of it, or its name in the agent's folder."""
    if wanted in (project, os.path.basename(project)) or os.path.abspath(wanted) == project:
        return True
    return "".join(each if each.isascii() and each.isalnum() else "-" for each in project) == wanted


def _date(text: str) -> str:
    """Return *text*, a day, as ``2026-11-15``."""
    from argparse import ArgumentTypeError
    from datetime import date

    digits = text.replace("-", "") if len(text) == 10 and text[4] == text[7] == "-" else text
    try:
        if len(digits) != 8 or not (digits.isascii() and digits.isdigit()):
            raise ValueError
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).isoformat()
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day: write it as 2026-11-15") from None
