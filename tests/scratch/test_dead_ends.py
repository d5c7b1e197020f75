"""Each rule for dead ends, and what it must leave alone."""

from __future__ import annotations

import pytest

from brim.scratch.dead_ends import DeadEndDetector
from tests.scratch.dead_end_events import Play

A = "/home/user/project/src/parser.py"
B = "/home/user/project/src/tokens.py"
MISSED = "String to replace not found in file."
FAILED = "FAILED tests/test_parser.py::test_sum - assert 2 == 3\n1 failed, 4 passed in 0.{}s"


def red(play: Play, command: str = "pytest tests/test_parser.py", took: int = 1) -> None:
    play.sh(command, FAILED.format(took), 1)


# --- suspects -------------------------------------------------------------------------------------------------------


def test_same_call_with_the_same_failure_is_suspected_at_the_third_time() -> None:
    play = Play()
    for line in (3, 8):
        play.sh("python app.py", f"app.py:{line}: KeyError: 'name'", 1)
    assert play.found == []
    play.sh("python app.py", "app.py:99: KeyError: 'name'", 1)
    (one,) = play.found
    assert (one.rule, one.status, one.times, one.what) == ("same-call", "suspect", 3, "python app.py")
    assert one.error == "app.py:99: KeyError: 'name'"
    assert one.at == (100, 200, 300)
    assert (one.session, one.agent) == ("s1", "")


def test_suspect_is_told_again_only_when_its_tries_have_doubled() -> None:
    play = Play()
    for _ in range(13):
        play.sh("python app.py", "KeyError: 'name'", 1)
    assert [one.times for one in play.found] == [3, 6, 12]
    assert len({one.key for one in play.found}) == 1


def test_success_of_the_same_call_resolves_its_suspect_once() -> None:
    play = Play()
    for _ in range(4):
        play.sh("python app.py", "KeyError: 'name'", 1)
    play.sh("python app.py", "fine")
    play.sh("python app.py", "fine")
    assert play.statuses == [("same-call", "suspect"), ("same-call", "resolved")]
    assert play.found[1].times == 4
    assert play.found[0].key == play.found[1].key


@pytest.mark.parametrize("refusal", ["cascade", "permission", "interrupt"])
def test_what_was_not_carried_out_is_no_failure(refusal: str) -> None:
    play = Play()
    for _ in range(8):
        play.call("Bash", "shell", {"command": "make"}, "no", True, refusal=refusal)
        play.edit(A, "a", "b", error=MISSED, refusal=refusal)
        play.call("Agent", "agent", {"prompt": "x"}, "no", True, refusal=refusal)
    assert play.found == []


@pytest.mark.parametrize(
    "text",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_refusals_are_known_by_their_text_too(text: str) -> None:
    play = Play()
    for _ in range(4):
        play.call("WebFetch", "search", {"url": "https://example.com"}, text, True)
    assert play.found == []


def test_failure_that_changes_is_progress() -> None:
    play = Play()
    for row in (100, 200, 300, 400):
        play.sh("python migrate.py", f"Error: stopped at row {row}", 1)
    assert play.found == []


def test_same_command_in_another_folder_is_another_call() -> None:
    play = Play()
    for folder in "abcd":
        play.folder(f"/home/user/{folder}")
        play.sh("npm run deploy", "Error: no target", 1)
    for folder in "abcd":
        play.sh(f"cd ../{folder}")
        play.sh("npm run deploy", "Error: no target", 1)
    assert play.found == []


def test_waiting_and_passing_errors_take_longer() -> None:
    play = Play()
    for _ in range(9):
        play.sh("curl -f localhost:8080/health", "curl: (7) Failed to connect: refused", 7)
    for _ in range(5):
        play.sh("npm ci", "npm error code ECONNRESET", 1)
    assert play.found == []
    play.sh("npm ci", "npm error code ECONNRESET", 1)
    play.sh("curl -f localhost:8080/health", "curl: (7) Failed to connect: refused", 7)
    assert [(one.rule, one.times) for one in play.found] == [("same-call", 6), ("same-call", 10)]


def test_a_person_who_says_try_again_begins_anew() -> None:
    play = Play()
    for _ in range(5):
        play.sh("python app.py", "KeyError: 'name'", 1)
        play.sh("python app.py", "KeyError: 'name'", 1)
        play.human("try again")
    assert play.found == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("grep -rn x src", ""),
        ("test -f .env", ""),
        ("diff a b", "1c1"),
        ("git diff --quiet", ""),
        ("cat a | grep x", ""),
    ],
)
def test_exit_code_that_is_an_answer_is_no_failure(command: str, text: str) -> None:
    play = Play()
    for _ in range(6):
        play.sh(command, text, 1)
    assert "same-call" not in [rule for rule, _ in play.statuses]


