"""What brim puts into an agent's settings can be taken out again, to the byte, and nothing else is
touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.install.agents import HOOKS, Ours, Target, entries_for, launcher_command, status_value
from brim.install.changes import Record, SettingsChange, plan_install, plan_uninstall
from tests.install.installed import FILES

HOME = "/home/user/.brim"
PATH = "/home/user/.claude/settings.json"


def target(agent: str = "claude") -> Target:
    return Target(agent, "user", PATH)


def install(
    before: str | None,
    agent: str = "claude",
    record: Record | None = None,
    *,
    hooks: str = "all",
    status: bool = True,
) -> SettingsChange:
    wanted = status and agent == "claude"
    return plan_install(target(agent), before, record, home=HOME, status=wanted, hooks=hooks)


def uninstall(
    before: str | None, agent: str = "claude", record: Record | None = None
) -> SettingsChange:
    return plan_uninstall(target(agent), before, record, home=HOME)


def text_of(change: SettingsChange) -> str:
    assert change.after is not None
    return change.after


FOREIGN: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/hook check it"}]}
        ],
        "Notification": [],
    },
    "env": {"é": "ü", "A": "1"},
}

WRITTEN = [
    None,
    "",
    " \n",
    "{}",
    "{ }\n",
    "{\n}\n",
    '{"model":"opus"}',
    '{"model": "opus", "hooks": {}}',
    '{\n  "hooks": {\n  }\n}\n',
    '{\n  "hooks": {"Stop": [], "PreToolUse": [ ]}\n}',
    json.dumps(FOREIGN),
    json.dumps(FOREIGN, separators=(",", ":"), ensure_ascii=False),
    json.dumps(FOREIGN, indent=2) + "\n",
    json.dumps(FOREIGN, indent=4, ensure_ascii=False),
    json.dumps(FOREIGN, indent="\t") + "\n\n",
    json.dumps(FOREIGN, indent=2).replace("\n", "\r\n"),
    "\ufeff" + json.dumps(FOREIGN, indent=2),
    '{"statusLine": {"type":"command",  "command":"my line", "padding": 0}, "x": 1}',
    '{"hooks": {"Stop": []}, "statusLine": null}\n',
    '{\n  "x": 1.50e3,\n\n\n  "statusLine" : {"type": "command", "command": "my line"}\n}',
]


@pytest.mark.parametrize("agent", FILES)
@pytest.mark.parametrize("how", HOOKS)
@pytest.mark.parametrize("before", WRITTEN)
def test_uninstalling_gives_back_the_file_to_the_byte(
    agent: str, how: str, before: str | None
) -> None:
    installed = install(before, agent, hooks=how)
    after = text_of(installed)
    assert isinstance(json.loads(after.removeprefix("\ufeff")), dict)
    again = install(after, agent, installed.record, hooks=how)
    assert not again.changes
    assert again.record == installed.record
    assert uninstall(after, agent, again.record).after == before


@pytest.mark.parametrize("indent", [1, 2, 4, "\t"])
def test_every_line_that_was_there_stays_in_its_order(indent: int | str) -> None:
    before = json.dumps(
        {**FOREIGN, "hooks": {**FOREIGN["hooks"], "Notification": [1]}}, indent=indent
    )
    after = iter(text_of(install(before)).splitlines())
    for line in before.splitlines():  # a comma after it is all that may be new
        assert any(each in (line, f"{line},") for each in after), line


def test_a_new_file_reads_well() -> None:
    after = text_of(install(None, hooks="injection-only", status=False))
    assert after.startswith('{\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n')
    assert after.endswith("\n    ]\n  }\n}\n")


def test_each_agent_gets_its_own_unit_of_time() -> None:
    for agent, unit in (("claude", 1), ("codex", 1), ("gemini", 1000)):
        found = json.loads(text_of(install(None, agent)))["hooks"]["SessionStart"][0]["hooks"][0]
        assert found["timeout"] == 5 * unit
        assert found["command"] == f"{HOME}/bin/hook SessionStart {agent}"


def test_a_folder_with_a_blank_in_its_name_is_quoted() -> None:
    [hook] = entries_for("claude", launcher_command("/home/user/my brim", "claude"))[
        "SessionStart"
    ]["hooks"]
    assert hook["command"] == "'/home/user/my brim/bin/hook' SessionStart claude"
    assert Ours("/home/user/my brim").hook(hook)


def test_fewer_hooks_take_the_others_out() -> None:
    everything = install(json.dumps(FOREIGN, indent=2))
    fewer = install(text_of(everything), record=everything.record, hooks="injection-only")
    events = json.loads(text_of(fewer))["hooks"]
    assert len(events["Stop"]) == 1
    assert "SessionEnd" not in events
    assert "SessionStart" in events
    assert uninstall(text_of(fewer), record=fewer.record).after == json.dumps(FOREIGN, indent=2)


def test_hooks_of_others_in_the_same_group_stay() -> None:
    installed = install("{}")
    changed = json.loads(text_of(installed))
    theirs = {"type": "command", "command": "theirs"}
    changed["hooks"]["Stop"][0]["hooks"].append(theirs)
    left = json.loads(text_of(uninstall(json.dumps(changed), record=installed.record)))
    assert left == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_a_second_entry_of_brim_is_taken_out() -> None:
    twice = json.loads(text_of(install("{}", status=False)))
    twice["hooks"]["Stop"] *= 2
    assert len(json.loads(text_of(install(json.dumps(twice), status=False)))["hooks"]["Stop"]) == 1


def test_an_old_launcher_is_replaced_in_its_place() -> None:
    old = {
        "hooks": [{"type": "command", "command": "/old/.brim/bin/hook Stop claude", "timeout": 9}]
    }
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    events = json.loads(text_of(install(json.dumps({"hooks": {"Stop": [old, theirs]}}))))["hooks"][
        "Stop"
    ]
    assert events[0]["hooks"][0]["command"] == f"{HOME}/bin/hook Stop claude"
    assert events[1:] == [theirs]


def test_without_a_record_brims_entries_are_found_all_the_same() -> None:
    for before in ("{}\n", COMMENTED):
        assert uninstall(text_of(install(before, "gemini")), "gemini").after == before
    assert uninstall(text_of(install('{"a": 1}'))).after == '{"a": 1}'


def test_a_status_line_is_chained_and_given_back() -> None:
    before = '{"statusLine":  {"type":"command", "command":"my line",\t"padding": 2}}'
    installed = install(before)
    assert installed.chained == "my line"
    assert json.loads(text_of(installed))["statusLine"] == {
        **status_value(HOME, "claude"),
        "padding": 2,
    }
    assert uninstall(text_of(installed), record=installed.record).after == before


def test_a_status_line_that_was_set_since_stays() -> None:
    installed = install("{}")
    changed = {
        **json.loads(text_of(installed)),
        "statusLine": {"type": "command", "command": "newer"},
    }
    left = uninstall(json.dumps(changed), record=installed.record)
    assert json.loads(text_of(left)) == {"statusLine": changed["statusLine"]}


def test_a_status_line_that_is_no_command_stays() -> None:
    installed = install('{"statusLine": {"type": "built-in"}}')
    assert json.loads(text_of(installed))["statusLine"] == {"type": "built-in"}
    assert installed.chained is None


@pytest.mark.parametrize(
    "before",
    [
        "[]",
        "{",
        '{"a": 1,}',
        '{"a" 1}',
        "nonsense",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"a": 1} x',
        '{"a": "\n"}',
        "[" * 5_000,
        '{"a": 1 // note\n}',
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_place(before: str) -> None:
    with pytest.raises(InputError, match=r"settings\.json") as raised:
        install(before)
    assert len(str(raised.value)) < 300


COMMENTED = """{
  // who speaks, and how
  "ui": { "theme": "dark" }, /* a, b */
  "hooks": { // mine
    "BeforeTool": [
      { "matcher": "*", "hooks": [ { "type": "command", "command": "mine" } ] } // the, only one
    ]
  } // the end
}
"""


def test_comments_are_kept_where_an_agent_allows_them() -> None:
    installed = install(COMMENTED, "gemini")
    after = text_of(installed)
    assert [
        line for line in COMMENTED.splitlines() if "//" in line and line.split("//")[1] not in after
    ] == []
    assert after.count("mine") == COMMENTED.count("mine")
    assert not install(after, "gemini", installed.record).changes
    assert uninstall(after, "gemini", installed.record).after == COMMENTED


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "hooks": st.lists(
                st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=9)}),
                max_size=2,
            )
        }
    )
    | VALUES,
    max_size=3,
)
EVENTS = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Other", ""])
SETTINGS = st.builds(
    lambda rest, hooks: {**rest, **hooks},
    st.dictionaries(
        st.text(max_size=5).filter(lambda key: key not in ("hooks", "statusLine")),
        VALUES,
        max_size=4,
    ),
    st.just({})
    | st.builds(lambda events: {"hooks": events}, st.dictionaries(EVENTS, GROUPS, max_size=4)),
)


@settings(deadline=None)
@given(
    SETTINGS,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(HOOKS), min_size=1, max_size=3),
)
def test_any_settings_come_back_as_they_were(
    value: dict[str, Any], indent: int | str | None, ascii: bool, tight: bool, steps: list[str]
) -> None:
    separators = (",", ":") if tight else None
    before = json.dumps(value, indent=indent, ensure_ascii=ascii, separators=separators)
    text, record = before, None
    for how in steps:
        change = install(text, record=record, hooks=how)
        text, record = text_of(change), change.record
        kept = json.loads(text)
        assert {key: each for key, each in kept.items() if key not in ("hooks", "statusLine")} == {
            key: each for key, each in value.items() if key != "hooks"
        }
    assert uninstall(text, record=record).after == before


@pytest.mark.parametrize(
    "before",
    [
        '{"a": 1 // one\n}',
        "{ // nothing yet\n}",
        '{"hooks": { // none\n} }',
        '{"hooks": {"SessionStart": [ /* none */ ]} // end\n}',
        '{\n  "a": 1 // one\r\n}',
        '// first\n{\n  "hooks": {\n    // none, yet\n  }\n}\n// last\n',
    ],
)
def test_a_comment_anywhere_stays_and_swallows_nothing(before: str) -> None:
    installed = install(before, "gemini")
    after = text_of(installed)
    assert all(
        comment in after
        for comment in ("one", "nothing yet", "none", "end", "first", "last")
        if comment in before
    )
    assert uninstall(after, "gemini", installed.record).after == before
