"""A long run in a short time: ``python bench/soak.py [--calls N] [--agents N] [--here] [--json
FILE]``.

Agents work at once, in a few projects, and call the hooks that ``brim init`` put into their
settings, while a person learns rules, and lets limits be reached and raises them. Every 200th hook
is killed (SIGKILL). At the end everything that brim keeps must be sound and of bounded size, and
every line of the log one that is explained here. Exits with 1 if something isn't. With ``--here``,
this interpreter's brim is used; otherwise a wheel is built and installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brim.files import try_lock
from brim.memory import Journal, ScratchWriter
from hook import install_wheel
from measure import say
from report import table, this_machine
from soak_clients import CLIENTS, STATUS, Agent, Call

KILLED = 200
"""Of so many calls one is killed."""
COMPACTIONS = 3
"""Of each agent."""
PROJECTS = 4
"""In which the agents work."""
PATIENCE = 10.0
"""Seconds after which a call counts as hanging."""

EXPLAINED = {
    r": nothing was answered: took too long$": "the machine was busy: a hook gives up after 0.9 s",
    r": took too long: only what was ready is answered$": "the same, after a part of the answer was ready",
    r"is in use by another process that writes to it; try again(; agents go on without this project .*)?$": (
        "another hook wrote for longer than 0.15 s"
    ),
    r"another process has held it for too long; try again": "another hook held the journal for longer than 0.4 s",
    r"a query took too many seconds and was stopped": "the machine was busy: a statement ends after 0.5 s",
}
"""What the log may say in such a run, and why; anything else is a failure."""

MOST_BYTES = {
    "log": (0, 600_000),
    "state": (12_000, 50_000),
    "store": (1_500, 4_000_000),
    "projects": (0, 40_000_000),
    ".brim": (1_500, 4_000_000),
    ".context": (1_200, 500_000),
    "other": (0, 12_000_000),
}
"""The most that brim may keep of each kind: bytes per call (``state``: per agent), and bytes on top
of that.

