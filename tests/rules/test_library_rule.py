from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from brim.errors import InputError
from brim.rules.conditions import When
from brim.rules.library_rule import (
    LARGEST_TEXT,
    LONGEST_NAME,
    BehaviorKind,
    Rule,
    RuleUsage,
    Status,
)


def made(**fields: object) -> Rule:
    return Rule(
        **{"id": "b1", "name": "use-uv", "kind": "directive", "canonical": "Use uv.", **fields}  # type: ignore[arg-type]
    )


def test_texts_become_what_they_name() -> None:
    behavior = made(kind="constraint", status="pending", when={"lang": "python"}, tags=["a", "a"])
    assert (behavior.kind, behavior.status) == (BehaviorKind.CONSTRAINT, Status.PENDING)
    assert (behavior.when, behavior.tags) == (When(language="python"), ("a",))


def test_behavior_cannot_be_changed_but_copied_with_other_values() -> None:
    behavior = made()
    with pytest.raises(AttributeError, match="cannot assign"):
        behavior.summary = "x"  # type: ignore[misc]
    other = replace(behavior, summary="x")
    assert (behavior.summary, other.summary, other.id) == ("", "x", "b1")
    assert other != behavior
    assert other == replace(behavior, summary="x")
    assert len({other, behavior, made()}) == 2


def test_copy_is_checked_like_the_original() -> None:
    with pytest.raises(InputError, match="scope"):
        replace(made(), scope="world")


def test_behavior_survives_pickling() -> None:
    behavior = made(usage=RuleUsage(1, 2, 3, 4.0), tags=("a",))
    assert pickle.loads(pickle.dumps(behavior)) == behavior


def test_only_active_and_pending_ones_are_live() -> None:
    assert [status for status in Status if made(status=status).live] == [
        Status.ACTIVE,
        Status.PENDING,
    ]


def test_summary_is_one_line() -> None:
    assert made(summary=" a\n b\t").summary == "a b"


def test_uses_are_what_spoke_for_it_less_what_spoke_against_it() -> None:
    assert RuleUsage(3, 2, 1).count == 4
    assert RuleUsage(0, 0, 5).count == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": ""}, "id must be"),
        ({"id": " a"}, "id must be"),
        ({"id": "a\nb"}, "id must be"),
        ({"id": "x" * 201}, "id must be"),
        ({"name": "a b"}, "a name has"),
        ({"kind": "law"}, "unknown kind 'law': it is one of constraint"),
        ({"canonical": " \n"}, "is empty"),
        ({"canonical": "x" * (LARGEST_TEXT + 1)}, "1,000,001 characters"),
        ({"canonical": 3}, "is empty"),
        ({"summary": 3}, "summary"),
        ({"tags": None}, "tags are a list of texts"),
        ({"when": "python"}, "conditions are keys with values"),
        ({"usage": {"injected": 1}}, "usage must be a RuleUsage"),
        ({"summary": " "}, "summary"),
        ({"scope": "world"}, "unknown scope"),
        ({"status": "gone"}, "unknown status"),
        ({"tags": "python"}, "tags are a list"),
        ({"when": {"task": 1}}, "condition 'task'"),
    ],
)
def test_bad_field_is_an_error_that_names_it(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(**fields)


@pytest.mark.parametrize(
    "name", ["a", "use-uv", "v1.2_x/Y", "x" * LONGEST_NAME, "größe", "规则", "नियम"]
)
def test_name_is_kept(name: str) -> None:
    assert made(name=name).name == name


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a\n", "“a”", "x" * (LONGEST_NAME + 1), "a:b", "👍", "a\u202eb"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="a name has"):
        made(name=name)


def test_tags_are_kept_once_in_their_order() -> None:
    assert made(tags=["b", "a", "b"]).tags == ("b", "a")


@pytest.mark.parametrize("tags", [["a/b"], [""], ["a b"], [1], "python"])
def test_what_are_no_tags_is_refused(tags: list[str]) -> None:
    with pytest.raises(InputError, match="tag"):
        made(tags=tags)
