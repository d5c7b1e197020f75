"""``brim dev repair`` prints or writes what ``repair`` returns, and never loses a file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brim.messages import repair, validate
from tests.cli.conftest import Brim, Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT: list[Any] = json.loads((EXAMPLES / "agent.json").read_text(encoding="utf-8"))
BROKEN_TEXT = (EXAMPLES / "broken.json").read_text(encoding="utf-8")
BROKEN: list[Any] = json.loads(BROKEN_TEXT)
REPAIRED = repair(BROKEN, provider="anthropic")
SESSION = (EXAMPLES / "session.jsonl").read_text(encoding="utf-8")
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
IS_ROOT = sys.platform != "win32" and os.geteuid() == 0
AS_ANYONE = "setpriv --bounding-set=-dac_override --inh-caps=-dac_override " if IS_ROOT else ""
"""Root may write anywhere; without that power, a command of root's is refused like anybody's."""
unprivileged = pytest.mark.skipif(
    sys.platform == "win32" or (IS_ROOT and shutil.which("setpriv") is None),
    reason="no way to be refused here",
)


def run(brim: Brim, *options: str, content: Any = BROKEN_TEXT, name: str = "chat.json") -> Ran:
    brim.write(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return brim("dev", "repair", name, *options)


def refused(ran: Ran, *words: str) -> None:
    """Assert that *ran* ended with 2, printed nothing, and said each of *words* in its one line."""
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err, ran.err


def names(brim: Brim) -> list[str]:
    return sorted(path.name for path in brim.cwd.iterdir())


# Printed


def test_the_repaired_history_is_printed_and_the_changes_listed(brim: Brim) -> None:
    ran = run(brim)
    assert (ran.code, ran.json) == (0, REPAIRED.messages)
    assert validate(ran.json, provider="anthropic") == []
    lines = ran.err.splitlines()
    assert lines[0] == f"chat.json: {len(REPAIRED.changes)} changes"
    assert lines[1].split() == ["message", "change", "rule", "what"]
    for line, change in zip(lines[2:], REPAIRED.changes, strict=True):
        assert line.split()[:3] == [str(change.index), change.action, change.rule]
    assert names(brim) == ["chat.json"]
    assert (brim.cwd / "chat.json").read_text() == BROKEN_TEXT


def test_a_valid_history_comes_out_as_it_went_in(brim: Brim) -> None:
    text = (EXAMPLES / "agent.json").read_text(encoding="utf-8")
    ran = run(brim, content=text)
    assert (ran.code, ran.out) == (0, text)
    assert ran.err == "chat.json: nothing to repair\n"


def test_standard_input_is_repaired(brim: Brim) -> None:
    ran = brim("dev", "repair", "-", stdin=BROKEN_TEXT)
    assert (ran.code, ran.json) == (0, REPAIRED.messages)
    assert ran.err.startswith("standard input: ")


def test_the_layout_is_kept(brim: Brim) -> None:
    assert run(brim).out.count("\n") == len(REPAIRED.messages) + 2
    assert run(brim, content=json.dumps(BROKEN)).out.count("\n") == 1
    assert (
        run(brim, content=json.dumps(BROKEN, indent=4)).out
        == json.dumps(REPAIRED.messages, indent=4) + "\n"
    )


def test_a_request_keeps_everything_else(brim: Brim) -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": BROKEN, "stream": True}
    ran = run(brim, content=body)
    assert ran.json == {**body, "messages": REPAIRED.messages}
    assert list(ran.json) == list(body)


def test_json_is_one_object(brim: Brim) -> None:
    ran = run(brim, "--json")
    assert (ran.code, ran.err) == (0, "")
    changes = [
        {"index": each.index, "rule": each.rule, "action": each.action, "text": each.text}
        for each in REPAIRED.changes
    ]
    assert ran.json == {
        "messages": REPAIRED.messages,
        "valid": True,
        "changed": True,
        "changes": changes,
        "violations": [],
        "backup": None,
        "broken_lines": [],
    }
    ran = run(brim, "--json", content=AGENT)
    assert (ran.json["messages"], ran.json["changed"], ran.json["changes"]) == (AGENT, False, [])


def test_calls_are_restored_when_asked(brim: Brim) -> None:
    expected = repair(BROKEN, provider="anthropic", restore_calls=True)
    assert expected.messages != REPAIRED.messages
    ran = run(brim, "--restore-calls")
    assert (ran.code, ran.json) == (0, expected.messages)


def test_the_provider_can_be_named(brim: Brim) -> None:
    answer_first = [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Hi"}]
    assert run(brim, content=answer_first).json == answer_first
    ran = run(brim, "--provider", "anthropic", content=answer_first)
    assert ran.json == repair(answer_first, provider="anthropic").messages
    assert run(brim, "--provider", "nobody").code == 2


# Only listed


def test_a_dry_run_lists_and_ends_with_1(brim: Brim) -> None:
    ran = run(brim, "--dry-run")
    assert (ran.code, ran.err) == (1, "")
    assert ran.lines[0] == f"chat.json: {len(REPAIRED.changes)} changes needed"
    assert len(ran.lines) == 2 + len(REPAIRED.changes)
    assert names(brim) == ["chat.json"]
    found = run(brim, "--dry-run", "--json")
    assert found.code == 1
    assert "messages" not in found.json
    assert found.json["changed"] is True


def test_a_dry_run_of_a_valid_history_ends_with_0(brim: Brim) -> None:
    ran = run(brim, "--dry-run", content=AGENT)
    assert (ran.code, ran.out, ran.err) == (0, "chat.json: nothing to repair\n", "")


def test_a_transcript_is_only_listed(brim: Brim) -> None:
    ran = run(brim, "--dry-run", content=SESSION, name="session.jsonl")
    assert ran.code == 1
    assert ran.lines[1].split()[0] == "line"
    assert ran.lines[2].split()[0] in ("8", "11")
    found = run(brim, "--dry-run", "--json", content=SESSION, name="session.jsonl")
    assert found.json["changes"][0]["line"] in (8, 11)


@pytest.mark.parametrize("options", [[], ["--in-place"], ["--json"], ["--in-place", "--json"]])
def test_a_transcript_is_never_written(brim: Brim, options: list[str]) -> None:
    ran = run(brim, *options, content=SESSION, name="session.jsonl")
    refused(ran, "session.jsonl", "transcript", "only checked", "--dry-run")
    assert (brim.cwd / "session.jsonl").read_text() == SESSION
    assert names(brim) == ["session.jsonl"]


def test_a_half_written_line_of_a_transcript_is_named(brim: Brim) -> None:
    ran = run(brim, "--dry-run", content=SESSION + '{"half', name="session.jsonl")
    assert ran.code == 1
    assert "line 12" in ran.err


# Written


def test_in_place_writes_the_file_and_keeps_the_old_one(brim: Brim) -> None:
    ran = run(brim, "--in-place")
    assert (ran.code, ran.err) == (0, "")
    assert names(brim) == ["chat.json", "chat.json.bak"]
    assert (brim.cwd / "chat.json.bak").read_text() == BROKEN_TEXT
    assert json.loads((brim.cwd / "chat.json").read_text()) == REPAIRED.messages
    assert str(brim.cwd / "chat.json.bak") in ran.lines[0]
    assert len(ran.lines) == 2 + len(REPAIRED.changes)
    again = brim("dev", "repair", "chat.json", "--in-place")
    assert (again.code, again.out) == (0, "chat.json: nothing to repair\n")
    assert names(brim) == ["chat.json", "chat.json.bak"]


def test_json_says_where_the_backup_is(brim: Brim) -> None:
    found = run(brim, "--in-place", "--json").json
    assert found["backup"] == str(brim.cwd / "chat.json.bak")
    assert found["messages"] == json.loads((brim.cwd / "chat.json").read_text())


def test_no_backup_is_ever_written_over(brim: Brim) -> None:
    brim.write("chat.json.bak", "first")
    brim.write("chat.json.bak.1", "second")
    run(brim, "--in-place")
    run(brim, "--in-place")
    assert names(brim) == [
        "chat.json",
        "chat.json.bak",
        "chat.json.bak.1",
        "chat.json.bak.2",
        "chat.json.bak.3",
    ]
    assert (brim.cwd / "chat.json.bak").read_text() == "first"
    assert (brim.cwd / "chat.json.bak.1").read_text() == "second"
    assert (brim.cwd / "chat.json.bak.2").read_text() == BROKEN_TEXT


def test_a_valid_file_is_not_touched(brim: Brim) -> None:
    path = brim.write("chat.json", json.dumps(AGENT))
    before = path.stat()
    ran = brim("dev", "repair", "chat.json", "--in-place")
    assert (ran.code, ran.out) == (0, "chat.json: nothing to repair\n")
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert names(brim) == ["chat.json"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o640])
def test_the_permissions_stay(brim: Brim, mode: int) -> None:
    path = brim.write("chat.json", BROKEN_TEXT)
    path.chmod(mode)
    assert brim("dev", "repair", "chat.json", "--in-place").code == 0
    assert path.stat().st_mode & 0o777 == mode
    assert (brim.cwd / "chat.json.bak").stat().st_mode & 0o777 == mode


@posix
def test_a_link_stays_a_link(brim: Brim) -> None:
    real = brim.write("store/real.json", BROKEN_TEXT)
    os.symlink("store/real.json", brim.cwd / "chat.json")
    ran = brim("dev", "repair", "chat.json", "--in-place")
    assert ran.code == 0
    assert (brim.cwd / "chat.json").is_symlink()
    assert json.loads(real.read_text()) == REPAIRED.messages
    assert (brim.cwd / "store" / "real.json.bak").read_text() == BROKEN_TEXT
    assert str(brim.cwd / "store" / "real.json.bak") in ran.out


def test_every_character_comes_through(brim: Brim) -> None:
    messages = [{"role": "user", "content": "naïve 上下文 😀 \ud800 \u2028"}, *BROKEN]
    assert run(brim, "--in-place", content=messages).code == 0
    written = (brim.cwd / "chat.json").read_bytes()
    assert json.loads(written) == repair(messages, provider="anthropic").messages
    assert "上下文 😀 \\ud800" in written.decode()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-", "--in-place"], ["--in-place", "standard input"]),
        (["chat.json", "--in-place", "--dry-run"], ["--in-place", "--dry-run"]),
    ],
)
def test_options_that_contradict_are_refused(
    brim: Brim, options: list[str], words: list[str]
) -> None:
    brim.write("chat.json", BROKEN_TEXT)
    refused(brim("dev", "repair", *options, stdin=BROKEN_TEXT), *words)


# Accidents


@unprivileged
def test_a_file_that_may_only_be_read_is_left_alone(brim: Brim) -> None:
    path = brim.write("chat.json", BROKEN_TEXT)
    path.chmod(0o400)
    refused(
        brim.shell(f'{AS_ANYONE}"$BRIM" dev repair chat.json --in-place'), "chat.json", "only read"
    )
    assert path.read_text() == BROKEN_TEXT
    assert names(brim) == ["chat.json"]


@unprivileged
def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_is_lost(brim: Brim) -> None:
    path = brim.write("locked/chat.json", BROKEN_TEXT)
    path.parent.chmod(0o500)
    try:
        refused(
            brim.shell(f'{AS_ANYONE}"$BRIM" dev repair locked/chat.json --in-place'),
            "backup",
            "as it was",
        )
    finally:
        path.parent.chmod(0o700)
    assert path.read_text() == BROKEN_TEXT
    assert [each.name for each in path.parent.iterdir()] == ["chat.json"]


@posix
def test_a_backup_that_cannot_be_written_is_an_error_and_nothing_is_lost(brim: Brim) -> None:
    name = "x" * 250 + ".json"  # with .bak it is longer than a name can be
    ran = run(brim, "--in-place", name=name)
    refused(ran, "backup", "as it was")
    assert (brim.cwd / name).read_text() == BROKEN_TEXT
    assert names(brim) == [name]


@posix
def test_a_full_disk_is_an_error_and_nothing_is_lost(brim: Brim) -> None:
    long = [*BROKEN, {"role": "user", "content": "word " * 20_000}]
    brim.write("chat.json", json.dumps(long))
    ran = brim.shell('ulimit -f 8; "$BRIM" dev repair chat.json --in-place')
    assert (ran.code, ran.out) == (2, "")
    assert "as it was" in ran.err
    assert json.loads((brim.cwd / "chat.json").read_text()) == long
    assert names(brim) == ["chat.json"]


KILLED = """
import os, signal, sys
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
os.{call} = killed
sys.argv = ["brim", "dev", "repair", "chat.json", "--in-place"]
from brim.cli import main
main()
"""


@posix
@pytest.mark.parametrize("call", ["fsync", "chmod", "replace"])
def test_a_process_that_is_killed_half_way_leaves_the_old_file(brim: Brim, call: str) -> None:
    brim.write("chat.json", BROKEN_TEXT)
    code = KILLED.replace("{call}", call)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=brim.cwd, env=brim.environ, timeout=300, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert (brim.cwd / "chat.json").read_text() == BROKEN_TEXT
    assert brim("dev", "repair", "chat.json", "--in-place").code == 0
    assert json.loads((brim.cwd / "chat.json").read_text()) == REPAIRED.messages


FAILED = """
import os, sys
def failed(*_):
    raise OSError(28, "No space left on device")
