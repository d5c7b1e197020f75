"""The hook, measured as an agent meets it: ``python bench/hook.py [--quick] [--json FILE]``.

A wheel is built and installed in an environment of its own, with the launcher and files that ``brim
init`` writes. The launcher gets what Claude Code sends, with 1,000 rules stored and a transcript of
five megabytes, in turn with ``python -I -c pass``. Exits with 1 if a target is missed. Progress
goes to standard error.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brim.config.trust import trust
from brim.rules.accepted import AcceptedRules
from brim.rules.paragraphs import paragraph_of
from measure import say
from report import Target, arguments, finish, markdown, measured, table, this_machine
from rules import make

BARE = "python -I -c pass"
EVENTS = {
    "SessionStart": "session start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before a tool",
    "PostToolUse": "after a tool",
    "PostToolUse Edit": "after an edit",
}
"""What an agent waits for between two steps."""
FIRST_STOP, STOP = "first end of a turn, after 5 MB", "end of a turn"
FULL = "before a tool, 200 blocks, 200 checks, 20 limits"
EDITED = "prompt after 60 rules were edited by hand"
MOST = {
    "session start": 4.25,
    "prompt": 4.25,
    "before a tool": 4.25,
    FULL: 4.25,
    "after a tool": 2.5,
    "after an edit": 2.5,
    STOP: 5.5,
    EDITED: 12,
}
"""Times the bare interpreter that a hook may take, in processor time and on the clock. The first
end has no target."""
CHECKED = (
    "Never run `git push --force` to server{}.",
    "Never run `deploy{} --now`.",
    "Don't edit files in generated{}/.",
    "Never run `make release{}`.",
    "Never run `git clean{}`.",
)
"""Rules that a call can break: two in five are about git."""
TRANSCRIPT = 5_000_000
"""Bytes."""
MOST_STOPS = 4
"""Ends of turns within which a hook has read that much."""

TOPICS = """
    account api archive backup billing branch cache calendar chart client cluster config coupon cursor dashboard
    database deploy discount docker email export feature fixture folder gateway graph header image import index
    invoice journal kafka ledger login metric migration mobile network notebook order package parser payment
    permission pipeline portal profile queue receipt region release report retry router schema search session
    shipping signup socket stream tenant ticket token upload vendor webhook widget worker
