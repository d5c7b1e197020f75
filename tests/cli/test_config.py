"""Settings on the command line: which one wins, where it came from, and what is said when one is
wrong."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brim.config import SETTINGS
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
    assert brim("dev", "count", "x", "--json", env=env).json["model"] == "gpt-3.5-turbo"
    assert (
        brim("dev", "count", "x", "--json", "--model", "gpt-4o", env=env).json["model"] == "gpt-4o"
    )


def test_a_mode_comes_from_a_flag_a_variable_or_a_file(brim: Brim) -> None:
    brim.configure("mode: approximate\n")
    text = "x" * 4_000
    assert brim("dev", "count", text, "--json").json["tokens"] == 1_000
    assert brim("dev", "count", text, "--json", env={"BRIM_MODE": "exact"}).json["basis"] == "exact"
    assert brim("dev", "count", text, "--json", "--mode", "auto").json["basis"] == "exact"


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
    assert brim("dev", "count", "x", "--json", cwd=brim.cwd / "a/b").json["model"] == "gpt-4o"


def test_the_budget_takes_its_model_from_the_settings(brim: Brim) -> None:
    assert (
        brim("dev", "window", "--json", env={"BRIM_MODEL": "gpt-4o"}).json["context_window"]
        == 128_000
    )


# The list


def test_the_list_shows_every_setting_with_its_value_and_origin(brim: Brim) -> None:
    brim.configure("models:\n  mine:\n    like: gpt-4o\n", user="mode: exact\n")
    lines = brim("config", "list").lines
    rows = {line.split()[0]: re.split(r"\s{2,}", line) for line in lines if line}
    assert rows["model"][1:3] == ["none", "default"]
    assert rows["mode"][1:3] == ["exact", "~/.brim/config.yaml:1"]
    assert rows["models"][1:3] == ["mine", f"{brim.cwd}/.brim/config.yaml:1"]
    assert rows["token_budget.default"][1:3] == ["2000", "default"]
    assert set(rows) - {"setting"} == {each.key for each in SETTINGS}
    assert (
        lines[lines.index(next(line for line in lines if line.startswith("tiers.full"))) - 1] == ""
    )


def test_the_list_can_be_narrowed(brim: Brim) -> None:
    assert list(brim("config", "list", "session", "--json").json) == [
        "session.max_tokens",
        "session.max_per_injection",
        "session.backoff",
    ]
    assert list(brim("config", "list", "*.max_t*", "--json").json) == ["session.max_tokens"]
    ran = brim("config", "list", "nonsense")
    assert (ran.code, ran.out, ran.err) == (1, "", "brim: no setting matches nonsense\n")


def test_the_list_in_json_says_what_can_be_set_how(brim: Brim) -> None:
    assert brim("config", "list", "default", "--json", env={"FLOOP_TOKEN_BUDGET": "5"}).json == {
        "token_budget.default": {
            "value": 5,
            "origin": "FLOOP_TOKEN_BUDGET",
            "default": 2_000,
            "variable": "BRIM_TOKEN_BUDGET",
        }
    }


# One value


def test_a_value_is_printed_alone_and_its_origin_beside(brim: Brim) -> None:
    ran = brim("config", "get", "token_budget.default", env={"BRIM_TOKEN_BUDGET": "3_000"})
    assert (ran.code, ran.out, ran.err) == (0, "3000\n", "brim: set by BRIM_TOKEN_BUDGET\n")
    found = brim("config", "get", "injection.max_chars", "--json").json
    assert found == {
        "key": "injection.max_chars",
        "value": None,
        "origin": "default",
        "default": None,
        "variable": "BRIM_INJECTION_MAX_CHARS",
    }


@pytest.mark.parametrize(
    "action",
    [["get", "session.backof"], ["set", "session.backof", "5"], ["unset", "session.backof"]],
)
def test_a_key_that_is_none_is_refused_with_the_nearest(brim: Brim, action: list[str]) -> None:
    ran = brim("config", *action)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "brim: unknown key session.backof; did you mean session.backoff?\n"


# Changing


def test_set_writes_the_users_file_and_makes_it_if_it_is_not_there(brim: Brim) -> None:
    ran = brim("config", "set", "tiers.full", "0.8")
    path = brim.home / ".brim/config.yaml"
    assert (ran.code, ran.out, ran.err) == (0, "tiers.full = 0.8  ~/.brim/config.yaml\n", "")
    assert path.read_text() == "tiers:\n  full: 0.8\n"
    assert [path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777] == [0o600, 0o700]
    assert setting(brim, "tiers.full") == (0.8, f"{path}:2")
    assert not (brim.cwd / ".brim").exists()


def test_set_writes_the_projects_file_when_told_so(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    (brim.cwd / "inside").mkdir()
    assert brim("config", "set", "mode", "exact", "--project", cwd=brim.cwd / "inside").code == 0
    assert (brim.cwd / ".brim/config.yaml").read_text() == "mode: exact\n"
    assert not (brim.home / ".brim" / "config.yaml").exists()


def test_set_keeps_comments_and_order(brim: Brim) -> None:
    text = "# ours\nmode: auto  # for now\n\ntoken_budget:\n  default: 7\n  # more\n# end\n"
    brim.configure(user=text)
    assert brim("config", "set", "token_budget.default", "unlimited").code == 0
    assert (brim.home / ".brim/config.yaml").read_text() == text.replace("7", "null")
    assert brim("config", "get", "token_budget.default").out == "unlimited\n"


def test_set_says_what_hides_the_value(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    ran = brim(
        "config", "set", "memory.output_reserve", "7", env={"BRIM_MEMORY_OUTPUT_RESERVE": "9"}
    )
    assert (ran.code, ran.err) == (
        0,
        "brim: BRIM_MEMORY_OUTPUT_RESERVE is stronger: 9 stays in force\n",
    )
    brim.configure("memory:\n  output_reserve: 8\n")
    found = brim("config", "set", "memory.output_reserve", "6", "--json").json
    assert found == {
        "key": "memory.output_reserve",
        "value": 6,
        "file": f"{brim.home}/.brim/config.yaml",
        "changed": True,
        "hidden_by": f"{brim.cwd}/.brim/config.yaml:2",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["token_budget.default", "2k"], "token_budget.default must be a whole number, not '2k'"),
        (["token_budget.default", "-5"], "token_budget.default must be 0 or more, not -5"),
        (["mode", "best"], "mode must be one of auto, approximate, exact, api, not 'best'"),
        (["tiers.full", "0.2"], "tiers.full (0.2) is less than tiers.summary (0.3)"),
        (["models", "x"], "models is a mapping: write it into "),
        (["model", ""], "model must be a text, not ''"),
        (["mode"], "config set KEY VALUE"),
    ],
)
def test_set_writes_nothing_that_would_be_wrong(brim: Brim, words: list[str], message: str) -> None:
    brim.configure(user="# mine\n")
    ran = brim("config", "set", *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert (brim.home / ".brim/config.yaml").read_text() == "# mine\n"


@pytest.mark.parametrize("words", [("limit", "+10%"), ("context", "--watch")])
def test_a_mistake_in_the_settings_says_what_to_do(brim: Brim, words: tuple[str, ...]) -> None:
    brim.configure(user="mode: [auto\n")
    ran = brim(*words)
    assert ran.code == 2
    assert "correct that line in an editor" in ran.err


@pytest.mark.parametrize("mistake", ["mode: [auto\n", "mode: fast\n", "models: {x: 1}\n"])
@pytest.mark.parametrize("words", [(), ("usage",), ("report",)])
def test_a_mistake_in_the_settings_hides_nothing_that_happened(
    brim: Brim, words: tuple[str, ...], mistake: str
) -> None:
    brim.configure(user=mistake)
    folder = brim.home / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    message = {
        "id": "m1",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 100_000, "output_tokens": 0},
    }
    line = {"type": "assistant", "sessionId": "s", "timestamp": datetime.now(UTC).isoformat()}
    (folder / "s.jsonl").write_text(json.dumps({**line, "message": message}) + "\n")
    ran = brim(*words)
    assert ran.code == 0
    assert "$0.30" in ran.out
    assert ran.err.count("Correct that line in an editor") == 1


def test_nothing_is_taught_while_the_settings_cannot_be_read(brim: Brim) -> None:
    assert brim("learn", "--user", "Use tabs").code == 0
    before = (brim.home / ".brim" / "rules.toml").read_text()
    brim.configure(user="mode: [auto\n")
    assert brim("learn", "--user", "Never use spaces").code == 2
    assert brim("rules", "edit", "use-tabs", "--block", "foo bar", "--yes").code == 2
    assert (brim.home / ".brim" / "rules.toml").read_text() == before


def test_set_refuses_a_broken_file_and_leaves_it(brim: Brim) -> None:
    brim.configure(user="mode: [auto\n")
    ran = brim("config", "set", "mode", "exact")
    assert ran.code == 2
    assert "~/.brim/config.yaml:2: not valid YAML" in ran.err
    assert (brim.home / ".brim/config.yaml").read_text() == "mode: [auto\n"


def test_set_and_unset_mend_what_every_other_command_refuses(brim: Brim) -> None:
    brim.configure(user="mode: fast\nmodle: x\n")
    assert brim("dev", "count", "x").code == 2
    assert brim("config", "unset", "modle").code == 2  # the mode is still wrong
    brim.configure(user="mode: fast\n")
    assert brim("config", "set", "mode", "exact").code == 0
    brim.configure(user="mode: exact\nmodle: x\n")
    assert brim("config", "unset", "modle").code == 0
    assert brim("dev", "count", "x").code == 0


def test_a_wrong_variable_does_not_keep_a_file_from_being_changed(brim: Brim) -> None:
    assert brim("config", "set", "session.backoff", "7", env={"BRIM_MODE": "fast"}).code == 0


def test_without_a_project_the_projects_file_cannot_be_set(brim: Brim) -> None:
    for action in (["set", "mode", "exact"], ["unset", "mode"], ["path"]):
        ran = brim("config", *action, "--project")
        assert (ran.code, ran.out) == (2, "")
        assert "not in a project" in ran.err
        assert "mkdir .brim" in ran.err


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing stops root from writing"
)
def test_a_folder_that_cannot_be_written_is_said(brim: Brim) -> None:
    brim.home.chmod(0o500)
    ran = brim("config", "set", "mode", "exact")
    brim.home.chmod(0o700)
    assert ran.code == 2


def test_a_file_in_the_way_of_the_folder_is_said(brim: Brim) -> None:
    (brim.home / ".brim").write_text("")
    ran = brim("config", "set", "mode", "exact")
    assert ran.code == 2
    assert "~/.brim" in ran.err


def test_unset_takes_a_key_out_and_says_what_is_in_force_then(brim: Brim) -> None:
    brim.configure("mode: approximate\n", user="# mine\nmode: exact\n")
    path = brim.home / ".brim/config.yaml"
    ran = brim("config", "unset", "mode")
    assert (ran.code, ran.out) == (0, "mode is no longer set in ~/.brim/config.yaml\n")
    assert ran.err == f"brim: approximate is in force, set by {brim.cwd}/.brim/config.yaml:1\n"
    assert path.read_text() == "# mine\n"
    ran = brim("config", "unset", "mode")
    assert (ran.code, ran.out) == (0, "")
    assert "mode isn't set in ~/.brim/config.yaml; nothing was changed" in ran.err
    found = brim("config", "unset", "mode", "--project", "--json").json
    assert found == {
        "key": "mode",
        "file": f"{brim.cwd}/.brim/config.yaml",
        "changed": True,
        "value": "auto",
        "origin": "default",
    }


def test_what_a_project_cannot_set_is_ignored_with_a_word_and_never_written(brim: Brim) -> None:
    brim.configure("mode: api\nsession: {backoff: 9}\n")
    ran = brim("config", "get", "mode")
    assert ran.out == "auto\n"
    assert "config.yaml:1: a project's file can't set mode like this, so it's ignored" in ran.err
    assert "config.yaml:2: a project's file can't set session.backoff like this" in ran.err
    for words in (("mode", "api"), ("session.backoff", "9"), ("context.window", "1000")):
        before = (brim.cwd / ".brim/config.yaml").read_text()
        ran = brim("config", "set", *words, "--project")
        assert (ran.code, "leave out --project" in ran.err) == (2, True)
        assert (brim.cwd / ".brim/config.yaml").read_text() == before


# Files


def test_the_files_are_listed_whether_they_exist_or_not(brim: Brim) -> None:
    brim.configure("nonsense: [\n")
    user, project = f"{brim.home}/.brim/config.yaml", f"{brim.cwd}/.brim/config.yaml"
    assert brim("config", "path").lines == [
        "user     not there  ~/.brim/config.yaml",
        f"project  read       {project}",
    ]
    assert brim("config", "path", "--json").json == {
        "files": [
            {"scope": "user", "path": user, "exists": False},
            {"scope": "project", "path": project, "exists": True},
        ]
    }
    assert brim("config", "path", "--user").out == f"{user}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["list", "a", "b"],
        ["get"],
        ["get", "mode", "x"],
        ["path", "mode"],
        ["get", "mode", "--user"],
    ],
)
def test_wrong_usage_is_said(brim: Brim, words: list[str]) -> None:
    ran = brim("config", *words)
    assert (ran.code, ran.out) == (2, "")
    assert f"config {words[0]}" in ran.err


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
        (
            "models:\n  mine:\n    like: gpt-4o\n    context_window: big\n",
            4,
            ["models.mine.context_window", "big"],
        ),
        ("models:\n  gpt-4.1:\n    max_output: -1\n", 3, ["models.gpt-4.1.max_output", "-1"]),
        ("models:\n  my model:\n    max_output: -1\n", 3, ["models.my model.max_output", "-1"]),
        ("models:\n  mine:\n    window: 5\n", 3, ["models.mine.window", "context_window"]),
        (
            "models:\n  mine:\n    prices:\n      input: cheap\n",
            4,
            ["models.mine.prices.input", "cheap"],
        ),
        ("models:\n  a:\n    like: b\n  b:\n    like: a\n", 3, ["models.a.like"]),
    ],
)
def test_an_error_names_the_file_the_line_and_the_key(
    brim: Brim, content: str, line: int, words: list[str]
) -> None:
    brim.configure(content)
    ran = brim("dev", "count", "x")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"brim: config: {brim.cwd}/.brim/config.yaml:{line}: ")
    assert ran.err.count("\n") == 2, "the mistake, and what to do about it"
    for word in words:
        assert word in ran.err


def test_a_wrong_variable_is_named(brim: Brim) -> None:
    ran = brim("dev", "count", "x", env={"BRIM_MODE": "fast"})
    assert ran.code == 2
    assert "BRIM_MODE" in ran.err
    assert "fast" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ["dev", "count", "x"],
        ["dev", "window", "-m", "gpt-4o"],
        ["dev", "models", "gpt-4o"],
        ["config", "list"],
    ],
)
def test_every_command_refuses_a_wrong_file(brim: Brim, command: list[str]) -> None:
    brim.configure(user="nonsense: 1\n")
    ran = brim(*command)
    assert ran.code == 2
    assert "~/.brim/config.yaml:1" in ran.err


def test_help_and_version_need_no_right_file(brim: Brim) -> None:
    brim.configure("nonsense: 1\n")
    assert [brim("--version").code, brim("--help").code, brim("dev", "count", "--help").code] == [
        0,
        0,
        0,
    ]


def test_a_configuration_that_is_a_folder_is_refused(brim: Brim) -> None:
    (brim.cwd / ".brim/config.yaml").mkdir(parents=True)
    ran = brim("dev", "count", "x")
    assert ran.code == 2
    assert "config.yaml" in ran.err


# Models of one's own


def test_a_model_of_the_configuration_is_known_to_every_command(brim: Brim) -> None:
    brim.configure(
        "models:\n  House-Model:\n    like: gpt-4o\n    context_window: 300000\n    prices: {input: 2.5}\n"
    )
    counted = brim("dev", "count", "Hello world", "-m", "house-model", "--json").json
    assert (counted["tokens"], counted["basis"], counted["context_window"]) == (2, "exact", 300_000)
    assert counted["resolved"] is True
    assert brim("dev", "window", "-m", "house-model", "--json").json["context_window"] == 300_000
    [found] = brim("dev", "models", "house", "--json").json["models"]
    assert (found["name"], found["context_window"], found["price"]["input"]) == (
        "House-Model",
        300_000,
        "2.5",
    )
    assert brim("dev", "count", "Hello world", "-m", "house-model").err == ""


def test_a_known_model_gets_another_window(brim: Brim) -> None:
    brim.configure("models:\n  gpt-4o:\n    context_window: 64000\n")
    assert brim("dev", "window", "-m", "gpt-4o", "--json").json["context_window"] == 64_000
    assert brim("dev", "window", "-m", "openai/gpt-4o", "--json").json["context_window"] == 64_000


def test_models_of_both_files_are_known_and_the_projects_win(brim: Brim) -> None:
    brim.configure(
        "models:\n  both: {context_window: 1000, like: gpt-4o}\n",
        user="models:\n  both: {context_window: 2000}\n  mine: {context_window: 3000}\n",
    )
    assert brim("dev", "window", "-m", "both", "--json").json["context_window"] == 1_000
    assert brim("dev", "window", "-m", "mine", "--json").json["context_window"] == 3_000


def test_a_project_that_begins_with_a_setting_is_trusted(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    assert brim("config", "set", "tiers.full", "0.8", "--project").code == 0
    ran = brim("learn", "Use uv, never pip.")
    assert ran.code == 0
    assert (brim.cwd / ".brim" / ".gitignore").exists()
    assert brim("rules", "trust", "--list", "--json").json["projects"]
