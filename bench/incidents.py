"""Incidents that people reported, replayed through brim's hooks: ``python bench/incidents.py``.

``bench/incidents`` has what real clients wrote and gave to their hooks when a scripted model did
what the reports say; ``python -m tests.e2e.incidents`` records it. Here the same lines are written
and the hooks get the same input, in the same order and at the same time, with a limit set. What
counts is how far beyond the limit the sum was when the last thread was held; exits with 1 if that
is more than the calls in flight and one answer. Threads that are held go on to ask, to see when the
hook ends their turn.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brim.hooks.process import answer_to
from brim.hooks.statusline import lines_for
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.money.amounts import in_unit
from brim.money.changing import change_limits, limits_to_set
from brim.money.limits import read_limit
from brim.sessions.repository import project_of
from report import Target, arguments, finish, table, this_machine

Line = dict[str, Any]

FOLDER = Path(__file__).parent / "incidents"
MOST_REFUSALS = 10
"""After so many refused calls a turn isn't ended."""
BEFORE, AFTER = ("PreToolUse", "BeforeTool"), ("PostToolUse", "PostToolUseFailure", "AfterTool")


@dataclass(frozen=True)
class Case:
    """A recording, and the limit that should hold it."""

    name: str
    recording: str
    limit: str
    subagent: bool = False
    """Whether the limit is for each sub-agent."""


CASES = (
    Case("one command, again and again", "loop-claude", "1/day"),
    Case("two searches in turn", "loop-codex", "1/day"),
    Case("one request for hours", "loop-gemini", "1/day"),
    Case("sub-agents, 8 at once", "sub-agents", "5/day"),
    Case("one of these sub-agents", "sub-agents", "50k tokens", subagent=True),
    Case("a plan used up in 3 prompts", "plan-claude", "90%/5h"),
    Case("the same in Codex", "plan-codex", "90%/5h"),
)


