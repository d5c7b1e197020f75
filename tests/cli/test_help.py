"""Help, version and completion."""

from __future__ import annotations

import subprocess
import sys

import pytest

import brim as library
from brim import cli as command_line
from tests.cli.conftest import COMMAND, Brim

COMMANDS = tuple(command_line.COMMANDS)
SHOWN = {
    "everyday": "init report context watch usage lost limit learn rules why ui run",
    "setup": "doctor uninstall pause resume trust config",
    "builders": "count fit check repair window models",
}
OLD = (
    *("budget", "dedupe", "export", "forget", "import", "list", "merge", "review", "scratch", "show", "spend"),
    *("unforget", "upgrade", "validate"),
)
"""Names of 0.1 whose help shows the new name."""


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_the_packages(brim: Brim, flag: str) -> None:
    ran = brim(flag)
    assert (ran.code, ran.out, ran.err) == (0, f"brim {library.__version__}\n", "")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_what_people_need_and_shows_an_example(brim: Brim, flag: str) -> None:
    ran = brim(flag)
    assert (ran.code, ran.err) == (0, "")
    assert "Example: brim learn" in ran.out
    for group, commands in SHOWN.items():
        listed = ran.out.partition(f"\n{group}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in listed.split("\n")] == commands.split()


def test_the_list_of_commands_fits_40_columns(brim: Brim) -> None:
    assert max(map(len, brim("--help", env={"COLUMNS": "40"}).lines)) <= 40


def help_of(command: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the help of *command* without starting a process."""
    monkeypatch.setattr(sys, "argv", ["brim", *command.split(), "--help"])
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    return out


@pytest.mark.parametrize("command", [*COMMANDS, "config list"])
def test_each_commands_help_shows_an_example(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage, _, rest = help_of(command, 80, monkeypatch, capsys).partition("\n")
    assert usage.startswith(f"usage: brim {command.split(maxsplit=1)[0]} ")
    assert f"\n  brim {command}" in rest or command in OLD or "EDITOR=" in rest or "brim completion" in rest
    assert "\nExample" in rest


@pytest.mark.parametrize("command", COMMANDS)
def test_help_keeps_to_the_width_of_the_terminal(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wide, narrow = (help_of(command, width, monkeypatch, capsys) for width in (150, 80))
    said = narrow.partition("\n\n")[2].partition("\nExample")[0]  # argparse never divides a choice in its usage
    assert [line for line in said.split("\n") if len(line) > 80] == []
    assert "".join(wide.split()) == "".join(narrow.split())
    assert wide.partition("\nExample")[2] == narrow.partition("\nExample")[2]


def test_a_mistyped_command_suggests_the_nearest(brim: Brim) -> None:
    ran = brim("lern", "Use uv")
    assert (ran.code, ran.out) == (2, "")
    assert "no command 'lern'. Did you mean 'learn'?" in ran.err
    assert "brim --help" in brim("xyzzy").err


def test_a_mistyped_action_of_rules_suggests_the_nearest(brim: Brim) -> None:
    assert "did you mean 'brim rules show'?" in brim("rules", "shw").err
    assert "did you mean" not in brim("rules", "xyzzy").err


def test_a_mistyped_rule_suggests_the_nearest(brim: Brim) -> None:
    brim("learn", "--user", "Run ruff before you are done.", "--name", "run-ruff-before-done")
    ran = brim("why", "rufff")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean run-ruff-before-done?" in ran.err


def test_a_prompt_where_a_rule_belongs_is_told_its_option(brim: Brim) -> None:
    assert "'brim why --prompt TEXT' shows what a prompt brings" in brim("why", "fix the importer").err
    assert "--prompt" not in brim("why", "importer").err


def test_help_is_printed_where_only_ascii_is(brim: Brim) -> None:
    for command in ("", "why", "limit", "rules"):
        assert brim(*command.split(), "--help", env={"PYTHONIOENCODING": "ascii:strict"}).code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(brim: Brim, shell: str) -> None:
    ran = brim("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert "_ARGCOMPLETE" in ran.out
    found = brim("completion", shell, "--json").json
    assert (found["shell"], found["script"].strip()) == (shell, ran.out.strip())


def test_completion_of_another_shell_is_wrong_usage(brim: Brim) -> None:
    ran = brim("completion", "tcsh")
    assert ran.code == 2
    assert "fish" in ran.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("brim cou", {"count"}),
        ("brim co", {"count", "config", "compact-prompt", "completion", "context"}),
        ("brim config l", {"list"}),
        ("brim rules re", {"remove", "restore", "review"}),
        ("brim count --mod", {"--mode", "--model"}),
        ("brim count --mode a", {"auto", "approximate", "api"}),
        ("brim completion z", {"zsh"}),
    ],
)
def test_completion_completes_commands_options_and_values(brim: Brim, words: str, expected: set[str]) -> None:
    assert complete(brim, words) == expected


@pytest.mark.parametrize("words", ["brim count --model gpt-4o-m", "brim models gpt-4o-m", "brim budget -m gpt-4o-m"])
def test_completion_completes_models(brim: Brim, words: str) -> None:
    found = complete(brim, words)
    assert "gpt-4o-mini" in found
    assert all(name.startswith("gpt-4o-m") for name in found)


def test_completion_knows_the_models_of_the_configuration(brim: Brim) -> None:
    brim.configure("models:\n  house-model:\n    like: gpt-4o\n")
    assert complete(brim, "brim count -m house") == {"house-model"}


def complete(brim: Brim, line: str) -> set[str]:
    """Ask for the completions of *line* as the shell's script does."""
    answer = brim.cwd / "answer"
    brim(
        env={
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
        }
    )
    return {word.strip() for word in answer.read_text().split("\n")} - {""}


@pytest.mark.skipif(sys.platform == "win32", reason="no bash there")
def test_the_bash_script_is_bash(brim: Brim) -> None:
    subprocess.run(["bash", "-n"], input=brim("completion", "bash").out.encode(), check=True, timeout=300)


@pytest.mark.skipif(sys.platform == "win32", reason="no bash there")
def test_the_bash_script_completes_in_bash(brim: Brim) -> None:
    folder = COMMAND.rpartition("/")[0]
    script = """
        PATH="$FOLDER:$PATH"
        source <(brim completion bash) || exit 3
        COMP_LINE="brim bud" COMP_POINT=8 COMP_WORDS=(brim bud) COMP_CWORD=1 COMP_TYPE=9
        _python_argcomplete brim
        echo "${COMPREPLY[@]}"
    """
    assert brim.shell(script, env={"FOLDER": folder}).out.split() == ["budget"]


def test_the_package_runs_as_a_module() -> None:
    ran = subprocess.run([sys.executable, "-m", "brim", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("brim ")