def test_one_error_from_four_inputs_is_suspected() -> None:
    play = Play()
    for command in ("pip install a", "pip install a --user", "pip3 install a", "pipx install a"):
        assert play.found == []
        play.sh(command, "error: externally-managed-environment", 1)
    (one,) = play.found
    assert (one.rule, one.status, one.times) == ("same-error", "suspect", 4)
    assert "pip3 install a" in one.what
    play.sh("pip3 install a", "Successfully installed")
    assert play.statuses[-1] == ("same-error", "resolved")


def test_looking_in_four_places_is_no_dead_end() -> None:
    play = Play()
    for name in ("package.json", "go.mod", "pom.xml", "Cargo.toml"):
        play.call("Read", "read", {"file_path": name}, "File does not exist.", True)
        play.sh(f"cat {name}", "cat: No such file or directory", 1)
    assert play.found == []


def test_two_calls_alternating_without_change_are_suspected_and_resolved_by_a_change() -> None:
    play = Play()
    for _ in range(4):
        assert play.found == []
        play.sh("git status", "clean")
        play.sh("git log -1", "abc")
    assert play.statuses == [("alternating", "suspect")]
    play.sh("git status", "1 file changed")
    assert play.statuses[-1] == ("alternating", "resolved")


def test_alternating_calls_with_progress_or_edits_or_waiting_are_none() -> None:
    play = Play()
    for i in range(8):
        play.sh("git status", f"{i} files")
        play.sh("git log -1", "abc")
    for i in range(8):
        play.sh("git diff", "same")
        play.edit(A, f"{i}", f"{i + 1}")
    for _ in range(8):
        play.sh("sleep 5")
        play.sh("gh run view 3", "in progress")
    assert play.found == []


def test_edits_that_miss_are_suspected_by_file_and_resolved_by_one_that_fits() -> None:
    play = Play()
    for i in range(2):
        play.edit(B, f"old {i}", "new", error=MISSED)
    for i in range(3):
        play.edit(A, f"old {i}", "new", error=MISSED)
    assert [(one.rule, one.times, one.what) for one in play.found] == [("missed-edit", 3, f"edit {A}")]
    play.write(A, "anew")
    assert play.statuses[-1] == ("missed-edit", "resolved")


# --- confirmed ------------------------------------------------------------------------------------------------------


def test_edit_that_is_reversed_is_confirmed_at_the_end_of_the_turn() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.sh("pytest", "FAILED tests/test_a.py::test_b - TypeError: two", 1)
    play.edit(A, "two()", "one()")
    play.end()
    assert play.statuses == [("undone-edit", "suspect"), ("undone-edit", "confirmed")]
    assert play.found[1].what == f"{A}: one() -> two()"
    assert play.found[1].error.startswith("FAILED tests/test_a.py")
    assert play.found[1].at == (100, 300)


def test_undone_edit_is_confirmed_by_what_follows() -> None:
    for follow in ("other edit", "human", "eight calls"):
        play = Play()
        play.edit(A, "one()", "two()")
        play.edit(A, "two()", "one()")
        if follow == "other edit":
            play.edit(A, "one()", "three()")
        elif follow == "human":
            play.human("and now?")
        else:
            for i in range(9):
                play.sh(f"ls {i}", f"{i}")
        assert play.statuses[-1] == ("undone-edit", "confirmed"), follow


def test_edit_that_is_put_back_was_only_a_look() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.edit(A, "two()", "one()")
    play.edit(A, "one()", "two()")
    play.end()
    assert play.statuses == [("undone-edit", "suspect"), ("undone-edit", "resolved")]


def test_file_that_is_written_back_is_an_undone_edit() -> None:
    play = Play()
    for content in ("first", "first", "second", "third", "first"):
        play.write(A, content)
    play.end()
    assert play.statuses[-1] == ("undone-edit", "confirmed")
    assert play.found[-1].times == 2


def test_whole_texts_tell_that_a_file_is_as_it_was() -> None:
    play = Play()
    play.edit(A, "a", "b", detail={"originalFile": "a c"})
    play.edit(A, "c", "d", detail={"originalFile": "b c"})
    play.edit(A, "b d", "a c", detail={"originalFile": "b d"})
    play.end()
    assert play.statuses[-1] == ("undone-edit", "confirmed")


