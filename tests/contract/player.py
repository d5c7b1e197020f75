"""Plays scenarios with the brim of the interpreter that runs it, and writes down what happened.

``python -m tests.contract.player FILE RENAMED SCENARIO...``, with the working folder at the root of the repository.
Without arguments it reads them from standard input, a list in JSON on each line, plays each in a fork of itself, and
prints how that ended: importing brim takes longer than most scenarios. It uses nothing but the standard library, so any
environment with brim in it will do. Every scenario has its own home, which the records call ``/home/user``, a clock
that stands still during a step, and no randomness.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import datetime
import importlib
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HOOKS = "brim.hooks.process"
"""The module whose ``main(argv, stdin, stdout, environ)`` answers a hook."""
COMMANDS = "brim.cli"
"""The module whose ``main()`` is the command line."""

ROOT = Path(__file__).parents[2].absolute()
HOME = "/home/user"
BASE = Path("/dev/shm") if os.path.isdir("/dev/shm") else Path.home()
NOW = 1_794_744_000.0  # 2026-11-15 12:00 UTC
SKIPPED = re.compile(r"(-wal|-shm|\.lock|/lock|\.tmp|\.pyc)$|/\.brim/cache/|/usage\.db$")
"""Files that hold nothing to keep: logs of SQLite, locks, caches."""

clock = SimpleNamespace(now=NOW)
_REAL_TIME = time.time


def main() -> None:
    """Play the scenarios that the command line or standard input names."""
    from tests.forks import load

    _stop_the_clock()
    load()
    if sys.argv[1:]:
        return play(*sys.argv[1:])
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            code = 1
            try:
                os.dup2(2, 1)  # standard output is for the answers
                play(*json.loads(line))
                code = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def play(out: str, renamed: str, *names: str) -> None:
    """Play the scenarios *names*, and write what happened into the file *out*."""
    from tests.contract.scenarios import SCENARIOS

    found = {}
    for name in names:
        while True:  # nine digits: paths are equally long and have equally many tokens every time
            base = BASE / f"brim-contract-{random.randrange(10**9):09}"
            try:
                base.mkdir(mode=0o700)
                break
            except FileExistsError:
                continue
        try:
            world = World(base / "user", json.loads(renamed))
            found[name] = world.play(SCENARIOS[name]())
        finally:
            os.chdir(ROOT)
            shutil.rmtree(base)
    Path(out).write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


class World:
    """A home, a project in it, and brim."""

    def __init__(self, root: Path, renamed: dict[str, str]) -> None:
        self.root, self.renamed = root, renamed
        self.environ = {
            "HOME": str(root),
            "PATH": f"{root}/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
            "TERM": "dumb",
            "NO_COLOR": "1",
        }
        (root / "shop" / ".git").mkdir(parents=True)
        (root / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / "bin").mkdir()
        os.chdir(root / "shop")  # where hooks look that are sent no folder
        self.slug = re.sub(r"[^A-Za-z0-9]", "-", str(root))
        python, package = _python()
        self.names = (
            (str(root), HOME),
            (self.slug, "-home-user"),
            (os.path.realpath(sys.executable), "PYTHON"),
            (python, "PYTHON"),
            (package, "PACKAGE"),
            (os.path.dirname(python), "BIN"),
            (_version(), "VERSION"),
            (os.getcwd(), "CWD"),
        )
        """What differs from one machine to the next, and what the records call it."""
        self.only_answers = False
        self.given: dict[str, str] = {}
        """What steps wrote, by path: it is no news."""
        self.known_files: dict[str, Any] = {}
        self.known_rows: dict[str, dict[str, list[str]]] = {}

    def play(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        """Take every step; return what each did, and what is left at the end."""
        records = []
        before = self.stamps()
        for number, step in enumerate(steps, 1):
            clock.now = NOW + 10 * number
            given = json.loads(self.outward(json.dumps(step)))
            record = getattr(self, given.pop("do"))(**given)
            after = self.stamps()
            if record is not None:
                if not self.only_answers:
                    record["files"] = sorted(name for name in before | after if before.get(name) != after.get(name))
                records.append({"step": f"{number:03} {record.pop('step')}", **record})
            before = after
        records = [_stable(json.loads(self.inward(json.dumps(record)))) for record in records]
        if self.only_answers:
            return {"steps": records}
        return {"steps": records, "left": self.left(), "rows": self.changed_rows()}

    # The steps ------------------------------------------------------------------------------------------------------

    def write(self, path: str, text: str, mode: int = 0o600) -> None:
        """Write a file."""
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        self.given[path] = text
        os.utime(file, (clock.now, clock.now))

    def add(self, path: str, lines: list[Any]) -> None:
        """Add lines of JSON to a file."""
        old = Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""
        self.write(path, old + "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    def copy(self, source: str, path: str) -> None:
        """Copy a file of the repository."""
        self.write(path, self.outward((ROOT / source).read_text(encoding="utf-8")))

    def remove(self, path: str) -> None:
        """Remove a file or a folder."""
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def home(self, file: str, *, today: bool = False) -> None:
        """Build the home that 0.1 left; *today* for processes, whose clock is the real one."""
        python, package = _python()
        later = int(_REAL_TIME() - NOW) - 3_600 if today else 0
        for name, kept in json.loads((ROOT / file).read_text(encoding="utf-8")).items():
            text = self.outward(kept["text"]).replace("PYTHON", python).replace("PACKAGE", package)
            text = re.sub(r"\b1794744\d{3}\.0\b", lambda found: f"{float(found[0]) + later}", text)
            path = self.outward(name)
            self.write(path, "" if path.endswith(".db") else text, kept["mode"])
            if path.endswith(".db"):
                connection = sqlite3.connect(path)
                connection.executescript(text)
                connection.close()

    def baseline(self) -> None:
        """What is there now is not written down at the end."""
        self.known_files, self.known_rows = dict(self.files()), self.rows()

    def look(self) -> dict[str, Any]:
        """Write down all files as they are now."""
        return {"step": "look", "left": self.left()}

    def processes(self) -> None:
        """From now on only answers count: the times that real processes write down are those of the day."""
        self.only_answers = True

    def brim(self, words: list[str], stdin: str = "", cwd: str = "shop", **environ: str) -> dict[str, Any]:
        """Run a command in a process of its own."""
        given, out, err = (self.root.parent / name for name in ("in", "out", "err"))
        given.write_text(stdin, encoding="utf-8")
        with open(given, "rb") as reading, open(out, "wb") as saying, open(err, "wb") as complaining:
            streams = reading.fileno(), saying.fileno(), complaining.fileno()
            code = os.waitstatus_to_exitcode(os.waitpid(self._fork(words, streams, cwd, environ), 0)[1])
        said, complained = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
        shown = " ".join(word if len(word) < 60 else word[:57] + "..." for word in words).replace("\n", " ")
        record: dict[str, Any] = {"step": f"brim {shown}".rstrip(), "exit": code, "out": _parsed(said)}
        if not isinstance(record["out"], dict | list):  # what people read may be said in other words
            record["out"] = "text" if said else ""
        if "Traceback" in complained:
            record["traceback"] = complained
        return {**record, "err": bool(complained)}

    def talk(self, words: list[str], lines: list[dict[str, Any]]) -> dict[str, Any]:
        """Run a server, and send it one line after the other, each after the answer to the one before."""
        reading, asking = os.pipe()
        hearing, saying = os.pipe()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        process = self._fork(words, (reading, saying, nowhere), "shop", {}, closing=(asking, hearing))
        for handle in (reading, saying, nowhere):
            os.close(handle)
        answers = []
        with open(asking, "w", encoding="utf-8") as asked, open(hearing, encoding="utf-8") as heard:
            for line in lines:
                asked.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
                asked.flush()
                if "id" in line:
                    answers.append(json.loads(heard.readline() or "null"))
            asked.close()
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        return {"step": f"brim {' '.join(words)}", "exit": code, "out": answers}

    def _fork(
        self,
        words: list[str],
        streams: tuple[int, ...],
        cwd: str,
        environ: dict[str, str],
        closing: tuple[int, ...] = (),
    ) -> int:
        """Start a command with these standard streams; return its process. It is faster than a new Python."""
        if words[:1] == ["mcp"]:
            importlib.import_module("brim.mcp.server")  # once for all: its SDK takes longer than the command
        process = os.fork()
        if process:
            return process
        code = 70
        try:
            for handle in closing:
                os.close(handle)
            for number, handle in enumerate(streams):
                os.dup2(handle, number)
            sys.stdin, sys.stdout, sys.stderr = (
                open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
                for number, mode in ((0, "r"), (1, "w"), (2, "w"))
            )
            os.environ.clear()
            os.environ.update({**self.environ, **environ})
            time.tzset()
            os.chdir(self.root / cwd)
            sys.argv = ["brim", *(self.renamed.get(word, word) for word in words[:1]), *words[1:]]
            try:
                importlib.import_module(COMMANDS).main()
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def hook(self, agent: str, event: str, data: Any, more: list[str] | None = None, **environ: str) -> dict[str, Any]:
        """Answer a hook in this process."""
        sent = data.encode("latin-1") if isinstance(data, str) else json.dumps(data).encode()
        out = io.StringIO()
        code = importlib.import_module(HOOKS).main(
            [event, agent, *(more or ())], io.BytesIO(sent), out, {**self.environ, **environ}
        )
        return {"step": f"{agent} {event}", "exit": code, "out": _parsed(out.getvalue())}

    def launch(self, script: str, words: list[str], data: Any, **environ: str) -> dict[str, Any]:
        """Run one of the scripts that an agent's settings name, as the agent does."""
        sent = data if isinstance(data, str) else json.dumps(data)
        ran = subprocess.run(
            [script, *words],
            input=sent.encode(),
            capture_output=True,
            check=False,
            env={**self.environ, **environ},
            cwd=self.root / "shop",
            timeout=300,
        )
        name = os.path.basename(script)
        return {"step": " ".join([name, *words]), "exit": ran.returncode, "out": _parsed(ran.stdout.decode())}

    # What is there --------------------------------------------------------------------------------------------------

    def paths(self) -> Iterator[Path]:
        """Every file that counts."""
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = Path(folder, name)
                if not SKIPPED.search(str(path)) and not path.is_symlink():
                    yield path

    def stamps(self) -> dict[str, tuple[int, int, int]]:
        """What tells whether a file was changed. A database counts as changed when it or its log was."""
        found = {}
        for path in self.paths():
            there = path.stat()
            if path.suffix != ".db":  # what is in databases is seen at the end
                found[self.inward(str(path))] = (there.st_size, there.st_mtime_ns, there.st_ino)
        return found

    def left(self) -> dict[str, Any]:
        """What is in the files that are not as they were."""
        return {name: text for name, text in sorted(self.files()) if self.known_files.get(name) != text}

    def changed_rows(self) -> dict[str, dict[str, list[str]]]:
        """The rows that came (``+``) and went (``-``), by database and table."""
        found: dict[str, dict[str, list[str]]] = {}
        for database, tables in self.rows().items():
            for table, rows in tables.items():
                old = self.known_rows.get(database, {}).get(table, [])
                kept, now = set(old), set(rows)
                changed = [f"- {row}" for row in old if row not in now] + [
                    f"+ {row}" for row in rows if row not in kept
                ]
                if changed:
                    found.setdefault(database, {})[table] = changed
        return found

    def files(self) -> Iterator[tuple[str, Any]]:
        """Every file with its text; of a log only how many lines it has, of a database nothing."""
        for path in self.paths():
            name = self.inward(str(path))
            if path.suffix == ".log":
                yield name, len(path.read_text(encoding="utf-8").splitlines())
            elif path.suffix != ".db":
                text = path.read_text(encoding="utf-8", errors="backslashreplace")
                if self.given.get(str(path)) == text:
                    continue
                text = self.inward(text)
                yield name, _parsed(text) if path.suffix == ".json" else text.splitlines()
            else:
                yield name, "database"

    def rows(self) -> dict[str, dict[str, list[str]]]:
        """The rows of every table of every database, each as one line of JSON."""
        found = {}
        for path in sorted(self.paths()):
            if path.suffix == ".db":
                with closing(sqlite3.connect(path)) as connection:
                    tables = sorted(
                        name
                        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                        if not name.startswith("sqlite_")
                    )
                    found[self.inward(str(path))] = {
                        table: [
                            self.inward(json.dumps(row, ensure_ascii=False, default=repr))
                            for row in connection.execute(f"SELECT * FROM {table}")
                        ]
                        for table in tables
                    }
        return found

    def outward(self, text: str) -> str:
        """Return *text* with the paths of this world."""
        return text.replace(HOME, str(self.root)).replace("-home-user", self.slug)

    def inward(self, text: str) -> str:
        """Return *text* with paths, versions and durations that are the same everywhere."""
        for given, kept in self.names:
            text = text.replace(given, kept)
        # Ids that are made of a path, and names of temporary folders.
        return re.sub(r'(?<=")[0-9a-f]{16}(?=\\?")', "HASH", re.sub(r"/brim-\w{8}/", "/brim-RANDOM/", text))


