"""What a person sees: colour only on a terminal that wants it, and signs that the terminal can
print."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brim.cli.output import printable, width_of
from tests.cli.conftest import Brim

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")


def on_a_terminal(brim: Brim, *arguments: str, stream: str = "stdout", **env: str) -> str:
    """Run the command with *stream* a terminal, and return what it wrote there."""
    import pty

    ours, theirs = pty.openpty()
    streams = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        stream: theirs,
    }
    process = brim.start(*arguments, env={"TERM": "xterm", **env}, fork=True, **streams)
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    assert process.wait(timeout=300) == 0
    return written.decode()


BUDGET = ("dev", "window", "-m", "gpt-4o", "--directive", "Answer briefly.")


def test_a_terminal_gets_colour(brim: Brim) -> None:
    assert "\x1b[" in on_a_terminal(brim, *BUDGET)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_none_gets_none(brim: Brim, env: dict[str, str]) -> None:
    for arguments in (
        BUDGET,
        ("dev", "count", "a", "b"),
        ("dev", "models", "gpt-4o"),
        ("config", "list"),
    ):
        assert "\x1b" not in on_a_terminal(brim, *arguments, **env)


def test_a_pipe_gets_no_colour(brim: Brim) -> None:
    assert "\x1b" not in brim(*BUDGET).out


def test_colour_changes_nothing_else(brim: Brim) -> None:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(brim, *BUDGET, COLUMNS="80")).replace(
        "\r\n", "\n"
    )
    assert plain == brim(*BUDGET, env={"COLUMNS": "80"}).out


@pytest.mark.parametrize("columns", ["10", "40", "72", "100", "400"])
def test_the_bar_is_as_wide_as_the_terminal_within_reason(brim: Brim, columns: str) -> None:
    bar = brim(*BUDGET, env={"COLUMNS": columns}).lines[1]
    assert len(bar) == max(40, min(100, int(columns)))


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        (("dev", "models", "gpt-4o", "claude-sonnet-4-5"), "claude-sonnet-4-5"),
        (("config", "list", "session"), "session.max_per_injection"),
        (BUDGET, "response reserve"),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_and_whole_words(
    brim: Brim, arguments: tuple[str, ...], whole: str
) -> None:
    shown = on_a_terminal(brim, *arguments, COLUMNS="40", NO_COLOR="1")
    assert whole in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 40


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "command", ["", "limit", "rules", "rules why", "context", "memory lost", "usage", "doctor"]
)
def test_everyday_commands_fit_the_terminal_and_break_no_word(
    brim: Brim, command: str, columns: int
) -> None:
    folder = brim.home / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    for name in ("recorded", "requests"):
        shutil.copy(EXAMPLES / name / "session.jsonl", folder / f"{name}.jsonl")
    for arguments in (
        ("limit", "5/day", "2/session", "2M tokens/week"),
        ("limit", "--all", "100/month"),
        ("learn", "--user", "In Python files, use pathlib instead of os.path"),
        (
            "learn",
            "--user",
            "Never commit the files under dist/: the release script generates them.",
        ),
    ):
        assert brim(*arguments).code == 0
    shown = on_a_terminal(brim, *command.split(), COLUMNS=str(columns), NO_COLOR="1").replace(
        "\r", ""
    )
    lines = shown.split("\n")
    assert [line for line in lines if width_of(line) > columns] == []
    whole = set(re.findall(r"\w+", brim(*command.split()).out))
    assert set(re.findall(r"(\w+)…", shown)) <= whole, "a cut text ends after a word"


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=["ascii", "C", "latin-1"],
)
def test_an_output_without_the_signs_gets_letters(brim: Brim, env: dict[str, str]) -> None:
    ran = brim(*BUDGET, env=env)
    assert ran.code == 0
    assert ran.out.isascii()
    assert set(ran.lines[1]) == set("md.rs")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_name_that_the_output_cannot_print_is_no_traceback(brim: Brim, encoding: str) -> None:
    brim.write("日本語.txt", "Hello world")
    ran = brim("dev", "count", "日本語.txt", "more", env={"PYTHONIOENCODING": encoding})
    assert ran.code == 0
    assert [line.split()[0] for line in ran.lines[1:4]] == ["2", "1", "3"]
    assert (
        brim("dev", "count", "日本語.txt", "--json", env={"PYTHONIOENCODING": encoding}).json[
            "tokens"
        ]
        == 2
    )


def test_a_person_sees_how_far_it_is(brim: Brim) -> None:
    brim.write("large.txt", "word\n" * 1_000_000)
    shown = on_a_terminal(brim, "dev", "count", "large.txt", stream="stderr")
    assert "counting" in shown
    assert "100%" in shown


def test_nobody_sees_it_for_a_small_file_or_in_a_pipe(brim: Brim) -> None:
    brim.write("small.txt", "word\n")
    brim.write("large.txt", "word\n" * 1_000_000)
    assert on_a_terminal(brim, "dev", "count", "small.txt", stream="stderr") == ""
    assert brim("dev", "count", "large.txt").err == ""


def test_what_could_steer_a_terminal_is_made_visible(brim: Brim) -> None:
    call = {"type": "tool_use", "id": "a\x1b[31m\x1b]0;title\x07\u202e", "name": "n", "input": {}}
    chat = brim.write(
        "chat.json",
        json.dumps([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}]),
    )
    for ran in (
        brim("dev", "check", chat.name),
        brim("dev", "repair", chat.name, "--dry-run"),
        brim("dev", "fit", chat.name, "-m", "gpt-4o"),
    ):
        assert not set("\x1b\x07\u202e") & set(ran.out.replace("\\u001b", "") + ran.err)


def test_long_lists_end_with_how_many_more_there_are(brim: Brim) -> None:
    orphans = [{"role": "tool", "tool_call_id": f"c{n}", "content": "x"} for n in range(300)]
    brim.write("chat.json", json.dumps([*orphans, {"role": "user", "content": "Hi"}]))
    ran = brim("dev", "check", "chat.json")
    assert ran.lines[-1] == "and 200 more: --json lists all"
    assert len(brim("dev", "check", "chat.json", "--json").json["violations"]) == 300


def test_two_dashes_end_the_options(brim: Brim) -> None:
    brim.write("-dash.json", json.dumps([{"role": "user", "content": "Hi"}]))
    assert brim("dev", "check", "--", "-dash.json").code == 0


@pytest.mark.parametrize("letter", ["\U0001107f", "\U00016fe4", "\U0001d159"])
def test_fillers_of_rare_scripts_are_visible(letter: str) -> None:
    assert printable(f"a{letter}b") == f"a<U+{ord(letter):04X}>b"
