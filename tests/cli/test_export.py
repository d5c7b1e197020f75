"""``brim export`` writes a file for git: stable, without what is this machine's, never over what others wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from brim.behaviors.behavior import Edge, Provenance, Usage
from tests.cli.conftest import Brim
from tests.cli.stored import THEN, behavior, remember

FILE = ".brim/behaviors.jsonl"


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def ids(text: str) -> list[object]:
    return [record["id"] for record in records(text) if "id" in record]


def test_a_project_is_exported_to_the_file_that_git_may_have(brim: Brim) -> None:
    remember(brim, behavior("b"), behavior("a"), edges=[Edge("a", "b", "requires")], scope="project")
    remember(brim, behavior("mine"))
    ran = brim("export")
    assert (ran.code, ran.out) == (0, f"{FILE}: 2 rules, 1 connection\n")
    text = (brim.cwd / FILE).read_text()
    assert records(text)[0] == {"format": "brim-behaviors", "version": 1}
    assert ids(text) == ["a", "b"]
    assert FILE.rpartition("/")[2] in (brim.cwd / ".brim" / ".gitignore").read_text()


def test_the_same_content_gives_the_same_bytes_and_is_not_written_again(brim: Brim) -> None:
    remember(brim, behavior("b"), behavior("a"), scope="project")
    brim("export")
    path = brim.cwd / FILE
    before, text = path.stat(), path.read_bytes()
    used = Usage(injected=7, confirmed=2, last_used=THEN)
    remember(brim, behavior("a", usage=used, updated_at=THEN + 9), scope="project")
    ran = brim("export")
    assert (ran.code, "unchanged" in ran.out) == (0, True)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.read_bytes() == text
    assert brim("export", "--json").json["written"] is False


def test_only_what_is_live_is_exported_unless_all_is_asked_for(brim: Brim) -> None:
    remember(
        brim,
        behavior("a", supersedes=("old",)),
        behavior("old", status="superseded", superseded_by="a"),
        behavior("gone", status="forgotten"),
        edges=[Edge("a", "gone", "requires"), Edge("a", "old", "co-activated")],
    )
    ran = brim("export", "-", "--user")
    assert (ran.code, ids(ran.out)) == (0, ["a"])
    assert "supersedes" not in ran.out
    assert "left out" not in ran.err
    whole = brim("export", "-", "--user", "--all")
    assert ids(whole.out) == ["a", "gone", "old"]
    assert [record["kind"] for record in records(whole.out) if "source" in record] == ["requires", "co-activated"][::-1]


def test_edges_into_another_file_are_left_out_and_told(brim: Brim) -> None:
    remember(brim, behavior("a"), edges=[Edge("a", "mine", "requires")], scope="project")
    remember(brim, behavior("mine"))
    ran = brim("export", "-")
    assert len(records(ran.out)) == 2
    assert "1 connection left out" in ran.err


def test_secrets_are_masked_and_nothing_says_which_scope(brim: Brim) -> None:
    secret = "sk-ant-" + "a1B2" * 12
    remember(brim, behavior("a", text=f"Set ANTHROPIC_API_KEY={secret}.", provenance=Provenance(wrong=secret)))
    ran = brim("export", "-", "--user")
    assert secret not in ran.out
    assert "masked" in ran.out
    assert "scope" not in ran.out


def test_what_others_added_to_the_file_is_not_dropped_unasked(brim: Brim) -> None:
    remember(brim, behavior("a"), scope="project")
    brim("export")
    path = brim.cwd / FILE
    theirs = path.read_text() + json.dumps({"id": "z", "name": "theirs", "kind": "directive", "canonical": "Theirs."})
    path.write_text(theirs + "\n<<<<<<< HEAD\n")
    ran = brim("export")
    assert (ran.code, ran.out) == (1, "")
    assert "theirs (z)" in ran.err
    assert "conflict" in ran.err
    assert "brim rules import" in ran.err
    assert path.read_text().startswith(theirs)
    assert brim("export", "--yes").code == 0
    assert ids(path.read_text()) == ["a"]


@pytest.mark.parametrize("content", [b"# My notes\n", b"\x00\x01", b"\xff\xfe"], ids=["text", "zero", "no utf-8"])
def test_a_file_that_is_no_export_is_never_written_over(brim: Brim, content: bytes) -> None:
    remember(brim, behavior("a"))
    path = brim.write("notes.md", content)
    ran = brim("export", "notes.md", "--yes")
    assert (ran.code, path.read_bytes()) == (2, content)
    assert "not overwritten" in ran.err


def test_a_dry_run_writes_nothing(brim: Brim) -> None:
    remember(brim, behavior("a"))
    ran = brim("export", "x.jsonl", "--dry-run")
    assert (ran.code, ran.out) == (0, "x.jsonl: 1 rule; would be written\n")
    assert not (brim.cwd / "x.jsonl").exists()


def test_what_cannot_be_is_said(brim: Brim, tmp_path: Path) -> None:
    nothing = brim("export", "x")
    assert (nothing.code, "brim learn" in nothing.err) == (2, True)
    remember(brim, behavior("a"))
    assert "which file" in brim("export").err
    assert "folder" in brim("export", str(tmp_path)).err
    assert "cannot be written" in brim("export", "no/such/folder/x.jsonl").err
    assert "not in a project" in brim("export", "x", "--project").err
    assert brim("export", "-", "--json").code == 2
    assert os.listdir(brim.cwd) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name there")
def test_a_pipe_or_a_device_is_not_written_over(brim: Brim) -> None:
    remember(brim, behavior("a"))
    path = brim.cwd / "pipe"
    os.mkfifo(path)
    ran = brim("export", path, "--user", "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert "is a device or a pipe, so it is not written over" in ran.err
    assert path.is_fifo()
