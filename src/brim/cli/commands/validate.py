"""``brim validate``: whether what is stored is sound and makes sense."""

from __future__ import annotations

import os

from brim.cli.asking import answer, is_person_there
from brim.cli.behaviors import counted
from brim.cli.checking import file_problems, graph_problems, hints, removable_edges, remove_edges, stale_problems
from brim.cli.files import store_paths
from brim.cli.learned import NOTHING_YET, Place
from brim.cli.output import listed, note, paint, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.behaviors.graph import Problem
    from brim.store.scopes import Scopes

HELP = """\
Check what is stored here: whether the files are sound, whether connections lead somewhere and nowhere in a circle,
whether what was superseded has a successor, and whether the costs of all lines are counted. It also hints at what is
overridden more often than confirmed, at near-duplicates, and at what of the project is not followed, since it would
weaken a constraint of your own.

--fix counts what is not counted and, after asking, removes connections that lead nowhere or are there twice. Nothing
else is changed. Ends with 1 if problems remain; hints are none.

Examples:
  brim validate
  brim validate --fix
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--fix", action="store_true", help="count lines anew, and remove useless connections")
    parser.add_argument("--yes", "-y", action="store_true", help="with --fix: do it without asking")
    add_json(parser)


def run(options: Namespace) -> int:
    """Check everything, mend what can be, and return the exit code."""
    from brim.store.scopes import Scopes

    if options.yes and not options.fix:
        raise InputError("--yes has a meaning only with --fix")
    place = Place()
    paths = {scope: path for scope, path in store_paths(place).items() if os.path.lexists(path)}
    if len(paths) == 2 and os.path.samefile(*paths.values()):
        del paths["project"]
    problems, sound = file_problems(paths)
    fixed: list[str] = []
    with Scopes(sound) as scopes:
        problems += graph_problems(scopes) + stale_problems(scopes)
        hinted = hints(scopes, place.config["behaviors.near_duplicate"])
        counts = len(scopes.behaviors()), len(scopes.all_edges())
        if not options.as_json:
            _show(paths, sound, counts, problems, hinted)
        if options.fix:
            fixed = _fix(options, place, scopes, problems)
            if fixed:
                problems = [each for each in problems if each.rule == "file"]
                problems += graph_problems(scopes) + stale_problems(scopes)
    if options.as_json:
        shown = [
            [{name: _plain(getattr(each, name)) for name in each.__match_args__} for each in of]
            for of in (problems, hinted)
        ]
        files = [{"scope": scope, "path": path, "sound": scope in sound} for scope, path in paths.items()]
        say_json({"files": files, "problems": shown[0], "hints": shown[1], "fixed": fixed})
    else:
        for text in fixed:
            say(printable(f"fixed: {text}"))
        _conclude(problems, remaining=bool(fixed), nothing=not paths)
    return 1 if problems else 0


def _show(
    paths: dict[str, str],
    sound: dict[str, str],
    counts: tuple[int, int],
    problems: list[Problem],
    hinted: list[Problem],
) -> None:
    for scope, path in paths.items():
        state = "sound" if scope in sound else paint("cannot be used as it is", "red")
        say(printable(f"{scope}'s file {path}: ") + state)
    if sound:
        say(f"{counted(counts[0], 'behavior')}, {counted(counts[1], 'connection')}")
    for what, colour, of in (("problem", "red", problems), ("hint", "yellow", hinted)):
        texts, more = listed([[f"{each.text}; {each.fix}"] for each in of])
        for (text,) in texts:
            say(f"{paint(what, colour)}: {printable(text)}")
        if more:
            say(more)


def _conclude(problems: list[Problem], *, remaining: bool, nothing: bool) -> None:
    if nothing:
        note(NOTHING_YET)
    elif problems:
        say(f"{counted(len(problems), 'problem')}{' left' if remaining else ''}")
    else:
        say("all is well")


def _fix(options: Namespace, place: Place, scopes: Scopes, problems: list[Problem]) -> list[str]:
    """Mend what can be mended without a loss, and return what was done."""
    removable = removable_edges(scopes, problems)
    for _, edge in removable if not options.as_json else ():
        say(printable(f"to remove: {edge}"))
    agreed = bool(removable) and _agrees(options, len(removable))
    if not agreed and not any(each.rule == "stale-costs" for each in problems):
        return []
    fixed = []
    with scopes.writing():
        for store in (scopes.user, scopes.project):
            recosted = store.recost() if store is not None else 0
            if store is not None and recosted:
                fixed.append(f"{store.path}: {counted(recosted, 'behavior')} counted")
        if agreed:
            removable = removable_edges(scopes, graph_problems(scopes))
            remove_edges(removable, now=place.now)
            fixed += [f"{edge} removed" for _, edge in removable]
    return fixed


def _agrees(options: Namespace, count: int) -> bool:
    """Whether to remove so many connections. Lines are counted in any case: nothing is lost by it."""
    there = is_person_there()
    question = f"Remove {counted(count, 'connection')}? [y/N] "
    if options.yes or (there and answer(question).casefold() in ("y", "yes")):
        return True
    note("no connection was removed" + ("" if there else ": say --yes to do it, since nobody can be asked here"))
    return False


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