``projects`` are copies of projects' rules, ``.brim`` the projects' own stores.
"""


@dataclass
class Outcome:
    """What happened, and what is wrong."""

    calls: int = 0
    kills: int = 0
    answers: int = 0
    seconds: float = 0.0
    requests: int = 0
    dollars: float = 0.0
    held: int = 0
    limited: int = 0
    rules: int = 0
    compactions: int = 0
    prompts: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    log: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Run it, print what happened, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--calls",
        type=int,
        default=20_000,
        help="calls of hooks and the status line (default: 20000)",
    )
    parser.add_argument("--agents", type=int, default=20, help="agents at work (default: 20)")
    parser.add_argument(
        "--client", choices=[each.name for each in CLIENTS], help="only agents of this one"
    )
    parser.add_argument(
        "--at-once", type=int, default=2 * (os.cpu_count() or 1), help="hooks that run at once"
    )
    parser.add_argument(
        "--kill-every", type=int, default=KILLED, help="kill one of so many calls (default: 200)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--here", action="store_true", help="use this interpreter's brim, without a wheel"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="work in this new folder and keep it"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = (options.keep or Path(folder)).resolve()
        root.mkdir(parents=True, exist_ok=True)
        python = sys.executable if options.here else install_wheel(root)
        soak = Soak(root, python, options)
        done = soak.run()
    print(this_machine())
    figures = {
        name: value for name, value in asdict(done).items() if isinstance(value, int | float)
    }
    table(
        "What happened",
        ["", ""],
        [[name, f"{value:,.2f}".removesuffix(".00")] for name, value in figures.items()],
        [],
    )
    table(
        "What brim keeps, bytes",
        ["", ""],
        [[name, f"{size:,}"] for name, size in done.sizes.items()],
        [],
    )
    table(
        "Lines of the log", ["", ""], [[why, f"{number:,}"] for why, number in done.log.items()], []
    )
    for problem in done.problems:
        print(f"WRONG: {problem}")
    if options.json:
        options.json.write_text(
            json.dumps({"machine": this_machine(), **asdict(done)}, indent=1) + "\n", "utf-8"
        )
    return 1 if done.problems else 0


class Soak:
    """A home, projects, agents at work in them, and a person."""

    def __init__(self, root: Path, python: str, options: argparse.Namespace) -> None:
        self.root, self.python, self.options = root, python, options
        self.home, self.brim_home = root / "home", root / "home" / ".brim"
        self.projects = [
            root / f"project-{number}" for number in range(min(PROJECTS, options.agents))
        ]
        names = ("HOME", "PATH", "LANG")
        self.environ = {name: os.environ[name] for name in names if name in os.environ} | {
            "HOME": str(self.home)
        }
        self.done, self.lock = Outcome(), threading.Lock()
        self.slots = threading.Semaphore(options.at_once)
        self.rng, self.took = random.Random(options.seed), [0.1]
        self.owed = 0
        """Hooks that are still to be killed."""
        self.commands: dict[tuple[str, str], str] = {}
        self.changing, span = threading.Lock(), max(20, options.calls // 25)
        first, second = options.calls // 3, options.calls * 2 // 3
        self.plans: list[tuple[int, tuple[str, ...]]] = [
            (first, ("--all", "0.01/day")),
            (first + span, ("raise", "--all", "900/day")),
            (second, ("--all", "0.02/week")),
            (second + span, ("raise", "--all", "5000/week")),
        ]
        """The limits, and after how many calls they are set."""

    def run(self) -> Outcome:
        """Let everyone work, then look at what is left."""
        self.prepare()
        clients = [each for each in CLIENTS if self.options.client in (None, each.name)]
        agents: list[Agent] = [
            clients[number % len(clients)](
                self.home, self.projects[number % len(self.projects)], random.Random(number)
            )
            for number in range(self.options.agents)
        ]
        began, over = time.monotonic(), threading.Event()
        person = threading.Thread(target=self.person, args=[over])
        threads = [threading.Thread(target=self.work, args=[agent]) for agent in agents]
        for thread in (person, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        over.set()
        person.join()
        for agent in agents:
            for call in agent.ends():
                self.call(agent, call)
        self.done.seconds = round(time.monotonic() - began, 1)
        say("soak: looking at what is left")
        for check in (
            self.look_at_agents,
            self.look_at_stores,
            self.look_at_money,
            self.look_at_memory,
        ):
            check(agents)
        for look in (
            self.look_at_log,
            self.look_at_sizes,
            self.look_at_leftovers,
            self.look_at_doctor,
        ):
            look()
        return self.done

    def prepare(self) -> None:
        """Install brim for every client, as a person does, and read the commands that the clients
        will run."""
        for folder in (
            *(self.home / f".{each.name}" for each in CLIENTS),
            *(each / ".git" for each in self.projects),
        ):
            folder.mkdir(parents=True)
        for project in self.projects:
            (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        agents = [word for each in CLIENTS for word in ("--agent", each.name)]
        self.brim("init", "--yes", *agents)
        for name, file in (
            ("claude", "settings.json"),
            ("codex", "hooks.json"),
            ("gemini", "settings.json"),
        ):
            settings = json.loads((self.home / f".{name}" / file).read_text(encoding="utf-8"))
            for event, groups in settings["hooks"].items():
                self.commands[name, event] = groups[0]["hooks"][0]["command"]
            if name == "claude":
                self.commands[name, STATUS] = settings["statusLine"]["command"]
        self.brim("learn", "--user", "--block", "git push --force", "Never force-push.")
        for number, project in enumerate(self.projects):
            self.brim("learn", f"In Python files of part {number}, use pathlib.", at=project)

    def brim(self, *words: str, at: Path | None = None) -> dict[str, Any]:
        """Run a command as the person does; a failure is a problem."""
        command = [str(Path(self.python).with_name("brim")), *words, "--json"]
        ran = subprocess.run(
            command,
            env=self.environ,
            cwd=at or self.projects[0],
            capture_output=True,
            check=False,
            timeout=120,
        )
        if ran.returncode:
            self.wrong(
                f"brim {shlex.join(words)}: {ran.returncode} {(ran.stderr or ran.stdout).decode()[-400:]}"
            )
        found: dict[str, Any] = json.loads(ran.stdout) if ran.stdout.strip() else {}
        return found

    def wrong(self, problem: str) -> None:
        """Note a problem; of many the first hundred."""
        with self.lock:
            if len(self.done.problems) < 100:
                self.done.problems.append(problem)

    # What happens ---------------------------------------------------------------------------------

    def person(self, over: threading.Event) -> None:
        """Learn rules all along."""
        while not over.wait(0.05):
            if (
                self.done.calls / self.options.calls * min(50, max(2, self.options.calls // 40))
                > self.done.rules
            ):
                number = self.done.rules = self.done.rules + 1
                scope = ("--user",) if number % 3 == 0 else ()
                text = f"When {self.rng.choice(('testing', 'deploying', 'reviewing'))} part {number}, say so first."
                self.brim("learn", *scope, text, at=self.projects[number % len(self.projects)])

    def change_limits(self) -> None:
        """Twice set a limit that is reached already, and raise it a while later; nobody works
        meanwhile."""
        with self.changing:
            while self.plans and self.done.calls >= self.plans[0][0]:
                self.brim("limit", *self.plans.pop(0)[1])

    def work(self, agent: Agent) -> None:
        """Let *agent* work until its share of the calls is made."""
        try:
            share, made, steps, compacted = (
                self.options.calls // self.options.agents,
                0,
                agent.steps(),
                0,
            )
            call = next(steps)
            while made < share:
                answer = self.call(agent, call, may_die=True)
                made += 1
                call = steps.send(answer)
                if call.event == agent.prompt_event and made > share * (compacted + 1) / (
                    COMPACTIONS + 1
                ):
                    compacted += 1
                    made += self.compact(agent)
            for _ in range(compacted, COMPACTIONS):
                self.compact(agent)
        except Exception as error:
            self.wrong(f"{agent.name}: the driver failed: {type(error).__name__}: {error}")

    def compact(self, agent: Agent) -> int:
        """Let *agent* compact its window; return how many calls that took."""
        return len([self.call(agent, each, may_die=True) for each in agent.compact()])

    def call(self, agent: Agent, call: Call, *, may_die: bool = False) -> str | None:
        """Run a hook as the client does; return what it said, None if it was killed."""
        self.change_limits()
        command = self.commands[agent.name, call.event]
        environ = (
            {**self.environ, "CLAUDE_PROJECT_DIR": str(agent.project)}
            if agent.name == "claude"
            else self.environ
        )
        with self.lock:
            self.done.calls += 1
            number = self.done.calls
            self.owed += number % self.options.kill_every == 0
            dies = may_die and self.owed > 0
            self.owed -= dies
            moment = self.rng.uniform(0, statistics.median(self.took)) if dies else PATIENCE
        if number % 500 == 0:
            say(
                f"soak: {number:,} calls, {self.done.kills} killed, {len(self.done.problems)} problems"
            )
        with self.slots:
            began = time.monotonic()
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environ,
                cwd=agent.project,
                start_new_session=True,
            )
            try:
                out, errors = process.communicate(json.dumps(call.said).encode(), timeout=moment)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                with self.lock:
                    self.done.kills += dies
                if not dies:
                    self.wrong(f"{call.event} {agent.name}: ran for more than {PATIENCE:g} s")
                return None
            took = time.monotonic() - began
            with self.lock:
                self.owed += dies  # it was faster than its moment: another one is killed
        self.note(agent, call, process.returncode, out, errors, took)
        return out.decode("utf-8", "replace")

    def note(
        self, agent: Agent, call: Call, code: int, out: bytes, errors: bytes, took: float
    ) -> None:
        """Check one answer: exit code 0, nothing on standard error, and nothing or what the client
        can read."""
        with self.lock:
            self.took = [*self.took[-99:], took]
            self.done.answers += bool(out)
        if code or errors:
            self.wrong(f"{call.event} {agent.name}: exit code {code}, {errors[:200]!r}")
        if out and call.event not in (STATUS, "PreCompact"):
            try:
                json.loads(out)
            except ValueError:
                self.wrong(f"{call.event} {agent.name}: not JSON: {out[:200]!r}")

    # What is left ---------------------------------------------------------------------------------

    def look_at_agents(self, agents: list[Agent]) -> None:
        """Add up what the agents did; each must have compacted, and the limits must have held
        some."""
        self.done.requests = sum(agent.requests for agent in agents)
        self.done.dollars = round(sum(int(agent.spent) for agent in agents) / 1e6, 2)
        self.done.held = sum(agent.held for agent in agents)
        self.done.compactions = sum(agent.compactions for agent in agents)
        self.done.prompts = sum(len(agent.asked) for agent in agents)
        if self.done.compactions < COMPACTIONS * len(agents):
            self.wrong(f"only {self.done.compactions} compactions")
        self.done.limited = sum(agent.limited for agent in agents)
        if not self.done.limited:
            self.wrong("no limit held a call")

    def look_at_stores(self, _: list[Agent]) -> None:
        """Let SQLite check every database."""
        for name in ("rules.db", "state.db", "index.db"):
            path = self.brim_home / name
            if not path.exists():
                continue
            database = sqlite3.connect(path)
            problem = database.execute("PRAGMA integrity_check").fetchone()[0]
            database.close()
            if problem != "ok":
                self.wrong(f"{name}: {problem}")

    def look_at_money(self, agents: list[Agent]) -> None:
        """Compare the index with what the agents wrote: each request once, to the micro-dollar."""
        usage = self.brim("usage", "--by", "session")
        sessions = {row["session"]: (row["requests"], row["cost"]) for row in usage["rows"]}
        for agent in agents:
            counted = sessions.get(agent.session, (0, 0))
            if counted != (agent.requests, agent.spent):
                self.wrong(
                    f"{agent.name} {agent.session}: brim usage has {counted[0]} requests for "
                    f"{counted[1]}, its file {agent.requests} for {agent.spent}"
                )
        spent = sum(agent.spent for agent in agents)
        total = usage["total"]
        if (total["requests"], total["cost"]) != (self.done.requests, spent):
            self.wrong(
                f"brim usage has {total['requests']} requests for {total['cost']}, not {spent}"
            )
        for limit in self.brim("limit")["limits"]:
            if limit["spent"] != usage["spent"]:
                self.wrong(f"{limit['limit']} counts {limit['spent']}, brim usage {usage['spent']}")

    def look_at_memory(self, agents: list[Agent]) -> None:
        """Compare each journal with what was typed, and what is shown with what the journal renders
        again."""
        for agent in agents:
            writer = ScratchWriter(agent.project, session=agent.session, claim=False)
            journal = Journal(str(Path(writer.folder) / "journal.jsonl"))
            found = Counter(
                entry.text
                for entry in journal.refresh()
                if entry.kind == "human" and entry.session == agent.session
            )
            where = f"{agent.name} {agent.session} in {Path(writer.folder).relative_to(self.root)}"
            missing = [text for text in agent.asked if found[text] != 1]
            if missing:
                what = ", ".join(f"{text!r} {found[text]} times" for text in missing[:3])
                self.wrong(
                    f"{where}: {len(missing)} of {len(agent.asked)} prompts aren't there once: {what}"
                )
            if others := set(found) - {*agent.asked, *agent.refused}:
                self.wrong(f"{where}: nobody typed {sorted(others)[:3]}")
            if journal.broken > self.done.kills:
                self.wrong(f"{where}: {journal.broken} lines can't be read")
            if changed := writer.rebuild():
                self.wrong(
                    f"{where}: the journal renders other files than there are: {', '.join(changed)}"
                )

    def look_at_log(self) -> None:
        """Explain every line of the log."""
        folder = self.brim_home / "log"
        lines = [
            line
            for path in folder.glob("*")
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        for line in lines:
            why = next((why for pattern, why in EXPLAINED.items() if re.search(pattern, line)), "")
            if why:
                self.done.log[why] = self.done.log.get(why, 0) + 1
            else:
                self.wrong(f"the log says: {line}")

    def look_at_sizes(self) -> None:
        """Add up what brim keeps, and compare it with what it may keep."""
        sizes = dict.fromkeys(MOST_BYTES, 0)
        for path in files_in(self.brim_home):
            part = path.relative_to(self.brim_home).parts[0]
            part = "store" if part.startswith("rules.db") else part
            sizes[part if part in sizes else "other"] += path.stat().st_size
        for project in self.projects:
            sizes[".brim"] += sum(path.stat().st_size for path in files_in(project / ".brim"))
            sizes[".context"] += sum(path.stat().st_size for path in files_in(project / ".context"))
        self.done.sizes = sizes
        for name, (each, least) in MOST_BYTES.items():
            most = least + each * (self.options.agents if name == "state" else self.done.calls)
            if sizes[name] > most:
                self.wrong(f"{name}: {sizes[name]:,} bytes, more than {most:,}")

    def look_at_leftovers(self) -> None:
        """Look for processes and locks that are left, and for more unfinished files than killed
        hooks."""
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (
                    str(self.brim_home).encode() in (entry / "cmdline").read_bytes()
                    and int(entry.name) != os.getpid()
                ):
                    self.wrong(f"process {entry.name} is still there")
        unfinished = []
        for path in (
            each for folder in (self.brim_home, *self.projects) for each in files_in(folder)
        ):
            if path.name.endswith(".tmp") or path.name.startswith(".tmp-"):
                unfinished.append(path)
            if path.name.endswith(".lock"):
                with path.open("rb+") as file:
                    if not try_lock(file.fileno()):
                        self.wrong(f"{path.relative_to(self.root)}: is locked")
        if len(unfinished) > self.done.kills:
            self.wrong(f"{len(unfinished)} unfinished files after {self.done.kills} kills")

    def look_at_doctor(self) -> None:
        """Let ``brim doctor`` look at each project."""
        for project in self.projects:
            found = self.brim("doctor", at=project)
            for each in found.get("findings", []):
                if each["state"] == "wrong":
                    self.wrong(f"doctor in {project.name}: {each['what']}: {each['text']}")


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the files below *folder*."""
    return (path for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    raise SystemExit(main())
