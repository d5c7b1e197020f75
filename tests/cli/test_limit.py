"""``brim limit``: limits that people set in their own words, for a project that is where it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli import stored
from tests.cli.conftest import Brim


@pytest.fixture
def shop(brim: Brim) -> Path:
    """Stand in a project."""
    brim.environ["TZ"] = "Europe/Berlin"
    return moved(brim, "a")


def moved(brim: Brim, folder: str) -> Path:
    project = brim.home / folder / "shop"
    (project / ".git").mkdir(parents=True)
    brim.cwd = project
    return project


def spend(brim: Brim, amount: str) -> None:
    stored.spend(brim, "shop/4f1c2a90/main", round(float(amount) * 1_000_000))


def limits(brim: Brim, *words: str) -> dict[str, int]:
    (project,) = brim("limit", *(words or ("shop",)), "--json").json["projects"]
    return {each["limit"]: each["spent"] for each in project["limits"]}


def test_several_limits_are_set_at_once_and_shown_with_their_reset(brim: Brim, shop: Path) -> None:
    said = brim("limit", "5/day", "20/week", "2/session")
    assert (said.code, len(said.lines)) == (0, 3)
    assert said.lines[0].startswith(
        "shop: $5.00/day, $0.00 spent, $4.75 left, $0.25 kept for the wrap-up, resets "
    )
    spend(brim, "1.20")
    lines = brim("limit").lines
    assert lines[0].split() == ["project", "limit", "spent", "left", "resets"]
    assert lines[1].split()[:5] == ["shop", "$5.00/day", "$1.20", "$3.55", "████░░░░░░░░░░░░"]
    assert lines[2].split()[:2] == ["$20.00/week", "$1.20"]
    assert lines[3].split() == ["$2.00/session"]
    assert len(lines) == 4
    (row, *_) = brim("limit", "--json").json["projects"][0]["limits"]
    assert (row["period"], row["unit"], row["amount"], row["zone"]) == (
        "day",
        "usd",
        5_000_000,
        "Europe/Berlin",
    )
    assert brim("limit", "--sessions").lines[-2].split()[0] == "shop/4f1c2a90"


def test_a_limit_of_the_settings_shows_before_anything_is_spent(brim: Brim, shop: Path) -> None:
    assert "nothing counted and no limit yet: brim limit 5/day" in brim("limit").err
    assert "nothing counted yet, no limit\n" in brim().out
    brim("config", "set", "--project", "spend.limit", "200")
    assert "spend.limit allows each project $200.00 in all" in brim("limit").err
    assert "nothing counted yet, $200.00 allowed in all" in brim().out


def test_who_has_spent_before_is_told_how_to_count_that_too(brim: Brim, shop: Path) -> None:
    assert brim("limit", "5/day").err == ""
    spend(brim, "1.20")
    told = "brim: it counts from now. --including-past also counts what was spent before ($1.20 in all)\n"
    assert brim("limit", "6/day").err == brim("limit", "20/week").err == told
    assert brim("limit", "--including-past", "20/week").err == brim("limit", "2/session").err == ""


def test_tokens_sub_agents_and_everything(brim: Brim, shop: Path) -> None:
    assert brim("limit", "2M", "tokens/day").code == brim("limit", "--all", "100/month").code == 0
    assert (
        brim("limit", "--subagent", "200k", "tokens").out
        == "shop: 200k tokens for each sub-agent\n"
    )
    spend(brim, "1")
    found = {each["name"]: each for each in brim("limit", "--json").json["projects"]}
    assert [each["limit"] for each in found["shop"]["limits"]] == ["2M tokens/day", "200k tokens"]
    assert [each["spent"] for each in found["all projects"]["limits"]] == [1_000_000]
    assert brim("limit", "remove", "--all").out == "Removed from all projects: 100/month\n"
    assert brim("limit", "remove", "2M", "tokens/day").out == "Removed from shop: 2M tokens/day\n"
    assert limits(brim) == {"200k tokens": 0}


def test_a_limit_counts_from_now_unless_the_past_is_included(brim: Brim, shop: Path) -> None:
    spend(brim, "1")
    brim("limit", "5/day", "50")
    assert limits(brim) == {"5/day": 0, "50": 0}
    brim("limit", "5/day", "50", "--including-past")
    assert limits(brim) == {"5/day": 1_000_000, "50": 1_000_000}


def test_two_projects_of_one_name_are_told_apart_by_their_paths(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    other = moved(brim, "b")
    assert brim("limit", "3/day").out.startswith("~/b/shop: $3.00/day")
    assert [line.split()[0] for line in brim("limit").lines] == ["project", "~/a/shop", "~/b/shop"]
    asked = brim("limit", "shop", "9/day")
    assert asked.code == 2
    assert "2 projects are called shop" in asked.err
    assert "~/a/shop" in asked.err
    assert brim("limit", str(shop), "9/day").code == 0
    assert (limits(brim, str(shop)), limits(brim, str(other))) == ({"9/day": 0}, {"3/day": 0})
    brim.cwd = brim.home
    assert brim("limit", "a/shop", "8/day").out.startswith("~/a/shop: $8.00/day")
    assert limits(brim, "a/shop") == {"8/day": 0}


def test_a_name_with_a_space_is_typed_as_it_is(brim: Brim, shop: Path) -> None:
    (shop.parent / "my shop").mkdir()
    brim.cwd = shop.parent / "my shop"
    assert brim("limit", "my shop", "5/day").code == brim("limit", "4/day").code == 0
    brim.cwd = shop
    assert limits(brim, "my shop") == {"4/day": 0}


def test_worktrees_are_one_project(brim: Brim, shop: Path) -> None:
    shutil.rmtree(shop / ".git")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(shop)]
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", "../fix"],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    brim("limit", "5/day")
    brim.cwd = shop.parent / "fix"
    brim("limit", "6/day")
    assert limits(brim) == {"6/day": 0}


def test_a_project_that_was_deleted_is_shown_and_its_limit_removed(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    brim.cwd = brim.home
    shutil.rmtree(shop)
    assert "folder is gone" in brim("limit").out
    assert brim("limit", "remove", "shop").code == 0
    assert "5/day" not in brim("limit").out


def test_a_name_means_the_project_that_is_still_there(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    shutil.rmtree(shop)
    other = moved(brim, "b")
    assert brim("limit", "--json").json["projects"][0]["place"] == str(shop)
    assert brim("limit", "shop", "3/day").out.startswith("~/b/shop: $3.00/day")
    assert (limits(brim, str(shop)), limits(brim, str(other))) == ({"5/day": 0}, {"3/day": 0})
    assert brim("limit", "remove", str(shop)).code == 0
    shop.mkdir(parents=True)  # a new folder at the old place is the same project
    assert brim("limit", "shop", "3/day").code == 2


def test_a_folder_that_was_deleted_gets_no_limit(brim: Brim, shop: Path) -> None:
    program = str(Path(sys.executable).with_name("brim"))
    script = 'rm -r "$PWD" && exec "$0" limit 5/day'
    environ = {"HOME": str(brim.home), "PATH": os.environ["PATH"]}
    ran = subprocess.run(
        ["sh", "-c", script, program], cwd=shop, env=environ, capture_output=True, check=False
    )
    assert ran.returncode == 2
    assert b"the current folder was deleted: go to another, or name a project" in ran.stderr


def test_an_unknown_name_is_an_error_with_a_suggestion(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    for words in (
        ("shpo", "5/day"),
        ("shpo",),
        ("stop", "shpo"),
        ("remove", "shpo"),
        ("raise", "shpo", "6/day"),
    ):
        said = brim("limit", *words)
        assert said.code == 2
        assert 'No project is called "shpo". Did you mean shop?' in said.err
    assert "Write its path" in brim("limit", "zzz", "5").err
    assert "no such folder" in brim("limit", "/nowhere/at/all", "5").err
    assert "no such folder" in brim("limit", "/nowhere/at/all").err


@pytest.mark.parametrize(
    "words",
    [
        *(
            "nan",
            "1e10",
            "5/fortnight",
            "$",
            "inf/day",
            "0,25/day",
            "9" * 400,
            "101%/5h",
            "5/5h",
            "90%",
            "3 tokens/5h",
        ),
        *(
            "raise",
            "raise 5/day 6/day",
            "continue 5/day",
            "stop 5/day",
            "shop shop 5/day",
            "--subagent 5/day",
        ),
        *(
            "--subagent",
            "--including-past",
            "--all shop 5/day",
            "--all stop",
            "--subagent 90%/5h",
            "-5/day",
        ),
    ],
)
def test_what_is_not_a_limit_is_wrong_usage_and_changes_nothing(
    brim: Brim, shop: Path, words: str
) -> None:
    brim("limit", "4/day")
    ran = brim("limit", *words.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err
    assert limits(brim) == {"4/day": 0}


@pytest.mark.parametrize(
    "word", ["five/day", "NaN/week", "€5/month", "two/Session", "much/fortnight/day"]
)
def test_what_ends_like_a_limit_is_not_taken_for_a_project(
    brim: Brim, shop: Path, word: str
) -> None:
    said = brim("limit", word)
    assert (said.code, f'"{word}" isn\'t a limit. Try 5/day' in said.err) == (2, True)


def test_a_misspelled_answer_is_recognized(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    assert "did you mean 'brim limit continue'?" in brim("limit", "contineu").err
    assert "did you mean 'brim limit remove'?" in brim("limit", "remvoe", "5/day").err


@pytest.mark.parametrize("words", ["-5/day", "--all -5/day", "raise -5/day", "-5/day --json", "-5"])
def test_a_negative_limit_is_an_argument_and_no_option(brim: Brim, shop: Path, words: str) -> None:
    assert '"-5' in (said := brim("limit", *words.split()).err)
    assert "isn't a limit. Try 5/day" in said


def test_0_and_a_billion_are_limits(brim: Brim, shop: Path) -> None:
    assert brim("limit", "0/day", "1000000000").code == 0
    assert not stored.admits(brim, "shop", 10_000)
    assert "$1,000,000,000.00 in all" in brim("limit").out


def test_at_the_limit_a_person_decides(brim: Brim, shop: Path) -> None:
    brim("limit", "1/day", "9/week")
    spend(brim, "0.95")
    assert "limit reached" in brim("limit").out
    assert not stored.admits(brim, "shop", 10_000)
    assert brim("limit", "continue").code == 0
    assert brim("limit", "continue").code == 2
    assert stored.admits(brim, "shop", 10_000)
    assert "which limit" in brim("limit", "raise", "3").err
    assert brim("limit", "raise", "3/day").code == 0
    assert set(limits(brim)) == {"3/day", "9/week"}
    assert brim("limit", "stop").out.endswith("shop: stopped\n")
    assert not stored.admits(brim, "shop", 10_000)
    assert brim("limit", "continue").code == 0
    assert stored.admits(brim, "shop", 10_000)
    assert "Wrap up now" in brim("limit", "wrap-up").out
    assert brim("limit", "4/day").code == 0
    assert stored.admits(brim, "shop", 10_000)


def test_a_limit_of_a_program_is_shown_replaced_and_removed(brim: Brim, shop: Path) -> None:
    stored.limit(brim, "shop", 10_000_000)
    brim("limit", "5/day")
    assert set(limits(brim)) == {"5/day", "10"}
    brim("limit", "20")
    assert set(limits(brim)) == {"5/day", "20"}
    stored.limit(brim, "shop", 10_000_000)
    assert brim("limit", "none").code == 0
    assert limits(brim) == {}


def test_a_limit_of_ones_own_replaces_that_of_the_settings(brim: Brim, shop: Path) -> None:
    brim.configure(user="spend: {limit: 1}\n")
    spend(brim, "0.10")
    assert limits(brim) == {"1": 100_000}
    brim("limit", "5/day")
    assert set(limits(brim)) == {"5/day"}
    assert stored.admits(brim, "shop", 3_000_000)


def test_a_plans_window_is_shown_with_the_age_of_its_reading(brim: Brim, shop: Path) -> None:
    brim("limit", "90%/5h")
    assert "not read yet" in brim("limit").out
    sent = {
        "session_id": "s",
        "cwd": str(shop),
        "rate_limits": {"five_hour": {"used_percentage": 72, "resets_at": 9e9}},
    }
    brim("statusline", stdin=json.dumps(sent))
    line = brim("limit").lines[1]
    assert line.split()[:4] == ["shop", "90%/5h", "72%", "18%"]
    assert line.endswith("72% used, read just now")
    assert brim("limit", "--json").json["projects"][0]["limits"][0]["read_at"] > 1e9


def test_an_old_reading_is_said_to_hold_nothing(brim: Brim, shop: Path) -> None:
    brim("limit", "90%/5h")
    window = {
        "agent": "claude",
        "minutes": 300,
        "used": 0.95,
        "resets_at": 9e9,
        "read_at": time.time(),
        "name": "",
    }
    for age, said in (
        (0, "95% used, read just now"),
        (7200, "95% used, read 2 h ago: too old to hold"),
    ):
        old = {**window, "read_at": time.time() - age}
        (brim.home / ".brim" / "plan_windows.json").write_text(json.dumps({"windows": [old]}))
        assert brim("limit").lines[1].endswith(said)


def test_what_was_stopped_says_so_whatever_its_limits_are(brim: Brim, shop: Path) -> None:
    brim("limit", "90%/5h", "1/day")
    brim("limit", "stop")
    assert brim("limit").lines[1].endswith("stopped")
    brim("limit", "remove", "1/day")
    assert "stopped, " in brim("limit").lines[1]
    brim("limit", "continue")
    brim("limit", "0.01/day")
    spend(brim, "0.0095")
    shutil.rmtree(shop)
    brim.cwd = brim.home
    assert brim("limit").lines[1].endswith("folder is gone, limit reached")


def test_status_tells_the_tightest_limit(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day", "50/week")
    spend(brim, "1")
    found = brim("--json").json["spending"]
    assert (found["spent"], found["limit"], found["period"]) == (1_000_000, 5_000_000, "day")


def test_continue_names_the_session_whose_limit_was_reached(brim: Brim, shop: Path) -> None:
    brim("limit", "2/session")
    spend(brim, "1.90")
    refused = brim("limit", "continue")
    assert refused.code == 2
    assert "brim limit continue shop/4f1c2a90" in refused.err
    assert brim("limit", "continue", "shop/4f1c2a90").code == 0
    assert "shop/4f1c2a90" not in brim("limit", "continue").err
