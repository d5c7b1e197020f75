"""Now, Rules and Money: what they show is what the commands say, and what is done there counts for
the hooks."""

from __future__ import annotations

import html
import json
import re
import time

import pytest

from brim.figures import dollars
from brim.hooks.process import answer_to
from brim.money import open_ledger
from brim.money.amounts import in_unit
from brim.rules.inbox import Inbox
from tests.ui.conftest import Pages, World, served

HOSTILE = "</script><img src=x onerror=alert(1)>"


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def hook(world: World, event: str, **said: object) -> str:
    data = {
        "session_id": "s1",
        "transcript_path": "",
        "cwd": str(world.project),
        "hook_event_name": event,
        **said,
    }
    return answer_to(event, "claude", data, world.environ, now=time.time())


def test_empty_pages_say_what_to_do(pages: Pages) -> None:
    assert "Start Claude Code" in plain(pages.get("/").text)
    assert "No rule yet" in plain(pages.get("/rules").text)
    assert "write 5/day below" in plain(pages.get("/money").text)
    assert not (pages.world.home / ".brim" / "brim.db").exists()  # looking changes nothing


def test_now_follows_live_sessions(world: World) -> None:
    story = world.story()
    story.play(cut=True)
    with served(world) as pages:
        for _ in range(3_000):
            text = plain(pages.get("/").text)
            if "claude-opus" in text and "reading today" not in text:
                break
            time.sleep(0.1)
        reading = world.json("context", str(story.path))
        today = world.json("usage", "--since", "0d")
        assert "shop · The importer drops the last supplier" in text
        assert dollars(reading["cost"]) in text
        assert f"{round(100 * reading['utilization'])}%" in text
        is_any = today["rows"] != []  # just after midnight, all of it was yesterday
        assert (dollars(today["total"]["cost"]) if is_any else "No request was made today") in text
        assert "brim init" in text


def test_hooks_are_paused_and_resumed(pages: Pages) -> None:
    pages.world.brim("init", "--agent", "claude")
    assert pages.post("/pause", **{"for": "30m"}).status == 303
    assert "Resume the hooks" in pages.get("/").text
    assert pages.world.json()["paused"] is True
    pages.post("/pause", **{"for": "resume"})
    assert pages.world.json()["paused"] is False
    assert pages.post("/pause", **{"for": "soon"}).status == 400


# Rules --------------------------------------------------------------------------------------------


@pytest.fixture
def taught(world: World) -> World:
    world.brim("learn", "In Python files, use pathlib instead of os.path.", "--name", "use-pathlib")
    world.brim("learn", "Never push to main.", "--kind", "constraint", "--name", "never-push")
    world.brim(
        "learn",
        "--user",
        "Run pytest with -x while you work on one failure.",
        "--when",
        "task testing",
    )
    return world


SITUATIONS = [
    {},
    {"prompt": "run the tests"},
    {"file": "src/app.py", "tokens": "40"},
    {"command": "git push", "prompt": "publish it", "tokens": "12"},
    {"tokens": "0"},
]


OPTIONS = {"tokens": "token-budget", "command": "run"}
CODES = {str(SITUATIONS[3]): 1, str(SITUATIONS[4]): 1}
"""A constraint doesn't fit."""


@pytest.mark.parametrize("given", SITUATIONS, ids=str)
def test_the_plan_is_that_of_why(taught: World, given: dict[str, str]) -> None:
    words = [
        word for name, value in given.items() for word in (f"--{OPTIONS.get(name, name)}", value)
    ]
    ran = json.loads(taught.brim("rules", "why", *words, "--json", code=CODES.get(str(given), 0)))
    with served(taught) as pages:
        query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in given.items())
        text = pages.get(f"/rules/plan?{query}").text
    rows = re.findall(r'data-rule="([^"]+)" data-tier="([^"]+)"', text)
    assert rows == [(rule["name"], rule["tier"]) for rule in ran["rules"]]
    assert f'data-total="{ran["tokens"]}"' in text