def _stable(value: Any) -> Any:
    """Return *value* without durations, times and sizes of files, and what ``brim doctor`` says in words."""
    if isinstance(value, list):
        return [_stable(each) for each in value]
    if not isinstance(value, dict):
        return value
    if {"what", "state", "text"} <= value.keys():
        value = {key: each for key, each in value.items() if key not in ("text", "fix", "lines")}
    if {"file", "at", "bytes"} <= value.keys():
        value = {**value, "at": "TIME", "bytes": "SIZE"}
    return {key: "SECONDS" if key in ("seconds", "python_seconds") else _stable(each) for key, each in value.items()}


def _parsed(text: str) -> Any:
    """Return *text* read as JSON, or as lines of JSON; if it is neither, as it is."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        lines = [json.loads(line) for line in text.splitlines()]
        return lines if len(lines) > 1 else text
    except ValueError:
        return text


def _python() -> tuple[str, str]:
    """Return this interpreter, and the folder that holds brim."""
    import brim

    return sys.executable, str(Path(brim.__file__).parent.parent)


def _version() -> str:
    import brim

    return brim.__version__


def _stop_the_clock() -> None:
    """Let the time be ``clock.now``, and what is random always the same."""
    gmtime, localtime, strftime = time.gmtime, time.localtime, time.strftime

    class Datetime(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Datetime:
            return cls.fromtimestamp(clock.now, tz)

        @classmethod
        def utcnow(cls) -> Datetime:
            return cls.fromtimestamp(clock.now, datetime.UTC).replace(tzinfo=None)

    class Date(datetime.date):
        @classmethod
        def today(cls) -> Date:
            return cls.fromtimestamp(clock.now)

    def urandom(size: int) -> bytes:
        return bytes([int(clock.now - NOW) // 10 % 256]) * size  # another for every step

    patches: list[tuple[Any, str, Any]] = [
        (time, "time", lambda: clock.now),
        (time, "time_ns", lambda: int(clock.now * 1e9)),
        (time, "gmtime", lambda seconds=None: gmtime(clock.now if seconds is None else seconds)),
        (time, "localtime", lambda seconds=None: localtime(clock.now if seconds is None else seconds)),
        (time, "strftime", lambda format, when=None: strftime(format, when or localtime(clock.now))),
        (datetime, "datetime", Datetime),
        (datetime, "date", Date),
        (signal, "setitimer", lambda *_: (0.0, 0.0)),  # a hook may take its time here
        (_signal, "setitimer", lambda *_: (0.0, 0.0)),
        (os, "urandom", urandom),
        (random, "_urandom", urandom),
    ]
    for module, name, patched in patches:
        setattr(module, name, patched)


if __name__ == "__main__":
    main()
