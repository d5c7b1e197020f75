"""A month of work: ``python bench/month.py [--quick] [--json FILE]``.

600 sessions of Claude Code, Codex and Gemini CLI, one after the other, call the hooks that ``brim
init`` installed, each with a session file of half a megabyte. What a hook takes on the last day is
compared with the first, in turn with ``python -I -c pass``. Then: how large ``~/.brim`` is, whether
a session still starts with the same text, and how long bare ``brim`` takes. Exits with 1 if a
target is missed.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from hook import BARE, Environ, install_wheel, timed
from measure import say
from report import Target, arguments, finish, table, this_machine
from soak_clients import CLIENTS, STATUS, Agent, Call

DAYS = 30
A_DAY = 20
"""Sessions."""
PROJECTS = 4
OUTPUTS = 24
"""Results of tools in a session file beside those of the turns."""
OUTPUT = "src/app/parser.py:120: warning: the last line is dropped if it has no newline\n" * 250
"""One of them: 20 KB."""
RULES = (
    "Use pnpm, not npm.",
    "Never force-push.",
    "In Python files use pathlib.",
    "Run `make lint` before you commit.",
    "Money is Decimal, never float.",
    "Don't edit files in migrations/.",
)


def main() -> int:
    """Replay the month, print, and return the exit status."""
    options = arguments(__doc__, quick="two sessions a day instead of 20").parse_args()
    print(this_machine())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        month = Month(root, install_wheel(root))
        month.replay(2 if options.quick else A_DAY)
        size = month.size()
        seconds = month.seconds_of_brim()
    rows = []
    targets = []
    for name in sorted(month.first.keys() & month.last.keys()):
        before = statistics.median(month.first[name])
        after = statistics.median(month.last[name])
        rows.append([name, f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}"])
        targets.append(Target(f"{name}: last day by first day", after / before, at_most=1.25))
    table(
        "Processor time of a hook, times bare Python",
        ["", "first day", "last day", "ratio"],
        rows,
        [],
    )
    targets += [
        Target("megabytes in ~/.brim", size / 1e6, at_most=200),
        Target("texts at the start of a session, for each project", month.most_starts, at_most=1),
        Target("seconds of bare brim", seconds, at_most=0.5),
    ]
    numbers = {"first": month.first, "last": month.last, "bytes": size, "seconds": seconds}
    return finish(options, numbers, targets)


class Month:
    """A home with brim, and the sessions of a month in it."""

    def __init__(self, root: Path, python: str) -> None:
        self.home = root / "home"
        self.python = python
        self.projects = [root / f"project-{number}" for number in range(PROJECTS)]
        self.environ: Environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.commands: dict[tuple[str, str], str] = {}
        self.first: dict[str, list[float]] = {}
        self.last: dict[str, list[float]] = {}
        self.starts: dict[tuple[str, Path], set[str]] = {}
        self._install()

    def _install(self) -> None:
        """Install brim for every client, as a person does."""
        for client in CLIENTS:
            (self.home / f".{client.name}").mkdir(parents=True)
        for project in self.projects:
            (project / ".git").mkdir(parents=True)
            (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        agents = [word for client in CLIENTS for word in ("--agent", client.name)]
        self._brim("init", "--yes", *agents)
        for text in RULES:
            self._brim("learn", "--user", text)
        self._brim("limit", "5000/month")
        files = {"claude": "settings.json", "codex": "hooks.json", "gemini": "settings.json"}
        for name, file in files.items():
            settings = json.loads((self.home / f".{name}" / file).read_text(encoding="utf-8"))
            for event, groups in settings["hooks"].items():
                self.commands[name, event] = groups[0]["hooks"][0]["command"]
            if name == "claude":
                self.commands[name, STATUS] = settings["statusLine"]["command"]

    def _brim(self, *words: str) -> None:
        command = [str(Path(self.python).with_name("brim")), *words]
        subprocess.run(
            command, env=self.environ, cwd=self.projects[0], capture_output=True, check=True
        )

    def replay(self, a_day: int) -> None:
        """Work for a month, *a_day* sessions each day."""
        for day in range(DAYS):
            say(f"month: day {day + 1} of {DAYS}")
            for number in range(a_day):
                self._work(day, day * a_day + number)

    def _work(self, day: int, number: int) -> None:
        """Let one session work: two turns, in every third a compaction between them."""
        client = CLIENTS[number % len(CLIENTS)]
        project = self.projects[number % PROJECTS]
        agent = client(self.home, project, random.Random(number), timedelta(days=DAYS - 1 - day))
        for _ in range(OUTPUTS):
            output_id = f"read_{agent.session[:8]}_{agent.next()}"
            agent.request((output_id, "Read", {"file_path": str(project / "src/app/parser.py")}))
            agent.write_result(output_id, OUTPUT, failed=False)
        steps = agent.steps()
        call = next(steps)
        turns = 0
        while True:
            answer = self._call(agent, call, day)
            call = steps.send(answer)
            if call.event != agent.prompt_event:
                continue
            turns += 1
            if turns > 2:
                break
            if turns == 2 and number % 3 == 0:
                for compaction in agent.compact():
                    self._call(agent, compaction, day)
        for ending in agent.ends():
            self._call(agent, ending, day)

    def _call(self, agent: Agent, call: Call, day: int) -> str:
        """Run a hook as the client does; return what it said."""
        command = ["/bin/sh", "-c", self.commands[agent.name, call.event]]
        environ = {**self.environ, "CLAUDE_PROJECT_DIR": str(agent.project)}
        if agent.name != "claude":
            environ = dict(self.environ)
        said = json.dumps(call.said).encode()
        (_, taken), answer = timed(command, environ, said)
        if day in (0, DAYS - 1):
            (_, bare), _ = timed([self.python, *BARE.split()[1:]], self.environ)
            times = self.first if day == 0 else self.last
            times.setdefault(call.event, []).append(taken / bare)
        text = answer.decode()
        if call.event == "SessionStart" and call.said.get("source") == "startup":
            self.starts.setdefault((agent.name, agent.project), set()).add(text)
        return text

    @property
    def most_starts(self) -> int:
        """With how many different texts the sessions of one client in one project started."""
        return max(len(texts) for texts in self.starts.values())

    def size(self) -> int:
        """Bytes in ``~/.brim``."""
        files = (self.home / ".brim").rglob("*")
        return sum(file.stat().st_size for file in files if file.is_file())

    def seconds_of_brim(self) -> float:
        """How long bare ``brim`` takes, the median of nine runs."""
        times = []
        for _ in range(9):
            began = time.perf_counter()
            self._brim()
            times.append(time.perf_counter() - began)
        return statistics.median(times)


if __name__ == "__main__":
    raise SystemExit(main())