def test_a_budget_that_isnt_one(pages: Pages) -> None:
    for tokens in ("-1", "x", "1e9"):
        assert pages.get(f"/rules/plan?tokens={tokens}").status == 400


def test_rules_are_listed_with_what_came_of_them(taught: World) -> None:
    with served(taught) as pages:
        text = plain(pages.get("/rules").text)
        assert "3 rules in force" in text
        for rule in taught.json("rules")["rules"]:
            assert rule["text"] in text
            assert rule["told"] in text
            assert pages.get(f"/rules/{rule['place']}:{rule['name']}").status == 200
        assert pages.get("/rules/user:none").status == 400


def test_rules_are_changed(taught: World) -> None:
    id = "project:use-pathlib"

    def state() -> dict[str, object]:
        ran = json.loads(taught.brim("rules", "why", "use-pathlib", "--json"))
        return dict(ran)

    with served(taught) as pages:
        text = pages.get(f"/rules/{id}").text
        form = re.search(r"<textarea[^>]*>(.*?)</textarea>", text, re.DOTALL)
        assert form is not None
        edited = html.unescape(form[1]).replace("os.path", "os.path, always")
        assert pages.post("/rule", action="edit", rule=id, text=edited).status == 303
        assert pages.post("/rule", action="edit", rule=id, text="kind: odd").status == 400
        block = {"action": "block", "rule": id, "kind": "run"}
        assert pages.post("/rule", **block, pattern="npm install").status == 303
        assert pages.post("/rule", **block, pattern="git").status == 400
        assert pages.post("/rule", **block, pattern="git", sure="1").status == 303
        assert "always" in str(state()["text"])
        assert state()["block"] == ["run npm install", "run git"]
        call = {"tool_name": "Bash", "tool_input": {"command": "npm install x"}}
        assert "npm install" in hook(taught, "PreToolUse", **call)
        pages.post("/rule", action="remove", rule=id)
        assert "use-pathlib" not in taught.brim("rules")
        pages.post("/rule", action="restore", rule="use-pathlib")
        assert state()["state"] == "active"
        assert pages.post("/rule", action="odd", rule=id).status == 400
        assert pages.post("/learn", text="").status == 400


def test_a_note_is_accepted_and_told_by_the_next_hook(world: World) -> None:
    world.brim("init", "--agent", "claude")
    inbox = Inbox(str(world.home / ".brim"))
    inbox.add("pnpm", "use pnpm here", project=str(world.project))
    inbox.add("bun", "use bun here", project=str(world.project))
    with served(world) as pages:
        text = pages.get("/rules").text
        assert re.findall(r'name="note" value="([^"]+)"', text) == ["pnpm", "bun"]
        accept = {"action": "accept", "note": "pnpm", "text": "Use pnpm, not npm."}
        assert pages.post("/review", **accept).status == 303
        assert pages.post("/review", **accept).status == 400
        assert pages.post("/review", action="dismiss", note="bun").status == 303
        assert "use bun here" not in pages.get("/rules").text
        assert "Use pnpm" in hook(world, "SessionStart", source="startup")


def test_pairs_are_shown(taught: World) -> None:
    taught.brim("learn", "--user", "Push to main, never.", "--name", "also")
    with served(taught) as pages:
        assert "use the same words" in plain(pages.get("/rules").text)


def test_hostile_rules_are_text(world: World) -> None:
    world.brim("learn", f"Say {HOSTILE} to everyone.")
    with served(world) as pages:
        rule = world.json("rules")["rules"][0]
        id = f"{rule['place']}:{rule['name']}"
        for path in (
            "/rules",
            f"/rules/{id}",
            f"/?said={HOSTILE}",
            f"/rules?said={HOSTILE}",
        ):
            text = pages.get(path.replace(" ", "+")).text
            assert "<img" not in text
            assert "&lt;img" in text


# Money --------------------------------------------------------------------------------------------


