"""Each rule for dead ends, and what it must leave alone."""

from __future__ import annotations

import itertools

import pytest

from brim.memory.repetition import RepetitionDetector
from brim.memory.repetition.checks import check_in
from brim.memory.repetition.commands import parts
from brim.memory.repetition.errors import signature
from tests.memory.dead_end_events import Play

A = "/home/user/project/src/parser.py"
B = "/home/user/project/src/tokens.py"
MISSED = "String to replace not found in file."
FAILED = "FAILED tests/test_parser.py::test_sum - assert 2 == 3\n1 failed, 4 passed in 0.{}s"


def red(play: Play, command: str = "pytest tests/test_parser.py", took: int = 1) -> None:
    play.sh(command, FAILED.format(took), 1)


# --- failing calls -------------------------------------------------------------------------------------


def test_same_call_with_the_same_failure_is_a_dead_end_at_the_third_time() -> None:
    play = Play()
    for line in (3, 8):
        play.sh("python app.py", f"app.py:{line}: KeyError: 'name'", 1)
    assert play.found == []
    play.sh("python app.py", "app.py:99: KeyError: 'name'", 1)
    (one,) = play.found
    assert (one.rule, one.status, one.times, one.tried) == (
        "same-call",
        "confirmed",
        3,
        "python app.py",
    )
    assert one.error == "app.py:99: KeyError: 'name'"
    assert one.at == (100, 200, 300)
    assert (one.session, one.agent) == ("s1", "")


def test_dead_end_is_told_again_only_when_its_tries_have_doubled() -> None:
    play = Play()
    for _ in range(13):
        play.sh("python app.py", "KeyError: 'name'", 1)
    assert [one.times for one in play.found] == [3, 6, 12]
    assert len({one.key for one in play.found}) == 1


def test_success_of_the_same_call_resolves_its_dead_end_once() -> None:
    play = Play()
    for _ in range(4):
        play.sh("python app.py", "KeyError: 'name'", 1)
    play.sh("python app.py", "fine")
    play.sh("python app.py", "fine")
    assert play.statuses == [("same-call", "confirmed"), ("same-call", "resolved")]
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


def test_looking_in_four_places_is_no_dead_end() -> None:
    play = Play()
    for name in ("package.json", "go.mod", "pom.xml", "Cargo.toml"):
        play.call("Read", "read", {"file_path": name}, "File does not exist.", True)
        play.sh(f"cat {name}", "cat: No such file or directory", 1)
    assert play.found == []


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


def test_an_edit_that_misses_three_times_is_the_same_call_failing() -> None:
    play = Play()
    for number in range(3):
        play.edit(A, f"old {number}", "new", error=MISSED)
    assert play.found == []
    for _ in range(3):
        play.edit(A, "old", "new", error=MISSED)
    assert play.statuses == [("same-call", "confirmed")]


# --- confirmed ------------------------------------------------------------------------------------


def test_edit_that_is_reversed_is_confirmed_at_the_end_of_the_turn() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    play.sh("pytest", "FAILED tests/test_a.py::test_b - TypeError: two", 1)
    play.edit(A, "two()", "one()")
    play.end()
    assert play.statuses == [("undone-edit", "confirmed")]
    assert play.found[0].tried == f"{A}: one() -> two()"
    assert play.found[0].error.startswith("FAILED tests/test_a.py")
    assert play.found[0].at == (100, 300)


def test_deleted_lines_that_are_put_back_are_an_undone_edit() -> None:
    play = Play()
    play.edit(A, "one()", "")
    red(play)
    play.edit(A, "", "one()")
    play.end()
    assert play.statuses == [("undone-edit", "confirmed")]


def test_undone_edit_is_confirmed_by_what_follows() -> None:
    for follow in ("other edit", "human", "eight calls"):
        play = Play()
        play.edit(A, "one()", "two()")
        red(play)
        play.edit(A, "two()", "one()")
        if follow == "other edit":
            play.edit(A, "one()", "three()")
        elif follow == "human":
            play.human("and now?")
        else:
            for i in range(9):
                play.sh(f"ls {i}", f"{i}")
        assert play.statuses[-1] == ("undone-edit", "confirmed"), follow


