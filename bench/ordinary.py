"""Ordinary sessions under limits and blocks: none of them may hold a call: ``python
bench/ordinary.py``.

The ordinary sessions of ``bench/loops.py`` are written in the shape of each client, with what every
answer took, and brim's hooks are asked before and after every call. All sessions of a client are
one person's day: they share a home with limits of every kind that the day stays below, and with
blocks whose words the sessions use in other commands. Exits with 1 if a limit or a block holds a
call.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from brim.hooks.process import answer_to
from brim.money.changing import change_limits, limits_to_set
from brim.money.words import STOPPED_BY
from brim.rules.paragraphs import paragraph_of
from brim.sessions.index import SessionIndex
from brim.sessions.repository import project_of
from brim.sessions.requests import EVERYTHING, project_scope
from labelled.clients import CLIENTS, Sitting
from labelled.loops.developed import DEVELOPED
from labelled.loops.unseen import UNSEEN
from labelled.loops.unseen_2 import UNSEEN_2
from labelled.loops.unseen_3 import UNSEEN_3
from report import Target, arguments, finish, table, this_machine

LIMITS = ("100/day", "300/week", "2/session", "500", "50M tokens/day")
"""What the person has set for the project, and for each sub-agent 2M tokens."""

BLOCKS = (
    "run git push --force", "run npm publish", "run npm install --global", "run pip install --user",
    "run git stash drop", "run terraform apply", "run kubectl delete", "run cargo publish",
    "run docker compose down -v", "run apt-get remove",
    "edit dist/**", "edit migrations/**", "edit **/*.lock", "edit .github/workflows/**", "tool WebFetch",
)  # fmt: skip
"""What the person's rules refuse."""

MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.5", "gemini": "gemini-2.5-pro"}
FRESH, CACHED, WRITTEN = 1_500, 40_000, 300
"""Tokens of an ordinary answer: new input, what the cache has, and output."""

BEGINS = 1_794_700_000.0
_AFTER = {"claude": "PostToolUse", "codex": "PostToolUse", "gemini": "AfterTool"}
ORDINARY = [
    scenario for scenario in (*DEVELOPED, *UNSEEN, *UNSEEN_2, *UNSEEN_3) if not scenario.expects
]


class LimitedSitting(Sitting):
    """A sitting in a home with limits, whose answers cost money."""

    def __init__(self, shape: str, seed: str, folder: Path, home: Path) -> None:
        super().__init__(shape, seed, folder)
        self.home = home
        if shape == "codex":
            self._line("turn_context", {"model": MODELS[shape], "cwd": "/home/user/project"})

    def _called(
        self, name: str, given: dict[str, Any], out: str, failed: int | bool, *, ran: bool = True
    ) -> None:
        super()._called(name, given, out, failed, ran=ran)
        self._take()
        if ran:
            data = {
                "session_id": self.id,
                "transcript_path": str(self.transcript),
                "cwd": "/home/user/project",
            }
            event = _AFTER[self.shape]
            called = {
                "hook_event_name": event,
                "tool_name": name,
                "tool_input": given,
                "tool_response": out,
            }
            environ = {"HOME": str(self.home.parent), "BRIM_HOME": str(self.home)}
            answer_to(event, self.shape, {**data, **called}, environ, now=BEGINS + self._count)

    def _take(self) -> None:
        """Write down what the answer took."""
        id = f"{self.id}-{self._count}"
        if self.shape == "claude":
            usage = {
                "input_tokens": FRESH,
                "output_tokens": WRITTEN,
                "cache_read_input_tokens": CACHED,
            }
            message = {
                "role": "assistant",
                "id": id,
                "model": MODELS["claude"],
                "usage": usage,
                "content": [],
            }
            self._write(
                {
                    "type": "assistant",
                    "sessionId": self.id,
                    "requestId": f"r{id}",
                    "message": message,
                }
            )
        elif self.shape == "codex":
            used = {
                "input_tokens": FRESH + CACHED,
                "cached_input_tokens": CACHED,
                "output_tokens": WRITTEN,
            }
            sums = {key: amount * (self.calls + 1) for key, amount in used.items()}
            self._line(
                "token_usage_record", {"response_id": id, "usage": used, "thread_token_usage": sums}
            )
        else:
            tokens = {
                "input": FRESH + CACHED,
                "output": WRITTEN,
                "cached": CACHED,
                "thoughts": 0,
                "tool": 0,
            }
            line = {"type": "gemini", "id": f"g{id}", "content": "", "model": MODELS["gemini"]}
            self._write({**line, "tokens": {**tokens, "total": FRESH + CACHED + WRITTEN}})


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="one client instead of three").parse_args()
    print(this_machine())
    found = {client: run(client) for client in (CLIENTS[:1] if options.quick else CLIENTS)}
    heads = ["", "sessions", "calls", "spent", "held by a limit", "by a block", "as a loop"]
    table(
        "Ordinary sessions, by what held a call",
        heads,
        [[name, *each.values()] for name, each in found.items()],
        [],
    )
    held = sum(int(each["limit"]) + int(each["block"]) for each in found.values())
    targets = [
        Target("calls of ordinary sessions held by a limit or a block", held, at_most=0),
        Target(
            "ordinary sessions", sum(int(each["sessions"]) for each in found.values()), at_least=40
        ),
    ]
    return finish(options, {"clients": found}, targets)


def run(client: str) -> dict[str, str]:
    """Write every ordinary session of *client* into one home; return what was held."""
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        paragraphs = []
        for number, block in enumerate(BLOCKS):
            fields = {"text": f"Ask before you {block}.", "block": block, "kind": "constraint"}
            paragraphs.append(paragraph_of(f"rule-{number}", fields))
        (home / "rules.toml").write_text("\n".join(paragraphs), encoding="utf-8")
        project = project_of("/home/user/project", folder)
        limits = [
            *limits_to_set(LIMITS, project, subagent=False, now=BEGINS),
            *limits_to_set(["2M tokens"], EVERYTHING, subagent=True, now=BEGINS),
        ]
        change_limits(str(home / "config.yaml"), lambda _: limits)
        for number, scenario in enumerate(ORDINARY):
            sitting = LimitedSitting(
                client, f"{scenario.name}/{client}", Path(folder) / str(number), home
            )
            scenario.write(sitting)
            kinds["calls"] += sitting.calls
            for reason in sitting.reasons:
                words = {STOPPED_BY: "limit", "Your user doesn't": "block"}
                kinds[next((kind for begin, kind in words.items() if begin in reason), "loop")] += 1
        with SessionIndex(str(home / "index.db")) as index:
            spent = index.spent(project_scope(project)).cost
    sums = {
        "sessions": str(len(ORDINARY)),
        "calls": str(kinds["calls"]),
        "spent": f"${int(spent) / 1e6:.2f}",
    }
    return {**sums, **{kind: str(kinds[kind]) for kind in ("limit", "block", "loop")}}


if __name__ == "__main__":
    sys.exit(main())
