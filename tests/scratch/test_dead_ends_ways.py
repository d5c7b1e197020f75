"""What gets on, though it looks as it did before: merges, prints, a list that shrinks, a server that starts."""

from __future__ import annotations

import pytest

from brim.scratch.dead_ends.commands import check_in, parts
from brim.scratch.dead_ends.step import signature
from tests.scratch.dead_end_events import Play

PATH = "/home/user/project/src/routes.purs"
CONFLICT = "CONFLICT (content): Merge conflict in src/routes.purs\nerror: could not apply 1a2b3c4... Step"


@pytest.mark.parametrize("side", ["--theirs", "--ours", "--merge", "--conflict=diff3"])
def test_choosing_a_side_of_a_conflict_takes_nothing_back(side: str) -> None:
    play = Play()
    play.sh("git merge main", CONFLICT, 1)
    play.edit(PATH, "<<<<<<< HEAD", "home")
    play.sh(f"git checkout {side} src/routes.purs && git add src/routes.purs", "Updated 1 path from the index")
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
    play.sh("git checkout HEAD -- src/routes.purs")
    play.end()
    assert play.statuses == [("undone-edit", "suspect"), ("undone-edit", "confirmed")]


def test_an_edit_of_which_only_the_file_is_told_does_not_put_another_back() -> None:
    play = Play()
    told = {"changes": [{"path": PATH, "kind": "update"}]}
    play.call("file_change", "edit", told)
    play.sh("git restore src/routes.purs")
    play.call("file_change", "edit", told)
    assert play.statuses == [("undone-edit", "suspect"), ("undone-edit", "confirmed")]


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
    play.edit(PATH, f"let n = count\n{probe}", "let n = count")
    play.end()
    assert not play.found


@pytest.mark.parametrize("code", ["file.write(n)", "fingerprint(n)", "display(n)", "put(n)", "rewriteln = 3"])
def test_code_that_does_something_is_no_print(code: str) -> None:
    play = Play()
    play.edit(PATH, "let n = count", f"let n = count\n{code}")
    play.edit(PATH, f"let n = count\n{code}", "let n = count")
    play.end()
    assert play.statuses[-1:] == [("undone-edit", "confirmed")]


def test_fewer_places_with_one_error_in_one_file_are_progress() -> None:
    play = Play()
    lines = [12, 40, 77, 90]
    for at in range(4):
        found = [
            f"src/cart.ts({n},9): error TS2339: Property 'total' does not exist on type 'Item'." for n in lines[at:]
        ]
        play.sh("npx tsc --noEmit", "\n".join(found), 2)
        play.edit("/home/user/project/src/cart.ts", f"item{at}.total", f"item{at}.data.total")
    assert not play.found


def test_one_line_said_twice_is_one_place() -> None:
    line = "src/cart.ts(12,9): error TS2339: Property 'total' does not exist on type 'Item'."
    assert signature(line) == signature(f"{line}\n{line}") != signature(f"{line}\n{line.replace('12', '40')}")


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
        play.sh("grpcurl -plaintext localhost:50051 list", "dial tcp 127.0.0.1:50051: connect: connection refused", 1)
        play.sh("sleep 5")
    assert not play.found


@pytest.mark.parametrize("said", ["could not connect", "failed to dial", "couldn't reach", "the engine is starting up"])
def test_it_may_say_so_in_other_words(said: str) -> None:
    play = Play()
    for _ in range(5):
        play.sh("dbtool ping-orders", f"error: {said}: orders", 1)
        play.sh("sleep 5")
    assert not play.found


def test_asking_it_without_waiting_is_not() -> None:
    play = Play()
    for _ in range(3):
        play.sh("grpcurl -plaintext localhost:50051 list", "dial tcp 127.0.0.1:50051: connect: connection refused", 1)
    assert play.statuses == [("same-call", "suspect")]


def test_other_errors_do_not_pass_by_waiting() -> None:
    play = Play()
    for _ in range(3):
        play.sh("python app.py", "KeyError: 'name'", 1)
        play.sh("sleep 5")
    assert play.statuses == [("same-call", "suspect")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Build 'web' errored after 4 seconds 812 milliseconds: x",
            "Build 'web' errored after 9 seconds 12 milliseconds: x",
        ),
        ("ERROR: (gcloud.run.deploy) No active account.", "ERROR: (gcloud.sql.instances.list) No active account."),
        (
            "An error occurred (ExpiredToken) when calling the ListBuckets operation: expired",
            "An error occurred (ExpiredToken) when calling the GetItem operation: expired",
        ),
    ],
)
def test_the_error_is_the_same_whichever_call_met_it(one: str, other: str) -> None:
    assert signature(one) == signature(other)


def test_an_account_that_is_missing_for_every_call_is_one_error() -> None:
    play = Play()
    for words in ("run services list", "run deploy shop", "sql instances list", "secrets list"):
        play.sh(f"gcloud {words}", f"ERROR: (gcloud.{words.replace(' ', '.')}) No active account selected.", 1)
    assert play.statuses == [("same-error", "suspect")]


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
