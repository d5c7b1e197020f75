from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import InputError, StoreError
from brim.files import locked
from brim.memory import SECTIONS, ScratchModel, ScratchWriter
from tests.memory.making import call, failed, ok, said

KEY = "sk-abcdefghijklmnopqrstuvwx1234"


def full_model() -> ScratchModel:
    model = ScratchModel(job="the job", phase="EXECUTE")
    for event in (
        said("Fix it\nplease"),
        call("1", "Write", "write", file_path="src/a.py"),
        ok("1"),
        call("2", "Edit", "edit", file_path="src/b.py"),
        failed("2", "String not found"),
        call("3", "Bash", "shell", command="make"),
        failed("3", "Exit code 2\nerror: stop"),
    ):
        model.extract(event)
    model.record_state_change("PLAN", "EXECUTE")
    model.record_decision("by hand")
    model.add_dead_end("a regular expression")
    return model


def files(worktree: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (worktree / ".context").glob("*.md")}


def test_every_section_has_its_index_line_and_its_detail_by_the_same_number(tmp_path: Path) -> None:
    model = full_model()
    ScratchWriter(tmp_path).write_scratch(model)
    shown = files(tmp_path)
    texts = ("Fix it", "by hand", "PLAN", "a regular", "src/a.py", "make")
    sections = [section for section in SECTIONS if section.kind != "lost"]
    for section, text in zip(sections, texts, strict=True):
        (line,) = [
            line
            for line in shown["scratch.md"].splitlines()
            if line.startswith("- #") and text in line
        ]
        number = line.split()[1]
        assert f"\n## {number} · " in shown[section.file]
        assert text in shown[section.file]
    assert "src/b.py" not in "".join(shown.values())
    assert shown["scratch.md"].startswith("# Scratch: the job\nPhase: EXECUTE\n")


def test_a_model_knows_its_numbers_once_it_is_written(tmp_path: Path) -> None:
    model = full_model()
    ScratchWriter(tmp_path).write_scratch(model)
    assert model.render() == (tmp_path / ".context" / "scratch.md").read_text()


def test_an_append_is_in_its_files_at_once(tmp_path: Path) -> None:
    writer = ScratchWriter(tmp_path)
    writer.append_human_input("Fix it")
    writer.append_dead_end("no way")
    writer.append("state", "A → B")
    writer.append("decision", "keep it")
    shown = files(tmp_path)
    assert "> Fix it" in shown["human-input.md"]
    assert "> no way" in shown["dead-ends.md"]
    assert "- #1 Fix it" in shown["scratch.md"]
    assert "- #4 keep it" in shown["scratch.md"]
    with pytest.raises(InputError, match="cannot be added"):
        writer.append("command", "x")


def test_the_title_stays_when_somebody_else_appends(tmp_path: Path) -> None:
    ScratchWriter(tmp_path).write_scratch(ScratchModel(job="the job", phase="one"))
    model = ScratchModel(job="the job", phase="two")
    ScratchWriter(tmp_path).write_scratch(model)
    ScratchWriter(tmp_path).append_human_input("go")
    assert files(tmp_path)["scratch.md"].startswith("# Scratch: the job\nPhase: two\n")


def test_rendered_files_come_back_from_the_journal(tmp_path: Path) -> None:
    ScratchWriter(tmp_path).write_scratch(full_model())
    before = files(tmp_path)
    for name in before:
        (tmp_path / ".context" / name).unlink()
    assert sorted(ScratchWriter(tmp_path).rebuild()) == sorted(before)
    assert files(tmp_path) == before
    assert ScratchWriter(tmp_path).rebuild() == []
    (tmp_path / ".context" / "human-input.md").write_text("edited")
    assert ScratchWriter(tmp_path).rebuild() == ["human-input.md"]


def test_what_a_killed_process_did_not_render_is_rendered_by_the_next_writer(
    tmp_path: Path,
) -> None:
    mine, theirs = ScratchWriter(tmp_path), ScratchWriter(tmp_path)
    mine.append_human_input("one")
    theirs.append_dead_end("two")
    (tmp_path / ".context" / "dead-ends.md").write_text("as if it was killed before it rendered")
    mine.append_human_input("three")
    assert "> two" in files(tmp_path)["dead-ends.md"]


def test_a_model_is_written_again_if_somebody_removes_the_folder(tmp_path: Path) -> None:
    model, writer = full_model(), ScratchWriter(tmp_path)
    writer.write_scratch(model)
    before = files(tmp_path)
    shutil.rmtree(tmp_path / ".context")
    writer.write_scratch(model)
    assert files(tmp_path).keys() == before.keys()
    assert [
        line for line in files(tmp_path)["scratch.md"].splitlines() if line.startswith("- #")
    ] != []
    assert writer.write_scratch(model) == []