"""
CONDITIONS: dict[str, tuple[str, ...]] = {
    "language": (
        "python",
        "rust",
        "go",
        "typescript",
        "java",
        "ruby",
        "c",
        "shell",
        "sql",
        "kotlin",
    ),
    "task": (
        "testing",
        "deployment",
        "refactoring",
        "documentation",
        "debugging",
        "review",
        "release",
    ),
    "file": (
        "src/**/*.py",
        "docs/*.md",
        "web/**/*.ts",
        "infra/**",
        "src/billing/**",
        "migrations/*.sql",
    ),
    "run": ("git push", "docker compose", "terraform apply", "make release", "npm publish"),
    "environment": ("ci", "staging", "production"),
    "branch": ("main", "release", "develop", "hotfix"),
}
"""What rules are about, and when they hold: as in a store that grew over years, most of it is about
something else."""

DONE = "The retry helper waits now, and the tests pass."
"""The last answer of a turn."""

Environ = Mapping[str, str]


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="15 rounds instead of 60").parse_args()
    print(this_machine())
    with tempfile.TemporaryDirectory() as folder:
        taken, answers = measure(Path(folder).resolve(), 15 if options.quick else 60)
    wall = {name: statistics.median(ms for ms, _ in times) for name, times in taken.items()}
    cpu = {name: statistics.median(ms for _, ms in times) for name, times in taken.items()}
    title = (
        f"One call of the hook in a fresh process, median of {len(taken[BARE])} alternating runs"
    )
    rows = [
        [
            name,
            f"{wall[name]:.1f}",
            f"{wall[name] / wall[BARE]:.2f}",
            f"{cpu[name]:.1f}",
            f"{cpu[name] / cpu[BARE]:.2f}",
            f"{statistics.median(answers.get(name, [0])):,.0f}",
        ]
        for name in taken
    ]
    table(title, ["", "ms", "times bare", "CPU ms", "times bare", "characters answered"], rows, [])
    targets = [
        Target(f"{label}, times bare python, {what}", each[label] / each[BARE], at_most=most)
        for label, most in MOST.items()
        for what, each in (("clock", wall), ("CPU", cpu))
    ]
    how = f"median of {len(taken[STOP])} runs in turn with bare Python, 1,000 rules, a transcript of 5 MB"
    head = measured(options, how, clock=True)
    lines = [
        [
            f"`{name}`" if name == BARE else name,
            f"{wall[name]:.1f}",
            f"{wall[name] / wall[BARE]:.2f}",
            f"{cpu[name] / cpu[BARE]:.2f}",
            f"{MOST.get(name, '')}",
        ]
        for name in taken
    ]
    tables = {
        "hooks": head
        + markdown(["event", "ms", "times bare Python, clock", "CPU", "target"], lines)
    }
    return finish(options, {"median_ms": wall, "median_cpu_ms": cpu}, targets, tables)


def install_wheel(folder: Path) -> str:
    """Build a wheel of this brim, install it into an environment in *folder*, and return its
    Python."""
    say("a wheel is built and installed")
    root = Path(__file__).resolve().parents[1]
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    flags = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "wheel", str(root), *flags, "-w", str(folder)], check=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True
    )
    python = str(folder / "venv" / "bin" / "python")
    (wheel,) = folder.glob("*.whl")
    subprocess.run(
        [*pip, "--python", python, "install", "--no-deps", "--no-index", str(wheel)], check=True
    )
    # The packages that brim needs are those of the environment that runs this.
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return python


def timed(
    command: list[str], environ: Environ, said: bytes = b""
) -> tuple[tuple[float, float], bytes]:
    """Run *command*; return its milliseconds on the clock and of the processor, and what it
    printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=said, capture_output=True, check=False, env=environ)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or done.stderr:
        raise SystemExit(f"{command}: {done.returncode} {done.stderr.decode(errors='replace')}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (wall * 1000, cpu * 1000), done.stdout


def measure(
    folder: Path, rounds: int
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[int]]]:
    """Return milliseconds by what was run, and the length of each answer."""
    python = install_wheel(folder)
    environ, launcher = prepare(folder, python)
    names = (BARE, *EVENTS.values(), FIRST_STOP, STOP, FULL, EDITED)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    answers: dict[str, list[int]] = {name: [] for name in taken if name != BARE}

    def call(event: str, session: str, label: str = "") -> None:
        said = json.dumps(message(event, folder, session)).encode()
        ms, answered = timed([launcher, event.partition(" ")[0], "claude"], environ, said)
        if label:
            taken[label].append(ms)
            answers[label].append(len(answered))

    for round in range(rounds + 1):
        if round % 10 == 0:
            say(f"hook: round {round} of {rounds}")
        session = f"session-{round}"
        transcript = folder / f"{session}.jsonl"
        write_transcript(transcript, session)
        bare, _ = timed([python, "-I", "-c", "pass"], environ)
        if round:  # the first one only warms the file cache
            taken[BARE].append(bare)
        for event, label in EVENTS.items():
            call(event, session, label if round else "")
        write_turn(transcript, session, 1)
        call("Stop", session, FIRST_STOP if round else "")
        for _ in range(MOST_STOPS):  # until it has read the five megabytes
            call("Stop", session)
        write_turn(transcript, session, 2)
        call("Stop", session, STOP if round else "")
        call("SessionEnd", session)
        transcript.unlink()
    store_blocks(folder, python, environ)
    for round in range(rounds + 1):
        session = f"full-{round}"
        write_transcript(folder / f"{session}.jsonl", session)
        bare, _ = timed([python, "-I", "-c", "pass"], environ)
        taken[BARE] += [bare] if round else []
        # By then the transcript is read: its first reading is in the row of the first end of a turn.
        for event in ("SessionStart", *["UserPromptSubmit"] * MOST_STOPS):
            call(event, session)
        call("PreToolUse", session, FULL if round else "")
        call("PostToolUse", session)
        if round % 3 == 0:
            edit_rules(folder / "home" / ".brim", round)
            call("UserPromptSubmit", session, EDITED if round else "")
        (folder / f"{session}.jsonl").unlink()
    log = folder / "home" / ".brim" / "log" / "hook.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    late = [line for line in lines if "took too long" in line]
    if late:
        say(f"hook: {len(late)} calls ran into the time limit: this machine is busy")
    if len(late) < len(lines):
        raise SystemExit("\n".join(["a hook failed:", *lines]))
    return taken, answers


