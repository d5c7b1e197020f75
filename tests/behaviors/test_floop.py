"""A .floop folder's rules, conditions and edges come over; what can't is listed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.behaviors import Edge, Rule, RuleUsage, When
from brim.behaviors.floop import Floop, read_floop
from brim.behaviors.jsonl import seconds_of

NODE: dict[str, Any] = {
    "id": "behavior-1",
    "kind": "behavior",
    "content": {
        "name": "learned/lock-files",
        "kind": "constraint",
        "when": {"file_path": "*.lock", "language": ["python", "rust"], "task": "release"},
        "content": {
            "canonical": "Never edit a lock file by hand.",
            "summary": "No hand-edited lock files",
            "tags": ["packaging", "lock files"],
            "expanded": "Instead of editing it, run the tool.",
            "structured": {
                "avoid": "Edited uv.lock",
                "prefer": "Never edit a lock file by hand.",
                "tool": "uv",
            },
        },
        "provenance": {
            "source_type": "learned",
            "correction_id": "c-1",
            "created_at": "2026-01-30T08:00:00.5-08:00",
        },
        "requires": None,
    },
    "metadata": {
        "confidence": 0.8,
        "priority": 3,
        "scope": "local",
        "stats": {
            "times_activated": 5,
            "times_confirmed": 2,
            "times_followed": 0,
            "times_overridden": 1,
            "last_activated": "2026-02-01T00:00:00Z",
            "last_confirmed": "2026-02-02T00:00:00Z",
            "created_at": "2026-01-30T16:00:00Z",
            "updated_at": "0001-01-01T00:00:00Z",
        },
    },
}


def node(id: str, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(NODE))
    made["id"] = id
    for path, value in changes.items():
        place = made
        *folders, last = path.split("__")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return made


def lines(*records: Any) -> list[str]:
    return [
        record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
        for record in records
    ]


def only(found: Floop) -> Rule:
    (behavior,) = found.behaviors.values()
    return behavior


def test_node_becomes_a_behavior_with_everything_it_had() -> None:
    found = read_floop(lines(NODE))
    assert found.unmapped == []
    behavior = only(found)
    assert (behavior.id, behavior.name, behavior.kind, behavior.scope) == (
        "behavior-1",
        "learned/lock-files",
        "constraint",
        "project",
    )
    assert (behavior.canonical, behavior.summary) == (
        "Never edit a lock file by hand.",
        "No hand-edited lock files",
    )
    assert behavior.tags == ("packaging", "lock-files")
    assert behavior.when == When(
        file="*.lock", language=["python", "rust"], task=["release", "deployment"]
    )
    assert (behavior.priority, behavior.confidence, behavior.status) == (3, 0.8, "active")
    assert behavior.provenance.source == "floop"
    assert behavior.provenance.wrong == "Edited uv.lock"
    assert behavior.usage == RuleUsage(5, 2, 1, seconds_of("2026-02-02T00:00:00Z"))
    assert (behavior.created_at, behavior.updated_at) == (seconds_of("2026-01-30T16:00:00Z"), None)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("local", "project"),
        ("global", "user"),
        ("both", "user"),
        ("universal", "user"),
        ("project:shop", "project"),
        ("odd", "user"),
    ],
)
def test_scope_is_mapped(scope: str, expected: str) -> None:
    behavior = only(read_floop(lines(node("a", metadata__scope=scope))))
    assert behavior.scope == expected


def test_node_without_a_scope_belongs_where_the_folder_does() -> None:
    assert (
        only(read_floop(lines(node("a", metadata__scope=None)), scope="project")).scope == "project"
    )


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("behavior", "active"),
        ("forgotten-behavior", "forgotten"),
        ("deprecated-behavior", "superseded"),
        ("merged-behavior", "superseded"),
    ],
)
def test_kind_of_a_node_says_where_it_stands(kind: str, status: str) -> None:
    assert only(read_floop(lines(node("a", kind=kind)))).status == status
    assert only(read_floop(lines(node("a", content__kind=kind)))).status == status


def test_two_ids_may_share_one_text() -> None:
    assert list(read_floop(lines(node("a"), node("b"))).behaviors) == ["a", "b"]


def test_edges_are_mapped() -> None:
    given = [
        {
            "source": "a",
            "target": "b",
            "kind": "requires",
            "weight": 0.5,
            "created_at": "1970-01-01T00:00:01Z",
        },
        {
            "source": "a",
            "target": "b",
            "kind": "similar_to",
            "weight": 0,
            "last_activated": "1970-01-01T00:00:02Z",
        },
        {"source": "b", "target": "a", "kind": "conflicts"},
        {"source": "a", "target": "b", "kind": "overrides", "weight": 3},
    ]
    found = read_floop(lines(node("a"), node("b")), lines(*given))
    assert tuple(found.edges.values()) == (
        Edge("a", "b", "requires", 0.5, created_at=1),
        Edge("a", "b", "similar-to", 1, last_activated=2),
        Edge("b", "a", "conflicts"),
        Edge("a", "b", "overrides"),
    )
    assert found.unmapped == []


@pytest.mark.parametrize("kind", ["deprecated-to", "merged-into"])
def test_behavior_that_was_replaced_knows_by_which(kind: str) -> None:
    found = read_floop(
        lines(node("a"), node("b")), lines({"source": "a", "target": "b", "kind": kind})
    )
    old, new = found.behaviors.values()
    assert (old.status, old.superseded_by, new.supersedes) == ("superseded", "b", ("a",))


@pytest.mark.parametrize(
    ("edge", "why"),
    [
        ({"source": "a", "target": "gone", "kind": "requires"}, "there is no behavior gone"),
        ({"source": "a", "target": "a", "kind": "requires"}, "it leads to itself"),
        (
            {"source": "a", "target": "b", "kind": "loves"},
            "an edge of the kind 'loves', which brim does not know",
        ),
        ("[1]", "not read: a line is an object with keys, not '[1]'"),
        (
            "{",
            "not read: not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        ),
    ],
)
def test_edge_that_does_not_fit_is_listed_with_its_whole_line(edge: Any, why: str) -> None:
    found = read_floop(lines(node("a"), node("b")), lines(edge))
    assert [(each.why, each.text) for each in found.unmapped] == [(why, lines(edge)[0])]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            node("a", kind="context-snapshot"),
            "not brought over: a node of the kind 'context-snapshot', which isn't a rule",
        ),
        (
            node("a", content__content={"expanded": "x"}),
            "not brought over: it has no canonical text",
        ),
        ({"id": "a"}, "not brought over: it has no canonical text"),
        (
            {"id": "a", "kind": ["x"]},
            "not brought over: a node of the kind \"['x']\", which isn't a rule",
        ),
        ("nonsense", "not read: not JSON (Expecting value: line 1 column 1 (char 0))"),
    ],
)
def test_node_that_is_no_behavior_is_listed_with_its_whole_line(given: Any, why: str) -> None:
    found = read_floop(lines(given))
    assert [(each.why, each.text) for each in found.unmapped] == [(why, lines(given)[0])]
    assert found.behaviors == {}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"environment": "development"}, {"environment": "not ci"}),
        ({"env": ["dev", "local"]}, {"environment": "not ci"}),
        ({"environment": ["development", "ci"]}, {}),
        ({"env": "github-actions"}, {"environment": "ci"}),
        ({"environment": "staging"}, {}),
        ({"task": "committing"}, {"task": ["committing", "git"]}),
        ({"task": "git-operations"}, {"task": ["git-operations", "git"]}),
        ({"task": "deployment"}, {"task": "deployment"}),
        ({"task": "development"}, {}),
        ({"task": "configuration"}, {}),
        ({"file.path": "store/*"}, {"file": "store/*"}),
        ({"file.language": "go"}, {"language": "go"}),
        ({"file_ext": ".go"}, {"file": "*.go"}),
        ({"ext": ["go", ".mod"]}, {"file": ["*.go", "*.mod"]}),
        ({"repo": "git@example.com:acme/shop.git", "branch": "feature/*"}, {"branch": "feature/*"}),
        ({"user": "me"}, {}),
    ],
)
def test_condition_is_translated_or_listed(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = read_floop(lines(node("a", content__when=given)))
    when = only(found).when
    assert {key: set(values) for key, values in when.conditions} == {
        key: {values} if isinstance(values, str) else set(values)
        for key, values in expected.items()
    }
    dropped = [key for key in given if len(expected) < len(given)]
    assert bool(found.unmapped) is bool(dropped)
    if dropped:
        assert "so the rule is told" in found.unmapped[0].why


def test_rules_of_another_project_are_listed_and_not_told_everywhere() -> None:
    nodes = lines(
        node("a", metadata__scope="project:acme/shop"),
        node("b", metadata__scope="project:acme/other"),
    )
    found = read_floop(nodes, projects=["acme/shop"])
    assert [(each.id, each.scope) for each in found.behaviors.values()] == [("a", "project")]
    assert "belongs to the project acme/other" in found.unmapped[0].why


@pytest.mark.parametrize("name", ["größe-prüfen", "规则", "नियम"])
def test_name_of_any_script_survives(name: str) -> None:
    assert only(read_floop(lines(node("a", content__name=name)))).name == name
