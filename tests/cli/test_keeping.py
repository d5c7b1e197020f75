"""What a person sees of rules that are kept: proposed checks, what they would stop, and what past
sessions did."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from brim.rules.state import REPEATED, STOPPED, RulesState
from tests.cli.conftest import Brim
from tests.cli.test_asking import asked
from tests.cli.test_blocks import failed, needs_terminal

CLAUDE = {"CLAUDECODE": "1"}
RULES = "# Git\n\n- Never force-push.\n- Be kind.\n- Use pnpm, not npm.\n"


def statuses(brim: Brim) -> dict[str, list[str]]:
    """Return what brim does about each rule, by its text."""
    rules = brim("rules", "--json").json["rules"]
    return {rule["text"]: rule["status"] for rule in rules}


@pytest.fixture
def native(brim: Brim) -> Brim:
    (brim.cwd / ".git").mkdir()
    brim.write("CLAUDE.md", RULES)
    return brim


# Proposed checks ----------------------------------------------------------------------------------


def test_checks_of_native_files_are_proposed_and_a_person_accepts_them(native: Brim) -> None:
    brim = native
    assert "proposed" in statuses(brim)["Never force-push."]
    assert "2 rules can be checked if you agree: brim rules review" in brim("rules").err
    checks = brim("rules", "review", "--json").json["checks"]
    assert [check["text"] for check in checks] == ["Never force-push.", "Use pnpm, not npm."]
    first, second = [check["name"] for check in checks]
    assert brim("rules", "review", "accept", first).code == 0
    assert brim("rules", "review", "dismiss", second).code == 0
    found = statuses(brim)
    assert "stopped" in found["Never force-push."]
    assert "not checked" in found["Use pnpm, not npm."]
    assert brim("rules", "review", "--json").json["checks"] == []
    assert brim("rules", "edit", first, "--checks", "off").code == 0
    assert brim("rules", "edit", second, "--checks", "on").code == 0
    found = statuses(brim)
    assert "not checked" in found["Never force-push."]
    assert "stopped" in found["Use pnpm, not npm."]
    assert (brim.cwd / "CLAUDE.md").read_text() == RULES


def test_an_agent_decides_nothing(native: Brim) -> None:
    (first, _) = native("rules", "review", "--json").json["checks"]
    for words in (("review", "accept"), ("review", "dismiss"), ("edit",)):
        given = (*words, first["name"], *(("--checks", "off") if words == ("edit",) else ()))
        assert "only a person" in failed(native, 1, "rules", *given, env=CLAUDE).err
    assert len(native("rules", "review", "--json").json["checks"]) == 2


@needs_terminal
def test_one_enter_accepts_all(native: Brim) -> None:
    code, shown = asked(native, "\n", "rules", "review")
    assert (code, "Check 2 rules like this? [Y/n]" in shown) == (0, True)
    found = statuses(native)
    assert "stopped" in found["Never force-push."]
    assert "stopped" in found["Use pnpm, not npm."]


def test_an_imported_rule_is_proposed(native: Brim) -> None:
    brim = native
    brim("rules", "import", "CLAUDE.md", "--user", "--yes")
    brim.write("CLAUDE.md", "")
    assert "proposed" in statuses(brim)["Never force-push."]
    assert 'checks = "proposed"' in (brim.home / ".brim" / "rules.toml").read_text()
    for check in brim("rules", "review", "--json").json["checks"]:
        assert brim("rules", "review", "accept", check["name"]).code == 0
    assert statuses(brim) == {
        "Never force-push.": ["told", "stopped"],
        "Be kind.": ["told", "not checked"],
        "Use pnpm, not npm.": ["told", "stopped"],
    }


def test_a_file_is_told_by_the_agents_that_load_it(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("GEMINI.md", "- Be kind.\n")
    brim("init", "--agent", "gemini", env={"PATH": "/usr/bin:/bin"})
    assert statuses(brim)["Be kind."][0] == "told by your agent"
    brim("init", "--agent", "claude", env={"PATH": "/usr/bin:/bin"})
    assert statuses(brim)["Be kind."][:2] == ["told by Gemini CLI", "told to others"]


# One rule -----------------------------------------------------------------------------------------


def test_a_check_is_narrowed_and_the_last_stopped_call_is_shown(brim: Brim) -> None:
    brim("learn", "--user", "--name", "pnpm", "Use pnpm, not npm")
    with closing(RulesState(str(brim.home / ".brim"), now=time.time())) as state:
        for kind in (STOPPED, REPEATED, STOPPED):
            state.note(kind, "pnpm", "user", session="s-1", call="npm install -g x")
    ran = brim("rules", "edit", "pnpm", "--passes", "npm install -g")
    assert "last call: npm install -g x (stopped" in ran.err
    assert 'kept  "npm install -g" may pass' in ran.lines
    assert 'passes = "npm install -g"' in (brim.home / ".brim" / "rules.toml").read_text()
    assert "stops once" not in brim("rules", "why", "--run", "npm install -g x").out
    counts = brim("rules", "--json").json["rules"][0]["counts"]
    assert (counts["stopped"], counts["repeated"]) == (2, 1)
    assert "stopped 2 calls (1 obeyed, 1 repeated)" in brim("rules").out
    assert "stopped 2 calls (1 obeyed, 1 repeated)" in brim("rules", "why", "pnpm").out
    off = brim("rules", "edit", "pnpm", "--checks", "off")
    assert "not checked: you switched that off" in off.out
    assert statuses(brim)["Use pnpm, not npm"] == ["told", "not checked"]
    assert "tool" in failed(brim, 2, "rules", "edit", "pnpm", "--passes", "tool Bash").err


def test_why_names_the_check(brim: Brim) -> None:
    brim("learn", "--user", "--name", "pnpm", "Use pnpm, not npm")
    brim("learn", "--user", "--name", "gen", "--block", "edit gen/**", "Build it again.")
    ran = brim("rules", "why", "--run", "cd web && npm i x")
    assert ran.lines[0] == (
        "stops once  npm i x (rule pnpm: npm install, i, add, ci, update and uninstall)"
    )
    (broken,) = brim("rules", "why", "--file", "gen/a.py", "--json").json["broken"]
    assert (broken["kind"], broken["rule"], broken["part"]) == ("refuses", "gen", "gen/a.py")
    assert brim("rules", "why", "--run", "pnpm i", "--json").json["broken"] == []


# Past sessions ------------------------------------------------------------------------------------


def session_of(brim: Brim, *calls: tuple[str, dict[str, Any], str], session: str) -> Path:
    """Write a session of Claude Code in this project: each call with its result."""
    slug = "".join([sign if sign.isalnum() else "-" for sign in str(brim.cwd)])
    folder = brim.home / ".claude" / "projects" / slug
    folder.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 3_600))
    common = {"sessionId": session, "isSidechain": False, "timestamp": stamp, "cwd": str(brim.cwd)}
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Do it"}}
    ]
    for number, (name, given, result) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        answer: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": result,
        }
        answer["is_error"] = result.startswith(("Exit", "Stopped"))
        message: dict[str, Any] = {"role": "assistant", "id": f"m{number}", "model": "m"}
        message["content"] = [use]
        message["usage"] = {"input_tokens": 10, "output_tokens": 1}
        lines.append({"type": "assistant", "uuid": f"a{number}", "message": message})
        lines.append(
            {"type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [answer]}}
        )
    path = folder / f"{session}.jsonl"
    path.write_text("".join([json.dumps({**common, **line}) + "\n" for line in lines]))
    return path


def shell(command: str, result: str = "ok") -> tuple[str, dict[str, Any], str]:
    return "Bash", {"command": command}, result


def edit(brim: Brim, file: str) -> tuple[str, dict[str, Any], str]:
    given = {"file_path": str(brim.cwd / file), "old_string": "a", "new_string": "print(b)"}
    return "Edit", given, "ok"


SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"
OTHER = "11111111-b0c0-4396-a084-8ec7e7627d5b"


def test_an_audit_says_what_was_kept_and_broken(native: Brim) -> None:
    brim = native
    brim("learn", "--name", "fmt", "Run just fmt before you finish.")
    brim("learn", "--name", "dist", "Never edit dist/.")
    brim("learn", "--name", "sudo", "Never use sudo.")
    session_of(
        brim,
        shell("npm install x"),
        shell("npm ci", "Stopped once by brim: no"),
        edit(brim, "a.py"),
        shell("git push"),
        session=SESSION,
    )
    session_of(brim, edit(brim, "dist/a.js"), shell("just fmt"), session=OTHER)
    ran = brim("rules", "audit")
    assert ran.code == 0
    assert ran.lines[0] == "5 of 6 rules can be checked, in 2 sessions"
    found = {rule["name"]: rule for rule in brim("rules", "audit", "--json").json["audit"]}
    by_text = {rule["text"]: rule for rule in found.values()}
    assert [call["call"] for call in by_text["Use pnpm, not npm."]["broken"]] == ["npm install x"]
    assert by_text["Use pnpm, not npm."]["stopped"] == 1
    assert by_text["Never force-push."]["kept_sessions"] == 1
    assert found["fmt"]["broken"][0]["call"] == "a turn ended without just fmt"
    assert found["fmt"]["broken"][0]["session"] == SESSION
    assert found["fmt"]["kept_sessions"] == 1
    assert [call["session"] for call in found["dist"]["broken"]] == [OTHER]
    assert "never relevant  sudo" in ran.out
    assert "8eeb040d  npm install x" in ran.out


def test_an_audit_of_one_file(native: Brim) -> None:
    brim = native
    path = session_of(brim, shell("git push -f"), session=SESSION)
    ran = brim("rules", "audit", "CLAUDE.md")
    assert ran.lines[0] == "2 of 3 rules can be checked, in 1 session"
    assert "git push -f" in ran.out
    assert "git push -f" in brim("rules", "audit", str(path)).out
    brim.write("own.toml", '[kind]\ntext = "Be kind."\n')
    assert brim("rules", "audit", "own.toml").lines == ["0 of 1 rule can be checked"]
    assert "no such file" in failed(brim, 2, "rules", "audit", "gone.md").err
    brim.write("broken.md", "\0")
    assert "NUL" in failed(brim, 2, "rules", "audit", "broken.md").err


def test_the_report_has_one_line_about_rules(native: Brim) -> None:
    session_of(native, shell("git push -f"), shell("npm ci"), session=SESSION)
    ran = native("report")
    assert "2 of 3 rules can be checked, 2 broken by 2 calls; brim rules audit" in ran.out
    assert native("report", "--json").json["rules"]["broken_calls"] == 2