@dataclass(frozen=True)
class Recording:
    """What a client wrote and gave to its hooks."""

    about: Line
    events: list[Line]

    @classmethod
    def read(cls, name: str) -> Recording:
        """Return the recording *name*."""
        about, *events = map(
            json.loads, (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        )
        return cls(about, events)

    @property
    def takes(self) -> Tokens:
        """The tokens of one answer."""
        fresh, read, output = self.about["fresh"], self.about["cached"], self.about["written"]
        if self.about["client"] == "claude":
            return Tokens(input=8, cache_write_5m=fresh, cache_read=read, output=output)
        return Tokens(input=fresh, cache_read=read, output=output)

    def placed(self, folder: Path) -> list[Line]:
        """Return the events in a home that is *folder*."""
        return list(json.loads(json.dumps(self.events).replace("/home/user", str(folder))))

    @property
    def begins(self) -> float:
        """When it began, in seconds since 1970."""
        return min(float(event["at"]) for event in self.events if "at" in event)


class Replay:
    """A home with brim's hooks, a project, and one session in it."""

    def __init__(self, recording: Recording, case: Case | None, folder: Path) -> None:
        self.home, self.project, self.client = (
            folder / ".brim",
            folder / "shop",
            recording.about["client"],
        )
        self.home.mkdir(mode=0o700)
        (self.project / ".git").mkdir(parents=True)
        if case is not None:  # the limit alone
            (self.home / "config.yaml").write_text("hooks:\n  loops: off\n", encoding="utf-8")
            limits = limits_to_set(
                [case.limit],
                project_of(str(self.project), str(folder)),
                subagent=case.subagent,
                now=recording.begins,
            )
            change_limits(str(self.home / "config.yaml"), lambda _: limits)
        self.environ = {
            "HOME": str(folder),
            "BRIM_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }
        self.events = recording.placed(folder)
        self.calls: dict[str, int] = {}
        """Calls of each thread: as many as its answers."""
        self.came_to: dict[str, int] = {}
        """Calls of each thread when it was held."""
        self.refused: dict[str, int] = {}
        """Calls of each thread that were refused until its turn was ended."""
        self.ended: set[str] = set()
        self.held_at = 0
        """The first call that was held."""

    def run(self, *, until_held: bool = False) -> None:
        """Play the recording; a thread whose turn is ended does no more."""
        is_held: dict[str, bool] = {}
        for event in self.events:
            thread = thread_of(event)
            if thread in self.ended or (until_held and self.held_at):
                continue
            if "line" in event:
                self._write(Path(event["file"]), event["line"])
                continue
            given = event["given"]
            name = given.get("hook_event_name", "")
            if name in AFTER and is_held.get(thread):
                continue
            if name in BEFORE:
                self.calls[thread] = self.calls.get(thread, 0) + 1
            answer = self._answer(event["hook"], given, event["at"])
            if name in BEFORE:
                is_held[thread] = _is_held(answer)
                if is_held[thread]:
                    self._hold(thread, answer)

    def _hold(self, thread: str, answer: Line) -> None:
        self.held_at = self.held_at or sum(self.calls.values())
        self.came_to.setdefault(thread, self.calls[thread])
        self.refused[thread] = self.refused.get(thread, 0) + 1
        if answer.get("continue") is False or self.refused[thread] > MOST_REFUSALS:
            self.ended.add(thread)

    def _write(self, path: Path, line: Line) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _answer(self, hook: list[str], given: Line, at: float) -> Line:
        if hook[0] == "statusline":
            lines_for(json.dumps(given).encode(), self.environ, now=at)
            return {}
        _, event, agent = hook
        return dict(json.loads(answer_to(event, agent, given, self.environ, now=at) or "{}"))


def thread_of(event: Line) -> str:
    """Return the sub-agent that an event is of; empty for the main thread."""
    if "line" in event:
        found = re.search(r"/agent-([^/]+)\.jsonl$", event["file"])
        return found[1] if found else ""
    return str(event["given"].get("agent_id") or "")


def _is_held(answer: Line) -> bool:
    decided = answer.get("hookSpecificOutput", {}).get("permissionDecision")
    return (
        decided == "deny"
        or answer.get("decision") in ("deny", "block")
        or answer.get("continue") is False
    )


@dataclass(frozen=True)
class Outcome:
    """What one incident came to. Amounts are in the limit's unit."""

    name: str
    client: str
    source: str
    limit: str
    unit: str
    amount: int
    recorded: int
    """What all that was recorded came to."""
    spent: int
    one: int
    """What one answer takes."""
    in_flight: int
    held_at: int
    refused: int
    """Calls that were refused until the turn was ended; more than ``MOST_REFUSALS`` if it
    wasn't."""
    loop_at: int
    """The first call that was held as a loop, without a limit; 0 if none was."""

    @property
    def beyond(self) -> int:
        """How far beyond the limit the sum went."""
        return max(0, self.spent - self.amount)


def measure(case: Case) -> Outcome:
    """Replay *case*."""
    recording = Recording.read(case.recording)
    about, takes = recording.about, recording.takes
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(recording, case, Path(folder))
        replay.run()
    with tempfile.TemporaryDirectory() as folder:
        looping = Replay(recording, None, Path(folder))
        if case.recording.startswith("loop"):
            looping.run(until_held=True)
    ceiling = read_limit(case.limit, subagent=case.subagent)
    price = PriceList().request(takes, about["model"], recording.begins) or 0
    one = {"usd": price, "tokens": takes.fresh, "percent": round(100 * about["percent"])}[
        ceiling.unit
    ]
    begins, amount = (
        (round(100 * about["begins"]), 100 * ceiling.amount)
        if ceiling.unit == "percent"
        else (0, ceiling.amount)
    )
    calls = [
        event["given"]
        for event in recording.events
        if event.get("given", {}).get("hook_event_name") in BEFORE
    ]
    threads = [str(each.get("agent_id") or "") for each in calls]
    held = {thread: replay.came_to.get(thread, replay.calls[thread]) for thread in replay.calls}
    if case.subagent:
        recorded, spent, flight = max(map(threads.count, set(threads))), max(held.values()), 1
    else:
        recorded, spent, flight = len(threads), sum(held.values()), max(1, about["agents"])
    sums = (begins + one * recorded, begins + one * spent, one, flight, replay.held_at)
    names = (case.name, about["client"], about["source"], ceiling.text, ceiling.unit, amount)
    return Outcome(*names, *sums, max(replay.refused.values(), default=0), looping.held_at)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="only the first three")
    parser.add_argument("--only", metavar="RECORDING", help="only the cases of this recording")
    options = parser.parse_args()
    print(this_machine())
    cases = [
        each
        for each in CASES[: 3 if options.quick else None]
        if options.only in (None, each.recording)
    ]
    found = [measure(each) for each in cases]
    heads = ["", "report", "client", "limit", "recorded", "one answer", "in flight", "held at call", "came to",
             "beyond the limit", "refusals until the turn ends", "held as a loop at call"]  # fmt: skip
    table("Incidents, replayed with a limit", heads, [_row(each) for each in found], [])
    targets = [
        Target(
            f"{each.name}: beyond the limit, in answers",
            each.beyond / each.one,
            at_most=each.in_flight + 1,
        )
        for each in found
    ]
    targets += [
        Target(f"{each.name}: was held", min(1, each.held_at), at_least=1) for each in found
    ]
    return finish(
        options, {"incidents": [{**asdict(each), "beyond": each.beyond} for each in found]}, targets
    )


def _row(outcome: Outcome) -> list[str]:
    def said(amount: int) -> str:
        return (
            f"{amount / 100:.1f}%" if outcome.unit == "percent" else in_unit(amount, outcome.unit)
        )

    share = f" ({100 * outcome.beyond / outcome.amount:.1f}%)"
    sums = (said(outcome.recorded), said(outcome.one), str(outcome.in_flight), str(outcome.held_at))
    beyond = said(outcome.beyond) + share if outcome.beyond else "nothing"
    ended = str(outcome.refused) if outcome.refused <= MOST_REFUSALS else "isn't ended"
    about = [outcome.name, outcome.source, outcome.client, outcome.limit]
    return [*about, *sums, said(outcome.spent), beyond, ended, str(outcome.loop_at or "-")]


if __name__ == "__main__":
    sys.exit(main())
