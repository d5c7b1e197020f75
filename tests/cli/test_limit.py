"""``brim limit``: limits that people set in their own words, in the project where they stand."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from brim.config.values import load_cached
from tests.cli.conftest import Brim

TOKENS_PER_DOLLAR = 1_000_000 // 3


@pytest.fixture
def shop(brim: Brim) -> Path:
    """Stand in a project."""
    project = brim.home / "a" / "shop"
    (project / ".git").mkdir(parents=True)
    brim.cwd = project
    return project


def spend(
    brim: Brim,
    dollars: float,
    session: str = "s-1",
    project: Path | None = None,
    *,
    output: int = 0,
) -> None:
    """Let a session of Claude Code cost *dollars*, in requests of at most 30 cents, and the tokens
    of *output* in each."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(project or brim.cwd))
    folder = brim.home / ".claude" / "projects" / slug
    folder.mkdir(parents=True, exist_ok=True)
    left = round(dollars * TOKENS_PER_DOLLAR)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    with (folder / f"{session}.jsonl").open("a", encoding="utf-8") as file:
        while left > 0:
            tokens = min(left, 100_000)
            left -= tokens
            id = f"m{time.monotonic_ns()}"
            usage = {"input_tokens": tokens, "output_tokens": output}
            message = {"id": id, "model": "claude-sonnet-4-5", "usage": usage, "content": []}
            line = {
                "type": "assistant",
                "sessionId": session,
                "timestamp": stamp,
                "cwd": str(project or brim.cwd),
                "requestId": f"r-{id}",
                "message": {"role": "assistant", **message},
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def limits(brim: Brim) -> dict[str, Any]:
    """Return the limits that are shown, by their text."""
    return {row["limit"]: row for row in brim("limit", "--json").json["limits"]}


def test_limits_are_set_shown_and_say_the_same_as_usage(brim: Brim, shop: Path) -> None:
    assert "no limit yet" in brim("limit").err
    assert brim("limit", "5/day", "20/week", "2M tokens/day").code == 0
    spend(brim, 1.2)
    shown = limits(brim)
    assert set(shown) == {"5/day", "20/week", "2M tokens/day"}
    assert shown["5/day"]["spent"] == brim("usage", "--json").json["total"]["cost"]
    assert shown["5/day"]["spent"] == 1_200_000
    assert shown["5/day"]["stopped"] is False
    lines = brim("limit").lines
    assert lines[0].split() == ["project", "limit", "spent", "left", "resets"]
    assert lines[1].split()[:4] == ["shop", "5/day", "$1.20", "$3.55"]


@pytest.mark.parametrize(
    ("mistake", "line"),
    [("  bad: [\n", 5), ("mode: sideways\n", 4), ("models:\n  mine: {prices: cheap}\n", 5)],
)
def test_a_mistake_in_the_settings_hides_no_limit(
    brim: Brim, shop: Path, mistake: str, line: int
) -> None:
    brim("limit", "5/day")
    spend(brim, 1.2)
    before = limits(brim)
    config = brim.home / ".brim" / "config.yaml"
    text = config.read_text()
    config.write_text(text + mistake)
    for _ in range(2):
        shown = brim("limit", "--json")
        assert shown.code == 0
        assert {row["limit"]: row for row in shown.json["limits"]} == before
        assert "config.yaml" in shown.err
        assert f"config.yaml:{line}" in shown.err or f"line {line}" in shown.err
    assert brim("limit", "6/day").code == 2  # nothing is written beside a mistake
    config.write_text(text)
    assert brim("limit", "--json").err == ""


def test_a_mistake_in_a_limit_shows_the_last_good_ones(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    spend(brim, 1.2)
    before = limits(brim)
    config = brim.home / ".brim" / "config.yaml"
    config.write_text(config.read_text().replace("5/day", "5/fortnight"))
    shown = brim("limit", "--json")
    assert (shown.code, {row["limit"]: row for row in shown.json["limits"]}) == (0, before)
    assert '"5/fortnight" isn\'t a limit' in shown.err


def test_an_older_limit_does_not_come_back_with_a_mistake(brim: Brim, shop: Path) -> None:
    brim("limit", "8/day")
    for project in (None, str(shop)):  # settings are cached a while after they were written
        load_cached(brim.environ, project, now=4e9)
    brim("limit", "2/day")
    config = brim.home / ".brim" / "config.yaml"
    config.write_text(f"{config.read_text()}mode: [\n")
    for _ in range(2):
        shown = brim("limit", "--json")
        assert [row["limit"] for row in shown.json["limits"]] == ["2/day"]
        assert "The limits that were read last go on applying" in shown.err


def test_a_limit_is_written_into_the_settings_beside_what_is_there(brim: Brim, shop: Path) -> None:
    config = brim.home / ".brim" / "config.yaml"
    config.parent.mkdir()
    config.write_text("# mine\nmode: auto\n")
    assert brim("limit", "5/day").code == 0
    assert brim("limit", "--all", "100/month").code == 0
    text = config.read_text()
    assert text.startswith("# mine\nmode: auto\n")
    assert str(shop) in text
    assert set(limits(brim)) == {"5/day", "100/month"}


def test_what_is_stopped_comes_first_with_the_command_that_lets_it_go_on(
    brim: Brim, shop: Path
) -> None:
    brim("limit", "20/week", "1/day")
    spend(brim, 1.2)
    lines = brim("limit").lines
    assert lines[1].split()[:3] == ["stopped", "shop", "1/day"]
    assert lines[-1] == (
        "$1.20 of $1.00 spent today. "
        "Go on for today: brim limit +10%. For good: brim limit raise 2/day"
    )
    assert brim("--json").json["limits"][0]["stopped"] is True
    assert brim("limit", "+10%").code == 0
    shown = limits(brim)["1/day"]
    assert not shown["stopped"]
    assert shown["amount"] == 1_300_000
    assert brim("limit", "raise", "8/day").code == 0
    assert limits(brim)["8/day"]["amount"] == 8_000_000


def test_plus_10_percent_raises_again_where_the_next_request_would_go_over(
    brim: Brim, shop: Path
) -> None:
    brim("limit", "1/day", "20/week")
    spend(brim, 0.9)
    assert brim("limit", "+10%").code == 0
    assert limits(brim)["1/day"]["amount"] == 1_100_000
    assert brim("limit", "+10%").code == 0
    shown = limits(brim)
    assert shown["1/day"]["amount"] == 1_200_000
    assert shown["20/week"]["amount"] == 20_000_000


def test_a_stop_before_the_next_request_is_shown_with_what_is_enough_to_go_on(
    brim: Brim, shop: Path
) -> None:
    brim("limit", "2/day")
    spend(brim, 0.9, output=20_000)  # three requests, each with an answer of 30 cents
    lines = brim("limit").lines
    assert lines[1].split()[:3] == ["stopped", "shop", "2/day"]
    assert "The next request would take about" in lines[-1]
    assert brim("--json").json["limits"][0]["stopped"] is True
    more = lines[-1].split("brim limit ")[1].split(".")[0]
    assert brim("limit", more).code == 0
    assert not limits(brim)["2/day"]["stopped"]


def test_what_is_kept_for_a_last_answer_is_explained(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    shown = brim("limit").out
    assert "$4.75" in shown
    assert "left: without what is kept for a last answer, 5% of a limit and at most $0.50" in shown


@pytest.mark.parametrize("more", ["+0%", "+300%"])
def test_plus_a_percentage_has_bounds(brim: Brim, shop: Path, more: str) -> None:
    brim("limit", "1/day")
    spend(brim, 1.2)
    ran = brim("limit", more)
    assert (ran.code, "at most +200%" in ran.err) == (2, True)


def test_raising_a_limit_without_its_period_names_the_limits_there_are(
    brim: Brim, shop: Path
) -> None:
    brim("limit", "5/day", "20/week")
    ran = brim("limit", "raise", "8")
    assert ran.code == 2
    assert "here: 5/day, 20/week" in ran.err


def test_plus_10_percent_needs_a_limit_that_is_used(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    answer = brim("limit", "+10%")
    assert answer.code == 2
    assert "nothing to go on with" in answer.err


def test_stop_holds_at_once_and_remove_lets_go(brim: Brim, shop: Path) -> None:
    assert brim("limit", "stop").code == 0
    shown = brim("limit").lines
    assert shown[1].split()[0] == "stopped"
    assert "brim limit remove 0" in shown[-1]
    assert brim("limit", "remove", "0").code == 0
    assert limits(brim) == {}


def test_a_limit_is_removed_by_its_text_its_period_or_with_all_others(
    brim: Brim, shop: Path
) -> None:
    brim("limit", "5/day", "20/week", "2/session", "100/month")
    assert brim("limit", "remove", "5/day").code == 0
    assert brim("limit", "remove", "week").code == 0
    assert set(limits(brim)) == {"2/session", "100/month"}
    missing = brim("limit", "remove", "7/day")
    assert (missing.code, '"7/day"' in missing.err) == (2, True)
    assert brim("limit", "remove").code == 0
    assert limits(brim) == {}


def test_a_worktree_is_its_repository_and_another_project_is_not(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    spend(brim, 1.2)
    other = brim.home / "other"
    (other / ".git").mkdir(parents=True)
    spend(brim, 0.3, "s-2", other)
    tree = brim.home / "tree"
    tree.mkdir()
    git = shop / ".git" / "worktrees" / "tree"
    git.mkdir(parents=True)
    (git / "commondir").write_text("../..\n")
    (tree / ".git").write_text(f"gitdir: {git}\n")
    spend(brim, 0.3, "s-3", tree)
    assert limits(brim)["5/day"]["spent"] == 1_500_000
    brim("limit", "--all", "50/day")
    assert limits(brim)["50/day"]["spent"] == 1_800_000


def test_a_total_counts_from_when_it_was_set(brim: Brim, shop: Path) -> None:
    spend(brim, 0.3)
    path = next((brim.home / ".claude").rglob("s-1.jsonl"))
    path.write_text(path.read_text().replace(time.strftime('"%Y-'), '"2020-'))
    brim("limit", "50")
    assert limits(brim)["50"]["spent"] == 0
    spend(brim, 0.3)
    assert limits(brim)["50"]["spent"] == 300_000
    brim("limit", "raise", "60")
    assert limits(brim)["60"]["spent"] == 300_000


def test_an_agent_may_lower_a_limit_and_loosen_none(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    agent = {"CLAUDECODE": "1"}
    assert brim("limit", "3/day", env=agent).code == 0
    for words in (["8/day"], ["raise", "8/day"], ["remove"], ["+10%"], ["forget", "k"]):
        answer = brim("limit", *words, env=agent)
        assert answer.code != 0
        assert "only a person" in answer.err
    assert set(limits(brim)) == {"3/day"}


@pytest.mark.parametrize("text", ["5/fortnight", "-5/day", "nan", "1e400/day", "5/", "$x/day"])
def test_what_is_not_a_limit_is_wrong_usage_and_changes_nothing(
    brim: Brim, shop: Path, text: str
) -> None:
    answer = brim("limit", "--", text)
    assert answer.code == 2
    assert not os.path.exists(brim.home / ".brim" / "config.yaml")


def test_a_plans_window_is_read_and_a_sub_agents_limit_is_shown(brim: Brim, shop: Path) -> None:
    brim("limit", "90%/5h")
    assert brim("limit", "--subagent", "200k", "tokens").code == 0
    shown = limits(brim)
    assert shown["90%/5h"]["spent"] is None
    assert shown["200k tokens/subagent"]["spent"] is None
    window = {"agent": "claude", "minutes": 300, "used": 0.93, "resets_at": time.time() + 900}
    window |= {"read_at": time.time(), "name": ""}
    (brim.home / ".brim" / "plan_windows.json").write_text(json.dumps({"windows": [window]}))
    assert limits(brim)["90%/5h"]["spent"] == 93
    assert limits(brim)["90%/5h"]["stopped"] is True


def test_a_request_that_was_dropped_counts_no_more(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    spend(brim, 0.3)
    assert limits(brim)["5/day"]["spent"]
    assert brim("limit", "forget", "nothing").code == 2
    (request,) = brim("usage", "--requests", "--json").json["requests"]
    assert request["key"] in brim("usage", "--requests").out
    assert brim("limit", "forget", request["key"]).code == 0
    assert limits(brim)["5/day"]["spent"] == 0
    assert brim("usage", "--requests", "--json").json["requests"] == []


def test_near_a_limit_it_says_how_far_the_rest_reaches(brim: Brim, shop: Path) -> None:
    brim("limit", "5/day")
    for _ in range(15):
        spend(brim, 0.3)
    assert "roughly 1 more request like the last 15" in brim("limit").out
    brim("limit", "raise", "50/day")
    assert "like the last" not in brim("limit").out


def test_bare_brim_says_stopped_first(brim: Brim, shop: Path) -> None:
    brim("init", "--agent", "claude", "--yes")
    brim("limit", "1/day")
    spend(brim, 1.2)
    brim("usage")
    line = next(line for line in brim().lines if line.startswith("money"))
    assert line.split("money", 1)[1].strip().startswith("stopped: $1.20 of $1.00 spent today.")
