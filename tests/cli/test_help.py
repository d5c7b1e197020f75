"""Help, version and completion."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

import pytest

import brim as library
from brim import cli as command_line
from tests.cli.conftest import COMMAND, Brim

COMMANDS = tuple(command_line.COMMANDS)
LISTED = "init uninstall doctor report usage context memory limit learn rules ui run config pause"
RULES = "list why edit remove restore review trust allow import audit"
DEV = "count fit check repair window models activate prompt"
UNLISTED = "upgrade activate prompt mcp statusline completion"
MOST_OPTIONS = 200


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Return the options of *parser*, each by its first name; help isn't one."""
    return {action.option_strings[0] for action in parser._actions if action.option_strings} - {
        "-h"
    }


def test_there_are_as_few_commands_and_options_as_the_first_page_promises() -> None:
    grouped = [
        *(f"rules {name}" for name in RULES.split()),
        *(f"dev {name}" for name in DEV.split()),
    ]
    assert [*LISTED.split(), *grouped, *UNLISTED.split()] == list(COMMANDS)
    places = {command_line.COMMANDS[name]: name for name in COMMANDS}
    assert (
        sum(len(options_of(command_line.parser_of(name))) for name in places.values())
        <= MOST_OPTIONS
    )


def test_every_command_prints_json_if_it_is_asked_to() -> None:
    silent = [name for name in COMMANDS if "--json" not in options_of(command_line.parser_of(name))]
    assert silent == []


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_the_packages(brim: Brim, flag: str) -> None:
    ran = brim(flag)
    assert (ran.code, ran.out, ran.err) == (0, f"brim {library.__version__}\n", "")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_what_people_need_and_shows_an_example(brim: Brim, flag: str) -> None:
    ran = brim(flag)
    assert (ran.code, ran.err) == (0, "")
    assert "Example: brim learn" in ran.out
    assert commands_in(ran.out) == LISTED.split()
    assert brim("help").out == ran.out


def commands_in(overview: str) -> list[str]:
    listed = overview.partition("\ncommands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listed.split("\n")]


def test_groups_and_settings_alone_show_something_useful(brim: Brim) -> None:
    ran = brim("dev")
    assert (ran.code, commands_in(ran.out)) == (0, DEV.split())
    assert brim("dev", "--help").out == ran.out
    assert list(brim("dev", "--json").json["commands"]) == DEV.split()
    assert brim("config").out == brim("config", "list").out
    assert "brim learn" in brim("rules").err
    assert "brim limit 5/day" in brim("limit").err
    assert brim("help", "rules", "why").out == brim("rules", "why", "--help").out


def test_the_list_of_commands_fits_40_columns(brim: Brim) -> None:
    assert max(map(len, brim("--help", env={"COLUMNS": "40"}).lines)) <= 40


def help_of(
    command: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Return the help of *command* without starting a process."""
    monkeypatch.setattr(sys, "argv", ["brim", *command.split(), "--help"])
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    return out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_commands_help_shows_an_example(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage, _, rest = help_of(command, 80, monkeypatch, capsys).partition("\n")
    assert usage.startswith(f"usage: brim {command.split(maxsplit=1)[0]} ")
    if command not in ("upgrade", "activate", "prompt"):  # their examples have the other name
        assert re.search(rf"^ .*\bbrim {command}\b", rest, re.MULTILINE)
    assert "\nExample" in rest


@pytest.mark.parametrize("command", COMMANDS)
def test_help_keeps_to_the_width_of_the_terminal(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wide, narrow = (help_of(command, width, monkeypatch, capsys) for width in (150, 80))
    said = narrow.partition("\n\n")[2].partition("\nExample")[
        0
    ]  # argparse never divides a choice in its usage
    assert [line for line in said.split("\n") if len(line) > 80] == []
    assert "".join(wide.split()) == "".join(narrow.split())
    assert wide.partition("\nExample")[2] == narrow.partition("\nExample")[2]


def test_a_mistyped_command_suggests_the_nearest(brim: Brim) -> None:
    ran = brim("lern", "Use uv")
    assert (ran.code, ran.out) == (2, "")
    assert "no command 'brim lern'. Did you mean 'brim learn'?" in ran.err
    assert "brim --help" in brim("xyzzy").err
    assert "Did you mean 'brim dev count'?" in brim("dev", "cuont").err


def test_a_mistyped_action_of_rules_suggests_the_nearest(brim: Brim) -> None:
    assert "did you mean 'brim rules edit'?" in brim("rules", "edti").err
    assert "did you mean" not in brim("rules", "xyzzy").err


def test_a_mistyped_rule_suggests_the_nearest(brim: Brim) -> None:
    brim("learn", "--user", "Run ruff before you are done.", "--name", "run-ruff-before-done")
    ran = brim("rules", "why", "rufff")
    assert (ran.code, ran.out) == (2, "")
    assert "Did you mean run-ruff-before-done?" in ran.err


def test_a_prompt_where_a_rule_belongs_is_told_its_option(brim: Brim) -> None:
    assert (
        "'brim rules why --prompt TEXT' shows what a prompt brings"
        in brim("rules", "why", "fix the importer").err
    )
    assert "--prompt" not in brim("rules", "why", "importer").err


def test_help_is_printed_where_only_ascii_is(brim: Brim) -> None:
    for command in ("", "rules why", "limit", "rules"):
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
        ("brim lea", {"learn"}),
        ("brim co", {"config", "completion", "context"}),
        ("brim dev co", {"count"}),
        ("brim config li", {"limits", "list"}),
        ("brim rules re", {"remove", "restore", "review"}),
        ("brim dev count --mod", {"--mode", "--model"}),
        ("brim dev count --mode a", {"auto", "approximate", "api"}),
        ("brim completion z", {"zsh"}),
    ],
)
def test_completion_completes_commands_options_and_values(
    brim: Brim, words: str, expected: set[str]
) -> None:
    assert complete(brim, words) == expected


@pytest.mark.parametrize(
    "words",
    ["brim dev count --model gpt-4o-m", "brim dev models gpt-4o-m", "brim dev window -m gpt-4o-m"],
)
def test_completion_completes_models(brim: Brim, words: str) -> None:
    found = complete(brim, words)
    assert "gpt-4o-mini" in found
    assert all(name.startswith("gpt-4o-m") for name in found)


def test_completion_knows_the_models_of_the_configuration(brim: Brim) -> None:
    brim.configure("models:\n  house-model:\n    like: gpt-4o\n")
    assert complete(brim, "brim dev count -m house") == {"house-model"}


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
    subprocess.run(
        ["bash", "-n"], input=brim("completion", "bash").out.encode(), check=True, timeout=300
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no bash there")
def test_the_bash_script_completes_in_bash(brim: Brim) -> None:
    folder = COMMAND.rpartition("/")[0]
    script = """
        PATH="$FOLDER:$PATH"
        source <(brim completion bash) || exit 3
        COMP_LINE="brim lea" COMP_POINT=8 COMP_WORDS=(brim lea) COMP_CWORD=1 COMP_TYPE=9
        _python_argcomplete brim
        echo "${COMPREPLY[@]}"
    """
    assert brim.shell(script, env={"FOLDER": folder}).out.split() == ["learn"]


def test_the_package_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "brim", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("brim ")