def test_an_edit_that_is_undone_without_a_failing_check_is_none() -> None:
    play = Play()
    red(play)
    play.edit(A, "one()", "two()")
    play.sh("git merge main", "error: your changes would be overwritten", 1)
    play.edit(A, "two()", "one()")
    play.end()
    assert play.found == []


def test_edit_that_is_put_back_was_only_a_look() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    red(play)
    play.edit(A, "two()", "one()")
    play.edit(A, "one()", "two()")
    play.end()
    assert play.statuses == []


def test_file_that_is_written_back_is_an_undone_edit() -> None:
    play = Play()
    for content in ("first", "first", "second", "third"):
        play.write(A, content)
    red(play)
    play.write(A, "first")
    play.end()
    assert play.statuses[-1] == ("undone-edit", "confirmed")
    assert play.found[-1].times == 2


def test_whole_texts_tell_that_a_file_is_as_it_was() -> None:
    play = Play()
    play.edit(A, "a", "b", detail={"originalFile": "a c"})
    red(play)
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
    red(play)
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
    red(play)
    play.sh(command)
    play.end()
    assert play.found == []


def test_git_that_fails_takes_nothing_back() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    red(play)
    play.sh("git checkout .", "fatal: not a git repository", 128)
    play.end()
    assert play.found == []


def test_what_a_person_asked_for_is_no_dead_end() -> None:
    play = Play()
    play.edit(A, "one()", "two()")
    red(play)
    play.human("please put that back")
    play.edit(A, "two()", "one()")
    play.edit(B, "one()", "two()")
    play.human("that one too")
    play.sh("git checkout .")
    play.end()
    assert play.found == []


@pytest.mark.parametrize(
    "probe", ['print("x")', "console.log(x)", "dbg!(x);", "logger.debug(x)", "breakpoint()"]
)
def test_lines_that_only_show_something_may_go_again(probe: str) -> None:
    play = Play()
    play.edit(A, "run()", f"run()\n{probe}")
    red(play)
    play.edit(A, f"run()\n{probe}", "run()")
    play.end()
    assert play.found == []


@pytest.mark.parametrize(
    "line", ["import os", "from a import b", "use std::io;", "# why", "  one()"]
)
def test_imports_comments_and_white_space_may_go_again(line: str) -> None:
    play = Play()
    play.edit(A, "one()", f"{line}\none()")
    red(play)
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
    for content in "aba":
        play.write("/tmp/try.py", content)
        red(play)
    play.end()
    assert play.found == []


@pytest.mark.parametrize("told", [True, False], ids=["root", "first folder"])
def test_project_in_a_temporary_folder_has_dead_ends_but_its_own_temporary_files_have_none(
    told: bool,
) -> None:
    project = "/tmp/jobs/app"
    for path, found in (
        (f"{project}/src/a.py", True),
        (f"{project}/tmp/a.py", False),
        ("/tmp/try.py", False),
    ):
        play = Play(detector=RepetitionDetector(project) if told else RepetitionDetector())
        play.folder(project)
        play.folder(f"{project}/src")
        for content in "aba":
            play.write(path, content)
            red(play)
        play.end()
        assert bool(play.found) is found, path


@pytest.mark.parametrize(
    "command", ["pytest tests/test_parser.py", "pytest", "cd app && python -m pytest -x -q"]
)
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
    assert "a + 1" in one.tried


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
    play.call(
        "Agent", "agent", {"description": "port the tests"}, "Agent failed: too many turns", True
    )
    (one,) = play.found
    assert (one.rule, one.status, one.tried) == (
        "sub-agent",
        "confirmed",
        "sub-agent: port the tests",
    )
    sub = Play(agent="a1", detector=play.detector)
    sub.end(error=True, reason="failed", text="no such tool")
    sub.end(error=True, reason="failed", text="no such tool")
    assert [(one.rule, one.agent) for one in sub.found] == [("sub-agent", "a1")]


