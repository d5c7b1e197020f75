"""Whether a hook really answers: the launcher is run as an agent runs it, in a home of its own with one rule in it.

So nothing of the user's is read, charged or noted as used, and what comes back shows that Python, brim, the store and
the answer's form all work.
"""

from __future__ import annotations

import os
import subprocess
import time

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = 5
RULE = "Say that brim answers."
SECONDS = 10.0
"""A launcher that takes longer does not answer."""
_OWN = ("BRIM_", "FLOOP_", "CLAUDE_", "CODEX_", "GEMINI_")
"""Variables that could change the answer, and are left out."""


class Probe(Frozen):
    """What came of it: whether the launcher answered, how long it takes, and how long Python alone does, in seconds."""

    __slots__ = ("answers", "seconds", "python_seconds", "reason")

    answers: bool
    seconds: float | None
    python_seconds: float | None
    reason: str

    def __init__(
        self, answers: bool, seconds: float | None = None, python_seconds: float | None = None, reason: str = ""
    ) -> None:
        self._fill(answers=answers, seconds=seconds, python_seconds=python_seconds, reason=reason)


def probe(launcher: str, python: str, agent: str, environ: Mapping[str, str]) -> Probe:
    """Run *launcher* at the first event of a session at which *agent* can be told, several times.

    *python* is what it starts.
    """
    import json
    from tempfile import TemporaryDirectory

    from brim.hooks.client import client_of

    client = client_of(agent)
    event = next(name for name, each in client.EVENTS.items() if client.max_chars(each.event) > 0)

    with TemporaryDirectory(prefix="brim-doctor-") as folder:
        home, work = os.path.join(folder, "home"), os.path.join(folder, "work")
        os.mkdir(work)
        _fill(home)
        own = {name: value for name, value in environ.items() if not name.startswith(_OWN)}
        own.update(BRIM_HOME=home, HOME=folder)
        sent = {"hook_event_name": event, "source": "startup", "prompt": "hello", "cwd": work, "transcript_path": ""}
        said = json.dumps(sent)
        answers, alone = [], []
        for number in range(RUNS):
            given = said[:-1] + f', "session_id": "doctor-{number}"}}'
            answers.append(_run([launcher, event, agent], given, own, work))
            alone.append(_run([python, "-I", "-c", "pass"], "", own, work))
        wrong = [text for text, _ in answers if not _answered(text)]
        if wrong:
            return Probe(False, reason=_why(os.path.join(home, "log", "hook.log")) or "it says nothing")
    return Probe(True, _median([each for _, each in answers]), _median([each for _, each in alone]))


def _fill(home: str) -> None:
    from brim.behaviors.behavior import Behavior
    from brim.store.store import open_store

    with open_store(os.path.join(home, "brim.db")) as store:
        store.put(Behavior("doctor", "doctor", "constraint", RULE), event="learned", now=0)


def _run(command: list[str], given: str, environ: Mapping[str, str], folder: str) -> tuple[str, float]:
    """Return what *command* printed, nothing if it could not be run, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 (the launcher that brim wrote)
            command, input=given.encode(), capture_output=True, env=environ, cwd=folder, timeout=SECONDS, check=False
        )
        said = done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
    except (OSError, subprocess.SubprocessError):
        said = ""
    return said, time.perf_counter() - begun


def _answered(text: str) -> bool:
    import json

    try:
        found = json.loads(text)
        return RULE in found["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError, TypeError):
        return False


def _why(log: str) -> str:
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read(65_536).splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
