"""``brim dev count`` gives the counter's number, in a line, a table or JSON, whatever it is
given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import brim as library
from tests.cli.conftest import COMMAND, Brim
from tests.conftest import Oracle

FIELDS = {
    "model",
    "encoding",
    "tokens",
    "basis",
    "low",
    "high",
    "note",
    "context_window",
    "share",
    "fits",
    "resolved",
    "inputs",
    "skipped",
}


def rows(lines: list[str]) -> list[list[str]]:
    """The cells of a table, which stand two or more spaces apart."""
    return [[cell.strip() for cell in line.strip().split("  ") if cell.strip()] for line in lines]


# Text


def test_text_is_counted_for_the_model(brim: Brim) -> None:
    ran = brim("dev", "count", "Hello world", "--model", "gpt-4o")
    assert (ran.code, ran.out, ran.err) == (0, "2 tokens  exact  <0.1% of gpt-4o's 128,000\n", "")


def test_without_a_model_text_is_counted_in_o200k(brim: Brim, oracle: Oracle) -> None:
    text = "Übergrößenträger, 上下文窗口"
    assert brim("dev", "count", text, "--json").json["tokens"] == oracle(text, "o200k_base")
    assert brim("dev", "count", "x").out == "1 token  exact\n"


def test_empty_text_is_no_token(brim: Brim) -> None:
    ran = brim("dev", "count", "")
    assert (ran.code, ran.out) == (0, "0 tokens  exact\n")


def test_special_tokens_in_text_are_text(brim: Brim, oracle: Oracle) -> None:
    text = "a <|endoftext|> b"
    assert brim("dev", "count", text, "--json").json["tokens"] == oracle(text, "o200k_base")


def test_a_long_argument_is_text_and_not_a_path(brim: Brim) -> None:
    ran = brim("dev", "count", "word " * 20_000, "--json")
    assert (ran.code, ran.json["tokens"]) == (0, library.count("word " * 20_000))


def test_bytes_that_are_not_utf8_on_the_command_line_are_counted(brim: Brim) -> None:
    ran = brim("dev", "count", b"caf\xe9 au lait")
    assert ran.code == 0
    assert ran.out.endswith("tokens  exact\n")


# Files and folders


def test_a_file_is_counted(brim: Brim, oracle: Oracle) -> None:
    brim.write("notes.md", "# Notes\n\nnaïve façade\n")
    ran = brim("dev", "count", "notes.md", "--json", "-m", "gpt-4o")
    assert ran.json["tokens"] == oracle("# Notes\n\nnaïve façade\n", "o200k_base")
    assert [each["name"] for each in ran.json["inputs"]] == ["notes.md"]


def test_an_empty_file_is_no_token(brim: Brim) -> None:
    brim.write("empty.txt", "")
    ran = brim("dev", "count", "empty.txt")
    assert (ran.code, ran.out) == (0, "0 tokens  exact\n")


def test_several_empty_files_are_a_table_without_shares(brim: Brim) -> None:
    brim.write("a.txt", "")
    brim.write("b.txt", "")
    ran = brim("dev", "count", "a.txt", "b.txt")
    assert ran.code == 0
    assert rows(ran.lines)[1:4] == [
        ["0", "exact", "a.txt"],
        ["0", "exact", "b.txt"],
        ["0", "exact", "total"],
    ]


def test_several_files_are_an_aligned_table_with_a_total(brim: Brim) -> None:
    brim.write("a.txt", "word " * 3_000)
    brim.write("a longer name.txt", "x")
    ran = brim("dev", "count", "a.txt", "a longer name.txt", "some text", "--model", "gpt-4o")
    head, *body, foot = ran.lines
    counts = [library.count(text, model="gpt-4o") for text in ("word " * 3_000, "x", "some text")]
    expected = [f"{count:,}" for count in (*counts, sum(counts))]
    assert [row[0] for row in rows(body)] == expected
    assert [line[head.index("of") :] for line in body] == [
        "a.txt",
        "a longer name.txt",
        "text",
        "total",
    ]
    assert {
        line.index(number) + len(number) for line, number in zip(body, expected, strict=True)
    } == {len("tokens")}
    assert rows(body)[0][1] == f"{100 * counts[0] / 128_000:.1f}%"
    assert rows(body)[1][1] == "<0.1%"
    assert "gpt-4o's 128,000" in foot


def test_without_a_model_the_shares_are_of_the_total(brim: Brim) -> None:
    ran = brim("dev", "count", "one", "two", "three", "four")
    assert [row[1] for row in rows(ran.lines[1:-1])] == ["25%"] * 4 + ["100%"]


def test_a_table_of_estimates_shows_intervals_that_add_up(brim: Brim) -> None:
    brim.write("a.txt", "The quick brown fox. " * 100)
    brim.write("b.txt", "jumps over the lazy dog. " * 100)
    arguments = ("dev", "count", "a.txt", "b.txt", "-m", "claude-sonnet-4-5")
    found = brim(*arguments, "--json").json
    assert found["low"] == sum(each["low"] for each in found["inputs"])
    assert found["high"] == sum(each["high"] for each in found["inputs"])
    assert f"{found['low']:,} to {found['high']:,}" in brim(*arguments).out


def test_a_folder_is_searched_for_text(brim: Brim) -> None:
    for name in (
        "docs/b.md",
        "docs/a.md",
        "docs/deep/er/c.py",
        "docs/node_modules/x.js",
        "docs/__pycache__/x.py",
    ):
        brim.write(name, "text\n")
    brim.write("docs/.git/config", "text\n")
    brim.write("docs/image.png", b"\x89PNG\r\n\0\0")
    brim.write("docs/latin.txt", b"caf\xe9\n")
    ran = brim("dev", "count", "docs", "--json")
    assert ran.code == 0
    names = [each["name"] for each in ran.json["inputs"]]
    assert names == [
        os.path.join("docs", *name.split("/")) for name in ("a.md", "b.md", "deep/er/c.py")
    ]
    assert sorted(map(os.path.basename, ran.json["skipped"])) == ["image.png", "latin.txt"]
    assert "left out what is not text: 2 files" in brim("dev", "count", "docs").err


def test_hidden_files_in_a_folder_are_left_out(brim: Brim) -> None:
    brim.write("docs/.env", "KEY=secret\n")
    brim.write("docs/a.md", "text\n")
    names = [each["name"] for each in brim("dev", "count", "docs", "--json").json["inputs"]]
    assert names == [os.path.join("docs", "a.md")]


def test_a_hidden_file_that_is_named_is_counted(brim: Brim) -> None:
    brim.write(".env", "KEY=value\n")
    assert brim("dev", "count", ".env").code == 0


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_symbolic_links_in_a_folder_are_not_followed(brim: Brim) -> None:
    brim.write("docs/sub/a.md", "text\n")
    (brim.cwd / "docs/sub/loop").symlink_to("..")
    (brim.cwd / "docs/self").symlink_to("self")
    (brim.cwd / "docs/again.md").symlink_to("sub/a.md")
    names = [each["name"] for each in brim("dev", "count", "docs", "--json").json["inputs"]]
    assert names == [os.path.join("docs", "sub", "a.md")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_in_a_folder_is_not_waited_for(brim: Brim) -> None:
    brim.write("docs/a.md", "text\n")
    os.mkfifo(brim.cwd / "docs" / "pipe")
    assert brim("dev", "count", "docs").out == "2 tokens  exact\n"


def test_a_folder_without_text_is_an_error(brim: Brim) -> None:
    brim.write("docs/image.png", b"\x89PNG\0")
    ran = brim("dev", "count", "docs")
    assert ran.code == 2
    assert "no text" in ran.err


def test_text_in_two_bytes_over_the_border_of_a_read_is_counted(brim: Brim, oracle: Oracle) -> None:
    text = "a" + "é\n" * 200_000
    brim.write("long.txt", text)
    assert brim("dev", "count", "long.txt", "--json").json["tokens"] == oracle(text, "o200k_base")


# Standard input


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_is_counted(brim: Brim, arguments: list[str]) -> None:
    ran = brim("dev", "count", *arguments, "--model", "gpt-4o", "--json", stdin="Hello world")
    assert ran.json["tokens"] == 2
    assert [each["name"] for each in ran.json["inputs"]] == ["standard input"]


def test_standard_input_may_be_empty(brim: Brim) -> None:
    assert brim("dev", "count").out == "0 tokens  exact\n"


def test_standard_input_and_files_are_one_table(brim: Brim) -> None:
    brim.write("a.txt", "text")
    ran = brim("dev", "count", "-", "a.txt", stdin="Hello world")
    assert [row[-1] for row in rows(ran.lines[1:4])] == ["standard input", "a.txt", "total"]
    assert [row[0] for row in rows(ran.lines[1:4])] == ["2", "1", "3"]


LINE = "2026-01-01 12:30:11,042 INFO request 0x3f handled in 12 ms, 200 OK\n"
MEASURE = """
import json, resource, subprocess, sys
line, lines, chunk = sys.argv[2].encode(), int(sys.argv[3]), 4096
words = [sys.argv[1], "dev", "count", "--json", "-m", "gpt-4o"]
brim = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for at in range(0, lines, chunk):
    brim.stdin.write(line * min(chunk, lines - at))
