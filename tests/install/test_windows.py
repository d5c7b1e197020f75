"""brim on Windows, as far as it can be tested elsewhere: what is missing there, quoting, and the
launchers' text."""

from __future__ import annotations

import json
import ntpath
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.install.launchers import STATUS_CODE, windows_texts
from brim.install.shell import program_in, program_name, typed, words_in
from tests.cli.conftest import Brim
from tests.install.installed import FILES, use
from tests.install.windows import argv_of, on_windows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pretends to be there")

PERSONS = [
    r"C:\Users\ada",
    r"C:\Users\Ada Lovelace",
    r"C:\Users\Jürgen",
    r"C:\Users\O'Brien & Co (x86)",
    r"D:\$HOME `dir`",
]
NAMES = st.text(
    st.characters(
        blacklist_characters='\\/:*?"<>|%', blacklist_categories=("Cc", "Cs", "Zl", "Zp")
    ),
    min_size=1,
)
COMMANDS = f"""
import contextlib, io, json, os
from brim.cli import main

def run(*arguments):
    sys.argv, said = ["brim", *arguments], io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main()
    home = os.path.expanduser("~")
    files = {{agent: open(os.path.join(home, name)).read() for agent, name in {FILES!r}.items()}}
    folder = os.path.join(home, ".brim", "bin")
    scripts = os.listdir(folder) if os.path.isdir(folder) else []
    return {{"said": said.getvalue(), "files": files, "scripts": scripts}}

import sys
every = ["--agent", "claude", "--agent", "codex", "--agent", "gemini"]
print(json.dumps([run("init", *every), run("init", *every, "--json"), run("doctor", "--json"), run("uninstall")]))
"""


def hook_of(person: str) -> str:
    return ntpath.join(person, ".brim", "bin", "hook.cmd")


def test_every_module_can_be_imported_without_what_windows_lacks() -> None:
    code = (
        "import importlib\nfor each in modules: importlib.import_module(each)\nprint(len(modules))"
    )
    done = on_windows(code, everything=True)
    assert done.stderr == ""
    assert int(done.stdout) > 250


# Quoting ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("person", PERSONS)
def test_a_command_is_read_back_as_it_was_written(agent: str, person: str) -> None:
    command = program_in(agent, hook_of(person), person=person, windows=True)
    [program, *rest] = words_in(f"{command} SessionStart {agent}", person=person, windows=True)
    assert ntpath.normpath(program) == hook_of(person)
    assert rest == ["SessionStart", agent]
    assert program_name(program, windows=True) == "hook"


@given(NAMES)
def test_any_name_of_a_folder_is_read_back(name: str) -> None:
    path = hook_of(rf"C:\Users\{name}")
    for agent in ("claude", "codex"):
        command = program_in(agent, path, windows=True)
        assert [ntpath.normpath(word) for word in words_in(command, windows=True)] == [
            ntpath.normpath(path)
        ]


@settings(max_examples=3)
@given(st.lists(NAMES, min_size=50))
def test_git_bash_reads_one_word(names: list[str]) -> None:
    paths = [hook_of(rf"C:\Users\{name}") for name in names]
    called = " ".join(program_in("claude", path, windows=True) for path in paths)
    shown = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {called}"], capture_output=True, check=True, timeout=300
    ).stdout
    assert shown.decode().split("\0")[:-1] == [path.replace("\\", "/") for path in paths]


def test_what_needs_quotes_in_the_home_folder_is_written_with_a_tilde() -> None:
    person = r"C:\Users\Ada Lovelace"
    command = program_in("claude", hook_of(person), person=person, windows=True)
    assert command == "~/.brim/bin/hook.cmd"
    environ = {"HOME": person.replace("\\", "/"), "PATH": os.environ["PATH"]}
    shown = subprocess.run(
        ["bash", "-c", f"printf %s {command}"], capture_output=True, env=environ, check=True
    ).stdout
    assert shown.decode() == hook_of(person).replace("\\", "/")


@pytest.mark.parametrize("person", PERSONS)
def test_powershell_gets_a_text_that_it_calls(person: str) -> None:
    command = program_in("gemini", hook_of(person), person=person, windows=True)
    if command != hook_of(person):
        # Its rules: quotes are doubled in single quotes, and nothing else is special.
        assert (command[:3], command[-1]) == ("& '", "'")
        assert command[3:-1].replace("''", "'") == hook_of(person)
    line = subprocess.list2cmdline(
        ["powershell.exe", "-NoProfile", "-Command", f"{command} BeforeTool gemini"]
    )
    assert argv_of(line)[3] == f"{command} BeforeTool gemini"


@given(st.lists(st.text(st.sampled_from('a \\"\t'))))
def test_the_rules_of_windows_here_undo_those_of_python(words: list[str]) -> None:
    assert argv_of(subprocess.list2cmdline(words)) == words