@pytest.mark.parametrize(
    "text", ["API Error: 529 overloaded", "Agent type 'x' not found. Available agents: y"]
)
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
    assert one.tried == "taken back with /rewind: make it faster"
    play.human("I said rewind this")
    assert len(play.found) == 1


# --- all of them ----------------------------------------------------------------------------------


def test_agents_and_sessions_are_kept_apart() -> None:
    detector = RepetitionDetector()
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
    play.edit(A, f"k = '{key}'", "k = load()")
    red(play)
    play.edit(A, "k = load()", f"k = '{key}'")
    play.end()
    assert {one.rule for one in play.found} == {"same-call", "undone-edit"}
    assert key not in repr(play.found)
    assert "[masked" in repr(play.found)


def test_secret_is_not_shown_by_its_half() -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    play = Play()
    play.edit(A, "k = load_the_key_from_somewhere()", f"key_of_the_service = Client('{key}')")
    red(play)
    play.sh("python app.py", "error: " + "x" * 150 + f" {key} refused", 1)
    play.edit(A, f"key_of_the_service = Client('{key}')", "k = load_the_key_from_somewhere()")
    for _ in range(3):
        play.sh(f"call --header {key}", "error: " + "y " * 90 + key, 1)
    play.end()
    assert {one.rule for one in play.found} == {"same-call", "undone-edit"}
    assert "a1B2a1B2" not in repr(play.found)


RED = "#   Failed test 'leap day'\n#          got: '28'\n#     expected: '29'\nResult: FAIL"


def test_check_on_another_version_of_the_files_is_another_try() -> None:
    play = Play()
    play.sh("git bisect start HEAD v1.0", "Bisecting: 40 revisions left to test after this")
    for left in range(6):
        play.sh("prove -l t/date.t", RED, 1)
        play.sh("git bisect bad", f"Bisecting: {left} revisions left to test after this")
    assert not play.found


def test_check_on_the_same_version_is_not() -> None:
    play = Play()
    for _ in range(3):
        play.sh("prove -l t/date.t", RED, 1)
        play.sh("git log --oneline -1", "1a2b3c4 x")
    assert play.statuses == [("same-call", "confirmed")]


def test_look_at_a_file_between_questions_whether_a_job_has_begun_is_waiting() -> None:
    play = Play()
    for _ in range(5):
        play.sh("bjobs 48211", "48211 me PEND gpu")
        play.sh("cat run.log", "cat: run.log: No such file or directory", 1)
    assert not play.found


def test_one_check_with_other_flags_is_one_input_whoever_makes_it() -> None:
    play = Play()
    for verbose in ("", " -vv", " -vvv", " -vvvv", " -vvvvv"):
        play.sh(
            f"forge test --mt test_Out{verbose}",
            "[FAIL: assertion failed: 100 != 99] test_Out() (gas: 9113)",
            1,
        )
    assert not play.found


def test_what_is_told_of_a_failing_test_holds_every_edit_whole() -> None:
    play = Play()
    path = "/home/user/project/packages/shop/src/importer/of/suppliers/importer.py"
    texts = [
        "rows.append(text[start:end].split(';'))",
        "rows.extend(csv.reader([text[start:end]]))",
        "rows += parse(text)",
    ]
    play.sh("python3 -m unittest -q test_importer", "AssertionError: 59 != 60", 1)
    for old, new in itertools.pairwise(texts):
        play.edit(path, old, new)
        play.sh("python3 -m unittest -q test_importer", "AssertionError: 59 != 60", 1)
    (found,) = play.found
    assert found.tried.count(path) == 2
    assert all(text in found.tried for text in texts)
    assert "…" not in found.tried


def test_the_same_error_in_one_file_after_another_is_progress() -> None:
    for where in (
        'File "lib/m{}.ml", line {}, characters 4-9:\nError: Unbound module Core',
        "error[E0432]: x\n --> src/m{}.rs:{}:5",
    ):
        play = Play()
        for number in range(5):
            play.sh("dune build", where.format(number, number + 3), 1)
            play.edit(f"/home/user/project/lib/m{number}.ml", "open Core_kernel", "open Core")
        assert not play.found


