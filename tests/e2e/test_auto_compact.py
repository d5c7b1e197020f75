"""Where brim says that Claude Code compacts is where the installed one says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.sessions.window.auto_compact import auto_compact
from tests.e2e.agents import Agent

ASK = {
    "type": "control_request",
    "request_id": "1",
    "request": {"subtype": "get_context_usage", "detail": "summary"},
}
OPUS, HAIKU = ("claude-opus-5-5", 1_000_000), ("claude-haiku-4-5", 200_000)


@pytest.mark.parametrize(
    ("model", "settings", "environ", "options"),
    [
        (OPUS, {}, {}, []),
        (HAIKU, {}, {}, []),
        (("claude-opus-4-6", 200_000), {}, {}, []),
        (("claude-sonnet-4-5", 200_000), {}, {}, []),
        (HAIKU, {"autoCompactWindow": 150_000}, {}, []),
        (OPUS, {"autoCompactWindow": 50_000}, {}, []),
        (
            OPUS,
            {
                "autoCompactWindow": 400_000,
                "modelSettings": {OPUS[0]: {"autoCompactWindow": 300_000}},
            },
            {},
            [],
        ),
        (OPUS, {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "400k"}}, {}, []),
        (OPUS, {"autoCompactWindow": 200_000}, {}, ["--autocompact", "300k"]),
        (OPUS, {}, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, []),
        (OPUS, {"autoCompactEnabled": False}, {}, []),
        (OPUS, {}, {"DISABLE_AUTO_COMPACT": "1"}, []),
    ],
)
def test_it_is_what_the_client_itself_says(
    claude: Agent,
    model: tuple[str, int],
    settings: dict[str, Any],
    environ: dict[str, str],
    options: list[str],
) -> None:
    folder = claude.world.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings))
    streams = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    command = [claude.program, *streams, "--model", model[0], *options]
    variables = {**claude.environ(), **environ}
    ran = claude.world.run(command, environ=variables, stdin=f"{json.dumps(ASK)}\n")
    (answer,) = ran.of("control_response")
    said = answer["response"]["response"]
    found = auto_compact(
        *model,
        {**claude.world.environ, **variables},
        folder=str(claude.world.project),
        command=options,
    )
    assert found is not None
    assert found.off is not said["isAutoCompactEnabled"]
    # A window of the source "auto" isn't compacted ahead, though a threshold is named for it too.
    ahead = (
        said["autoCompactThreshold"]
        if said["autocompactSource"] != "auto" and not found.off
        else None
    )
    assert found.at == ahead
