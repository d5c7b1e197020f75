"""The status line as the client starts it: it shows, it remembers for the hooks, and it never fails
loudly."""

from __future__ import annotations

import io
import json
import os
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brim.config.trust import trust
from brim.hooks.process import answer_to
from brim.hooks.state import SessionState
from brim.hooks.statusline import columns, lines_for, main
from brim.sessions.plan_windows import read_plan_windows
from brim.sessions.window.windows import UsageSeen
from tests.hooks.status_samples import NOW, SESSION, encoded, limits, sent

DIRECT = [sys.executable, "-I", "-c", "from brim.hooks.process import status_line; status_line()"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "brim"
    home.mkdir()
    return {
        "HOME": str(tmp_path),
        "BRIM_HOME": str(home),
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "PATH": os.defpath,
    }


def shown(data: object, environ: Mapping[str, str], *, now: float = NOW) -> list[str]:
    given = data if isinstance(data, bytes) else encoded(data)
    return lines_for(given, environ, now=now).decode().splitlines()


def state(environ: Mapping[str, str], session: str = SESSION) -> SessionState:
    return SessionState.load(environ["BRIM_HOME"], session)


def tokens(environ: Mapping[str, str], session: str = SESSION) -> int | None:
    usage = state(environ, session).usage
    return None if usage is None else usage.tokens


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a slow machine be no reason for another answer."""
    monkeypatch.setattr("brim.hooks.status_chain.PATIENCE", 30.0)


def chain(environ: Mapping[str, str], command: str) -> None:
    file = Path(environ["BRIM_HOME"], "statusline.json")
    file.write_text(json.dumps({"command": command}))
    file.chmod(0o600)


# What it shows ------------------------------------------------------------------------------------


def test_it_prints_one_line(environ: dict[str, str]) -> None:
    out = io.BytesIO()
    assert main(io.BytesIO(encoded(sent())), out, environ) == 0
    assert (
        out.getvalue()
        .decode()
        .startswith(
            "Sonnet 4.5  █████▏░░││░░  43% · 93.3k left (48% of 180k)  86,425 of 200,000  $1.24  cache cold"
        )
    )
    assert out.getvalue().endswith(b"\n")


def test_marks_and_window_are_those_of_the_settings(environ: dict[str, str]) -> None:
    config = Path(environ["BRIM_HOME"], "config.yaml")
    config.write_text("context:\n  warn: 0.2\n  compact: 0.4\n  window: 100000\n")
    (line,) = shown(sent(30_000), environ)
    assert "30% · 150k left (17% of 180k)  30,000 of 100,000" in line, (
        "what the client does isn't brim's setting"
    )
    assert line.endswith("compact at 40%")


def test_settings_that_cannot_be_read_are_the_defaults_and_the_line_says_so(
    environ: dict[str, str],
) -> None:
    Path(environ["BRIM_HOME"], "config.yaml").write_text("context: [\n")
    (line,) = shown(sent(140_000), {**environ, "COLUMNS": "160"})
    assert line.endswith("compact at 78%  settings wrong: brim doctor")


def test_a_project_that_is_not_trusted_moves_no_mark(
    environ: dict[str, str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".brim").mkdir(parents=True)
    (project / ".brim" / "config.yaml").write_text("context:\n  warn: 0.1\n  compact: 0.2\n")
    (line,) = shown(sent(86_425, cwd=str(project)), environ)
    assert "compact" not in line


def test_one_that_is_paused_says_so(environ: dict[str, str]) -> None:
    Path(environ["BRIM_HOME"], "paused").touch()
    assert shown(sent(), environ)[0].endswith("brim is paused")


WIDTHS = [("132", 132), ("0", 80), ("", 80), ("x", 80), ("-3", 80), ("²", 80), ("9" * 5_000, 1_000)]


@pytest.mark.parametrize(("said", "width"), WIDTHS)
def test_the_width_is_the_clients_word_or_80(said: str, width: int) -> None:
    assert columns({"COLUMNS": said}) == width


@pytest.mark.parametrize("width", ["1", "9", "33", "80", "99999999999"])
def test_it_stays_within_what_the_client_leaves_of_the_width(
    environ: dict[str, str], width: str
) -> None:
    (line,) = shown(sent(150_000), {**environ, "COLUMNS": width})
    assert len(line) <= max(1, int(width) - 4)


def test_colours_are_there_unless_they_are_unwanted(environ: dict[str, str]) -> None:
    assert "\x1b[" not in shown(sent(), environ)[0]
    assert "\x1b[" not in shown(sent(), {**environ, "NO_COLOR": "", "TERM": "dumb"})[0]
    assert "\x1b[32m43%" in shown(sent(), {**environ, "NO_COLOR": ""})[0]


# What it remembers --------------------------------------------------------------------------------


def test_exact_usage_is_kept_for_the_hooks(environ: dict[str, str]) -> None:
    shown(sent(), environ)
    expected = UsageSeen(86_425, 200_000, "claude-sonnet-4-5", NOW, "statusline", 1_243_700)
    assert state(environ).usage == expected


def test_a_hook_warns_by_what_the_status_line_was_told(environ: dict[str, str]) -> None:
    shown(sent(150_000), environ)
    stopped = {"session_id": SESSION, "transcript_path": "", "cwd": "/", "hook_event_name": "Stop"}
    answer = answer_to("Stop", "claude", stopped, environ, now=NOW + 1)
    assert "filling up: 150,000 of 200,000 tokens, 75%" in answer


def test_each_session_has_its_own(environ: dict[str, str]) -> None:
    shown(sent(100), environ)
    shown(sent(200, session_id="../other"), environ)
    assert [tokens(environ, session) for session in (SESSION, "../other")] == [100, 200]


def test_before_the_first_answer_nothing_is_kept(environ: dict[str, str]) -> None:
    shown(sent(None), environ)
    assert state(environ).usage is None


def test_the_same_numbers_again_stay_as_old_as_they_are(environ: dict[str, str]) -> None:
    shown(sent(), environ)
    shown(sent(cost={"total_cost_usd": 2}), environ, now=NOW + 60)
    usage = state(environ).usage
    assert usage is not None
    assert (usage.time, usage.cost) == (NOW, 2_000_000)


def test_nothing_new_writes_nothing(environ: dict[str, str]) -> None:
    shown(sent(), environ)
    path = Path(state(environ).path)
    before = path.stat()
    shown(sent(), environ, now=NOW + 60)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_old_numbers_that_come_once_more_after_a_compaction_are_not_believed(
    environ: dict[str, str],
) -> None:
    shown(sent(156_000), environ)
    emptied = state(environ)
    emptied.usage = None
    emptied.save()
    shown(sent(156_000), environ, now=NOW + 1)
    assert state(environ).usage is None
    shown(sent(20_000), environ, now=NOW + 2)
    assert tokens(environ) == 20_000


def test_an_emptied_window_makes_its_own_numbers_void(environ: dict[str, str]) -> None:
    shown(sent(156_000), environ)
    shown(sent(0), environ)
    assert state(environ).usage is None


def test_what_a_hook_has_read_elsewhere_is_not_replaced_by_older_numbers(
    environ: dict[str, str],
) -> None:
    shown(sent(100_000), environ)
    newer = state(environ)
    newer.usage = UsageSeen(120_000, 200_000, "claude-sonnet-4-5", NOW + 1, "transcript")
    newer.save()
    for used in (100_000, 0):
        shown(sent(used), environ, now=NOW + 2)
        assert tokens(environ) == 120_000


def test_what_the_hooks_keep_is_not_lost(environ: dict[str, str]) -> None:
    assert state(environ).tell_once("a latch")
    shown(sent(), environ)
    assert state(environ).told("a latch")


# The other status line ----------------------------------------------------------------------------


@pytest.mark.usefixtures("patient")
def test_the_lines_of_the_other_come_first(environ: dict[str, str]) -> None:
    chain(environ, "cat >/dev/null; echo one; echo two")
    lines = shown(sent(), environ)
    assert lines[:2] == ["one", "two"]
    assert lines[2].startswith("Sonnet 4.5")


@pytest.mark.usefixtures("patient")
def test_a_failure_of_the_other_is_told_and_costs_nothing_else(environ: dict[str, str]) -> None:
    chain(environ, "echo lost; exit 7")
    (line,) = shown(sent(), environ)
    assert line.startswith("Sonnet 4.5  █████▏░░││░░  43%")
    assert (
        "the other status line ended with 7"
        in Path(environ["BRIM_HOME"], "log", "hook.log").read_text()
    )


@pytest.mark.usefixtures("patient")
def test_the_other_is_shown_even_if_brim_has_nothing_to_say(environ: dict[str, str]) -> None:
    chain(environ, "cat")
    assert shown(b"no JSON", environ) == ["no JSON"]
    assert shown(sent(), {**environ, "BRIM_DISABLE": "1"}) == [encoded(sent()).decode()]


def test_disabled_it_remembers_nothing(environ: dict[str, str]) -> None:
    assert shown(sent(), {**environ, "BRIM_DISABLE": "1"}) == []
    assert state(environ).usage is None


@pytest.mark.usefixtures("patient")
def test_one_that_calls_brim_again_does_not_go_round_in_circles(environ: dict[str, str]) -> None:
    chain(
        environ,
        f"{shlex.quote(sys.executable)} -I -c 'from brim.hooks.statusline import main; main()'",
    )
    lines = shown(sent(), environ)
    assert len(lines) <= 2
    assert lines[-1].startswith("Sonnet 4.5")


# Never in the way ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [b"", b"null", b"[]", b"3", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5_000]
)
def test_garbage_prints_nothing_and_leaves_a_line_in_the_log(
    environ: dict[str, str], given: bytes
) -> None:
    out = io.BytesIO()
    assert main(io.BytesIO(given), out, environ) == 0
    assert out.getvalue() == b""
    assert "statusline" in Path(environ["BRIM_HOME"], "log", "hook.log").read_text()


def mutated(chance: random.Random) -> object:
    """What a client might send one day: a field gone, of another type, or huge."""
    data: Any = sent(chance.choice([None, 0, 1, 86_425, 10**9]))
    for _ in range(chance.randrange(1, 4)):
        inner = chance.choice(
            [data, *(value for value in data.values() if isinstance(value, dict))]
        )
        key = chance.choice(list(inner) or ["x"])
        odd: list[Any] = [
            None,
            True,
            -1,
            10**30,
            1e308,
            float("nan"),
            "x" * 5_000,
            "\ud800\x1b[2J\0",
            [],
            {},
            [[1]],
        ]
        inner[key] = chance.choice(odd)
    return data


def test_whatever_a_client_sends_is_answered_within_the_width(environ: dict[str, str]) -> None:
    chance = random.Random(6)
    for _ in range(300):
        out = io.BytesIO()
        assert main(io.BytesIO(encoded(mutated(chance))), out, environ) == 0
        assert len(out.getvalue().decode()) <= 121
        assert b"\x1b" not in out.getvalue()
        assert out.getvalue().count(b"\n") <= 1


def test_a_home_that_is_not_there_or_no_folder_changes_nothing(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for home in ("gone", "file", "file/below"):
        (line,) = shown(sent(), {**environ, "BRIM_HOME": str(tmp_path / home)})
        assert line.startswith("Sonnet 4.5  █████▏░░││░░  43%")


def test_a_broken_state_changes_nothing(environ: dict[str, str]) -> None:
    shown(sent(), environ)
    Path(state(environ).path).write_text('{"usage": 3, "told": [], "statusline"')
    assert shown(sent(), environ)[0].startswith("Sonnet 4.5")


def test_a_process_ends_with_0_even_if_nobody_listens(environ: dict[str, str]) -> None:
    for script in ('"$@" <&- >&-', '"$@" </dev/null', 'printf "{}" | "$@" >&-'):
        run = ["sh", "-c", script, "sh", *DIRECT]
        done = subprocess.run(run, env=environ, capture_output=True, timeout=300, check=False)
        assert (done.returncode, done.stdout) == (0, b"")


# Auto-compaction, the plan's windows, and the parts -----------------------------------------------

OPUS = {"id": "claude-opus-4-6", "display_name": "Opus 4.6"}


def test_it_says_how_far_it_is_to_the_clients_own_compaction(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (line,) = shown(sent(158_008, model=OPUS), environ)
    assert "79% · 8.7k to auto-compact  158,008 of 200,000" in line, (
        "167,000, less the prompt and the answer of 311"
    )
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"autoCompactEnabled": false}')
    (line,) = shown(sent(158_008, model=OPUS), environ)
    assert "79% · 21.7k left, auto-compact off  " in line
    (tmp_path / ".claude" / "settings.json").write_text("{")
    (line,) = shown(sent(158_008, model=OPUS), environ)
    assert "79%  158,008 of 200,000" in line, "settings that can't be read could say anything"


def test_a_window_too_small_for_an_answer_is_shown_without_it(environ: dict[str, str]) -> None:
    for window in (1, 20_000, 20_001):
        assert "%" in shown(sent(13, window=window), environ)[0]


def test_a_window_of_the_plan_is_shown_once_it_is_nearly_used_up(environ: dict[str, str]) -> None:
    assert "5h" not in shown(sent(rate_limits=limits(79.9, 12)), environ)[0]
    (line,) = shown(sent(rate_limits=limits(91.2, 12)), {**environ, "COLUMNS": "140"})
    at = time.strftime("%H:%M", time.localtime(NOW + 3_600))
    assert f"  5h 91%, resets {at}  " in line
    assert "7d" not in line
    Path(environ["BRIM_HOME"], "config.yaml").write_text("spend:\n  warn: 0.1\n")
    assert "5h 91% 7d 12%" in shown(sent(rate_limits=limits(91.2, 12)), environ)[0]


def test_what_the_plan_has_left_is_kept_for_the_commands(environ: dict[str, str]) -> None:
    shown(sent(rate_limits=limits(91.2, 12)), environ)
    found = read_plan_windows(environ["BRIM_HOME"])
    assert [(each.label, each.used, each.resets_at, each.read_at) for each in found] == [
        ("5h", 0.912, NOW + 3_600, NOW),
        ("7d", 0.12, NOW + 300_000, NOW),
    ]


def test_the_parts_are_those_of_the_setting_in_its_order(
    environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "shop" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/feature/cart\n")
    config = Path(environ["BRIM_HOME"], "config.yaml")
    config.write_text("statusline:\n  parts: [percent, branch, folder, headroom]\n")
    (line,) = shown(sent(cwd=str(folder)), environ)
    assert line == "43%  feature/cart  ~/shop/src  93.3k left (48% of 180k)"
    narrow = {**environ, "COLUMNS": "44"}
    assert shown(sent(cwd=str(folder)), narrow) == ["43%  feature/cart  src  93.3k left"]


def test_a_part_that_there_is_not_is_noted_and_the_default_shown(environ: dict[str, str]) -> None:
    Path(environ["BRIM_HOME"], "config.yaml").write_text(
        "statusline:\n  parts: [percent, weather]\n"
    )
    (line,) = shown(sent(), {**environ, "COLUMNS": "160"})
    assert line.startswith("Sonnet 4.5  ")
    assert line.endswith("settings wrong: brim doctor")


def test_a_project_cannot_take_parts_away(environ: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".brim").mkdir(parents=True)
    (project / ".brim" / "config.yaml").write_text("statusline:\n  parts: [model]\n")
    trust(str(project), environ["BRIM_HOME"])
    assert "43%" in shown(sent(cwd=str(project)), environ)[0]
