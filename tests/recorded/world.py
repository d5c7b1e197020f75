"""A home and a project in a temporary folder, and brim at work in them."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tests.recorded.clock import CLOCK

HOME = "/home/user"
PROJECT = f"{HOME}/shop"
DATA = Path(__file__).parent / "data"
RANDOM_NAME = re.compile(r"/brim-\w{8}/")
PATH_DIGEST = re.compile(r'(?<=")[0-9a-f]{16}(?=\\?")')
MEASURED_KEYS = {"seconds", "python_seconds", "bytes_per_second", "bytes", "new_bytes"}


class World:
    """Takes the steps of a scenario and keeps the answer of each by a name.

    Scenarios write paths below ``/home/user``; so do the answers.
    """

    def __init__(self, folder: Path) -> None:
        self.root = Path(os.path.realpath(folder), "user")
        self.project = self.root / "shop"
        self.answers: dict[str, object] = {}
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.environ = {
            "HOME": str(self.root),
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
            "TERM": "dumb",
            "NO_COLOR": "1",
        }

    # Files ---------------------------------------------------------------------------------

    def write(self, path: str, text: str) -> None:
        """Write a file below the home, as it is: the size of its text mustn't depend on the
        folder."""
        file = Path(self.to_here(path))
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        os.utime(file, (CLOCK.now, CLOCK.now))

    def copy(self, source: str, path: str) -> None:
        """Copy a file of ``data``."""
        self.write(path, (DATA / source).read_text(encoding="utf-8"))

    def append(self, path: str, *lines: dict[str, Any]) -> None:
        """Append lines of JSON to a file."""
        file = Path(self.to_here(path))
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        for line in lines:
            text += json.dumps(line, separators=(",", ":")) + "\n"
        self.write(path, text)

    def files(self, *, without: str) -> dict[str, list[str]]:
        """Return the lines of every file below the home, except those below *without*."""
        texts = {}
        for path in sorted(self.root.rglob("*")):
            name = self.from_here(str(path))
            if path.is_file() and not name.startswith(without):
                text = path.read_text(encoding="utf-8", errors="backslashreplace")
                texts[name] = self.from_here(text).splitlines()
        return texts

    # Steps ---------------------------------------------------------------------------------

    def brim(self, *words: str, stdin: str = "", keep: bool = True, name: str = "") -> None:
        """Run a command; with *keep*, record how it ended and what it printed."""
        CLOCK.tick()
        code, out, error = self._run(self._command, [*words], stdin.encode(), {})
        assert "Traceback" not in error, error
        if keep:
            self._record(name or f"brim {' '.join(words)}", {"exit": code, "out": out})

    def hook(self, agent: str, event: str, sent: object, **environ: str) -> None:
        """Let an agent call a hook; record the answer."""
        CLOCK.tick()
        if isinstance(sent, str):
            data = sent.encode("latin-1")
        else:
            data = self.to_here(json.dumps(sent)).encode()
        code, out, error = self._run(self._answer_hook, [event, agent], data, environ)
        assert "Traceback" not in error, error
        self._record(f"{agent} {event}", {"exit": code, "out": out})

    def talk(self, *requests: dict[str, Any]) -> None:
        """Run the MCP server, and send it each request after the answer to the one before."""
        CLOCK.tick()
        importlib.import_module("brim.mcp.server")  # its SDK takes longer than the answers
        server_in, client_out = os.pipe()
        client_in, server_out = os.pipe()
        with open(os.devnull, "wb") as nowhere:
            streams = (server_in, server_out, nowhere.fileno())
            process = self._fork(
                self._command, ["mcp"], streams, {}, closing=(client_out, client_in)
            )
        os.close(server_in)
        os.close(server_out)
        with (
            open(client_out, "w", encoding="utf-8") as asked,
            open(client_in, encoding="utf-8") as heard,
        ):
            for request in requests:
                asked.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
                asked.flush()
                if "id" in request:
                    answer = heard.readline()
                    self._record(f"mcp {request['method']}", self._parse(answer))
        os.waitpid(process, 0)

    # Processes -----------------------------------------------------------------------------

    def _run(
        self,
        work: Callable[[list[str]], int],
        words: list[str],
        data: bytes,
        environ: dict[str, str],
    ) -> tuple[int, object, str]:
        """Run *work* in a fork; return its exit code, its output as JSON or text, and its
        errors."""
        files = [self.root.parent / name for name in ("in", "out", "err")]
        files[0].write_bytes(data)
        with (
            open(files[0], "rb") as asked,
            open(files[1], "wb") as out,
            open(files[2], "wb") as errors,
        ):
            streams = (asked.fileno(), out.fileno(), errors.fileno())
            process = self._fork(work, words, streams, environ)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        error = files[2].read_text(encoding="utf-8", errors="replace")
        return code, self._parse(files[1].read_text(encoding="utf-8")), error

    def _fork(
        self,
        work: Callable[[list[str]], int],
        words: list[str],
        streams: Sequence[int],
        environ: dict[str, str],
        closing: Sequence[int] = (),
    ) -> int:
        """Start *work* in a fork of this process; a new Python takes longer than most steps."""
        process = os.fork()
        if process == 0:
            for handle in closing:
                os.close(handle)
            for number, handle in enumerate(streams):
                os.dup2(handle, number)
            self._be_child(work, words, environ)
        return process

    def _be_child(
        self, work: Callable[[list[str]], int], words: list[str], environ: dict[str, str]
    ) -> NoReturn:
        code = 70
        try:
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            os.environ.clear()
            os.environ.update({**self.environ, **environ})
            time.tzset()
            os.chdir(self.project)
            code = work(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    @staticmethod
    def _command(words: list[str]) -> int:
        sys.argv = ["brim", *words]
        importlib.import_module("brim.cli").main()
        return 0

    @staticmethod
    def _answer_hook(words: list[str]) -> int:
        process = importlib.import_module("brim.hooks.process")
        code: int = process.main(words, sys.stdin.buffer, sys.stdout, dict(os.environ))
        return code

    # Words that are the same everywhere ----------------------------------------------------

    def to_here(self, text: str) -> str:
        """Return *text* with the paths of this world."""
        return text.replace("-home-user", self._slug()).replace(HOME, str(self.root))

    def from_here(self, text: str) -> str:
        """Return *text* with paths and versions that are the same on every machine."""
        brim = importlib.import_module("brim")
        program = os.path.join(os.path.dirname(sys.executable), "brim")
        names = {
            shlex.quote(program): "BIN/brim",  # in quotes if there is a space in its path
            str(self.root): HOME,
            self._slug(): "-home-user",
            os.path.realpath(sys.executable): "PYTHON",
            sys.executable: "PYTHON",
            str(Path(str(brim.__file__)).parents[1]): "PACKAGE",
            os.path.dirname(sys.executable): "BIN",
            brim.__version__: "VERSION",
        }
        for here, everywhere in names.items():
            text = text.replace(here, everywhere)
        return PATH_DIGEST.sub("DIGEST", RANDOM_NAME.sub("/brim-RANDOM/", text))

    def _slug(self) -> str:
        return re.sub(r"[^A-Za-z0-9]", "-", str(self.root))

    def _parse(self, text: str) -> object:
        """Return *text* read as JSON; if it isn't JSON, its lines."""
        text = self.from_here(text)
        try:
            return without_measurements(json.loads(text))
        except ValueError:
            return text.splitlines()

    def _record(self, name: str, answer: object) -> None:
        number = len(self.answers) + 1
        self.answers[f"{number:03} {name}"] = answer


def without_measurements(value: Any) -> Any:
    """Return JSON without durations and sizes of files."""
    if isinstance(value, list):
        return [without_measurements(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_measurements(part) for key, part in value.items() if key not in MEASURED_KEYS
    }