os.replace = failed
sys.argv = ["brim", "dev", "repair", "chat.json", "--in-place"]
from brim.cli import main
main()
"""


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(brim: Brim) -> None:
    brim.write("chat.json", BROKEN_TEXT)
    done = subprocess.run(
        [sys.executable, "-c", FAILED],
        cwd=brim.cwd,
        env=brim.environ,
        timeout=300,
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"as it was" in done.stderr
    assert (brim.cwd / "chat.json").read_text() == BROKEN_TEXT
    assert names(brim) == ["chat.json"]


RACED = """
import sys
import brim.messages
from brim.messages import repair
def slow(*given, **options):
    with open("chat.json", "a") as file:
        file.write(" ")
    return repair(*given, **options)
brim.messages.repair = slow
sys.argv = ["brim", "dev", "repair", "chat.json", "--in-place"]
from brim.cli import main
main()
"""


def test_a_file_that_somebody_wrote_meanwhile_is_left_alone(brim: Brim) -> None:
    brim.write("chat.json", BROKEN_TEXT)
    done = subprocess.run(
        [sys.executable, "-c", RACED],
        cwd=brim.cwd,
        env=brim.environ,
        timeout=300,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 2
    assert b"nothing was written" in done.stderr
    assert (brim.cwd / "chat.json").read_text() == BROKEN_TEXT + " "
    assert names(brim) == ["chat.json"]


IN_VAIN = """
import sys
import brim.messages
from brim.messages import Change, Repaired
def in_vain(messages, **_):
    return Repaired(messages, (Change(0, "some-rule", "changed", "nothing that helps"),))
