from __future__ import annotations

import itertools

from tests.scratch.dead_end_events import Play

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
    assert play.statuses == [("same-call", "suspect")]


def test_look_at_a_file_between_questions_whether_a_job_has_begun_is_waiting() -> None:
    play = Play()
    for _ in range(5):
        play.sh("bjobs 48211", "48211 me PEND gpu")
        play.sh("cat run.log", "cat: run.log: No such file or directory", 1)
    assert not play.found


def test_one_check_with_other_flags_is_one_input_whoever_makes_it() -> None:
    play = Play()
    for verbose in ("", " -vv", " -vvv", " -vvvv", " -vvvvv"):
        play.sh(f"forge test --mt test_Out{verbose}", "[FAIL: assertion failed: 100 != 99] test_Out() (gas: 9113)", 1)
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
    assert found.what.count(path) == 2
    assert all(text in found.what for text in texts)
    assert "…" not in found.what


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
        play.sh("dune build", f'File "lib/order.ml", line {line}, characters {line}-9:\nError: Unbound module Core', 1)
        play.edit("/home/user/project/lib/order.ml", f"open {line}", f"open {line + 1}")
    assert play.statuses == [("failing-test", "confirmed")]


def test_gradle_tasks_say_what_they_check() -> None:
    play = Play()
    for new in "abc":
        play.sh("./gradlew :app:testDebugUnitTest --tests '*DueDateTest*'", "shop.DueDateTest > leapYear FAILED", 1)
        play.edit("/home/user/project/app/src/DueDate.kt", "Date(y)", f"{new}(y)")
    assert play.statuses == [("failing-test", "confirmed")]