def test_a_resumed_withdrawal_takes_the_file_back(tmp_path: Path) -> None:
    model, writer = ScratchModel(), ScratchWriter(tmp_path)
    model.extract(call("1", "Edit", "edit", file_path="a.py"))
    writer.write_scratch(model)
    assert "a.py" in files(tmp_path)["artifacts.md"]
    model.extract(failed("1"))
    writer.write_scratch(model)
    assert "a.py" not in files(tmp_path)["artifacts.md"] + files(tmp_path)["scratch.md"]


def test_a_file_is_shown_once_however_often_it_was_changed(tmp_path: Path) -> None:
    for number in range(3):
        model = ScratchModel()
        model.extract(call(f"t{number}", "Edit", "edit", file_path="a.py"))
        ScratchWriter(tmp_path).write_scratch(model)
    assert files(tmp_path)["scratch.md"].count("a.py") == 1
    assert "- #3 `a.py`" in files(tmp_path)["scratch.md"]


def test_no_secret_is_anywhere_on_the_disk(tmp_path: Path) -> None:
    tree, state = tmp_path / "tree", tmp_path / "state"
    tree.mkdir()
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\nqrstuvwxyzABCDEFGH\n-----END RSA PRIVATE KEY-----"
    secret = f"use {KEY} and postgres://me:hunter22@db/x and {pem} and export MY_TOKEN=abc123def456"
    model = ScratchModel(job=secret, phase=secret)
    model.extract(said(secret))
    for number in range(4):
        model.extract(call(f"{number}", "Bash", "shell", command=f"curl {KEY}"))
        model.extract(failed(f"{number}", f"Exit code 1\nerror: {secret}"))
    model.extract(call("q", "AskUserQuestion", "question", question=secret))
    model.extract(ok("q", secret, detail={"answers": {secret: secret}}))
    model.extract(call("w", "Write", "write", file_path=f"/tmp/{KEY}"))
    model.record_decision(secret)
    model.record_state_change(secret, secret)
    model.add_dead_end(secret)
    writer = ScratchWriter(tree, state_folder=state)
    writer.write_scratch(model)
    writer.append_human_input(secret)
    writer.append_dead_end(secret)
    kept = writer.cleanup()
    writer.write_scratch(full_model())
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert kept
    for word in (KEY, "hunter22", "MIIEabcdefgh", "qrstuvwxyzABC", "abc123def456"):
        assert word.encode() not in everything


def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    ScratchWriter(tmp_path).append_human_input("go")
    with (
        locked(str(tmp_path / ".context" / ".lock")),
        pytest.raises(StoreError, match="another process") as caught,
    ):
        ScratchWriter(tmp_path, patience=0.05).append_human_input("on")
    assert caught.value.reason == "busy"
    assert len(ScratchWriter(tmp_path).read().entries) == 1


def test_writing_down_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom brim.memory import ScratchModel, ScratchWriter\n"
        "heavy = {'pathlib', 'logging', 'decimal', 'asyncio'}\n"
        "heavy |= {'brim.database', 'brim.tokens'}\n"
        f"writer = ScratchWriter({str(tmp_path)!r}, session='s')\n"
        "model = ScratchModel('job')\nmodel.extract({'type': 'user', 'message': {'content': 'go'}})\n"
        "model.extract({'type': 'tool_use', 'name': 'Write', 'input': {'file_path': 'a'}})\n"
        "writer.write_scratch(model)\nwriter.append_human_input('go')\nwriter.close()\n"
        "print(*sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    alone = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) - set(alone.stdout.split()) == set()


def test_who_cannot_render_is_told_that_the_journal_holds_it(tmp_path: Path) -> None:
    writer = ScratchWriter(tmp_path)
    writer.append_human_input("one")
    (tmp_path / ".context" / "scratch.md").unlink()
    (tmp_path / ".context" / "scratch.md").mkdir()
    with pytest.raises(StoreError, match="the journal holds everything"):
        writer.append_human_input("two")
    (tmp_path / ".context" / "scratch.md").rmdir()
    writer.append_human_input("three")
    assert [entry.text for entry in ScratchWriter(tmp_path).read().entries] == [
        "one",
        "two",
        "three",
    ]
    assert "two" in files(tmp_path)["scratch.md"]
    assert "two" in files(tmp_path)["human-input.md"]
