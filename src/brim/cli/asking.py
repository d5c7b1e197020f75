"""Questions to the person at the terminal, and what only a person may do."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

from brim.agents import agent_at_work
from brim.cli.options import one_of, option
from brim.cli.output import note
from brim.errors import PersonNeeded

END_OF_INPUT = "\x04"
"""What Ctrl-D types where each key is read at once."""


def need_person(action: str) -> None:
    """Raise if an agent runs this command.

    *action* loosens something, which only a person may do.
    """
    agent = agent_at_work(os.environ)
    if not agent:
        return
    culprit = f"and this command was run by {agent}"
    if agent == "an agent":
        culprit = "and an agent ran this command"
    raise PersonNeeded(
        f"only a person {action}, {culprit}: nothing was changed."
        " Your user can do it in a terminal of their own"
    )


def add_yes(parser: ArgumentParser) -> None:
    """Add ``--yes`` and ``--dry-run``."""
    one_of(
        option("--yes", "-y", action="store_true", help="do it without asking"),
        option("--dry-run", action="store_true", help="only show what would be done"),
    )(parser)


def says_yes(question: str, *, yes: bool, no: str = "nothing was changed") -> bool:
    """Whether to go on: *yes* was given, or a person at the terminal agrees. If not, print *no*."""
    if yes:
        return True
    if not is_person_there():
        note(f"{no}: pass --yes to do it without a question")
        return False
    if answer(f"{question} [y/N] ").casefold() in ("y", "yes"):
        return True
    note(no)
    return False


def is_person_there() -> bool:
    """Whether a person can read a question and type an answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def agrees(question: str, *, default: bool = True) -> bool:
    """Whether a person at the terminal agrees. A bare Enter is *default*, and the end of input
    doesn't agree."""
    keys = "[Y/n]" if default else "[y/N]"
    reply = answer(f"{question} {keys} ", at_end="n").casefold()
    if not reply:
        return default
    return reply in ("y", "yes")


def one_key(question: str) -> str:
    """Ask on standard error, and return the key that a person pressed, in lower case.

    It's empty at the end of input.
    """
    try:
        import termios
        import tty
    except ImportError:  # Windows: then with Enter
        return answer(question)[:1].lower()
    try:
        before = termios.tcgetattr(sys.stdin)
    except termios.error:  # not a terminal
        return answer(question)[:1].lower()
    _ask(question)
    try:
        tty.setcbreak(sys.stdin, termios.TCSANOW)  # what was typed ahead counts
        key = os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    echo = ""
    if key.isprintable():
        echo = key
    print(echo, file=sys.stderr)
    if key == END_OF_INPUT:
        return ""
    return key.lower()


def answer(question: str, *, at_end: str = "") -> str:
    """Ask a question, and return the answer, or *at_end* at the end of input."""
    _ask(question)
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        print(file=sys.stderr)
    if not line:
        return at_end
    return line.strip()


def _ask(question: str) -> None:
    """Print *question* to standard error, so that standard output stays clean."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(question, end="", file=sys.stderr, flush=True)
