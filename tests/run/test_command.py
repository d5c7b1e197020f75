from __future__ import annotations

import pytest

from brim.errors import InputError
from brim.run.command import client_command, start_words, with_input


@pytest.mark.parametrize(
    "words",
    [
        ["claude", "-p", "fix it", "--model", "sonnet"],
        ["claude", "--model", "sonnet", "-p", "fix it"],
        ["claude", "-p", "--model", "sonnet", "fix it"],
        ["claude", "-p", "--model=sonnet", "fix it"],
        ["/opt/bin/claude", "--print", "fix it", "--output-format", "text", "--model", "sonnet"],
        ["claude", "--model", "sonnet", "-p", "--", "fix it"],
        ["claude", "-p", "--model", "sonnet", "--verbose", "--input-format", "text", "fix it"],
    ],
)
def test_the_prompt_is_found_wherever_the_agent_takes_it(words: list[str]) -> None:
    command = client_command(words)
    assert (command.agent, command.prompt) == ("claude", "fix it")
    assert command.options in (("--model", "sonnet"), ("--model=sonnet",))


def test_a_list_of_values_ends_at_the_next_option() -> None:
    command = client_command(
        ["claude", "-p", "fix it", "--allowedTools", "Bash", "Write", "--add-dir", "a", "b"]
    )
    assert command.options == ("--allowedTools", "Bash", "Write", "--add-dir", "a", "b")


def test_a_list_of_values_swallows_a_prompt_as_it_does_for_the_agent_itself() -> None:
    assert client_command(["claude", "-p", "--allowedTools", "Bash", "fix it"]).prompt == ""


def test_an_unknown_option_keeps_its_value_and_leaves_the_prompt() -> None:
    assert client_command(["claude", "-p", "fix it", "--new", "x"]).options == ("--new", "x")
    assert client_command(["claude", "-p", "--new", "x", "fix it"]).prompt == "fix it"
    assert client_command(["claude", "-p", "--new", "fix it"]).prompt == "fix it"


def test_which_session_it_is_is_said_at_the_first_start_only() -> None:
    command = client_command(
        ["claude", "-p", "go on", "--resume", "abc", "--fork-session", "--model", "x"]
    )
    assert command.resumed
    assert start_words(command, "")[-4:] == ["abc", "--fork-session", "--model", "x"]
    again = start_words(command, "", session="def", cap=1_500_000)
    assert again[-6:] == ["--resume", "def", "--max-budget-usd", "1.500000", "--model", "x"]


def test_a_session_with_a_chosen_id_is_a_new_one() -> None:
    assert not client_command(["claude", "-p", "x", "--session-id", "abc"]).resumed


def test_codex_is_resumed_by_its_id() -> None:
    command = client_command(["codex", "exec", "-m", "gpt-5", "fix it", "--skip-git-repo-check"])
    options = ["-m", "gpt-5", "--skip-git-repo-check"]
    assert start_words(command, "fix it") == ["codex", "exec", "--json", *options, "--", "fix it"]
    assert start_words(command, "more", session="t1") == [
        "codex",
        "exec",
        "--json",
        *options,
        "resume",
        "t1",
        "--",
        "more",
    ]


def test_codex_that_was_resumed_by_the_person_goes_on_with_that_thread() -> None:
    command = client_command(["codex", "exec", "resume", "t0", "go on"])
    assert (command.prompt, command.resumed) == ("go on", True)
    assert start_words(command, "go on") == [
        "codex",
        "exec",
        "--json",
        "resume",
        "t0",
        "--",
        "go on",
    ]
    assert client_command(["codex", "exec", "resume", "--last", "go on"]).first_options == (
        "resume",
        "--last",
    )


def test_gemini_takes_its_prompt_as_an_option() -> None:
    command = client_command(["gemini", "-p", "-fix it", "-y"])
    assert start_words(command, "-fix it") == [
        "gemini",
        "-o",
        "stream-json",
        "-y",
        "--prompt=-fix it",
    ]
    assert start_words(command, "more", session="s1")[3:5] == ["--resume", "s1"]
    assert client_command(["gemini", "fix it"]).prompt == "fix it"


def test_another_name_of_an_agent_can_be_said() -> None:
    assert client_command(["./wrapper", "-p", "x"], agent="claude").program == "./wrapper"
    with pytest.raises(InputError, match="add --agent"):
        client_command(["./wrapper", "-p", "x"])


def test_what_is_to_be_printed_is_what_the_command_asks_for() -> None:
    assert client_command(["claude", "-p", "x"]).output == "text"
    assert (
        client_command(["claude", "-p", "x", "--output-format", "stream-json"]).output
        == "stream-json"
    )
    assert client_command(["codex", "exec", "--json", "x"]).output == "stream-json"
    assert client_command(["gemini", "-p", "x", "-o", "json"]).output == "json"


@pytest.mark.parametrize(
    "words", [["claude", "a", "b"], ["codex", "fix it"], ["codex"], [], ["vim"]]
)
def test_what_cannot_be_run_is_said(words: list[str]) -> None:
    with pytest.raises(InputError):
        client_command(words)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("claude", "explain this\na log"),
        ("codex", "explain this\n\n<stdin>\na log\n</stdin>"),
        ("gemini", "a log\n\nexplain this"),
    ],
)
def test_what_is_piped_in_goes_where_the_agent_itself_puts_it(agent: str, expected: str) -> None:
    assert with_input(agent, "explain this", "a log") == expected
    assert with_input(agent, "explain this", " \n") == "explain this"
    assert with_input(agent, "", "a log") == "a log"