def prepare(folder: Path, python: str) -> tuple[Environ, str]:
    """Make a home and a trusted project with 1,000 rules, as ``brim init`` does with *python*'s
    brim.

    Return the environment and the launcher.
    """
    say("hook: 1,000 rules and the transcript are written")
    home, project = folder / "home" / ".brim", folder / "project"
    for each in (home, project / ".brim", project / ".git"):
        each.mkdir(parents=True, mode=0o700)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (project / "pyproject.toml").write_text("", encoding="utf-8")
    (home / "config.yaml").write_text("token_budget:\n  default: 2000\n", encoding="utf-8")
    os.utime(home / "config.yaml", (1, 1))
    write_rules(home, project)
    trust(str(project), str(home))
    compile_rules(python, home, project)
    time.sleep(2.1)  # what was changed a moment ago is not cached yet
    environ = {
        "HOME": str(folder / "home"),
        "PATH": os.environ.get("PATH", ""),
        "CLAUDE_PROJECT_DIR": str(project),
    }
    code = "import sys; from brim.install.launchers import install_launchers; install_launchers(sys.argv[1])"
    subprocess.run([python, "-I", "-c", code, str(home)], check=True)
    return environ, str(home / "bin" / "hook")


def write_rules(home: Path, project: Path) -> None:
    """Write 200 rules into the user's file and 800 into the project's: three in a hundred are for
    every situation."""
    rng = random.Random(1)
    behaviors, _ = make(1_000, 1)
    paragraphs = []
    for number, behavior in enumerate(behaviors):
        fields: dict[str, object] = {"text": behavior.canonical, "summary": behavior.summary}
        if rng.random() >= 0.03:
            key, values = rng.choice(tuple(CONDITIONS.items()))
            fields["when"] = {key: rng.choice(values)}
        paragraphs.append(paragraph_of(f"rule-{number}", fields) + "\n")
    (home / "rules.toml").write_text("".join(paragraphs[:200]), encoding="utf-8")
    shared = "".join(paragraphs[200:])
    (project / ".brim" / "rules.toml").write_text(shared, encoding="utf-8")
    AcceptedRules(str(home), str(project)).accept(shared)


def compile_rules(python: str, home: Path, project: Path) -> None:
    """Compile the rules, as a command does."""
    code = (
        "import sys; from brim.rules.compiled import rebuild_index;"
        " from brim.rules.source import sources_for;"
        " rebuild_index(sys.argv[1], sources_for(*sys.argv[1:]))"
    )
    subprocess.run([python, "-I", "-c", code, str(home), str(project)], check=True)


def edit_rules(home: Path, round: int) -> None:
    """Change 60 rules by hand."""
    path = home / "rules.toml"
    paragraphs = path.read_text(encoding="utf-8").split("\n[")
    plain = [number for number, text in enumerate(paragraphs) if 'text = "' in text]
    for number in plain[:60]:
        head, text, tail = paragraphs[number].partition('text = "')
        tail = re.sub(r"^Round \d+: ", "", tail)
        paragraphs[number] = f"{head}{text}Round {round}: {tail}"
    path.write_text("\n[".join(paragraphs), encoding="utf-8")


