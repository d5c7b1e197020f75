"""Settings on the command line: which one wins, where it came from, and what is said when one is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Brim


def setting(brim: Brim, key: str, env: dict[str, str] | None = None) -> tuple[object, str]:
    found = brim("config", "list", "--json", env=env).json[key]
    return found["value"], found["origin"]


# Precedence


def test_each_source_is_stronger_than_the_next(brim: Brim) -> None:
    user, project = brim.home / ".brim/config.yaml", brim.cwd / ".brim/config.yaml"
    assert setting(brim, "model") == (None, "default")
    brim.configure(user="model: gpt-4\n")
    assert setting(brim, "model") == ("gpt-4", f"{user}:1")
    brim.configure("# ours\nmodel: gpt-4-turbo\n")
    assert setting(brim, "model") == ("gpt-4-turbo", f"{project}:2")
    env = {"BRIM_MODEL": "gpt-3.5-turbo"}
    assert setting(brim, "model", env) == ("gpt-3.5-turbo", "BRIM_MODEL")
    assert brim("count", "x", "--json", env=env).json["model"] == "gpt-3.5-turbo"
    assert brim("count", "x", "--json", "--model", "gpt-4o", env=env).json["model"] == "gpt-4o"


def test_a_mode_comes_from_a_flag_a_variable_or_a_file(brim: Brim) -> None:
    brim.configure("mode: approximate\n")
    text = "x" * 4_000
    assert brim("count", text, "--json").json["tokens"] == 1_000
    assert brim("count", text, "--json", env={"BRIM_MODE": "exact"}).json["basis"] == "exact"
    assert brim("count", text, "--json", "--mode", "auto").json["basis"] == "exact"


def test_an_empty_variable_is_not_set(brim: Brim) -> None:
    assert setting(brim, "model", {"BRIM_MODEL": ""}) == (None, "default")


def test_the_users_folder_may_be_elsewhere(brim: Brim, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/config.yaml").write_text("model: gpt-4\n")
    brim.configure(user="model: gpt-4o\n")
    assert setting(brim, "model", {"BRIM_HOME": str(tmp_path / "elsewhere")})[0] == "gpt-4"


def test_the_projects_file_holds_in_its_subfolders(brim: Brim) -> None:
    brim.configure("model: gpt-4o\n")
    (brim.cwd / "a/b").mkdir(parents=True)
    assert brim("count", "x", "--json", cwd=brim.cwd / "a/b").json["model"] == "gpt-4o"


def test_the_budget_takes_its_model_from_the_settings(brim: Brim) -> None:
    assert brim("budget", "--json", env={"BRIM_MODEL": "gpt-4o"}).json["context_window"] == 128_000


# The list


def test_the_list_shows_every_setting_with_its_value_and_origin(brim: Brim) -> None:
    brim.configure("models:\n  mine:\n    like: gpt-4o\n", user="mode: exact\n")
    rows = {line.split()[0]: re.split(r"\s{2,}", line) for line in brim("config", "list").lines}
    assert rows["model"][1:3] == ["-", "default"]
    assert rows["mode"][1:3] == ["exact", f"{brim.home}/.brim/config.yaml:1"]
    assert rows["models"][1:3] == ["mine", f"{brim.cwd}/.brim/config.yaml:1"]


# Errors


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("mode: auto\nmodle: gpt-4o\n", 2, ["modle", "model"]),
        ("# ours\n\nmode: fast\n", 3, ["mode", "auto, approximate, exact, api", "fast"]),
        ("model: 5\n", 1, ["model", "text", "5"]),
        ("model: [gpt-4o]\n", 1, ["model", "text"]),
        ("models: gpt-4o\n", 1, ["models", "mapping"]),
        ("mode: auto\nmode: exact\n", 2, ["mode", "twice"]),
        ("mode: auto\nmodel: [gpt-4o\n", 3, ["YAML"]),
        ("- gpt-4o\n", 1, ["mapping"]),
        ("models:\n  mine: 5\n", 2, ["models.mine", "mapping"]),
        ("models:\n  mine:\n    like: gpt-4o\n    context_window: big\n", 4, ["models.mine.context_window", "big"]),
        ("models:\n  gpt-4.1:\n    max_output: -1\n", 3, ["models.gpt-4.1.max_output", "-1"]),
        ("models:\n  my model:\n    max_output: -1\n", 3, ["models.my model.max_output", "-1"]),
        ("models:\n  mine:\n    window: 5\n", 3, ["models.mine.window", "context_window"]),
        ("models:\n  mine:\n    prices:\n      input: cheap\n", 4, ["models.mine.prices.input", "cheap"]),
        ("models:\n  a:\n    like: b\n  b:\n    like: a\n", 3, ["models.a.like"]),
    ],
)
def test_an_error_names_the_file_the_line_and_the_key(brim: Brim, content: str, line: int, words: list[str]) -> None:
    brim.configure(content)
    ran = brim("count", "x")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"brim: config: {brim.cwd}/.brim/config.yaml:{line}: ")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err


def test_a_wrong_variable_is_named(brim: Brim) -> None:
    ran = brim("count", "x", env={"BRIM_MODE": "fast"})
    assert ran.code == 2
    assert "BRIM_MODE" in ran.err
    assert "fast" in ran.err


@pytest.mark.parametrize(
    "command", [["count", "x"], ["budget", "-m", "gpt-4o"], ["models", "gpt-4o"], ["config", "list"]]
)
def test_every_command_refuses_a_wrong_file(brim: Brim, command: list[str]) -> None:
    brim.configure(user="nonsense: 1\n")
    ran = brim(*command)
    assert ran.code == 2
    assert f"{brim.home}/.brim/config.yaml:1" in ran.err


def test_help_and_version_need_no_right_file(brim: Brim) -> None:
    brim.configure("nonsense: 1\n")
    assert [brim("--version").code, brim("--help").code, brim("count", "--help").code] == [0, 0, 0]


def test_a_configuration_that_is_a_folder_is_refused(brim: Brim) -> None:
    (brim.cwd / ".brim/config.yaml").mkdir(parents=True)
    ran = brim("count", "x")
    assert ran.code == 2
    assert "config.yaml" in ran.err


# Models of one's own


def test_a_model_of_the_configuration_is_known_to_every_command(brim: Brim) -> None:
    brim.configure("models:\n  House-Model:\n    like: gpt-4o\n    context_window: 300000\n    prices: {input: 2.5}\n")
    counted = brim("count", "Hello world", "-m", "house-model", "--json").json
    assert (counted["tokens"], counted["basis"], counted["context_window"]) == (2, "exact", 300_000)
    assert counted["resolved"] is True
    assert brim("budget", "-m", "house-model", "--json").json["context_window"] == 300_000
    [found] = brim("models", "house", "--json").json["models"]
    assert (found["name"], found["context_window"], found["price"]["input"]) == ("House-Model", 300_000, "2.5")
    assert brim("count", "Hello world", "-m", "house-model").err == ""


def test_a_known_model_gets_another_window(brim: Brim) -> None:
    brim.configure("models:\n  gpt-4o:\n    context_window: 64000\n")
    assert brim("budget", "-m", "gpt-4o", "--json").json["context_window"] == 64_000
    assert brim("budget", "-m", "openai/gpt-4o", "--json").json["context_window"] == 64_000


def test_models_of_both_files_are_known_and_the_projects_win(brim: Brim) -> None:
    brim.configure(
        "models:\n  both: {context_window: 1000, like: gpt-4o}\n",
        user="models:\n  both: {context_window: 2000}\n  mine: {context_window: 3000}\n",
    )
    assert brim("budget", "-m", "both", "--json").json["context_window"] == 1_000
    assert brim("budget", "-m", "mine", "--json").json["context_window"] == 3_000
