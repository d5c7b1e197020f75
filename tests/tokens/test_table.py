"""The shipped tables are what they say they are."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from brim.tokens.vocabulary import DATA, NO_RANK, Table, open_table
from tests.conftest import rank_file

ROOT = Path(__file__).parents[2]
PUBLISHED = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""SHA-256 of OpenAI's rank files, as tiktoken pins them."""


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_the_table_is_the_published_vocabulary(encoding: str) -> None:
    assert hashlib.sha256(rank_file(encoding)).hexdigest() == PUBLISHED[encoding]


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_every_token_is_found_under_its_rank(encoding: str) -> None:
    table = open_table(encoding)
    assert all(table.rank(token) == rank for rank, token in enumerate(table.tokens()))


def test_what_is_no_token_has_no_rank() -> None:
    table = open_table("o200k_base")
    assert [table.rank(other) for other in (b"", b"zqxjkvw", b"\xff\xfe\xfd\xfc", b"a" * 200)] == [
        NO_RANK
    ] * 4


def test_the_shipped_bytes_have_the_recorded_hashes() -> None:
    lines = Path(DATA, "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in map(str.split, lines)}
    assert sums == {
        name: hashlib.sha256(Path(DATA, name).read_bytes()).hexdigest() for name in sums
    }
    assert {path.name for path in Path(DATA).glob("*.bin")} == set(sums)


def test_a_fresh_build_gives_the_shipped_bytes(tmp_path: Path) -> None:
    for encoding in PUBLISHED:
        (tmp_path / f"{encoding}.tiktoken").write_bytes(rank_file(encoding))
    build = [sys.executable, str(ROOT / "scripts/build_tables.py"), str(tmp_path), "--check"]
    answer = subprocess.run(build, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_rank_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o200k_base.tiktoken").write_bytes(rank_file("o200k_base") + b"QQ== 199998\n")
    build = [sys.executable, str(ROOT / "scripts/build_tables.py"), str(tmp_path), "--check"]
    answer = subprocess.run(build, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "not the published vocabulary" in answer.stderr


def test_another_file_is_not_taken_for_a_table(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"something else entirely" * 10)
    with pytest.raises(ValueError, match="not a brim vocabulary table"):
        Table(str(other))
