"""Whatever is given, the answer is one clear line and an exit code, never a traceback."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brim.cli import main
from tests.cli.conftest import COMMAND, Brim, Ran

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def refused(ran: Ran, *words: str) -> None:
    """Assert that *ran* ended with 2, printed nothing, and said each of *words* in its one line."""
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("brim: ")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err


# Files that cannot be read


def test_a_missing_file_is_refused_and_not_counted_as_text(brim: Brim) -> None:
    refused(brim("dev", "count", "mising.txt"), "mising.txt", "no such file")
    refused(brim("dev", "count", "docs/readme"), "docs/readme", "no such file")


def test_a_word_that_is_no_path_is_text(brim: Brim) -> None:
    for text in ("hello", "a / b", "The end.", "3.14 is pi"):
        assert brim("dev", "count", text).code == 0


def test_a_missing_file_beside_others_is_refused(brim: Brim) -> None:
    brim.write("a.txt", "text")
    ran = brim("dev", "count", "a.txt", "mising.txt")
    assert ran.code == 2
    assert "mising.txt" in ran.err


def test_a_binary_file_is_refused_and_the_place_named(brim: Brim) -> None:
    brim.write("image.png", b"\x89PNG")
    brim.write("zero.bin", b"abc\0def")
    refused(brim("dev", "count", "image.png"), "image.png", "not UTF-8", "0x89 at 0")
    refused(brim("dev", "count", "zero.bin"), "zero.bin", "binary", "at 3")


def test_the_place_is_right_beyond_the_first_read(brim: Brim) -> None:
    brim.write("late.txt", b"x" * 300_000 + b"\xe9 and more")
    brim.write("cut.txt", b"x" * 300_000 + "é".encode()[:1])
    refused(brim("dev", "count", "late.txt"), "0xe9 at 300,000")
    refused(brim("dev", "count", "cut.txt"), "0xc3 at 300,000")


def test_a_binary_file_beside_others_is_refused_and_the_others_counted(brim: Brim) -> None:
    brim.write("a.txt", "Hello world")
    brim.write("zero.bin", b"\0")
    ran = brim("dev", "count", "a.txt", "zero.bin")
    assert (ran.code, ran.out) == (2, "2 tokens  exact\n")
    assert "zero.bin" in ran.err


def test_binary_data_on_standard_input_is_refused(brim: Brim) -> None:
    refused(brim("dev", "count", stdin=b"\0\1\2"), "standard input", "binary")


def test_a_folder_is_no_file_of_messages(brim: Brim) -> None:
    refused(brim("dev", "window", "-m", "gpt-4o", "--messages", "."), "directory")


@posix
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here that cannot be read")
def test_a_file_that_cannot_be_read_is_refused(brim: Brim) -> None:
    refused(brim("dev", "count", "/proc/self/mem"), "/proc/self/mem")


def test_a_folder_that_went_away_is_no_traceback(brim: Brim) -> None:
    ran = brim.shell(
        'mkdir gone && cd gone && rmdir ../gone && exec "$BRIM" dev count "Hello world"'
    )
    assert ran.code in (0, 2)
    assert ran.out.startswith("2 tokens") or ran.err.startswith("brim: ")


# Messages and tools


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('[{"role": "user"', "1:17"),
        ("[\n  {}\n  {}\n]", "3:3"),
        ("", "1:1"),
        ("not json", "1:1"),
        ("[1, ?]", "1:5"),
    ],
)
def test_messages_that_are_not_json_are_refused_with_the_place(
    brim: Brim, content: str, place: str
) -> None:
    brim.write("chat.json", content)
    refused(
        brim("dev", "window", "-m", "gpt-4o", "--messages", "chat.json"),
        f"chat.json:{place}",
        "not JSON",
    )


@pytest.mark.parametrize(
    "content", ["5", '"text"', "null", "true", "{}", '{"role": "user", "content": "x"}']
)
def test_json_of_another_kind_is_not_messages(brim: Brim, content: str) -> None:
    brim.write("chat.json", content)
    refused(brim("dev", "window", "-m", "gpt-4o", "--messages", "chat.json"), "chat.json", "list")


def test_a_request_body_without_messages_in_it_is_refused(brim: Brim) -> None:
    refused(
        brim("dev", "window", "-m", "gpt-4o", "--messages", "-", stdin='{"messages": null}'),
        "messages",
    )


@pytest.mark.parametrize("content", ["{}", '"x"', "7"])
def test_json_of_another_kind_is_not_tools(brim: Brim, content: str) -> None:
    brim.write("tools.json", content)
    refused(brim("dev", "window", "-m", "gpt-4o", "--tools", "tools.json"), "tools.json", "list")


def test_odd_messages_in_a_list_are_counted_and_not_refused(brim: Brim) -> None:
    ran = brim(
        "dev",
        "window",
        "-m",
        "gpt-4o",
        "--messages",
        "-",
        "--json",
        stdin='[1, null, "x", [], {}, {"role": 5}]',
    )
    assert ran.code == 0
    assert ran.json["messages_tokens"] > 3


def test_json_nested_too_deeply_is_refused(brim: Brim) -> None:
    refused(
        brim(
            "dev", "window", "-m", "gpt-4o", "--messages", "-", stdin="[" * 100_000 + "]" * 100_000
        ),
        "nested",
    )


def test_json_nested_deeply_is_counted(brim: Brim) -> None:
    ran = brim(
        "dev",
        "window",
        "-m",
        "gpt-4o",
        "--messages",
        "-",
        stdin='[{"a":' + "[" * 500 + "]" * 500 + "}]",
    )
    assert ran.code == 0


def test_a_number_too_long_for_python_is_refused_or_counted(brim: Brim) -> None:
    stdin = '[{"role": "user", "content": ' + "9" * 5_000 + "}]"
    ran = brim("dev", "window", "-m", "gpt-4o", "--messages", "-", stdin=stdin)
    assert ran.code in (0, 2)
    assert ran.code == 0 or ran.err.count("\n") == 1


def test_messages_with_a_byte_order_mark_are_read(brim: Brim) -> None:
    """PowerShell writes one before every file."""
    brim.write("chat.json", b"\xef\xbb\xbf[]")
    assert brim("dev", "window", "-m", "gpt-4o", "--messages", "chat.json").code == 0


def test_a_missing_directive_file_is_refused(brim: Brim) -> None:
    refused(brim("dev", "window", "-m", "gpt-4o", "--directive", "@rules.md"), "rules.md")


# Numbers


@pytest.mark.parametrize(
    "arguments",
    [
        ["dev", "count", "x", "--max", "-1"],
        ["dev", "count", "x", "--max", "many"],
        ["dev", "count", "x", "--max", "1.5"],
        ["dev", "window", "-m", "gpt-4o", "--max-output", "-5"],
        ["dev", "window", "-m", "gpt-4o", "--window", "0"],
        ["dev", "window", "-m", "gpt-4o", "--window", "-1"],
    ],
    ids=" ".join,
)
def test_a_number_out_of_range_is_wrong_usage(brim: Brim, arguments: list[str]) -> None:
    ran = brim(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert arguments[-2] in ran.err
    assert arguments[-1] in ran.err


# Names that are not Unicode


@posix
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_file_whose_name_is_not_unicode_is_counted(brim: Brim, encoding: str) -> None:
    name = b"caf\xe9.txt"
    try:
        (brim.cwd / os.fsdecode(name)).write_text("Hello world")
    except OSError:
        pytest.skip("this file system has Unicode names only")
    ran = brim("dev", "count", name, "more", env={"PYTHONIOENCODING": encoding})
    assert ran.code == 0
    assert ran.lines[1].split()[0] == "2"
    ran = brim("dev", "count", name, "--json", env={"PYTHONIOENCODING": encoding})
    assert (ran.code, ran.json["tokens"]) == (0, 2)


@posix
def test_a_missing_file_whose_name_is_not_unicode_is_refused(brim: Brim) -> None:
    refused(brim("dev", "count", b"caf\xe9.txt"), "no such file")


@posix
def test_a_model_whose_name_is_not_unicode_is_unknown(brim: Brim) -> None:
    ran = brim("dev", "count", "x", "-m", b"mod\xe8le", env={"PYTHONIOENCODING": "utf-8"})
    assert ran.code == 0
    assert "guess" in ran.err
    assert brim("dev", "models", b"mod\xe8le").code == 1


# Streams that are closed, full or cut off


@posix
def test_a_reader_that_stops_ends_it_quietly(brim: Brim) -> None:
    ran = brim.shell('"$BRIM" dev models --all gpt | head -1')
    assert ran.code == 141
    assert ran.out.startswith("model")
    assert ran.err == ""


@posix
@pytest.mark.parametrize(
    "arguments", ["count x", "budget -m gpt-4o", "models gpt-4o", "config list", "--help"]
)
def test_a_closed_standard_output_is_no_traceback(brim: Brim, arguments: str) -> None:
    assert brim.shell(f'"$BRIM" {arguments} >&-').code in (0, 1, 2)


@posix
def test_the_exit_code_does_not_need_standard_output(brim: Brim) -> None:
    assert brim.shell('"$BRIM" dev count "Hello world" --max 1 >&-').code == 1
    assert brim.shell('"$BRIM" dev count "Hello world" --max 2 >&-').code == 0


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("arguments", ["dev count x", "dev models sonnet", "dev count x --json"])
def test_a_full_disk_is_one_line(brim: Brim, arguments: str) -> None:
    ran = brim.shell(f'"$BRIM" {arguments} > /dev/full')
    assert ran.code not in (0, 1)
    assert "space" in ran.err.lower()


@posix
def test_a_closed_standard_error_loses_only_the_notes(brim: Brim) -> None:
    brim.write("large.txt", "word\n" * 1_000_000)
    assert brim.shell('"$BRIM" dev count large.txt 2>&-').out == "2,000,000 tokens  exact\n"
    assert brim.shell('"$BRIM" dev count mising.txt 2>&-').code == 2


@posix
def test_a_closed_standard_input_is_refused(brim: Brim) -> None:
    for arguments in ("dev count", "dev count -", "dev window -m gpt-4o --messages -"):
        ran = brim.shell(f'"$BRIM" {arguments} <&-')
        assert (ran.code, ran.out) == (2, "")


@posix
def test_a_terminal_is_not_waited_for(brim: Brim) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        process = brim.start(
            "dev", "count", stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, err = process.communicate(timeout=300)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (process.returncode, out) == (2, b"")
    assert b"nothing to count" in err


@posix
def test_an_interrupt_while_reading_ends_with_130(brim: Brim) -> None:
    process = brim.start(
        "dev",
        "count",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # in the background it may be ignored
    )
    assert process.stdin is not None
    try:
        # More than a pipe holds: when this returns, the command is reading. It stays open, as a
        # slow writer's would.
        process.stdin.write(b"word\n" * 100_000)
        process.stdin.flush()
        # A signal that comes just before Python begins to wait for data is seen only with the next:
        # a person presses the keys again.
        for _ in range(60):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                pass
    finally:
        process.kill()
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in err
    assert b"Traceback" not in err


@posix
def test_an_interrupt_while_the_arguments_are_read_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parsing = argparse.ArgumentParser.parse_known_intermixed_args.__code__
    lines = {
        line
        for _, _, line in parsing.co_lines()
        if line is not None and line > parsing.co_firstlineno
    }
    monkeypatch.setattr(sys, "argv", ["brim", "dev", "models", "gpt-4o", "--json"])
    before, pipes = sys.gettrace(), signal.getsignal(signal.SIGPIPE)
    for wanted in lines:

        def trace(frame: Any, event: str, _: object, wanted: int = wanted) -> Any:
            if frame.f_code is not parsing:
                return None if event == "call" else trace
            if event == "line" and frame.f_lineno == wanted:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            with pytest.raises(SystemExit) as left:
                main()
        finally:
            sys.settrace(before)
            signal.signal(signal.SIGPIPE, pipes)  # the command line dies of it; a test run must not
        assert left.value.code in (0, 130), wanted
        assert left.value.code == 0 or "interrupted" in capsys.readouterr().err


# Wrong usage


def test_an_unknown_command_is_wrong_usage(brim: Brim) -> None:
    ran = brim("cuont", "x")
    assert (ran.code, ran.out) == (2, "")
    assert "cuont" in ran.err


def test_an_unknown_option_is_wrong_usage(brim: Brim) -> None:
    ran = brim("dev", "count", "x", "--modle", "gpt-4o")
    assert ran.code == 2
    assert "--modle" in ran.err
    assert "--model" in ran.err.replace("--modle", "")


def test_a_budget_without_a_model_asks_for_one(brim: Brim) -> None:
    ran = brim("dev", "window")
    assert ran.code == 2
    assert "--model" in ran.err


def test_an_empty_model_name_is_no_traceback(brim: Brim) -> None:
    for arguments in (["dev", "count", "x", "-m", ""], ["dev", "window", "-m", ""]):
        assert brim(*arguments).code in (0, 2)


def test_json_output_is_whole_when_one_input_fails(brim: Brim) -> None:
    brim.write("zero.bin", b"\0")
    ran = brim("dev", "count", "Hello world", "zero.bin", "--json")
    assert ran.code == 2
    assert json.loads(ran.out)["tokens"] == 2


def test_an_error_of_another_file_names_that_file_and_not_the_output(brim: Brim) -> None:
    refused(brim("context", "--watch", "x" * 5_000), "xxx: File name too long")
    brim.write(
        str(brim.home / ".claude" / "settings.json"),
        '{"statusLine": {"type": "command", "command": "date"}}',
    )
    (brim.home / ".brim" / "statusline.json").mkdir(parents=True)
    refused(brim("init", "--agent", "claude"), "~/.brim/statusline.json: ", "Is a directory")


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_an_output_that_is_full_is_named() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [COMMAND, "dev", "models", "gpt-4o"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "brim: standard output: No space left on device\n")
