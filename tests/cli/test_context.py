"""``brim context``: what fills the window, request by request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Brim

ROOT = Path(__file__).parent.parent.parent
RECORDED = ROOT / "examples" / "recorded"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Path(
        shutil.copy(ROOT / "examples" / "requests" / "session.jsonl", tmp_path / "session.jsonl")
    )


def test_the_parts_of_the_last_request_add_up_to_what_was_billed(brim: Brim, session: Path) -> None:
    found = brim("context", str(session), "--json").json
    assert (found["requests"], found["request"]["number"]) == (10, 10)
    assert (
        found["request"]["billed_tokens"]
        == found["used_tokens"]
        == sum(part["tokens"] for part in found["parts"])
    )
    assert found["request"]["basis"] == "request record"
    assert found["filling"]["tools"] > 10_000
    assert found["request"]["estimate"] == "ok"
    assert abs(found["request"]["scale"] - 1) < 0.01
    assert {part["basis"] for part in found["parts"]} <= {"calibrated", "recorded exactly"}
    tools = next(part for part in found["parts"] if part["name"] == "tools")
    assert {"mcp: shop", "Bash"} <= {part["name"] for part in tools["parts"]}


def test_any_request_of_the_session_can_be_shown(brim: Brim, session: Path) -> None:
    found = brim("context", str(session), "--at", "3", "--json").json
    assert (found["request"]["number"], found["requests"]) == (3, 10)
    ran = brim("context", str(session), "--at", "3")
    assert "request 3 of 10" in ran.out
    assert "warn 70%" not in ran.out


def test_what_changed_since_another_request(brim: Brim, session: Path) -> None:
    change = brim("context", str(session), "--at", "7", "--since", "6", "--json").json["change"]
    assert (change["since"], change["breaker"], change["left"]) == (6, [], [])
    assert {part["name"] for part in change["came"]} == {
        "memory files",
        "agent's words",
        "your words",
    }
    ran = brim("context", str(session), "--at", "7", "--since", "6")
    assert "the cache holds" in ran.out


def test_a_cache_break_names_the_part_and_its_price(brim: Brim) -> None:
    path = ROOT / "tests" / "sessions" / "composition" / "data" / "claude_opus.jsonl"
    change = brim("context", str(path), "--at", "9", "--since", "8", "--json").json["change"]
    assert change["breaker"] == ["summary"]
    assert 0 < change["rewritten_tokens"] < change["rewritten_tokens"] + change["kept_tokens"]
    assert change["rewrite_cost"] > 0
    ran = brim("context", str(path), "--at", "9", "--since", "8")
    assert "first difference: summary" in ran.out


def test_what_brim_adds_is_counted_and_priced(brim: Brim, session: Path) -> None:
    found = brim("context", str(session), "--json").json["brim"]
    assert 0 < found["tokens"] < found["sent_tokens"]
    assert found["cost"] > 0
    assert (found["resumes"], found["rewritten_tokens"], found["rewritten_without"]) == (1, 0, 0)
    assert (found["rewrite_cost"], found["rewrite_cost_without"]) == (0, 0)


def test_a_start_text_that_moves_on_resume_is_brims_cost(brim: Brim, session: Path) -> None:
    lines = [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]
    records = [line for line in lines if line.get("type") == "api-request"]
    blobs = {line["hash"]: line for line in lines if line.get("type") == "api-request-blob"}
    start = next(hash for hash, blob in blobs.items() if "Never commit" in json.dumps(blob))
    moved = json.loads(json.dumps(blobs[start]))
    moved["hash"] = "f" * 64
    (block,) = moved["message"]["content"]
    block["text"] = block["text"].replace("Never commit", "From now on: never commit")
    resumed = next(record for record in records[1:] if "base" not in record)
    resumed["tail"] = [moved["hash"] if hash == start else hash for hash in resumed["tail"]]
    lines.insert(lines.index(resumed), moved)
    hook = "SessionStart hook additional context: ## Constraints\n- From now on: never commit"
    assert hook in block["text"]
    session.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = brim("context", str(session), "--json").json["brim"]
    assert found["rewritten_tokens"] > 1_000
    assert found["rewrite_cost"] > 0
    assert (found["rewritten_without"], found["rewrite_cost_without"]) == (0, 0)
    assert "without brim's texts" in brim("context", str(session)).out


def test_every_row_is_shown_if_asked_for(brim: Brim, session: Path) -> None:
    some, every = brim("context", str(session)).out, brim("context", str(session), "--all").out
    assert " more " in some
    assert " more " not in every
    assert "docs/style.md" in every


@pytest.mark.parametrize("options", [("--at", "11"), ("--at", "3", "--since", "99")])
def test_a_request_that_is_not_there_is_an_error(
    brim: Brim, session: Path, options: tuple[str, ...]
) -> None:
    ran = brim("context", str(session), *options)
    assert (ran.code, ran.out) == (2, "")
    assert "it has 1 to 10" in ran.err


def test_a_file_of_another_kind_still_has_its_gauge(brim: Brim) -> None:
    ran = brim("context", str(RECORDED / "stream.jsonl"))
    assert ran.code == 0
    assert "of 200,000 tokens" in ran.out
    assert brim("context", str(RECORDED / "stream.jsonl"), "--json").json["request"] is None
    assert "can take apart" in brim("context", str(RECORDED / "stream.jsonl"), "--at", "1").err


def test_looking_makes_no_home_and_a_second_look_reads_only_what_is_new(
    brim: Brim, session: Path
) -> None:
    first = brim("context", str(session), "--json").json
    assert not (brim.home / ".brim").exists()
    (brim.home / ".brim").mkdir(mode=0o700)
    assert brim("context", str(session), "--json").json == first
    index = brim.home / ".brim" / "cache" / "reports.db"
    assert b"The total of a cart" not in index.read_bytes()
    assert brim("context", str(session), "--json").json == first
    with session.open("a") as file:
        message = {"role": "user", "content": "One more thing."}
        file.write(
            json.dumps({"type": "user", "sessionId": "s", "uuid": "new", "message": message}) + "\n"
        )
    assert brim("context", str(session), "--json").json["parts"] == first["parts"]
    index.write_bytes(b"not a database" * 1_000)
    assert brim("context", str(session), "--json").json["parts"] == first["parts"]


def later_than(session: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    later = folder / "later.jsonl"
    later.write_text(
        session.read_text(encoding="utf-8").replace("2026-11-16T", "2099-11-16T"), encoding="utf-8"
    )
    return later


def test_without_an_index_the_session_before_is_read(brim: Brim, session: Path) -> None:
    later = later_than(session, session.parent)
    known = brim("context", str(later), "--at", "1", "--json").json["request"]
    assert known["ratio_basis"] == "calibrated"
    assert abs(known["scale"] - 1) < 0.02
    assert (
        brim("context", str(session), "--at", "1", "--json").json["request"]["ratio_basis"]
        == "estimated"
    )


def test_a_later_session_begins_with_the_ratio_of_an_earlier_one(brim: Brim, session: Path) -> None:
    (brim.home / ".brim").mkdir(mode=0o700)
    later = later_than(session, session.parent / "elsewhere")
    assert (
        brim("context", str(later), "--at", "1", "--json").json["request"]["ratio_basis"]
        == "estimated"
    )
    (brim.home / ".brim" / "cache" / "reports.db").unlink()
    brim("context", str(session))
    known = brim("context", str(later), "--at", "1", "--json").json["request"]
    assert known["ratio_basis"] == "calibrated"
    assert abs(known["scale"] - 1) < 0.02


@pytest.mark.parametrize("contents", ["", "[1, 2, 3]\n", '{"a":\n', "not a session\n"])
def test_a_file_that_is_no_session_is_refused(brim: Brim, contents: str) -> None:
    ran = brim("context", brim.write("notes.txt", contents))
    assert (ran.code, ran.out) == (1, "")
    assert "notes.txt: no line of it is from a session" in ran.err
