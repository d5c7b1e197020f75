"""Dead ends, found in sessions whose dead ends are known: ``python bench/dead_ends.py [--quick]
[--json FILE]``.

Every scenario is written in several variants and in the shape of every client that can show it,
read by brim's own readers, and given to the detector. The ``developed`` scenarios were there when
the rules were made. The ``unseen`` ones were written after, with other tools, languages and words,
each set when the rules had been changed by the one before. Exits with 1 if a target is missed on
those.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from typing import Any

from brim.agents.readers import AnyReader
from brim.memory.repetition import RULES as RULE_TEXTS
from brim.memory.repetition import RepetitionDetector
from labelled.dead_ends.developed import DEVELOPED
from labelled.dead_ends.developed_alikes import LOOK_ALIKES
from labelled.dead_ends.unclear import UNCLEAR
from labelled.dead_ends.unseen import UNSEEN
from labelled.dead_ends.unseen_2 import UNSEEN_2
from labelled.dead_ends.unseen_3 import UNSEEN_3
from labelled.dead_ends.unseen_4 import UNSEEN_4
from labelled.dead_ends.unseen_5 import UNSEEN_5
from labelled.dead_ends.unseen_6 import UNSEEN_6
from labelled.dead_ends.unseen_6_alikes import UNSEEN_6_ALIKES
from labelled.dead_ends.unseen_alikes import UNSEEN_ALIKES
from labelled.streams import Line, Scenario, Scenarios, Session
from report import Target, arguments, finish, table, this_machine

RULES = tuple(RULE_TEXTS)
SETS: dict[str, Scenarios] = {
    "developed": DEVELOPED + LOOK_ALIKES,
    "unseen": UNSEEN + UNSEEN_ALIKES,
    "unseen 2": UNSEEN_2,
    "unseen 3": UNSEEN_3,
    "unseen 4": UNSEEN_4,
    "unseen 5": UNSEEN_5,
    "unseen 6": UNSEEN_6 + UNSEEN_6_ALIKES,
}


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="a third of the variants")
    parser.add_argument(
        "--variants",
        type=int,
        default=12,
        metavar="N",
        help="how often each scenario is written anew",
    )
    parser.add_argument(
        "--wrong", action="store_true", help="also list every session that was judged wrongly"
    )
    options = parser.parse_args()
    variants = max(1, options.variants // 3) if options.quick else options.variants
    print(this_machine())
    scores = {name: Score(scenarios, variants) for name, scenarios in SETS.items()}
    for name, score in scores.items():
        score.print_table(name)
        if options.wrong:
            for wrong in score.wrong:
                print(f"  {wrong}")
    unclear = Score(UNCLEAR, variants)
    print(
        f"\nNot to be told apart from dead ends: found in {len(unclear.wrong)} of {unclear.sessions} sessions"
    )
    taken = microseconds([one for scenarios in SETS.values() for one in scenarios], variants)
    print(f"\nTime: {taken:.1f} microseconds for each event, readers not included")
    unseen = [name for name in SETS if name != "developed"]
    targets = [target for name in unseen for target in judge(name, scores[name])]
    numbers = {
        "variants": variants,
        "sets": {name: score.as_dict() for name, score in scores.items()},
        "unclear": {"sessions": unclear.sessions, "found": len(unclear.wrong)},
        "microseconds_per_event": taken,
    }
    return finish(options, numbers, targets)


def sessions(scenario: Scenario, variants: int) -> list[tuple[str, list[Line]]]:
    """Return the lines of *scenario*, in every shape and so many variants of each."""
    found = []
    for shape in scenario.shapes:
        for variant in range(variants):
            session = Session(shape, f"{scenario.name}/{shape}/{variant}")
            scenario.write(session)
            found.append((f"{scenario.name} {shape} {variant}", session.lines))
    return found


def detected(lines: list[Line]) -> dict[str, str]:
    """Return the rules that found something in *lines*, each with the last status that it came to."""
    reader, detector = AnyReader(), RepetitionDetector()
    statuses: dict[str, str] = {}
    for at, line in enumerate(json.loads(json.dumps(lines))):
        for event in reader.events(line, at):
            for dead_end in detector.update(event):
                statuses[dead_end.rule] = dead_end.status
    return statuses


class Score:
    """How often each rule was right and wrong, in sessions."""

    def __init__(self, scenarios: Scenarios, variants: int) -> None:
        self.right: Counter[str] = Counter()
        self.false: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.status: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.families = Counter(
            "look-alike" if not scenario.expects else "dead end" for scenario in scenarios
        )
        self.sessions = 0
        for scenario in scenarios:
            for name, lines in sessions(scenario, variants):
                self.sessions += 1
                self._judge(scenario, name, detected(lines))

    def _judge(self, scenario: Scenario, name: str, found: dict[str, str]) -> None:
        for rule in RULES:
            if rule in scenario.expects:
                (self.right if rule in found else self.missed)[rule] += 1
                self.status[rule] += found.get(rule) == scenario.expects[rule]
            elif rule in found and rule not in scenario.allows:
                self.false[rule] += 1
        extra = set(found) - set(scenario.expects) - scenario.allows
        if extra or any(found.get(rule) != status for rule, status in scenario.expects.items()):
            self.wrong.append(f"{name}: found {found}, expected {scenario.expects}")

    def precision(self, rules: tuple[str, ...]) -> float | None:
        """How much of what *rules* found is so."""
        right, false = (
            sum(self.right[rule] for rule in rules),
            sum(self.false[rule] for rule in rules),
        )
        return right / (right + false) if right + false else None

    def recall(self, rules: tuple[str, ...]) -> float | None:
        """How much of what there is *rules* found."""
        right, missed = (
            sum(self.right[rule] for rule in rules),
            sum(self.missed[rule] for rule in rules),
        )
        return right / (right + missed) if right + missed else None

    def print_table(self, name: str) -> None:
        """Print one row for each rule."""
        rows = []
        for label, rules in (
            *((rule, (rule,)) for rule in RULES),
            ("all", RULES),
        ):
            counts = [
                sum(counter[rule] for rule in rules)
                for counter in (self.right, self.false, self.missed)
            ]
            rows.append(
                [
                    label,
                    *map(str, counts),
                    *(_share(f(rules)) for f in (self.precision, self.recall)),
                ]
            )
        families = f"{self.families['dead end']} kinds of dead ends, {self.families['look-alike']} look-alikes"
        title = f"{name.capitalize()}: {families}, {self.sessions:,} sessions"
        table(title, ["", "right", "false", "missed", "precision", "recall"], rows, [])
        ends, expected = (
            sum(self.status.values()),
            sum(self.right.values()) + sum(self.missed.values()),
        )
        print(
            f"came to the status that is true: {ends} of {expected}; sessions judged wrongly: {len(self.wrong)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return {
            "families": dict(self.families),
            "sessions": self.sessions,
            "rules": {
                rule: {
                    "right": self.right[rule],
                    "false": self.false[rule],
                    "missed": self.missed[rule],
                }
                for rule in RULES
            },
            "all": {"precision": self.precision(RULES), "recall": self.recall(RULES)},
            "wrong": self.wrong,
        }


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def microseconds(scenarios: Scenarios, variants: int) -> float:
    """Microseconds for each event: the least of three rounds over all sessions."""
    streams = []
    for scenario in scenarios:
        for _, lines in sessions(scenario, min(variants, 4)):
            reader = AnyReader()
            streams.append(
                [event for at, line in enumerate(lines) for event in reader.events(line, at)]
            )
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for events in streams:
            detector = RepetitionDetector()
            for event in events:
                detector.update(event)
        best = min(best, time.perf_counter() - start)
    return best / sum(map(len, streams)) * 1e6


def judge(name: str, score: Score) -> list[Target]:
    """Compare a set with what brim promises: to call something a dead end wrongly is worse than to
    miss one."""
    return [
        Target(f"{name}: precision", score.precision(RULES), at_least=0.98),
        Target(f"{name}: recall", score.recall(RULES), at_least=0.9),
    ]


if __name__ == "__main__":
    sys.exit(main())