brim.stdin.close()
found = json.loads(brim.stdout.read())
assert brim.wait() == 0
print(json.dumps([found["tokens"], resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module there")
def test_a_hundred_megabytes_from_a_pipe_are_exact_in_flat_memory(
    brim: Brim, oracle: Oracle
) -> None:
    lines = 100_000_000 // len(LINE) + 1
    # A small process does the measuring: a child is charged for what its parent held when it was
    # made.
    done = subprocess.run(
        [sys.executable, "-I", "-c", MEASURE, COMMAND, LINE, str(lines)],
        capture_output=True,
        env=brim.environ,
        cwd=brim.cwd,
        timeout=300,
        check=True,
    )
    tokens, peak = json.loads(done.stdout)
    per_line = oracle(LINE, "o200k_base")
    assert oracle(LINE * 10, "o200k_base") == 10 * per_line
    assert tokens == lines * per_line
    assert peak * (1 if sys.platform == "darwin" else 1024) < 100_000_000


def test_text_without_a_place_to_cut_is_exact_and_a_note_says_that_memory_grows(
    brim: Brim, oracle: Oracle
) -> None:
    assert oracle("1" * 999, "o200k_base") == 333
    ran = brim(
        "dev", "count", "--json", stdin="1" * 4_299_999
    )  # digits: 100 MB of memory, letters take 800
    assert ran.json["tokens"] == 1_433_333
    assert ran.err.count("memory grows") == 1
    assert "standard input" in ran.err


# The limit


@pytest.mark.parametrize(("limit", "code"), [(1, 1), (2, 0), (3, 0), (0, 1)])
def test_more_than_the_limit_ends_with_1(brim: Brim, limit: int, code: int) -> None:
    ran = brim("dev", "count", "Hello world", "--max", str(limit))
    assert ran.code == code
    assert ran.out.startswith("2 tokens")
    assert bool(ran.err) == bool(code)


def test_the_limit_is_for_all_inputs_together_and_json_stays_whole(brim: Brim) -> None:
    ran = brim("dev", "count", "Hello world", "Hello world", "--max", "3", "--json")
    assert (ran.code, ran.json["tokens"]) == (1, 4)


def test_the_limit_is_compared_with_the_count_and_not_with_its_interval(brim: Brim) -> None:
    found = brim("dev", "count", "Hello world " * 50, "-m", "claude-sonnet-4-5", "--json").json
    assert found["low"] < found["tokens"] < found["high"]
    arguments = ("dev", "count", "Hello world " * 50, "-m", "claude-sonnet-4-5", "--max")
    assert brim(*arguments, str(found["tokens"])).code == 0
    assert brim(*arguments, str(found["tokens"] - 1)).code == 1


# JSON


def test_json_is_one_object_with_every_field(brim: Brim) -> None:
    ran = brim("dev", "count", "Hello world", "more", "--model", "gpt-4o", "--json")
    found = ran.json
    assert set(found) == FIELDS
    assert (found["model"], found["encoding"], found["context_window"]) == (
        "gpt-4o",
        "o200k_base",
        128_000,
    )
    assert (found["tokens"], found["basis"], found["low"], found["high"]) == (3, "exact", 3, 3)
    assert found["share"] == pytest.approx(3 / 128_000, abs=1e-6)
    assert (found["fits"], found["resolved"], found["skipped"]) == (True, True, [])
    assert [each["tokens"] for each in found["inputs"]] == [2, 1]
    assert ran.err == ""


def test_json_without_a_model_has_no_window(brim: Brim) -> None:
    found = brim("dev", "count", "x", "--json").json
    assert [found[key] for key in ("model", "context_window", "share", "fits", "resolved")] == [
        None
    ] * 5


def test_json_says_that_it_does_not_fit(brim: Brim) -> None:
    found = brim("dev", "count", "--json", "-m", "gpt-4", stdin="word\n" * 5_000).json
    assert (found["fits"], found["context_window"]) == (False, 8_192)
    assert found["share"] > 1


def test_whether_it_fits_is_decided_by_the_upper_end_of_the_interval(brim: Brim) -> None:
    found = brim("dev", "count", "--json", "-m", "claude-sonnet-4-5", stdin="word\n" * 75_000).json
    assert found["tokens"] < found["context_window"] < found["high"]
    assert found["fits"] is False
    assert (
        "may not fit"
        in brim("dev", "count", "-m", "claude-sonnet-4-5", stdin="word\n" * 75_000).out
    )


# Modes


def test_exact_counts_where_the_vocabulary_is_public(brim: Brim) -> None:
    assert brim("dev", "count", "Hello world", "-m", "gpt-4o", "--mode", "exact").out.startswith(
        "2 tokens  exact"
    )


def test_exact_refuses_where_it_is_not_and_names_the_other_modes(brim: Brim) -> None:
    ran = brim("dev", "count", "Hello world", "-m", "claude-sonnet-4-5", "--mode", "exact")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "'api'" in ran.err
    assert "'auto'" in ran.err


def test_approximate_is_a_quarter_of_the_characters(brim: Brim) -> None:
    found = brim("dev", "count", "x" * 4_000, "--mode", "approximate", "--json").json
    assert (found["tokens"], found["basis"]) == (1_000, "estimated")
    assert found["low"] < 1_000 < found["high"]


def test_auto_estimates_with_an_interval_where_the_vocabulary_is_not_public(brim: Brim) -> None:
    found = brim(
        "dev", "count", "Hello world " * 50, "-m", "claude-sonnet-4-5", "--mode", "auto", "--json"
    ).json
    assert found["basis"] == "estimated"
    assert found["low"] < found["tokens"] < found["high"]


def test_an_unknown_mode_is_wrong_usage(brim: Brim) -> None:
    ran = brim("dev", "count", "x", "--mode", "guess")
    assert ran.code == 2
    assert "auto" in ran.err


# How each provider's endpoint is asked, and what fails there, is in tests/tokens/test_api.py: it
# imports each SDK once.


def test_api_without_a_key_falls_back_and_says_so(brim: Brim) -> None:
    ran = brim("dev", "count", "Hello world", "-m", "gpt-4o", "--mode", "api")
    assert ran.code == 0
    assert int(ran.out.split()[0]) == library.count("Hello world", model="gpt-4o")
    assert "counted locally" in ran.err
    assert ran.err.count("\n") == 1


def test_api_without_an_answer_falls_back_and_says_so(brim: Brim) -> None:
    env = {"GEMINI_API_KEY": "no-key"}
    ran = brim(
        "dev", "count", "Hello world", "-m", "gemini-2.5-pro", "--mode", "api", "--json", env=env
    )
    assert ran.code == 0
    assert ran.json["tokens"] == library.count("Hello world", model="gemini-2.5-pro")
    assert "counted locally" in ran.json["note"]
    assert "no-key" not in ran.out + ran.err


def test_api_without_the_sdk_falls_back_and_names_the_extra(brim: Brim) -> None:
    brim.write("missing/anthropic.py", "raise ImportError('not here')\n")
    env = {"PYTHONPATH": str(brim.cwd / "missing"), "ANTHROPIC_API_KEY": "no-key"}
    ran = brim("dev", "count", "Hello world", "-m", "claude-sonnet-4-5", "--mode", "api", env=env)
    assert ran.code == 0
    assert "pip install 'brim[anthropic]'" in ran.err


def test_api_needs_a_model(brim: Brim) -> None:
    ran = brim("dev", "count", "x", "--mode", "api")
    assert ran.code == 2
    assert "needs a model" in ran.err


class Endpoint(BaseHTTPRequestHandler):
    """Answers as the provider's counting endpoint does."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps({"input_tokens": 4_242}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_api_gives_the_number_of_the_endpoint(brim: Brim, endpoint: str) -> None:
    env = {
        "ANTHROPIC_BASE_URL": endpoint,
        "ANTHROPIC_API_KEY": "no-key",
        "HTTP_PROXY": "",
        "ALL_PROXY": "",
    }
    ran = brim("dev", "count", "Hello world", "-m", "claude-sonnet-4-5", "--mode", "api", env=env)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("4,242 tokens  exact")


def test_auto_never_asks_the_endpoint(brim: Brim, endpoint: str) -> None:
    env = {
        "ANTHROPIC_BASE_URL": endpoint,
        "ANTHROPIC_API_KEY": "no-key",
        "HTTP_PROXY": "",
        "ALL_PROXY": "",
    }
    assert brim("dev", "count", "Hello world", "-m", "claude-sonnet-4-5", env=env).out.startswith(
        "3 tokens  estimated"
    )


# Models


def test_an_unknown_model_is_counted_and_a_note_says_that_it_is_a_guess(
    brim: Brim, oracle: Oracle
) -> None:
    ran = brim("dev", "count", "naïve façade", "-m", "nobody-knows-me")
    assert ran.code == 0
    assert ran.out.startswith(f"{oracle('naïve façade', 'cl100k_base')} tokens  estimated")
    assert "8,192" in ran.out
    assert "nobody-knows-me" in ran.err
    assert "guess" in ran.err


def test_json_says_that_a_model_is_unknown(brim: Brim) -> None:
    found = brim("dev", "count", "x", "-m", "nobody-knows-me", "--json").json
    assert (found["resolved"], found["basis"]) == (False, "estimated")


@pytest.mark.parametrize("name", ["GPT-4o", "openai/gpt-4o", "gpt-4o-2024-08-06"])
def test_a_model_is_known_in_any_spelling(brim: Brim, name: str) -> None:
    found = brim("dev", "count", "Hello world", "-m", name, "--json").json
    assert (found["tokens"], found["basis"], found["resolved"]) == (2, "exact", True)