@pytest.mark.parametrize(
    "command",
    [
        f"git checkout -- {A}",
        "git checkout src/parser.py",
        "git restore src/",
        "git checkout .",
        "git reset --hard",
        "git stash && git stash drop",
        "cd src && git checkout HEAD~1 -- parser.py",
    ],
)
def test_git_that_takes_an_edit_back_confirms_it(command: str) -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.sh(command)
    play.end()
    assert play.statuses[-1] == ("undone-edit", "confirmed")


@pytest.mark.parametrize(
    "command",
    [
        "git checkout parser",
        "git checkout -b parser.py",
        "git checkout main",
        "git restore --staged .",
        "git reset HEAD",
        "git stash && git stash pop",
        "git checkout package-lock.json",
        "git commit -am x && git checkout .",
        "git commit -am x && git reset --hard origin/main",
        "echo git checkout .",
    ],
)
def test_git_that_takes_nothing_back_is_none(command: str) -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.sh(command)
    play.end()
    assert play.found == []


def test_git_that_fails_takes_nothing_back() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.sh("git checkout .", "fatal: not a git repository", 128)
    play.end()
    assert play.found == []


def test_what_a_person_asked_for_is_no_dead_end() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.human("please put that back")
    play.edit(A, "two()", "one()")
    play.edit(B, "one()", "two()")
    play.human("that one too")
    play.sh("git checkout .")
    play.end()
    assert play.found == []


@pytest.mark.parametrize("probe", ['print("x")', "console.log(x)", "dbg!(x);", "logger.debug(x)", "breakpoint()"])
def test_lines_that_only_show_something_may_go_again(probe: str) -> None:
    play = Play()
    play.edit(A, "run()", f"run()\n{probe}")
    play.edit(A, f"run()\n{probe}", "run()")
    play.end()
    assert play.found == []


@pytest.mark.parametrize("line", ["import os", "from a import b", "use std::io;", "# why", "  one()"])
def test_imports_comments_and_white_space_may_go_again(line: str) -> None:
    play = Play()
    play.edit(A, "one()", f"{line}\none()")
    play.edit(A, f"{line}\none()", "one()")
    play.end()
    assert play.found == []


def test_test_that_is_only_looked_at_with_probes_is_no_dead_end() -> None:
    play = Play()
    for i in range(4):
        red(play)
        play.edit(A, f"run({i})", f"run({i})\nprint({i})")
    red(play)
    assert play.found == []


def test_temporary_files_may_go_back_and_forth() -> None:
    play = Play()
    for content in "abab":
        play.write("/tmp/try.py", content)
    play.end()
    assert play.found == []


@pytest.mark.parametrize("told", [True, False], ids=["root", "first folder"])
def test_project_in_a_temporary_folder_has_dead_ends_but_its_own_temporary_files_have_none(told: bool) -> None:
    project = "/tmp/jobs/app"
    for path, found in ((f"{project}/src/a.py", True), (f"{project}/tmp/a.py", False), ("/tmp/try.py", False)):
        play = Play(detector=DeadEndDetector(project) if told else DeadEndDetector())
        play.folder(project)
        play.folder(f"{project}/src")
        for content in "abab":
            play.write(path, content)
        play.end()
        assert bool(play.found) is found, path


@pytest.mark.parametrize("command", ["pytest tests/test_parser.py", "pytest", "cd app && python -m pytest -x -q"])
def test_test_that_fails_the_same_after_two_edits_is_confirmed(command: str) -> None:
    play = Play()
    red(play, command, 1)
    play.edit(A, "a", "a + 1")
    red(play, command, 2)
    assert play.found == []
    play.edit(A, "a + 1", "a + 2")
    red(play, command + " -v", 3)
    (one,) = play.found
    assert (one.rule, one.status, one.times) == ("failing-test", "confirmed", 3)
    assert one.error == "FAILED tests/test_parser.py::test_sum - assert 2 == 3"
    assert "a + 1" in one.what


def test_failure_behind_a_pipe_is_seen() -> None:
    play = Play()
    for new in "abc":
        play.edit(A, "x", new)
        play.sh("pytest tests/test_parser.py 2>&1 | tail -5", FAILED.format(1))
    assert play.statuses == [("failing-test", "confirmed")]