def test_a_person_types_quotes_only_where_they_are_needed() -> None:
    assert typed(r"C:\Users\ada\brim.exe", windows=True) == r"C:\Users\ada\brim.exe"
    assert (
        typed(r"C:\Users\Ada Lovelace\brim.exe", windows=True)
        == r'"C:\Users\Ada Lovelace\brim.exe"'
    )


# The launchers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", PERSONS)
def test_the_batch_file_is_ascii_whatever_the_person_is_called(person: str) -> None:
    python = ntpath.join(person, r"AppData\Roaming\uv\tools\brim\Scripts\python.exe")
    texts = windows_texts(hook_of(person), python, home=ntpath.join(person, ".brim"))
    batch = texts[hook_of(person)]
    assert batch.isascii()
    assert batch.splitlines() == [
        "@echo off",
        r'"%~dp0..\..\AppData\Roaming\uv\tools\brim\Scripts\python.exe" -I -S "%~dp0hook.py" %* 2>nul',
        "exit /b 0",
    ]
    assert batch.endswith("\r\n")


def test_python_on_another_drive_is_named_whole() -> None:
    batch = windows_texts(hook_of(PERSONS[0]), r"D:\100% Python\python.exe", home=PERSONS[0])[
        hook_of(PERSONS[0])
    ]
    assert r'"D:\100%% Python\python.exe" -I -S' in batch


def test_a_python_that_a_batch_file_cannot_name_is_refused() -> None:
    with pytest.raises(InputError, match="uv tool install brim"):
        windows_texts(hook_of(PERSONS[0]), r"D:\проекты\python.exe", home=PERSONS[0])


def test_the_script_answers_for_its_own_home(brim: Brim) -> None:
    brim("learn", "--user", "Use tabs")
    home = brim.home / ".brim"
    texts = windows_texts(str(home / "bin" / "hook.cmd"), sys.executable, home=str(home))
    script = texts[str(home / "bin" / "hook.py")]
    sent = json.dumps(
        {
            "hook_event_name": "SessionStart",
            "session_id": "one",
            "source": "startup",
            "cwd": str(brim.cwd),
        }
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, "SessionStart", "claude"],
        input=sent.encode(),
        capture_output=True,
        env={"HOME": "/nowhere", "BRIM_HOME": str(brim.cwd)},
        timeout=300,
        check=True,
    )
    assert "Use tabs" in done.stdout.decode()


def test_the_status_line_has_a_script_of_its_own() -> None:
    path = ntpath.join(PERSONS[0], ".brim", "bin", "statusline.cmd")
    texts = windows_texts(path, sys.executable, home=PERSONS[0], code=STATUS_CODE)
    assert texts[path.replace(".cmd", ".py")].endswith(f"{STATUS_CODE}\n")


# Installing ---------------------------------------------------------------------------------------


def test_init_writes_launchers_and_settings_and_uninstall_takes_them_out(brim: Brim) -> None:
    use(brim, "claude", "codex", "gemini", text="{}")
    done = on_windows(COMMANDS, environ=brim.environ, cwd=brim.cwd)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    installed, again, found, out = json.loads(done.stdout)
    assert set(installed["scripts"]) == {"hook.cmd", "hook.py", "statusline.cmd", "statusline.py"}
    for agent in ("claude", "codex", "gemini"):
        hooks = json.loads(installed["files"][agent])["hooks"]
        called = [
            hook["command"]
            for groups in hooks.values()
            for group in groups
            for hook in group["hooks"]
        ]
        for command, event in zip(called, hooks, strict=True):
            assert "/.brim/bin/hook.cmd" in command  # how it's quoted is tested above
            assert command.endswith(f" {event} {agent}")
    assert not any(each["changed"] for each in json.loads(again["said"])["agents"])
    texts = [
        each["text"] for each in json.loads(found["said"])["findings"] if each["what"] == "windows"
    ]
    assert texts == [
        "hooks on Windows are experimental: they were never run inside the agents there"
    ]
    assert texts[0] in done.stderr
    assert (list(out["files"].values()), out["scripts"]) == (["{}"] * 3, [])


def test_a_hook_answers_without_what_windows_lacks(brim: Brim, tmp_path: Path) -> None:
    brim("learn", "--user", "Use tabs")
    transcript = tmp_path / "session.jsonl"
    transcript.write_text('{"type": "user", "message": {"role": "user", "content": "hello"}}\n' * 3)
    sent = {
        "hook_event_name": "SessionStart",
        "session_id": "one",
        "source": "startup",
        "cwd": str(brim.cwd),
    }
    sent |= {"transcript_path": str(transcript)}
    code = "from brim.hooks import main\nmain()"
    done = on_windows(
        code, "SessionStart", "claude", environ=brim.environ, cwd=brim.cwd, stdin=json.dumps(sent)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Use tabs" in done.stdout
    assert not (brim.home / ".brim" / "log").exists()
