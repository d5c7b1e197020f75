"""A file whose bytes or rows are not what brim wrote: an error in words, never a traceback, and
nothing thrown away."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from brim.activation import Context, activate
from brim.behaviors import Edge
from brim.behaviors.when import When
from brim.errors import BrimError, StoreError
from brim.store import open_scopes, open_store
from brim.store.backup import restore
from brim.store.events import note_injection
from tests.store.making import behavior, raw

NOW = 1e6


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with something in every table that a hook reads."""
    path = tmp_path_factory.mktemp("made") / "brim.db"
    with open_store(str(path)) as store:
        several = [
            behavior(f"b{i}", name=f"rule-{i}", canonical="Mind the café. " * (i + 1))
            for i in range(12)
        ]
        store.put_many(
            [replace(each, when=When(language="python")) for each in several],
            event="learned",
            now=1.0,
            a="b",
        )
        store.put_edges(
            [Edge(f"b{i}", f"b{i + 1}", "similar-to", 0.5, last_activated=3.0) for i in range(11)]
        )
        store.used(["b1", "b2"], now=2.0)
        with store.session("s") as session:
            session.next_prompt()
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "brim.db"))


def use(path: Path) -> None:
    """Do what hooks and commands do with a file."""
    with open_scopes(None, str(path.parent), trusted=False) as scopes:
        found = activate(scopes, Context(file="app.py", prompt="rule"), now=NOW)
        behaviors = scopes.get_many([each.id for each in found])
        scopes.line_costs(list(behaviors), "o200k_base")
        scopes.behaviors()
        with scopes.session("s") as session:
            session.next_prompt()
        with scopes.writing():
            note_injection(scopes, list(behaviors.values()), list(behaviors), now=NOW)
        assert scopes.user is not None
        scopes.user.events()


@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_never_lead_to_a_traceback(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 5, 60))):
        at = rng.randrange(len(content))
        content[at] = rng.choice((0, 0x5B, 0x80, 0xFF, content[at] ^ 1))
    path.write_bytes(content)
    with suppress(BrimError):
        use(path)


def test_a_message_of_sqlite_that_cannot_be_decoded_is_damage(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(
        content.replace(b"CREATE TABLE behaviors (", b"CREATE T\xff\xfeLE behaviors (")
    )
    with pytest.raises(StoreError) as raised:
        use(path)
    assert raised.value.reason == "damaged"


ROWS = [
    ("behaviors", "conditions", '[["language", "python"]]'),
    ("behaviors", "conditions", '[["file", [null]]]'),
    ("behaviors", "conditions", "[" * 5_000),
    ("behaviors", "last_used", "yesterday"),
    ("behaviors", "injected", 1e999),
    ("behaviors", "tags", "7"),
    ("behaviors", "variants", '"text"'),
    ("behaviors", "priority", "high"),
    ("behaviors", "created_at", "x"),
    ("behaviors", "canonical", b"\xff".decode("latin-1").encode() + b"\xff"),
    ("edges", "last_activated", "x"),
    ("edges", "weight", 7.0),
    ("events", "detail", "["),
    ("events", "detail", "3"),
    ("sessions", "state", '{"prompts": 1, "spent": 1e400, "shown": {}}'),
    ("sessions", "state", '{"prompts": 1, "spent": -900, "shown": {}}'),
    ("sessions", "state", '{"prompts": 1, "spent": 1, "shown": {"b1": [1, "x", 3]}}'),
]


@pytest.mark.parametrize(("table", "column", "value"), ROWS)
def test_a_row_that_brim_cannot_have_written_is_damage(
    path: Path, table: str, column: str, value: object
) -> None:
    connection = raw(path)
    (trigger,) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'events_are_not_changed'"
    ).fetchone()
    connection.execute("DROP TRIGGER events_are_not_changed")
    cast = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    connection.execute(f"UPDATE {table} SET {column} = {cast}", (value,))
    connection.execute(trigger)
    connection.close()
    with pytest.raises(StoreError) as raised:
        use(path)
    assert raised.value.reason == "damaged"
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize(
    ("tokens", "chars"), [(0, 5), (-4, 5), ("few", 5), (2.5, 5), (3, "few"), (3, -1)]
)
def test_a_cost_that_no_line_has_is_not_believed(path: Path, tokens: object, chars: object) -> None:
    connection = raw(path)
    connection.execute("UPDATE line_costs SET tokens = ?, chars = ?", (tokens, chars))
    connection.close()
    with open_store(str(path)) as store:
        assert store.line_costs(["b1"], "o200k_base") == {}


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 9_000])
def test_the_log_of_a_file_that_is_gone_is_not_thrown_away(path: Path, content: bytes) -> None:
    with open_store(str(path)) as store:
        store.put(behavior("latest"), event="learned", now=3.0)
        log = Path(f"{path}-wal").read_bytes()
    path.write_bytes(content)
    Path(f"{path}-wal").write_bytes(log)
    for _ in range(2):
        with pytest.raises(StoreError, match="nothing was changed") as raised:
            open_store(str(path))
        assert raised.value.reason == "damaged"
    assert path.read_bytes() == content
    assert Path(f"{path}-wal").read_bytes() == log


def test_restoring_keeps_the_log_of_a_file_that_is_gone(path: Path, made: Path) -> None:
    path.unlink()
    Path(f"{path}-wal").write_bytes(b"an old log")
    assert restore(str(made), str(path)) is None
    assert Path(f"{path}.bak-wal").read_bytes() == b"an old log"


def test_restoring_keeps_the_log_of_a_damaged_file(path: Path, made: Path) -> None:
    content = path.read_bytes()[:5_000]
    path.write_bytes(content)
    Path(f"{path}-wal").write_bytes(b"an old log")
    kept = restore(str(made), str(path))
    assert kept is not None
    assert Path(kept).read_bytes() == content
    assert Path(f"{kept}-wal").read_bytes() == b"an old log"


@pytest.mark.parametrize("part", ["-wal", "-shm", "-journal"])
def test_nothing_is_written_through_a_link(path: Path, tmp_path: Path, part: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.symlink(victim, f"{path}{part}")
    with pytest.raises(StoreError), open_store(str(path)) as store:
        store.put(behavior("new"), event="learned", now=3.0)
    assert victim.read_text() == "precious"


def test_a_log_that_a_power_cut_has_shortened_leaves_whole_transactions(
    path: Path, tmp_path: Path
) -> None:
    with open_store(str(path)) as store:
        for number in range(5):
            store.put(behavior(f"new{number}"), event="learned", now=3.0)
        log, main = Path(f"{path}-wal").read_bytes(), path.read_bytes()
    for cut in range(0, len(log), len(log) // 23):
        (tmp_path / str(cut)).mkdir()
        copy = tmp_path / str(cut) / "brim.db"
        copy.write_bytes(main)
        Path(f"{copy}-wal").write_bytes(log[:cut])
        with open_store(str(copy)) as store:
            assert store.check() == []
            new = [each.id for each in store.behaviors() if each.id.startswith("new")]
            assert new == [f"new{number}" for number in range(len(new))]
            assert len(store.events()) == 13 + len(new)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE behaviors SET id = 'b' || char(10) || '1' WHERE id = 'b1'",
        "UPDATE triggers SET weight = 'x' WHERE trigger = 'language=python'",
    ],
)
def test_a_rule_that_terms_cannot_find_is_said_to_be_damaged(path: Path, change: str) -> None:
    raw(path).execute(change)
    with open_store(str(path)) as store, pytest.raises(StoreError, match="damaged"):
        store.postings(("language=python",))
