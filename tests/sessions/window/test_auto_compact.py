"""Where Claude Code compacts by itself: every number here is what the real one (2.1.325) said or
did."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from brim.sessions.window.auto_compact import auto_compact, client_command
from brim.sessions.window.windows import AutoCompact

OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-4-5"
WINDOWS = {OPUS: 1_000_000, HAIKU: 200_000}
Settings = dict[str, Any]


class Client:
    """A client's files in *root*: settings of the user and of a project, and its own notes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def point(
        self,
        model: str = OPUS,
        *,
        user: Settings | None = None,
        project: Settings | None = None,
        local: Settings | None = None,
        notes: Settings | None = None,
        command: tuple[str, ...] = (),
        window: int | None = None,
        **environ: str,
    ) -> AutoCompact | None:
        """Return where it compacts with these settings."""
        files = {
            "home/.claude/settings.json": user,
            "home/.claude.json": notes,
            "shop/.claude/settings.json": project,
            "shop/.claude/settings.local.json": local,
        }
        for name, values in files.items():
            if values is not None:
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                (self.root / name).write_text(json.dumps(values))
        found = {"HOME": str(self.root / "home"), **environ}
        size = WINDOWS.get(model, 200_000) if window is None else window
        return auto_compact(model, size, found, folder=str(self.root / "shop"), command=command)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


@pytest.mark.parametrize(
    ("model", "window", "at"),
    [
        (OPUS, 1_000_000, 967_000),
        ("claude-opus-4-6", 200_000, 167_000),
        ("claude-sonnet-5", 1_000_000, 967_000),
        ("my-model", 1_000_000, 967_000),
        (HAIKU, 200_000, None),
        ("claude-haiku-4-5-20251001", 200_000, None),
        ("claude-sonnet-4-5", 200_000, None),
        ("claude-opus-4-5", 200_000, None),
        ("claude-sonnet-4-20250514", 200_000, None),
        ("claude-opus-4-6[1m]", 1_000_000, None),
    ],
)
def test_newer_models_are_compacted_ahead_and_older_ones_when_a_prompt_is_refused(
    client: Client, model: str, window: int, at: int | None
) -> None:
    assert client.point(model, window=window) == AutoCompact(window - 20_000, at)


