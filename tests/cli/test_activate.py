"""``brim dev activate`` tells an agent what matters now, and keeps its session within its total."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import brim as library
from brim.store.trust import trust
from tests.cli.conftest import Brim
from tests.cli.stored import FRAME, behavior, edges_in, events_in, file_of, recalled, remember

LONG = (
    "It is said here once more, and in more words than it takes to say it, so that it costs something. "
    * 3
)


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior("uv", text="Use uv.", when={"language": "python"}),
        behavior("test", text="Run the tests first.", when={"language": "python"}),
        behavior("rule", "constraint", "Never push to main."),
    )


def told(brim: Brim, *options: str, **more: Any) -> dict[str, Any]:
    ran = brim("activate", "--file", "a.py", "--json", *options, **more)
    found: dict[str, Any] = ran.json
    return {
        **found,
        "code": ran.code,
        "ids": [item["id"] for item in found["items"] if item["tier"] != "omitted"],
    }


# Without a session


def test_without_a_session_nothing_is_recorded(brim: Brim) -> None:
    some(brim)
    before = file_of(brim).read_bytes()
    ran = brim("activate", "--file", "a.py")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == f"{FRAME}## Constraints\n- Never push to main.\n## Directives\n- Run the tests first.\n- Use uv.\n"
    )
    found = told(brim)
    assert (found["text"], found["session"], found["budget"]) == (ran.out, None, 500)
    assert file_of(brim).read_bytes() == before


def test_nothing_to_say_is_empty(brim: Brim) -> None:
    ran = brim("activate", "--session", "s", "--prompt", "hello")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert not file_of(brim).exists()


def test_the_dynamic_budget_is_flag_then_variable_then_file_then_500(brim: Brim) -> None:
    some(brim)
    assert told(brim)["budget"] == 500
    brim.configure(user="token_budget:\n  dynamic_context: 300\n")
    assert told(brim)["budget"] == 300
    assert told(brim, env={"FLOOP_TOKEN_BUDGET_DYNAMIC": "310"})["budget"] == 310
    assert told(brim, env={"BRIM_TOKEN_BUDGET_DYNAMIC": "700"})["budget"] == 700
    assert (
        told(brim, "--token-budget", "800", env={"BRIM_TOKEN_BUDGET_DYNAMIC": "700"})["budget"]
        == 800
    )


def test_one_injection_is_held_to_its_own_limit_if_that_is_set(brim: Brim) -> None:
    some(brim)
    brim.configure(user="session:\n  max_per_injection: 200\n")
    assert told(brim, "--token-budget", "800")["budget"] == 200


def test_a_budget_of_zero_switches_it_off(brim: Brim) -> None:
    some(brim)
    ran = brim("activate", "--file", "a.py", "--session", "s", "--token-budget", "0")
    assert (ran.code, ran.out) == (0, "")
    assert "off" in ran.err
    assert told(brim, "--session", "s")["ids"] == ["test", "uv", "rule"]


def test_the_prompt_may_come_from_standard_input(brim: Brim) -> None:
    remember(
        brim,
        behavior("deploy", text="Ask before a deploy.", when={"branch": "x"}, tags=("kubernetes",)),
    )
    assert brim("activate", "--prompt", "-", stdin="scale the kubernetes cluster").out != ""
    assert brim("activate", "--prompt", "-", stdin="hello").out == ""
    ran = brim("activate", "--prompt", "-", stdin=b"\xff\xfe")
    assert (ran.code, ran.out) == (2, "")


# A session


def test_what_was_shown_waits_and_says_how_long(brim: Brim) -> None:
    some(brim)
    first = told(brim, "--session", "s")
    assert (first["ids"], first["session"]["prompts"]) == (["test", "uv", "rule"], 1)
    assert first["tokens"] == first["session"]["used"] == int(library.count(first["text"]))
    assert first["session"]["remaining"] == 3_000 - first["tokens"]
    for prompt in range(2, 6):
        again = told(brim, "--session", "s")
        assert (again["text"], again["tokens"], again["session"]["prompts"]) == ("", 0, prompt)
        assert f"again in {6 - prompt} prompt" in again["items"][0]["reason"]
    assert told(brim, "--session", "s")["ids"] == [
        "test",
        "uv",
    ]  # a rule for everything is told once
    assert told(brim, "--session", "other")["ids"] == ["test", "uv", "rule"]


def test_only_prompts_count_as_prompts(brim: Brim) -> None:
    some(brim)
    for event in ("tool", "resume", "tool"):
        assert told(brim, "--session", "s", "--event", event)["session"]["prompts"] == 0
    assert told(brim, "--session", "s", "--event", "prompt")["session"]["prompts"] == 1


def test_a_beginning_has_its_own_budget_and_is_recorded_but_not_charged(brim: Brim) -> None:
    some(brim)
    start = told(brim, "--session", "s", "--event", "start")
    assert (start["budget"], start["session"]["used"], start["session"]["prompts"]) == (2_000, 0, 0)
    assert start["ids"] == ["test", "uv", "rule"]
    assert told(brim, "--session", "s")["text"] == ""
    assert (
        told(brim, "--session", "s", "--event", "start", "--token-budget", "900")["budget"] == 900
    )


@pytest.mark.parametrize("event", ["start", "clear", "compact"])
def test_a_new_window_may_be_told_everything_again(brim: Brim, event: str) -> None:
    some(brim)
    used = told(brim, "--session", "s")["session"]["used"]
    assert used > 0
    resumed = told(brim, "--session", "s", "--event", "resume")
    assert (resumed["text"], resumed["session"]["used"]) == ("", used)
    renewed = told(brim, "--session", "s", "--event", event)
    assert (renewed["ids"], renewed["session"]["used"]) == (["test", "uv", "rule"], 0)


def test_a_sub_agent_has_its_own_window_and_spends_from_the_total(brim: Brim) -> None:
    some(brim)
    first = told(brim, "--session", "s")
    second = told(brim, "--session", "s", "--agent", "helper")
    assert second["ids"] == first["ids"]
    assert second["session"]["used"] == first["tokens"] + second["tokens"]
    assert (
        told(brim, "--session", "s", "--event", "tool")["session"]["used"]
        == second["session"]["used"]
    )


def test_a_total_that_is_used_up_tells_nothing_more(brim: Brim) -> None:
    remember(brim, *(behavior(f"b{at}", when={"file": f"{at}.py"}) for at in range(4)))
    tokens = told(brim, "--file", "0.py")["tokens"]
    env = {"BRIM_SESSION_MAX_TOKENS": str(2 * tokens)}
    used = [
        told(brim, "--file", f"{at}.py", "--session", "s", env=env)["tokens"] for at in range(3)
    ]
    assert used == [tokens, tokens, 0]
    ran = brim("activate", "--file", "3.py", "--session", "s", env=env)
    assert (ran.code, ran.out) == (0, "")
    assert "used up" in ran.err


def test_constraints_that_are_too_much_are_not_told_nor_charged(brim: Brim) -> None:
    remember(
        brim, behavior("rule", "constraint", LONG, summary=LONG), behavior("other", text="Other.")
    )
    ran = brim("activate", "--session", "s", "--token-budget", "20")
    assert (ran.code, ran.out) == (1, "")
    assert "nothing was told" in ran.err
    assert "1 constraint" in ran.err
    found = told(brim, "--session", "s", "--token-budget", "20")
    assert (found["code"], found["text"], found["tokens"], found["session"]["used"]) == (
        1,
        "",
        0,
        0,
    )
    assert (found["over_budget"], found["session"]["prompts"]) == (True, 2)
    assert recalled(brim)["rule"].usage.injected == 0


def test_what_went_in_is_noted_as_used(brim: Brim) -> None:
    some(brim)
    told(
        brim, "--session", "s", "--event", "tool"
    )  # a rule for everything doesn't come with a tool
    assert {id: each.usage.injected for id, each in recalled(brim).items()} == {
        "uv": 1,
        "test": 1,
        "rule": 0,
    }
    (event,) = events_in(brim, "injected")
    assert (event.session, event.detail["ids"], event.detail["event"]) == (
        "s",
        ["test", "uv"],
        "tool",
    )


def test_what_comes_up_together_again_and_again_is_tied_together(brim: Brim) -> None:
    some(brim)
    for session in ("a", "b"):
        told(brim, "--session", session)
    assert edges_in(brim) == []
    told(brim, "--session", "c")
    tied = {
        (edge.source, edge.target): edge.weight
        for edge in edges_in(brim)
        if edge.kind == "co-activated"
    }
    assert set(tied) == {("test", "uv")}  # the rule has no conditions: it comes up with everything
    told(brim, "--session", "d")
    assert {
        (edge.source, edge.target): edge.weight > 0.1 for edge in edges_in(brim)
    } == dict.fromkeys(tied, True)


def test_many_processes_at_once_never_exceed_the_total(brim: Brim) -> None:
    remember(
        brim,
        *(behavior(f"b{at}", text=f"{at}: {LONG}", when={"file": f"{at}.py"}) for at in range(8)),
    )
    most = 2 * told(brim, "--file", "0.py")["tokens"] + 20
    env = {"BRIM_SESSION_MAX_TOKENS": str(most)}
    words = ("activate", "--session", "s", "--event", "tool", "--json", "--file")
    started = [
        brim.start(*words, f"{at}.py", env=env, fork=True, stdout=subprocess.PIPE)
        for at in range(8)
    ]
    answers = [(process.communicate(timeout=300)[0], process.returncode) for process in started]
    assert {code for _, code in answers} == {0}
    tokens = [json.loads(out)["tokens"] for out, _ in answers]
    assert 0 < sum(tokens) <= most
    assert sum(token > 0 for token in tokens) >= 2
    after = told(brim, "--session", "s", "--event", "tool", env=env)["session"]
    assert after["used"] == sum(tokens) <= most
    with_use = [each for each in recalled(brim).values() if each.usage.injected]
    assert len(with_use) == sum(token > 0 for token in tokens)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--agent", "x"], "--session"),
        (["--session", ""], "--session"),
        (["--session", "s", "--agent", ""], "--agent"),
        (["--session", "s", "--event", "nap"], "--event"),
        (["--token-budget", "-1"], "--token-budget"),
        (["--token-budget", "many"], "--token-budget"),
        (["--set", "nothing"], "--set"),
    ],
)
def test_wrong_usage_ends_with_2(brim: Brim, options: list[str], word: str) -> None:
    some(brim)
    ran = brim("activate", *options)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err


def test_any_text_is_a_session(brim: Brim) -> None:
    some(brim)
    name = "../../\x1b[2J'; DROP TABLE sessions; --" + "x" * 1000
    assert told(brim, "--session", name)["ids"]
    assert told(brim, "--session", name)["ids"] == []


# Whose word it is


def test_a_session_is_told_a_projects_rules_only_if_it_is_trusted(brim: Brim) -> None:
    remember(brim, behavior("mine", text="My rule."))
    remember(brim, behavior("theirs", text="Their rule."), scope="project")
    ran = brim("activate", "--session", "s")
    assert (ran.code, ran.out) == (0, f"{FRAME}## Directives\n- My rule.\n")
    assert "brim rules trust" in ran.err
    assert "Their rule." in brim("activate").out
    trust(str(brim.cwd), str(brim.home / ".brim"), now=0)
    ran = brim("activate", "--session", "s")
    assert (ran.code, ran.out, ran.err) == (0, f"{FRAME}## Directives\n- Their rule.\n", "")
    assert recalled(brim, "project")["theirs"].usage.injected == 1
    assert recalled(brim)["mine"].usage.injected == 1


def test_a_project_cannot_switch_off_the_users_own_rules(brim: Brim) -> None:
    remember(brim, behavior("mine", "constraint", "My rule."))
    brim.configure("token_budget:\n  dynamic_context: 0\n")
    assert brim("activate", "--session", "s").out == f"{FRAME}## Constraints\n- My rule.\n"
    assert brim("activate").out == f"{FRAME}## Constraints\n- My rule.\n"
    trust(str(brim.cwd), str(brim.home / ".brim"), now=0)
    assert brim("activate", "--session", "other").out == f"{FRAME}## Constraints\n- My rule.\n"


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing is read-only for root"
)
def test_a_session_that_cannot_be_charged_is_told_nothing(brim: Brim) -> None:
    some(brim)
    file_of(brim).chmod(0o400)
    ran = brim("activate", "--session", "s")
    assert (ran.code, ran.out) == (2, "")
    assert "read-only" in ran.err
    assert brim("activate").code == 0
