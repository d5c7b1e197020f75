"""Calls held for a rule, in sessions of which it's known what each rule is about: ``python
bench/holds.py [--wrong]``.

Ordinary rules hold in ordinary sessions in the shape of every client, and brim's hook is asked
before each call. A false hold is one for a rule that isn't about what the call does. ``developed``
was there when it was decided what a match is; the ``unseen`` sets were written after that, each
first run when it was complete. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelled.clients import CLIENTS
from labelled.holds import developed, unseen, unseen_2
from labelled.holds.sessions import Held, Ruled
from labelled.loops.developed import DEVELOPED
from labelled.loops.unseen import UNSEEN
from labelled.loops.unseen_3 import UNSEEN_3
from report import Target, arguments, finish, table, this_machine

SETS: dict[str, Any] = {
    "developed": (developed.RULES, developed.PROJECTS, DEVELOPED),
    "unseen": (unseen.RULES, unseen.PROJECTS, UNSEEN),
    "unseen_2": (unseen_2.RULES, unseen_2.PROJECTS, UNSEEN_3),
}
SESSIONS = 5
"""Sessions for each project and client."""
RULES = 14
"""Rules in each session, drawn from the set."""
WINDOWS = ("usual", "nothing", "new")
"""What an agent hears besides the calls, see ``Ruled``. No session is as hard as the last one."""


@dataclass
class Count:
    """What was counted in some sessions."""

    sessions: int = 0
    calls: int = 0
    right: int = 0
    false: int = 0
    due: int = 0
    known: int = 0

    def add(self, session: Ruled) -> None:
        """Count *session*."""
        right = sum(each.is_right for each in session.held)
        self.sessions, self.calls = self.sessions + 1, self.calls + session.calls
        self.right, self.false = self.right + right, self.false + len(session.held) - right
        self.due, self.known = self.due + len(session.about), self.known + len(session.known)

    @property
    def row(self) -> list[object]:
        """What the table shows."""
        rate, known = f"{self.per_thousand:.2f}", f"{self.known} of {self.due}"
        return [self.sessions, self.calls, self.right, self.false, rate, known]

    @property
    def per_thousand(self) -> float:
        """False holds per 1,000 calls."""
        return 1000 * self.false / max(1, self.calls)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="one client instead of three")
    parser.add_argument("--only", choices=tuple(SETS), help="run one of the sets")
    parser.add_argument(
        "--wrong", action="store_true", help="also list every false hold and every call that got by"
    )
    options = parser.parse_args()
    print(this_machine())
    counts: dict[tuple[str, str], Count] = {}
    for name in SETS if options.only is None else (options.only,):
        for how in WINDOWS:
            sessions = run(name, CLIENTS[:1] if options.quick else CLIENTS, window=how)
            counts[name, how] = count = Count()
            for session in sessions:
                count.add(session)
            if options.wrong:
                print_wrong(sessions)
    heads = [
        "set",
        "window",
        "sessions",
        "calls",
        "held rightly",
        "falsely",
        "per 1,000",
        "known in time",
    ]
    rows = [[*key, *map(str, each.row)] for key, each in counts.items()]
    table("Calls held for a rule", heads, rows, [])
    targets = [
        Target(f"{' '.join(key)}: false holds per 1,000", each.per_thousand, at_most=1)
        for key, each in counts.items()
    ]
    found = {
        " ".join(key): {**vars(each), "per_thousand": each.per_thousand}
        for key, each in counts.items()
    }
    return finish(options, {"sets": found}, targets)


def run(name: str, clients: tuple[str, ...], *, window: str) -> list[Ruled]:
    """Return the sessions of the set *name*, after they have run."""
    rules, projects, scenarios = SETS[name]
    plans = [(each.name, each.write) for each in projects for _ in range(SESSIONS)]
    plans += [(each.name, each.write) for each in scenarios if not each.expects]
    found = []
    for client in clients:
        for number, (called, write) in enumerate(plans):
            seed = f"{name}/{called}/{client}/{number}"
            drawn = random.Random(seed).sample(rules, RULES)
            with tempfile.TemporaryDirectory() as folder:
                session = Ruled(client, seed, Path(folder) / "session", drawn, window=window)
                write(session)
            found.append(session)
    return found


def print_wrong(sessions: list[Ruled]) -> None:
    """List the false holds, and the calls that ran before their rule was known."""
    wrong: list[Held] = [each for session in sessions for each in session.held if not each.is_right]
    for held in wrong:
        print(f"  falsely: {held.rule.text!r} for {held.line[:120]!r} in {held.session}")
    missed = {
        (text, session.seed.split("/")[1])
        for session in sessions
        for text in session.about - session.known
    }
    for text, project in sorted(missed):
        print(f"  ran: {text!r} in {project}")


if __name__ == "__main__":
    sys.exit(main())