SET: list[tuple[str, dict[str, Any], int]] = [
    (OPUS, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "400000"}, 367_000),
    (OPUS, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "400k"}, 367_000),
    (OPUS, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000"}, 67_000),
    (OPUS, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "2000000"}, 967_000),
    (OPUS, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "junk"}, 967_000),
    (HAIKU, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}, 117_000),
    (HAIKU, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000"}, 167_000),
    (HAIKU, {"user": {"autoCompactWindow": 300_000}}, 167_000),
    (OPUS, {"user": {"autoCompactWindow": 400_000}}, 367_000),
    (OPUS, {"user": {"autoCompactWindow": 50_000}}, 967_000),
    (OPUS, {"user": {"autoCompactWindow": 2_000_000}}, 967_000),
    (OPUS, {"user": {"autoCompactWindow": "300k"}}, 967_000),
    (
        OPUS,
        {"user": {"autoCompactWindow": 300_000}, "project": {"autoCompactWindow": 200_000}},
        167_000,
    ),
    (
        OPUS,
        {"project": {"autoCompactWindow": 300_000}, "local": {"autoCompactWindow": 200_000}},
        167_000,
    ),
    (
        OPUS,
        {
            "user": {
                "autoCompactWindow": 400_000,
                "modelSettings": {OPUS: {"autoCompactWindow": 300_000}},
            }
        },
        267_000,
    ),
    (OPUS, {"user": {"modelSettings": {"claude-opus-5": {"autoCompactWindow": 300_000}}}}, 967_000),
    (
        HAIKU,
        {"user": {"modelSettings": {f"{HAIKU}-20251001": {"autoCompactWindow": 150_000}}}},
        117_000,
    ),
    (
        OPUS,
        {
            "user": {"modelSettings": {OPUS: {"autoCompactWindow": 300_000}}},
            "project": {"autoCompactWindow": 200_000},
        },
        167_000,
    ),
    (OPUS, {"user": {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000"}}}, 267_000),
    (
        OPUS,
        {
            "user": {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000"}},
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000",
        },
        267_000,
    ),
    (
        OPUS,
        {"command": ("claude", "--autocompact", "300k"), "user": {"autoCompactWindow": 200_000}},
        267_000,
    ),
    (OPUS, {"command": ("claude", "--autocompact=0.5m")}, 467_000),
    (OPUS, {"command": ("claude", "--autocompact", "200")}, 167_000),
    (
        OPUS,
        {"command": ("claude", "--autocompact", "auto"), "user": {"autoCompactWindow": 200_000}},
        967_000,
    ),
    (
        OPUS,
        {
            "command": ("claude", "--autocompact", "300k"),
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000",
        },
        467_000,
    ),
    (OPUS, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 490_000),
    (OPUS, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99.5"}, 967_000),
    (OPUS, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "150"}, 967_000),
    (OPUS, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 979_000),
    (OPUS, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "junk"}, 967_000),
    (OPUS, {"DISABLE_AUTO_COMPACT": "0"}, 967_000),
    (OPUS, {"user": {"autoCompactEnabled": True}, "notes": {"autoCompactEnabled": False}}, 967_000),
    (
        OPUS,
        {"user": {"autoCompactEnabled": False}, "project": {"autoCompactEnabled": True}},
        967_000,
    ),
]


@pytest.mark.parametrize(("model", "settings", "at"), SET)
def test_settings_and_variables_move_it(
    client: Client, model: str, settings: dict[str, Any], at: int
) -> None:
    found = client.point(model, **settings)
    assert found is not None
    assert (found.at, found.off) == (at, False)


def test_a_share_moves_nothing_for_a_model_that_is_not_compacted_ahead(client: Client) -> None:
    assert client.point(HAIKU, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE="50") == AutoCompact(180_000)


@pytest.mark.parametrize(
    "settings",
    [
        {"user": {"autoCompactEnabled": False}},
        {"project": {"autoCompactEnabled": False}},
        {"notes": {"autoCompactEnabled": False}},
        {"user": {"env": {"DISABLE_AUTO_COMPACT": "1"}}},
        {"DISABLE_AUTO_COMPACT": "1"},
        {"DISABLE_COMPACT": "true"},
    ],
)
def test_it_can_be_off(client: Client, settings: dict[str, Any]) -> None:
    assert client.point(**settings) == AutoCompact(980_000, off=True)


@pytest.mark.parametrize(
    "settings",
    [
        {
            "user": {"modelSettings": {"opus": {"autoCompactWindow": 300_000}}}
        },  # which model is "opus" now?
        {"command": ("claude", "--settings", "more.json")},
        {"model": "claude-3-5-haiku-20241022"},
        {"window": 0},
        {"window": 20_000},
    ],
)
def test_what_cannot_be_known_is_not_said(client: Client, settings: dict[str, Any]) -> None:
    assert client.point(**settings) is None


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b""])
def test_a_settings_file_that_cannot_be_read_makes_it_unknown(
    client: Client, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude" / "settings.json").write_bytes(content)
    assert client.point() is None


@pytest.mark.parametrize(
    "value", [None, [], 7, "x", {"opus": 1}, {OPUS: {"autoCompactWindow": True}}]
)
def test_strange_values_are_ignored_as_the_client_ignores_them(
    client: Client, value: object
) -> None:
    strange = {
        "env": value,
        "modelSettings": value,
        "autoCompactWindow": value,
        "autoCompactEnabled": value,
    }
    found = client.point(user=strange)
    assert found is not None
    assert found.at == 967_000


@pytest.mark.parametrize(
    ("point", "used", "told"),
    [
        (AutoCompact(180_000, 167_000), 158_008, "9k to auto-compact"),
        (AutoCompact(180_000, 167_000), 167_000, "auto-compact due"),
        (AutoCompact(180_000), 158_008, "22k left (88% of the usable 180k)"),
        (AutoCompact(180_000), 185_000, "0 left (103% of the usable 180k)"),
        (AutoCompact(980_000, off=True), 900_000, "80k left, auto-compact off"),
    ],
)
def test_it_says_what_is_left_and_what_the_client_shows(
    point: AutoCompact, used: int, told: str
) -> None:
    wordings = point.told(used)
    assert wordings[0] == told
    assert wordings == sorted(wordings, key=len, reverse=True)


@pytest.mark.skipif(
    not os.path.exists("/proc/self/cmdline"),
    reason="this system doesn't show what others were started with",
)
def test_the_clients_own_arguments_are_found() -> None:
    with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
        parent = os.fsdecode(file.read()).split("\0")
    assert client_command()[: len(parent)] == parent
