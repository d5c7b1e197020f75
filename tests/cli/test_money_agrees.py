"""``brim usage --json`` and ``brim limit --json`` always say the same, whatever happened."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Brim
from tests.sessions.window.transcripts import answer, cost_state, usage

MODELS = ("claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "claude-opus-4-5")
DAYS = (-400, -40, -8, -1, 0, 0, 0, 1, 9)
"""How many days a client's clock is ahead of this machine's."""
SESSIONS = ("s-1", "s-2", "s-3")
FOLDERS = ("shop", "shop-tree", "web")
"""A repository, a worktree of it, and another project."""
FILE_CHANGES = (
    *("request", "request", "request", "lower line", "cheaper model", "client's total"),
    *("fork", "copy", "truncate", "delete"),
)
INDEX_CHANGES = ("damage", "lose", "lock", "foreign", "full", "kill")
STEPS = st.tuples(
    st.sampled_from(FILE_CHANGES + INDEX_CHANGES),
    st.sampled_from(SESSIONS),
    st.sampled_from(FOLDERS),
    st.integers(1, 200_000),
    st.sampled_from(MODELS),
    st.sampled_from(DAYS),
)
MAY_LOWER = {"lose", "damage", "foreign", "full", "client's total"}
"""Only a lost index without a copy, and a total that further lines explain, may lower a sum."""
Step = tuple[str, str, str, int, str, int]


class Machine:
    """A home with projects and sessions, to which things happen."""

    def __init__(self, root: Path) -> None:
        self.brim = Brim(root)
        self.brim.environ["TZ"] = "UTC"
        self.projects = self.brim.home / ".claude" / "projects"
        for name in ("shop", "web"):
            (self.brim.home / name / ".git").mkdir(parents=True)
        git = self.brim.home / "shop" / ".git" / "worktrees" / "tree"
        git.mkdir(parents=True)
        (git / "commondir").write_text("../..\n")
        tree = self.brim.home / "shop-tree"
        tree.mkdir()
        (tree / ".git").write_text(f"gitdir: {git}\n")
        (git / "gitdir").write_text(f"{tree / '.git'}\n")
        self.index = self.brim.home / ".brim" / "index.db"
        self.count = 0
        self.brim("limit", "--all", "1e6/day", "1e6/month", "999999")
        for name in ("shop", "web"):
            self.brim("limit", "1e6/month", cwd=self.brim.home / name)

    def path(self, session: str, folder: str) -> Path:
        """Return where a session in *folder* is written."""
        slug = str(self.brim.home / folder).replace("/", "-")
        return self.projects / slug / f"{session}.jsonl"

    def append(self, path: Path, line: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def change(self, step: Step) -> None:
        """Let one thing happen."""
        kind, session, folder, tokens, model, days = step
        path = self.path(session, folder)
        moment = time.gmtime(time.time() + 86_400 * days)
        about: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", moment),
            "session": session,
            "cwd": str(self.brim.home / folder),
        }
        if kind == "request":
            self.count += 1
            id = f"m{self.count}"
            self.append(path, answer(id, f"r{id}", usage(tokens), model=model, **about))
        elif kind in ("lower line", "cheaper model"):
            id = f"m{1 + tokens % max(1, self.count)}"
            spent = usage(1) if kind == "lower line" else usage(tokens)
            self.append(path, answer(id, f"r{id}", spent, model=MODELS[1], **about))
        elif kind == "client's total":
            self.append(path, {**cost_state(tokens / 50_000), "sessionId": session})
        elif kind in INDEX_CHANGES:
            self.change_index(kind)
        elif path.exists():
            self.change_file(kind, path, session)

    def change_file(self, kind: str, path: Path, session: str) -> None:
        if kind == "delete":
            path.unlink()
        elif kind == "truncate":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        elif kind == "copy":
            shutil.copy(path, self.path(f"copy-of-{session}", "web").parent.parent / "any.jsonl")
        else:
            fork = path.with_name(f"fork-{self.count}.jsonl")
            fork.write_text(path.read_text().replace(f'"{session}"', f'"fork-{self.count}"'))

    def change_index(self, kind: str) -> None:
        if kind == "kill":
            command = self.brim.start(
                "usage", "--json", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(0.05)
            command.send_signal(signal.SIGKILL)
            command.wait(60)
        elif self.index.exists() and kind == "damage":
            self.index.write_bytes(b"damaged" * 1_000)
        elif kind == "lose":
            for part in ("", "-wal", "-shm"):
                Path(f"{self.index}{part}").unlink(missing_ok=True)

    def check(self, kind: str = "") -> int:
        """Check that both commands agree while the index is as *kind* says; return the total."""
        with ExitStack() as stack:
            if kind == "lock" and self.index.exists():
                lock = sqlite3.connect(self.index, isolation_level=None)
                stack.callback(lock.close)
                lock.execute("BEGIN IMMEDIATE")
            if kind in ("foreign", "full"):
                stack.enter_context(self.unusable(kind))
            return self.compare()

    def unusable(self, kind: str) -> ExitStack:
        """Make the index one that can't be used, until the end of the block."""
        aside = self.index.with_name("aside")
        aside.mkdir(exist_ok=True)
        parts = [part for part in self.index.parent.glob("index.db*") if part.is_file()]
        for part in parts:
            part.rename(aside / part.name)
        if kind == "foreign":
            self.index.write_bytes(b"")
            with sqlite3.connect(self.index) as foreign:
                foreign.execute("CREATE TABLE other (a)")
            foreign.close()
        else:
            self.index.symlink_to("/dev/full")

        def put_back() -> None:
            for part in self.index.parent.glob("index.db*"):
                part.unlink()
            for part in aside.iterdir():
                part.rename(self.index.with_name(part.name))

        stack = ExitStack()
        stack.callback(put_back)
        return stack

    def compare(self) -> int:
        while True:
            today = time.strftime("%Y-%m-%d", time.gmtime())
            rows = self.brim("limit", "--json").json["limits"]
            spent = {(Path(row["project"]).name, row["period"]): row["spent"] for row in rows}
            total = self.usage()
            expected = {
                ("*", "day"): self.usage("--since", today),
                ("*", "month"): self.usage("--since", f"{today[:7]}-01"),
            }
            for name in ("shop", "web"):
                project = str(self.brim.home / name)
                month = self.usage("--since", f"{today[:7]}-01", "--project", project)
                expected[name, "month"] = month
            if time.strftime("%Y-%m-%d", time.gmtime()) == today:
                break  # else a day began meanwhile
        del spent["*", "total"]
        assert spent == expected
        return total

    def usage(self, *options: str) -> int:
        """Return what ``brim usage`` says was spent."""
        report = self.brim("usage", "--utc", "--json", *options).json
        sums = (report["total"], report["unattributed"], report["estimated"])
        return sum((part or {}).get("cost") or 0 for part in sums)