def store_blocks(folder: Path, python: str, environ: Environ) -> None:
    """Add 200 rules that refuse commands, edits and tools, 200 that are checked, and 20 limits. None
    of them holds a call, and no limit is near: near one, a hook waits for the last request's line."""
    kinds = (
        "run deploy{} --now",
        "edit generated{}/**",
        "run make release{}",
        "tool mcp__server{}__*",
    )
    home = folder / "home" / ".brim"
    paragraphs = []
    for at in range(200):
        fields = {"text": "Never.", "when": "task taxes", "block": [kinds[at % 4].format(at)]}
        paragraphs.append(paragraph_of(f"block-{at}", fields) + "\n")
        text = CHECKED[at % len(CHECKED)].format(at)
        paragraphs.append(paragraph_of(f"checked-{at}", {"text": text}) + "\n")
    with (home / "rules.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + "".join(paragraphs))
    compile_rules(python, home, folder / "project")
    periods = [
        f"{amount}{unit}/{period}"
        for period in ("day", "week", "month", "session")
        for amount, unit in ((9, "00000"), (9, "00000M tokens"))
    ]
    for whose in ([], ["--all"]):
        limits = [*periods, "9000000", "9000000M tokens"]
        command = [str(Path(python).with_name("brim")), "limit", *whose, *limits]
        subprocess.run(
            command, check=True, env=environ, cwd=folder / "project", capture_output=True
        )


def write_transcript(path: Path, session: str) -> None:
    """Write a transcript of five megabytes: mostly what tools answered, and a usage now and
    then."""
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < TRANSCRIPT:
            number += 1
            file.write(
                step(
                    session, f"{session}-{number}", "passed\n" * 1_200, cached=20_000 + number * 30
                )
            )


def write_turn(path: Path, session: str, turn: int) -> None:
    """Add a *turn* to the transcript: what a person typed, three calls, and the answer."""
    with path.open("a", encoding="utf-8") as file:
        file.write(
            line(session, "user", {"role": "user", "content": "please fix it and run the tests"})
        )
        for number in range(3):
            file.write(
                step(session, f"{session}-{turn}-{number}", "12 passed\n" * 50, cached=40_000)
            )
        file.write(
            answer(session, f"{session}-{turn}-end", {"type": "text", "text": DONE}, cached=41_000)
        )


def step(session: str, id: str, output: str, *, cached: int) -> str:
    """Return the lines of one call and its result."""
    block = {
        "type": "tool_use",
        "id": f"toolu_{id}",
        "name": "Bash",
        "input": {"command": "make test"},
    }
    result = {"type": "tool_result", "tool_use_id": f"toolu_{id}", "content": output}
    return answer(session, id, block, cached=cached) + line(
        session, "user", {"role": "user", "content": [result]}
    )


def answer(session: str, id: str, block: dict[str, Any], *, cached: int) -> str:
    """Return the line of one answer with its usage."""
    usage = {
        "input_tokens": 12,
        "cache_creation_input_tokens": 800,
        "cache_read_input_tokens": cached,
    }
    usage["output_tokens"] = 300
    message = {"id": f"msg_{id}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    return line(session, "assistant", {**message, "content": [block]}, requestId=f"req_{id}")


def line(session: str, kind: str, message: dict[str, Any], **more: str) -> str:
    """Return a line of a transcript, written as Claude Code does."""
    told = {
        "type": kind,
        "isSidechain": False,
        "sessionId": session,
        "timestamp": "2026-11-15T06:39:07.416Z",
        **more,
    }
    return json.dumps({**told, "message": message}, separators=(",", ":")) + "\n"


def message(event: str, folder: Path, session: str) -> dict[str, Any]:
    """Return what Claude Code sends at *event*."""
    project = str(folder / "project")
    said: dict[str, Any] = {
        "session_id": session,
        "transcript_path": str(folder / f"{session}.jsonl"),
        "cwd": project,
        "permission_mode": "default",
        "hook_event_name": event.partition(" ")[0],
    }
    call = {
        "tool_name": "Edit",
        "tool_input": {
            "file_path": f"{project}/src/app/api.py",
            "old_string": "a = 1",
            "new_string": "a = 2",
        },
        "tool_use_id": "toolu_1",
    }
    if event == "SessionStart":
        return {**said, "source": "startup", "model": "claude-sonnet-4-5"}
    if event == "UserPromptSubmit":
        return {
            **said,
            "prompt": "the retry helper of the billing webhook fails, please fix it and run the tests",
        }
    if event == "PreToolUse":
        return {**said, **call}
    if event == "PostToolUse Edit":
        return {
            **said,
            **call,
            "tool_response": {"filePath": f"{project}/src/app/api.py", "structuredPatch": []},
        }
    if event == "Stop":
        return {**said, "stop_hook_active": False, "last_assistant_message": DONE}
    if event == "SessionEnd":
        return {**said, "reason": "other"}
    command = {"command": "uv run pytest -x", "description": "run the tests"}
    response = {"stdout": "12 passed\n" * 50, "stderr": "", "interrupted": False, "isImage": False}
    return {
        **said,
        **call,
        "tool_name": "Bash",
        "tool_input": command,
        "tool_response": response,
        "duration_ms": 900,
    }


if __name__ == "__main__":
    sys.exit(main())