brim.messages.repair = in_vain
sys.argv = ["brim", "dev", "repair", "chat.json", *sys.argv[1:]]
from brim.cli import main
main()
"""


@pytest.mark.parametrize("options", [["--in-place"], []])
def test_a_result_that_is_not_valid_is_not_written(brim: Brim, options: list[str]) -> None:
    brim.write("chat.json", BROKEN_TEXT)
    done = subprocess.run(
        [sys.executable, "-c", IN_VAIN, *options],
        cwd=brim.cwd,
        env=brim.environ,
        timeout=300,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 1
    assert b"cannot be repaired" in done.stderr
    assert (b"not written" in done.stderr) is bool(options)
    assert (brim.cwd / "chat.json").read_text() == BROKEN_TEXT
    assert names(brim) == ["chat.json"]


# Input that cannot be read


@pytest.mark.parametrize("options", [[], ["--in-place"], ["--dry-run"]])
@pytest.mark.parametrize(
    "content",
    [
        "",
        "not json",
        "5",
        "{}",
        '{"messages": "Hi"}',
        "[NaN]",
        "[" * 100_000 + "]" * 100_000,
        b"\x89PNG",
        b"[]\0",
    ],
    ids=["empty", "text", "number", "object", "no list", "NaN", "deep", "png", "zero"],
)
def test_input_that_is_no_history_is_refused_and_left_alone(
    brim: Brim, content: str | bytes, options: list[str]
) -> None:
    path = brim.write("chat.json", content)
    before = path.read_bytes()
    refused(brim("dev", "repair", "chat.json", *options), "chat.json")
    assert path.read_bytes() == before
    assert names(brim) == ["chat.json"]


def test_what_is_no_message_is_refused(brim: Brim) -> None:
    refused(run(brim, content=[1, 2, 3]), "messages[0]: can't read an int here")


def test_what_is_no_file_is_refused(brim: Brim) -> None:
    refused(brim("dev", "repair", "missing.json"), "missing.json")
    refused(brim("dev", "repair", ".", "--in-place"), "directory")
    assert brim("dev", "repair").code == 2
    assert names(brim) == []


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "wizard", "content": "Hi"}, {"role": "user", "content": "Hi"}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": "word " * 50_000}],
    ],
)
def test_odd_messages_are_repaired_or_named(brim: Brim, messages: list[Any]) -> None:
    ran = run(brim, content=messages)
    assert ran.code in (0, 1)
    assert (validate(ran.json) == []) is (ran.code == 0)
    assert ran.code == 0 or "cannot be repaired" in ran.err