@settings(
    max_examples=8,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # shrinking takes minutes: each step runs commands
)
@given(st.lists(STEPS, min_size=4, max_size=9))
def test_usage_and_limits_agree_after_everything_that_can_happen(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        machine = Machine(Path(folder))
        total = 0
        for step in steps:
            machine.change(step)
            spent = machine.check(step[0])
            if not MAY_LOWER & {kind for kind, *_ in steps}:
                assert spent >= total
            total = spent


def test_twenty_commands_at_once_some_of_them_killed_agree(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for number in range(40):
        machine.change(("request", SESSIONS[number % 3], FOLDERS[number % 3], 1_000, MODELS[0], 0))
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    commands = []
    for number in range(20):
        words = ("usage", "--json") if number % 2 else ("limit", "--json")
        commands.append(machine.brim.start(*words, **quiet))
    for command in commands[::4]:
        command.send_signal(signal.SIGKILL)
    for command in commands:
        command.wait(300)
    assert machine.check() == 40 * 3_075


@pytest.mark.parametrize("kind", ["", "lock", "foreign", "full"])
def test_they_agree_whatever_state_the_index_is_in(tmp_path: Path, kind: str) -> None:
    machine = Machine(tmp_path)
    for folder in FOLDERS:
        machine.change(("request", f"s-{folder}", folder, 1_000, MODELS[0], 0))
    machine.check()
    machine.change(("request", "s-new", "shop", 1_000, MODELS[0], 0))
    assert machine.check(kind) == 4 * 3_075