def test_the_same_error_in_the_same_file_is_not() -> None:
    play = Play()
    for line in range(3):
        play.sh(
            "dune build",
            f'File "lib/order.ml", line {line}, characters {line}-9:\nError: Unbound module Core',
            1,
        )
        play.edit("/home/user/project/lib/order.ml", f"open {line}", f"open {line + 1}")
    assert play.statuses == [("failing-test", "confirmed")]


def test_gradle_tasks_say_what_they_check() -> None:
    play = Play()
    for new in "abc":
        play.sh(
            "./gradlew :app:testDebugUnitTest --tests '*DueDateTest*'",
            "shop.DueDateTest > leapYear FAILED",
            1,
        )
        play.edit("/home/user/project/app/src/DueDate.kt", "Date(y)", f"{new}(y)")
    assert play.statuses == [("failing-test", "confirmed")]


PATH = "/home/user/project/src/routes.purs"
CONFLICT = (
    "CONFLICT (content): Merge conflict in src/routes.purs\nerror: could not apply 1a2b3c4... Step"
)


@pytest.mark.parametrize("side", ["--theirs", "--ours", "--merge", "--conflict=diff3"])
def test_choosing_a_side_of_a_conflict_takes_nothing_back(side: str) -> None:
    play = Play()
    play.sh("git merge main", CONFLICT, 1)
    play.edit(PATH, "<<<<<<< HEAD", "home")
    play.sh(
        f"git checkout {side} src/routes.purs && git add src/routes.purs",
        "Updated 1 path from the index",
    )
    play.end()
    assert not play.found


@pytest.mark.parametrize("verb", ["rebase", "merge", "cherry-pick", "revert", "am"])
def test_what_a_merge_goes_on_with_is_committed(verb: str) -> None:
    play = Play()
    play.edit(PATH, "<<<<<<< HEAD", "home")
    play.sh(f"git add -A && GIT_EDITOR=true git {verb} --continue", "done")
    play.sh("git checkout -- .")
    play.end()
    assert not play.found


def test_a_restore_in_a_merge_still_takes_back_what_is_in_no_commit() -> None:
    play = Play()
    play.edit(PATH, "home", "start")
    red(play)
    play.sh("git checkout HEAD -- src/routes.purs")
    play.end()
    assert play.statuses == [("undone-edit", "confirmed")]


def test_an_edit_of_which_only_the_file_is_told_does_not_put_another_back() -> None:
    play = Play()
    told = {"changes": [{"path": PATH, "kind": "update"}]}
    play.call("file_change", "edit", told)
    red(play)
    play.sh("git restore src/routes.purs")
    play.call("file_change", "edit", told)
    assert play.statuses == [("undone-edit", "confirmed")]


@pytest.mark.parametrize(
    "probe",
    [
        'stderr.writefln("n %s", n);',
        "(displayln n)",
        "(println n)",
        "(prn n)",
        "print *, 'u', u(1)",
        'Put_Line ("n" & n);',
        "println(n)",
        "WriteLn(n);",
        "print_endline n;",
        'io:format("~p~n", [N]),',
        "Write-Host $n",
    ],
)
def test_prints_of_any_language_come_and_go(probe: str) -> None:
    play = Play()
    play.edit(PATH, "let n = count", f"let n = count\n{probe}")
    red(play)
    play.edit(PATH, f"let n = count\n{probe}", "let n = count")
    play.end()
    assert not play.found


@pytest.mark.parametrize(
    "code", ["file.write(n)", "fingerprint(n)", "display(n)", "put(n)", "rewriteln = 3"]
)
def test_code_that_does_something_is_no_print(code: str) -> None:
    play = Play()
    play.edit(PATH, "let n = count", f"let n = count\n{code}")
    red(play)
    play.edit(PATH, f"let n = count\n{code}", "let n = count")
    play.end()
    assert play.statuses[-1:] == [("undone-edit", "confirmed")]


