"""``brim statusline``, as a person or a client types it."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.cli.conftest import COMMAND, Brim
from tests.hooks.status_samples import SESSION, encoded, sent

EXAMPLE = "Opus 4.6  █████▏░░││┃░  43% · 80.3k to auto-compact  86,425 of 200,000  $1.24  cache warm until 14:32"


def test_the_example_is_the_same_everywhere(brim: Brim) -> None:
    for zone in ("UTC", "Asia/Tokyo"):
        ran = brim("statusline", "--example", env={"TZ": zone, "COLUMNS": "120"})
        assert (ran.code, ran.out, ran.err) == (0, f"{EXAMPLE}\n", "")


def test_the_example_fits_the_terminal_and_speaks_ascii_if_it_must(brim: Brim) -> None:
    ran = brim(
        "statusline",
        "--example",
        env={"COLUMNS": "40", "LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
    )
    assert ran.lines == ["Opus 4.6  ###---|!  43%  80.3k left"]


def test_what_a_client_sends_is_shown_in_colour_though_it_is_no_terminal(brim: Brim) -> None:
    ran = brim("statusline", stdin=encoded(sent()), env={"COLUMNS": "120"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "Sonnet 4.5  \x1b[32m█████▏\x1b[0m\x1b[2m░░││░░\x1b[0m  \x1b[32m43%\x1b[0m · 93.3k left (48% of 180k)  86,425"
    )


def test_exact_usage_is_kept_where_the_hooks_look(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    brim("statusline", stdin=encoded(sent()))
    kept = json.loads((brim.home / ".brim" / "state" / f"{SESSION}.json").read_text())
    assert kept["usage"]["tokens"] == 86_425


def test_an_other_status_line_that_does_not_read_is_shown_too(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    file = brim.home / ".brim" / "statusline.json"
    file.write_text(json.dumps({"command": "exec 0<&-; echo mine"}))
    file.chmod(0o600)
    ran = brim(
        "statusline", stdin=encoded({**sent(), "padding": "x" * 300_000}), env={"NO_COLOR": "1"}
    )
    assert ran.code == 0
    assert ran.lines[0] == "mine"
    assert ran.lines[1].startswith("Sonnet 4.5")


def test_json_has_what_the_line_is_drawn_from(brim: Brim) -> None:
    found = brim("statusline", "--json", stdin=encoded(sent(156_000))).json
    assert found["used_tokens"] == 156_000
    assert found["utilization"] == 0.78
    assert (found["warning"], found["compact_threshold"], found["session"]) == (
        "compact",
        0.78,
        SESSION,
    )
    assert brim("statusline", "--example", "--json").json["cache"] == "warm"


@pytest.mark.parametrize("given", [b"", b"{", b"[1]", b"\xff\x00"])
def test_garbage_is_an_empty_answer_and_no_error(brim: Brim, given: bytes) -> None:
    ran = brim("statusline", stdin=given)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert brim("statusline", "--json", stdin=given).json == {}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_typed_on_a_terminal_it_says_where_the_numbers_come_from(brim: Brim) -> None:
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    try:
        command = [COMMAND, "statusline"]
        done = subprocess.run(
            command,
            stdin=theirs,
            capture_output=True,
            env=brim.environ,
            cwd=brim.cwd,
            timeout=300,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"brim statusline --example" in done.stderr
