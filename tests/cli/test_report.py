"""``brim report``, its page, and what bare ``brim`` says of past sessions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.sessions.window.transcripts import answer, cost_state, usage, write

SECRET = "/home/user/shop/src/secret_plans.py"


def at(seconds: int) -> str:
    """Return a time of yesterday."""
    return (datetime.now(UTC) - timedelta(days=1) + timedelta(seconds=seconds)).isoformat()


def call(id: str, path: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}


def result(id: str, text: str) -> dict[str, Any]:
    content = [{"tool_use_id": id, "type": "tool_result", "content": text}]
    return {
        "type": "user",
        "sessionId": "s-1",
        "uuid": id,
        "message": {"role": "user", "content": content},
    }


@pytest.fixture
def session(brim: Brim) -> Path:
    """Return a session that reads a file twice, and breaks the cache after a pause."""
    lines = []
    for number, (used, seconds) in enumerate(
        ((usage(written=20_000), 0), (usage(written=21_000), 1_000))
    ):
        line = answer(f"m{number}", f"r{number}", used, time=at(seconds))
        line["message"]["content"].append(call(f"t{number}", SECRET))
        lines += [line, result(f"t{number}", "value = 1\n" * 500)]
    lines.append(answer("m9", "r9", usage(read=21_000, written=900), time=at(1_010)))
    return write(brim.home / ".claude" / "projects" / "-home-user-shop" / "s-1.jsonl", *lines)


def test_the_report_shows_what_happened(brim: Brim, session: Path) -> None:
    ran = brim("report")
    assert (ran.code, ran.err) == (0, "")
    assert re.match(r"last 30 days +1 session   \$0\.\d\d", ran.lines[0])
    assert "1 break cost $0.07 (after a pause longer than the cache lives)" in ran.out
    assert "1 repeated read of an unchanged file" in ran.out
    assert SECRET in ran.out
    assert brim("report", "--project", "shop").out == ran.out
    assert "17 min" in ran.out
    found = brim("report", "--json").json
    assert [(each["cause"], each["tokens"], each["cost"]) for each in found["cache"]["breaks"]] == [
        ("pause", 20_000, 69_000)
    ]
    assert found["read"]["index"] == "used"
    assert found["money"]["total"] == brim("usage", "--json").json["total"]["cost"]


def test_bare_brim_shows_past_sessions_until_brim_is_installed(brim: Brim, session: Path) -> None:
    ran = brim()
    assert ran.code == 0
    assert ran.lines[0].startswith("spent ")
    assert "1 cache break" in ran.lines[3]
    assert brim("--json").json["report"]["cache_breaks"] == 1
    (brim.home / ".claude").mkdir(exist_ok=True)
    assert brim("init", "--yes").code == 0
    ran = brim()
    assert ran.lines[0].startswith("project")
    (past,) = [line for line in ran.lines if line.startswith("past")]
    assert re.search(
        r"1 session, \$0\.\d\d, 1 cache break \(\$0\.07\) in the last 30 days; brim report", past
    )
    assert "brim init" not in brim("report").out


def test_a_page_names_nothing_unless_it_is_asked_to(brim: Brim, session: Path) -> None:
    ran = brim("report", "--html", "report.html")
    assert (ran.code, ran.err) == (0, f"brim: wrote {brim.cwd}/report.html\n")
    page = (brim.cwd / "report.html").read_text()
    assert "secret_plans" not in page
    assert "shop" not in page
    assert "file 1 (.py)" in page
    assert "$0.07" in page
    brim("report", "--html", "report.html", "--full")
    full = (brim.cwd / "report.html").read_text()
    assert SECRET in full
    for text in (page, full):
        assert re.findall(r"<script|src=|@import|url\(|https?:", text) == []


def test_what_a_transcript_says_is_text_on_the_page(brim: Brim, session: Path) -> None:
    session.write_text(session.read_text().replace("secret_plans", "<script>alert(1)</script>"))
    brim("report", "--html", "report.html", "--full")
    page = (brim.cwd / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--full"], "--full belongs to --html FILE"),
        (["--days", "0"], "must be 1 or more, not 0"),
        (["--html", "missing/report.html"], "missing/report.html"),
        (["nowhere.jsonl"], "nowhere.jsonl: No such file"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    brim: Brim, session: Path, arguments: list[str], said: str
) -> None:
    ran = brim("report", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_without_sessions_it_says_so(brim: Brim) -> None:
    ran = brim("report", "--days", "7", "--project", "shop")
    assert (ran.code, ran.out) == (0, "")
    assert "no sessions of shop in the last 7 days (0 files read)" in ran.err
    assert not (brim.home / ".brim").exists()


def test_a_path_is_read_whatever_its_date(brim: Brim) -> None:
    path = write(brim.cwd / "old.jsonl", answer(time="2020-01-05T10:00:00Z"), cost_state(0.000105))
    ran = brim("report", path)
    assert ran.lines[0].startswith("in all")
    assert "no sessions" in brim("report", path, "--days", "3").err


def test_a_home_that_cant_be_written_to_is_no_problem(brim: Brim, session: Path) -> None:
    ran = brim("report", "--json", env={"BRIM_HOME": "/dev/null/brim"})
    assert (ran.code, ran.json["read"]["index"], ran.json["money"]["sessions"]) == (
        0,
        "unavailable",
        1,
    )


def test_a_named_file_that_isnt_text_is_an_error(brim: Brim) -> None:
    path = brim.cwd / "bad.jsonl"
    path.write_bytes(b"\0" * 5_000)
    ran = brim("report", path)
    assert ran.code == 2
    assert f"{path}: " in ran.err


def test_an_unreadable_file_is_named(brim: Brim, session: Path) -> None:
    (session.parent / "bad.jsonl").symlink_to("/dev/zero")
    (session.parent / "s-2.jsonl").write_bytes(b"\0" * 5_000)
    ran = brim("report")
    assert ran.code == 0
    assert ran.lines[0].startswith("last 30 days")


def test_broken_lines_are_counted(brim: Brim, session: Path) -> None:
    with session.open("a") as file:
        file.write(
            '{"type":"assistant","usage":\n\n["usage"]\n{"type":"assistant","usage'
        )  # the last one may be completed
    assert brim("report").err == "brim: 2 broken lines left out\n"
    assert brim("report", "--json").json["read"]["broken_lines"] == 2


def test_what_has_no_price_is_never_in_a_total_that_seems_whole(brim: Brim, session: Path) -> None:
    priced = brim("report", "--json").json["money"]["total"]
    write(
        session.with_name("s-2.jsonl"),
        answer("m20", "r20", usage(), time=at(5), session="s-2", model="unheard-of"),
    )
    ran = brim("report")
    assert f"2 sessions   more than ${priced // 10_000 / 100:.2f}\n" in ran.out
    assert "without 1 request that has no known price: brim usage names the model" in ran.out
    text = session.read_text().replace("claude-sonnet-4-5", "unheard-of")
    session.write_text(text)
    for part in (brim.home / ".brim").glob("index.db*"):
        part.unlink()  # it keeps the dearer lines that were there before
    ran = brim("report", "--html", "report.html")
    assert "2 sessions   unknown cost\n" in ran.out
    assert "2 sessions · unknown cost" in (brim.cwd / "report.html").read_text()
    assert "1 break (after a pause" in ran.out
    assert "$" not in ran.out
    assert "$" not in (brim.cwd / "report.html").read_text()


def test_a_memory_file_of_two_sessions_is_one_file(brim: Brim) -> None:
    recorded = (Path(__file__).parents[2] / "examples" / "requests" / "session.jsonl").read_text(
        encoding="utf-8"
    )
    for name in "ab":
        other = re.sub(r"5a1748d(?=8)|msg(?=_)|req(?=_)", rf"\g<0>{name}", recorded)
        (brim.cwd / f"{name}.jsonl").write_text(other, encoding="utf-8")
    said = brim("report", "a.jsonl", "b.jsonl").out
    assert "2 sessions" in said
    assert "2 memory files: " in said, "CLAUDE.md and docs/style.md"
