"""Loops, held in sessions of which it's known whether the agent goes in circles: ``python
bench/loops.py [--wrong]``.

Every session is written to a transcript in the shape of each client, and brim's hook is asked
before every call, as the client would. The ``developed`` sessions were there when the rules were
made; the ``unseen`` ones were written after, each set first run when it was complete. Exits with 1
if a target is missed on those.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelled.clients import CLIENTS, Sitting
from labelled.loops.developed import DEVELOPED
from labelled.loops.unseen import UNSEEN
from labelled.loops.unseen_2 import UNSEEN_2
from labelled.loops.unseen_3 import UNSEEN_3
from labelled.streams import Scenarios
from report import Target, arguments, finish, table, this_machine

SETS: dict[str, Scenarios] = {
    "developed": DEVELOPED,
    "unseen": UNSEEN,
    "unseen_2": UNSEEN_2,
    "unseen_3": UNSEEN_3,
}
VARIANTS = {True: 1, False: 2}
"""How often each scenario is written for each client, by whether it is a loop."""


@dataclass(frozen=True)
class Outcome:
    """What came of one session."""

    name: str
    calls: int
    holds: tuple[int, ...]
    due: int | None
    """The first call that may be held; None in an ordinary session."""
    reasons: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether it was held when it was due, before the session ended; or not at all if it's an
        ordinary one."""
        return (
            not self.holds if self.due is None else bool(self.holds) and self.holds[0] >= self.due
        )


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="one client instead of three")
    parser.add_argument("--only", choices=tuple(SETS), help="run one of the sets")
    parser.add_argument(
        "--wrong", action="store_true", help="also list every session that was judged wrongly"
    )
    options = parser.parse_args()
    print(this_machine())
    clients = CLIENTS[:1] if options.quick else CLIENTS
    chosen = {name: SETS[name] for name in SETS if options.only in (None, name)}
    found = {
        name: [result for one in families for result in run(one, clients)]
        for name, families in chosen.items()
    }
    numbers = {name: figures(outcomes) for name, outcomes in found.items()}
    heads = ["", "loops", "held in time", "ordinary", "not held", "most holds in one", "calls"]
    rows = [[name, *map(str, each.values())] for name, each in numbers.items()]
    table("Sessions, by what the hook did before each call", heads, rows, [])
    for outcome in [
        one for outcomes in found.values() for one in outcomes if options.wrong and not one.is_right
    ]:
        print(
            f"  {outcome.name}: due {outcome.due}, held {outcome.holds} of {outcome.calls}: {outcome.reasons[:1]}"
        )
    targets = [
        target for name in numbers if name != "developed" for target in judge(name, numbers[name])
    ]
    return finish(options, {"sets": numbers}, targets)


def run(scenario: Any, clients: tuple[str, ...]) -> list[Outcome]:
    """Return what came of *scenario* in every client's shape."""
    found = []
    for client in clients:
        for variant in range(VARIANTS[bool(scenario.expects)]):
            name = f"{scenario.name}/{client}/{variant}"
            with tempfile.TemporaryDirectory() as folder:
                sitting = Sitting(client, name, Path(folder) / "session")
                scenario.write(sitting)
            found.append(
                Outcome(
                    name, sitting.calls, tuple(sitting.holds), sitting.due, tuple(sitting.reasons)
                )
            )
    return found


def figures(outcomes: list[Outcome]) -> dict[str, int]:
    """Return how many sessions there were of each kind, and how many came out right."""
    loops = [one for one in outcomes if one.due is not None]
    ordinary = [one for one in outcomes if one.due is None]
    return {
        "loops": len(loops),
        "held": sum(one.is_right for one in loops),
        "ordinary": len(ordinary),
        "not_held": sum(one.is_right for one in ordinary),
        "most_false_holds": max([len(one.holds) for one in ordinary], default=0),
        "calls": sum(one.calls for one in outcomes),
    }


def judge(name: str, numbers: dict[str, int]) -> list[Target]:
    """Return the targets of the set *name* with what was measured."""
    return [
        Target(
            f"{name}: loops held within three repeats, share",
            numbers["held"] / numbers["loops"],
            at_least=0.8,
        ),
        Target(
            f"{name}: ordinary sessions without a hold, share",
            numbers["not_held"] / numbers["ordinary"],
            at_least=0.95,
        ),
        Target(f"{name}: false holds in one session", numbers["most_false_holds"], at_most=1),
    ]


if __name__ == "__main__":
    sys.exit(main())