def test_red_then_green_is_no_dead_end() -> None:
    play = Play()
    red(play)
    play.edit(A, "a", "b")
    red(play)
    play.edit(A, "b", "c")
    play.sh("pytest tests/test_parser.py", "5 passed")
    red(play)
    play.edit(A, "c", "d")
    red(play)
    assert play.found == []


def test_runs_without_an_edit_between_are_no_tries() -> None:
    play = Play()
    for i in range(4):
        red(play, f"pytest tests/test_parser.py --count {i}")
    play.edit("/home/user/project/README.md", "a", "b")
    red(play)
    play.edit("/home/user/project/README.md", "b", "c")
    red(play)
    assert "failing-test" not in [rule for rule, _ in play.statuses]


def test_broken_test_elsewhere_says_nothing_about_this_work() -> None:
    play = Play()
    for i in range(5):
        play.edit("/home/user/project/src/billing.py", f"{i}", f"{i + 1}")
        play.sh("pytest", "FAILED tests/test_dns.py::test_route - OSError: no route", 1)
    assert play.found == []


def test_sub_agent_that_ends_in_error_is_confirmed_once() -> None:
    play = Play()
    play.call("Agent", "agent", {"description": "port the tests"}, "Agent failed: too many turns", True)
    (one,) = play.found
    assert (one.rule, one.status, one.what) == ("sub-agent", "confirmed", "sub-agent: port the tests")
    sub = Play(agent="a1", detector=play.detector)
    sub.end(error=True, reason="failed", text="no such tool")
    sub.end(error=True, reason="failed", text="no such tool")
    assert [(one.rule, one.agent) for one in sub.found] == [("sub-agent", "a1")]


@pytest.mark.parametrize("text", ["API Error: 529 overloaded", "Agent type 'x' not found. Available agents: y"])
def test_sub_agent_that_a_busy_provider_stopped_or_that_never_began_is_none(text: str) -> None:
    play = Play()
    play.call("Agent", "agent", {"prompt": "x"}, text, True)
    assert play.found == []


def test_explicit_backtrack_is_confirmed_if_there_was_something_to_take_back() -> None:
    play = Play()
    play.human("make it faster")
    play.human("/rewind")
    assert play.found == []
    play.human("make it faster")
    play.edit(A, "a", "b")
    play.human("/rewind")
    (one,) = play.found
    assert (one.rule, one.status, one.times) == ("backtrack", "confirmed", 1)
    assert one.what == "taken back with /rewind: make it faster"
    play.human("I said rewind this")
    assert len(play.found) == 1


# --- all of them ----------------------------------------------------------------------------------------------------


def test_agents_and_sessions_are_kept_apart() -> None:
    detector = DeadEndDetector()
    plays = [Play("s1", "", detector), Play("s1", "a1", detector), Play("s2", "", detector)]
    for _ in range(2):
        for play in plays:
            play.sh("python app.py", "KeyError: 'name'", 1)
    assert [play.found for play in plays] == [[], [], []]
    plays[1].sh("python app.py", "KeyError: 'name'", 1)
    assert [(one.session, one.agent) for one in plays[1].found] == [("s1", "a1")]


def test_secrets_are_masked_in_what_is_reported() -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    play = Play()
    for _ in range(3):
        play.sh(f"curl -H 'x-api-key: {key}' https://api.example.com/x", f"error: bad key {key}", 1)
    for name in "abcd":
        play.sh(f"run {name} --key {key}", f"error: refused {key} for good", 1)
    play.edit(A, f"k = '{key}'", "k = load()")
    play.edit(A, "k = load()", f"k = '{key}'")
    play.end()
    assert {one.rule for one in play.found} == {"same-call", "same-error", "undone-edit"}
    assert key not in repr(play.found)
    assert "[masked" in repr(play.found)


def test_secret_is_not_shown_by_its_half() -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    play = Play()
    play.edit(A, "k = load_the_key_from_somewhere()", f"key_of_the_service = Client('{key}')")
    play.sh("python app.py", "error: " + "x" * 150 + f" {key} refused", 1)
    play.edit(A, f"key_of_the_service = Client('{key}')", "k = load_the_key_from_somewhere()")
    for i in range(4):
        play.sh(f"call-{i} --header {key}", "error: " + "y " * 90 + key, 1)
    play.end()
    assert {one.rule for one in play.found} == {"same-error", "undone-edit"}
    assert "a1B2a1B2" not in repr(play.found)
