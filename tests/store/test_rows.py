"""A row gives back exactly what was put into it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.activation.relevance import ALWAYS, terms_of
from brim.behaviors import Edge, Provenance, Rule, RuleUsage, When
from brim.errors import InputError, StoreError
from brim.store import open_store
from brim.store.rows import behavior_of, edge_of, edge_row, row_of, triggers_in
from tests.store import making
from tests.store.making import behavior


def terms(when: When, text: str = "Do it") -> set[str]:
    return set(terms_of(behavior(when=when, canonical=text)))


@given(making.behaviors)
def test_a_behavior_comes_back_from_its_row_as_it_was(one: Rule) -> None:
    assert behavior_of(row_of(one, frozenset())) == one


@given(st.lists(making.behaviors, unique_by=lambda each: each.id, min_size=1, max_size=5))
@settings(max_examples=20)
def test_behaviors_come_back_from_a_file_as_they_were(some: list[Rule]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/brim.db") as store:
        store.put_many(some, event="imported", now=1.0)
        assert store.behaviors() == sorted(some, key=lambda each: each.id)


@given(making.edges)
def test_an_edge_comes_back_from_its_row_as_it_was(one: Edge) -> None:
    assert edge_of(edge_row(one)) == one


@pytest.mark.parametrize(
    "row", [("a", "b", "loves", 1.0, None, None), ("a", "b", "requires", 7.0, None, None)]
)
def test_an_edge_that_cannot_be_is_an_error_that_names_it(row: tuple[object, ...]) -> None:
    with pytest.raises(StoreError, match=r"'a' to 'b'.*(loves|7\.0)"):
        edge_of(row)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("conditions", "nonsense"),
        ("conditions", "[3]"),
        ("kind", "wish"),
        ("confidence", 7.0),
        ("canonical", ""),
        ("tags", "3"),
        ("provenance", '{"who": 3}'),
    ],
)
def test_a_row_that_brim_cannot_have_written_is_an_error_that_names_it(
    tmp_path: Path, column: str, value: object
) -> None:
    with open_store(str(tmp_path / "brim.db")) as store:
        store.put(behavior(when={"task": "x"}), event="learned", now=1.0)
        with store.writing():
            store.database.run(f"UPDATE behaviors SET {column} = ?", (value,))
        with pytest.raises(StoreError, match="'b1' can't be read") as caught:
            store.behaviors()
        assert caught.value.reason == "damaged"
        if column == "conditions":
            with pytest.raises(StoreError, match="'b1' can't be read"):
                store.nodes(["b1"])


@pytest.mark.parametrize(
    "text", ["nul \0 inside", "half \ud83d of a pair", "\u202e turned", "a" * 200_000, "\r\n\t "]
)
def test_no_text_is_too_odd_to_be_kept(tmp_path: Path, text: str) -> None:
    text += "."
    with open_store(str(tmp_path / "brim.db")) as store:
        store.put(behavior(canonical=text, summary="", variants=(text,)), event="learned", now=1.0)
        found = store.get("b1")
    assert found is not None
    assert (found.canonical, found.variants) == (text, (text,))


def test_a_number_that_sqlite_cannot_hold_is_an_error_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    with open_store(str(tmp_path / "brim.db")) as store:
        with pytest.raises(InputError, match="too large"):
            store.put(behavior(usage=RuleUsage(injected=10**30)), event="learned", now=1.0)
        assert store.behaviors() == []
        assert store.events() == []


def test_a_name_that_utf8_cannot_hold_is_simply_not_there(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "brim.db")) as store:
        store.put(behavior(when={"file": "*.py"}), event="learned", now=1.0)
        assert store.get("\udcff") is None
        assert [node.id for node in store.seeds({"file": ("a\udcff.py",)}, frozenset())] == ["b1"]
        with store.session("\udcff") as session:
            session.next_prompt()


def test_secrets_are_masked_wherever_they_are_kept(tmp_path: Path) -> None:
    from brim.behaviors import Provenance

    secret = "ghp_" + "a1B2" * 9
    told = behavior(
        canonical=f"Log in with {secret}.",
        summary=f"Use {secret}.",
        variants=(f"It is {secret}",),
        provenance=Provenance(wrong=f"used {secret}", note=secret),
        extra=f'{{"a": "{secret}"}}',
    )
    with open_store(str(tmp_path / "brim.db")) as store:
        store.put(told, event="learned", now=1.0, said=[{"why": f"because {secret}"}])
        kept = store.get("b1")
    assert kept is not None
    assert "masked" in kept.canonical
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("use", [{"injected": "many"}, {"last_used": "x"}])
def test_what_could_not_be_read_again_is_not_stored(tmp_path: Path, use: dict[str, Any]) -> None:
    with open_store(str(tmp_path / "brim.db")) as store:
        with pytest.raises(InputError, match="'odd' can't be stored"):
            store.put_many(
                [behavior("b1"), behavior("odd", usage=RuleUsage(**use))], event="learned", now=1.0
            )
        assert store.behaviors() == []
        assert store.events() == []
        with pytest.raises(InputError, match="cannot be stored"):
            store.put_edges([Edge("a", "b", "requires", 1.0, last_activated="x")])  # type: ignore[arg-type]
        assert store.all_edges() == []


def test_a_secret_is_nowhere_in_the_file(tmp_path: Path) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    came = Provenance("human", wrong=secret, file=f"src/{secret}/a.py", task=secret, note=secret)
    one = behavior(
        "b1", name=secret, tags=("ci", secret), canonical=f"Use {secret}.", variants=(secret,)
    )
    with open_store(str(tmp_path / "brim.db")) as store:
        store.put(replace(one, provenance=came), event="learned", now=1.0, was=secret)
        found = store.get("b1")
        assert found is not None
        assert (found.name, found.tags) == ("masked", ("ci", "masked"))
    assert secret.encode() not in (tmp_path / "brim.db").read_bytes()


@pytest.mark.parametrize(
    ("when", "facts"),
    [
        (When(file="*.py"), {"file": ("src/app.py",)}),
        (When(file="src/**"), {"file": ("/home/me/src/app.py",)}),
        (When(file="Makefile"), {"file": ("a/Makefile",)}),
        (When(file="**/*.test.ts"), {"file": ("a.md", "b/x.test.ts")}),
        (When(file="src\\*.py"), {"file": ("src\\app.py",)}),
        (When(file="a[bc]"), {"file": ("x/ac",)}),
        (When(branch="release/*"), {"branch": ("release/1",)}),
        (When(language="Straße"), {"language": ("STRASSE",)}),
        (When(custom={"team": ["a", "b"]}), {"team": ("B",)}),
    ],
)
def test_a_confirmed_condition_is_found(when: When, facts: dict[str, tuple[str, ...]]) -> None:
    assert when.match(facts).confirmed
    assert terms(when) & triggers_in(facts, ())


@given(making.whens.filter(bool), making.facts)
def test_every_confirmed_condition_is_found(when: When, facts: dict[str, tuple[str, ...]]) -> None:
    if when.match(facts).confirmed:
        assert terms(when) & triggers_in(facts, ())


@given(making.patterns, making.paths.map("/".join).filter(str.strip))
def test_every_pattern_that_matches_a_path_is_found(pattern: str, path: str) -> None:
    when, facts = When(file=pattern), {"file": (path,)}
    if when.match(facts).confirmed:
        assert terms(when) & triggers_in(facts, ())


def test_words_are_found_by_words_only() -> None:
    assert terms(When(task="x"), "Pin the versions") & triggers_in({}, ("version", "pip")) == {
        "version"
    }


def test_what_has_no_conditions_is_always_found() -> None:
    assert ALWAYS in terms(When()) & triggers_in({}, ())
    assert ALWAYS not in terms(When(task="x"))


def test_a_word_is_never_taken_for_a_condition() -> None:
    assert not terms(When(custom={"a": "b"})) & triggers_in({}, ("a", "b"))