def test_fewer_places_with_one_error_in_one_file_are_progress() -> None:
    play = Play()
    lines = [12, 40, 77, 90]
    for at in range(4):
        found = [
            f"src/cart.ts({n},9): error TS2339: Property 'total' does not exist on type 'Item'."
            for n in lines[at:]
        ]
        play.sh("npx tsc --noEmit", "\n".join(found), 2)
        play.edit("/home/user/project/src/cart.ts", f"item{at}.total", f"item{at}.data.total")
    assert not play.found


def test_one_line_said_twice_is_one_place() -> None:
    line = "src/cart.ts(12,9): error TS2339: Property 'total' does not exist on type 'Item'."
    assert (
        signature(line)
        == signature(f"{line}\n{line}")
        != signature(f"{line}\n{line.replace('12', '40')}")
    )


def _elm(number: int, code: str) -> str:
    said = "-- TYPE MISMATCH ---- src/Table.elm\n\nThe 1st argument is not what I expect:"
    return f"{said}\n\n{number}|   {code}\n\nDetected errors in 1 module."


def test_one_error_that_moves_on_through_the_code_is_progress() -> None:
    play = Play()
    for number, code in ((14, "viewRow model"), (52, "viewCell model"), (97, "viewFoot model")):
        play.sh("npx elm make src/Table.elm", _elm(number, code), 1)
        play.edit("/home/user/project/src/Table.elm", code, f"{code}.table")
    assert not play.found


def test_one_error_that_stays_at_its_place_is_not() -> None:
    play = Play()
    for number, code in ((14, "viewRow model"), (15, "viewRow model.rows"), (13, "viewRow rows")):
        play.sh("npx elm make src/Table.elm", _elm(number, code), 1)
        play.edit("/home/user/project/src/Table.elm", code, f"{code}.table")
    assert ("failing-test", "confirmed") in play.statuses


def test_asking_a_server_that_starts_is_waiting() -> None:
    play = Play()
    for _ in range(5):
        play.sh(
            "grpcurl -plaintext localhost:50051 list",
            "dial tcp 127.0.0.1:50051: connect: connection refused",
            1,
        )
        play.sh("sleep 5")
    assert not play.found


@pytest.mark.parametrize(
    "said", ["could not connect", "failed to dial", "couldn't reach", "the engine is starting up"]
)
def test_it_may_say_so_in_other_words(said: str) -> None:
    play = Play()
    for _ in range(5):
        play.sh("dbtool ping-orders", f"error: {said}: orders", 1)
        play.sh("sleep 5")
    assert not play.found


def test_asking_it_without_waiting_is_not() -> None:
    play = Play()
    for _ in range(3):
        play.sh(
            "grpcurl -plaintext localhost:50051 list",
            "dial tcp 127.0.0.1:50051: connect: connection refused",
            1,
        )
    assert play.statuses == [("same-call", "confirmed")]


def test_other_errors_do_not_pass_by_waiting() -> None:
    play = Play()
    for _ in range(3):
        play.sh("python app.py", "KeyError: 'name'", 1)
        play.sh("sleep 5")
    assert play.statuses == [("same-call", "confirmed")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Build 'web' errored after 4 seconds 812 milliseconds: x",
            "Build 'web' errored after 9 seconds 12 milliseconds: x",
        ),
        (
            "ERROR: (gcloud.run.deploy) No active account.",
            "ERROR: (gcloud.sql.instances.list) No active account.",
        ),
        (
            "An error occurred (ExpiredToken) when calling the ListBuckets operation: expired",
            "An error occurred (ExpiredToken) when calling the GetItem operation: expired",
        ),
    ],
)
def test_the_error_is_the_same_whichever_call_met_it(one: str, other: str) -> None:
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("gprbuild -P shop.gpr", "build"),
        ("msbuild shop.sln", "build"),
        ("npx svelte-check --threshold error", "build"),
        ("npx elm make src/Main.elm", "build"),
        ("npx elm-test", "test"),
    ],
)
def test_builders_and_type_checkers_are_checks(command: str, kind: str) -> None:
    check, _ = check_in(parts(command))
    assert check is not None
    assert check.kind == kind