def test_money_is_that_of_usage(world: World) -> None:
    story = world.story(branch="fix")
    story.play(cut=True)
    with served(world) as pages:
        for by in ("day", "week", "project", "branch", "model", "session"):
            said = world.json("usage", "--by", by)
            text = plain(pages.get(f"/money?by={by}").text)
            assert dollars(said["total"]["cost"]) in text
            for row in said["rows"]:
                assert str(row[by]).rpartition("/")[2][:8] in text
        assert world.json("usage", "--by", "branch")["rows"][0]["branch"] == "fix"
        for query in ("by=odd", "days=5", "days=x"):
            assert pages.get(f"/money?{query}").status == 400


def test_a_limit_is_set_and_the_next_call_held(world: World) -> None:
    world.brim("init", "--agent", "claude")
    with served(world) as pages:
        assert pages.post("/limit", action="set", limit="0.01/day").status == 303
        story = world.story(begin=time.time() - 300)
        story.play(cut=True)
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": story.id}
        assert "Stopped by your user's limit" in hook(
            world, "PreToolUse", **call, transcript_path=str(story.path)
        )
        text = pages.get("/").text
        assert "stopped at 0.01/day" in text
        project = re.search(r'name="project" value="([^"]+)"', text)
        assert project is not None
        assert (
            pages.post("/limit", action="raise", project=project[1], limit="50/day").status == 303
        )
        held = hook(world, "PreToolUse", **call, transcript_path=str(story.path))
        assert "config.yaml changed since" in held
        assert "deny" not in held
        shown = plain(pages.get("/money").text)
        limit = world.json("limit")["limits"][0]
        assert "50/day" in shown
        assert f"{in_unit(limit['spent'], 'usd')} spent" in shown
        pages.post("/limit", action="stop", project=project[1])
        assert "deny" in hook(world, "PreToolUse", **call, transcript_path=str(story.path))
        pages.post("/limit", action="remove", project=project[1], limit="0")
        pages.post("/limit", action="remove", project=project[1], limit="50/day")
        assert world.json("limit")["limits"] == []
        for text in ("5/fortnight", "", "nan"):
            assert pages.post("/limit", action="set", limit=text).status == 400


# What can go wrong --------------------------------------------------------------------------------


def test_a_mistake_in_the_rules_is_said(world: World) -> None:
    world.brim("learn", "--user", "Use pnpm.")
    path = world.home / ".brim" / "rules.toml"
    path.write_text(path.read_text() + "[uv]\ntxt = 1\n")
    with served(world) as pages:
        assert "isn’t a key" in plain(pages.get("/rules").text).replace("'", "’")
        assert pages.get("/").status == 200


def test_settings_that_are_wrong_are_named(world: World) -> None:
    folder = world.home / ".brim"
    folder.mkdir()
    (folder / "config.yaml").write_text("token_budget:\n  default: 2k\n")
    with served(world) as pages:
        answer = pages.get("/rules")
        assert answer.status == 400
        assert "token_budget.default" in answer.text


def test_a_teams_ledger_is_on_the_page_of_money(world: World) -> None:
    store = f"sqlite:///{world.home}/team.db"
    world.brim("limit", "acme/ann", "5/day", "--store", store)
    world.brim("limit", "key", "add", "acme/bob", "--store", store)
    with open_ledger(store) as ledger:
        ledger.settle(ledger.reserve("acme/ann+acme/shop", "1.5", model="gpt-5"), "1.5")
    with served(world) as pages:
        assert "acme" not in plain(pages.get("/money").text)
        pages.place.store = store
        text = plain(pages.get("/money").text)
        assert "acme/ann $5.00/day $1.50 of $5.00/day $1.50 $3.25" in text
        assert "acme/bob none $0.00 no limit" in text
        assert "gpt-5 $1.50" in plain(pages.get("/money?team=model").text)
        assert pages.get("/money?team=nonsense").status == 400
