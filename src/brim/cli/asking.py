"""Asks a person before something is done. Nobody is asked who cannot answer: a script says ``--yes``."""

from __future__ import annotations

import sys

from brim.cli.output import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_yes(parser: ArgumentParser) -> None:
    """Add ``--yes`` and ``--dry-run``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", "-y", action="store_true", help="do it without asking")
    which.add_argument("--dry-run", action="store_true", help="only show what would be done")


def says_yes(question: str, *, yes: bool, no: str = "nothing was changed") -> bool:
    """Whether to go on: *yes*, or a person at the terminal answers *question* so. If not, that is said: *no*."""
    if yes:
        return True
    if not is_person_there():
        note(f"{no}: say --yes to do it, since nobody can be asked here")
        return False
    if answer(f"{question} [y/N] ").casefold() in ("y", "yes"):
        return True
    note(no)
    return False


def is_person_there() -> bool:
    """Whether somebody can read a question and type an answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def answer(question: str) -> str:
    """Ask on standard error, so that the output stays what it is, and return what was typed; nothing at its end."""
    if sys.stdout is not None:
        sys.stdout.flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    typed = sys.stdin.readline()
    if not typed.endswith("\n"):
        sys.stderr.write("\n")
    return typed.strip()
