"""A .floop folder comes over whole: what is mapped, what is kept beside it, and what is listed are all there was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Behavior, Edge, Usage, When
from brim.behaviors.floop import Floop, read_floop
from brim.behaviors.jsonl import encode, encode_edge, seconds_of

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
            "structured": {"avoid": "Edited uv.lock", "prefer": "Never edit a lock file by hand.", "tool": "uv"},
        },
        "provenance": {"source_type": "learned", "correction_id": "c-1", "created_at": "2026-01-30T08:00:00.5-08:00"},
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
    return [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]


def only(found: Floop) -> Behavior:
    (behavior,) = found.behaviors
    return behavior


def test_node_becomes_a_behavior_with_everything_it_had() -> None:
    found = read_floop(lines(NODE))
    assert found.unmapped == ()
    behavior = only(found)
    assert (behavior.id, behavior.name, behavior.kind, behavior.scope) == (
        "behavior-1",
        "learned/lock-files",
        "constraint",
        "project",
    )
    assert (behavior.canonical, behavior.summary) == ("Never edit a lock file by hand.", "No hand-edited lock files")
    assert behavior.tags == ("packaging", "lock-files")
    assert behavior.when == When(file="*.lock", language=["python", "rust"], task=["release", "deployment"])
    assert (behavior.priority, behavior.confidence, behavior.status) == (3, 0.8, "active")
    assert behavior.provenance.source == "floop"
    assert (behavior.provenance.wrong, behavior.provenance.at) == ("Edited uv.lock", 1769788800.5)
    assert behavior.usage == Usage(5, 2, 1, seconds_of("2026-02-02T00:00:00Z"))
    assert (behavior.created_at, behavior.updated_at) == (seconds_of("2026-01-30T16:00:00Z"), None)
    assert json.loads(behavior.extra) == {
        "floop": {
            "content": {
                "content": {
                    "tags": ["packaging", "lock files"],
                    "expanded": "Instead of editing it, run the tool.",
                    "structured": {"tool": "uv"},
                },
                "provenance": {"source_type": "learned", "correction_id": "c-1"},
            }
        }
    }


def test_provenance_may_sit_in_metadata() -> None:
    moved = node(
        "a", content__provenance=None, metadata__provenance={"created_at": "1970-01-01T00:00:09Z", "author": "Ada"}
    )
    behavior = only(read_floop(lines(moved)))
    assert behavior.provenance.at == 9
    assert "Ada" in behavior.extra


@pytest.mark.parametrize(
    ("scope", "expected", "kept"),
    [
        ("local", "project", False),
        ("global", "user", False),
        ("both", "user", True),
        ("universal", "user", True),
        ("project:shop", "project", True),
        ("odd", "user", True),
    ],
)
def test_scope_is_mapped_and_kept_where_it_said_more(scope: str, expected: str, kept: bool) -> None:
    behavior = only(read_floop(lines(node("a", metadata__scope=scope))))
    assert behavior.scope == expected
    assert (f'"scope":"{scope}"' in behavior.extra) is kept


def test_node_without_a_scope_belongs_where_the_folder_does() -> None:
    assert only(read_floop(lines(node("a", metadata__scope=None)), scope="project")).scope == "project"


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


def test_conditions_may_have_any_values() -> None:
    when = {"language": "go", "ci": True, "tier": 2, "mixed": ["a", 1.5], "deep": {"x": "y"}, "none": None, "": "e"}
    found = read_floop(lines(node("a", content__when=when)))
    behavior = only(found)
    assert behavior.when == When(language="go", custom={"ci": "true", "tier": "2", "mixed": ["a", "1.5"]})
    listed = [each.why.partition(":")[0] for each in found.unmapped]
    assert listed == ["when ci is true", "when tier is 2", "when mixed is a, 1.5", "when 'deep'", "when ''"]
    assert json.loads(behavior.extra)["floop"]["content"]["when"] == {"deep": {"x": "y"}, "": "e"}


def test_what_is_no_name_kind_number_or_tag_is_made_one_and_kept() -> None:
    odd = node("a", content__name="Nähe & Co", content__kind="mood", metadata__priority="high", metadata__confidence=7)
    odd["content"]["content"]["tags"] = ["c++", "日本", 5]
    behavior = only(read_floop(lines(odd)))
    assert (behavior.name, behavior.kind, behavior.priority) == ("Nähe-Co", "directive", 0)
    assert behavior.tags == ("c",)
    for text in ("Nähe & Co", '"mood"', '"high"', "7", "c++", "日本"):
        assert text in behavior.extra


def test_two_ids_may_share_one_text() -> None:
    assert [each.id for each in read_floop(lines(node("a"), node("b"))).behaviors] == ["a", "b"]


def test_second_line_of_an_id_is_used_and_the_first_is_listed() -> None:
    found = read_floop(lines(node("a", metadata__priority=1), node("a", metadata__priority=2)))
    assert only(found).priority == 2
    assert [(each.line, each.why) for each in found.unmapped] == [(1, "line 2 has the same id, and is used")]


def test_edges_are_mapped() -> None:
    given = [
        {"source": "a", "target": "b", "kind": "requires", "weight": 0.5, "created_at": "1970-01-01T00:00:01Z"},
        {"source": "a", "target": "b", "kind": "similar_to", "weight": 0, "last_activated": "1970-01-01T00:00:02Z"},
        {"source": "b", "target": "a", "kind": "conflicts"},
        {"source": "a", "target": "b", "kind": "overrides", "weight": 3},
    ]
    found = read_floop(lines(node("a"), node("b")), lines(*given))
    assert found.edges == (
        Edge("a", "b", "requires", 0.5, created_at=1),
        Edge("a", "b", "similar-to", 1, last_activated=2),
        Edge("b", "a", "conflicts"),
        Edge("a", "b", "overrides"),
    )
    assert [str(each) for each in found.unmapped] == [
        "edges.jsonl:4: edge a overrides b: the weight 3 is cut to 1",
    ]


def test_relations_inside_a_node_are_edges_too() -> None:
    given = node("a", content__requires=["b", "gone"], content__similar_to=[{"id": "b", "score": 0.9}])
    found = read_floop(lines(given, node("b")))
    assert found.edges == (Edge("a", "b", "requires"), Edge("a", "b", "similar-to", 0.9))
    assert [each.why for each in found.unmapped] == ["there is no behavior gone"]


@pytest.mark.parametrize("kind", ["deprecated-to", "merged-into"])
def test_behavior_that_was_replaced_knows_by_which(kind: str) -> None:
    found = read_floop(lines(node("a"), node("b")), lines({"source": "a", "target": "b", "kind": kind}))
    old, new = found.behaviors
    assert (old.status, old.superseded_by, new.supersedes) == ("superseded", "b", ("a",))
    assert [each.why for each in found.unmapped] == ["kept as superseded_by, not as an edge"]


def test_replacement_that_only_the_node_names_is_known() -> None:
    given = node("a", kind="deprecated-behavior", metadata__replacement_id="b")
    assert read_floop(lines(given, node("b"))).behaviors[0].superseded_by == "b"


@pytest.mark.parametrize(
    ("edge", "why"),
    [
        ({"source": "a", "target": "gone", "kind": "requires"}, "there is no behavior gone"),
        ({"source": "a", "target": "a", "kind": "requires"}, "it leads to itself"),
        ({"source": "a", "target": "b", "kind": "loves"}, "an edge of the kind 'loves', which brim does not know"),
        (
            {"source": "a", "target": "b", "kind": "requires", "weight": -1},
            "the weight '-1' isn't one: 1 is used",
        ),
        ({"source": "a", "target": "b", "kind": "requires", "metadata": {"x": 1}}, "kept without its metadata"),
        ({"source": "a", "target": "b", "kind": "requires", "created_at": "soon"}, "kept without its created_at"),
        ("[1]", "not read: a line is an object with keys, not '[1]'"),
        ("{", "not read: not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    ],
)
def test_edge_that_does_not_fit_is_listed_with_its_whole_line(edge: Any, why: str) -> None:
    found = read_floop(lines(node("a"), node("b")), lines(edge))
    assert [(each.why, each.text) for each in found.unmapped] == [(why, lines(edge)[0])]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (node("a", kind="context-snapshot"), "a node of the kind 'context-snapshot', which isn't a behavior"),
        (node("a", content__content={"expanded": "x"}), "not brought over: it has no canonical text"),
        ({"id": "a"}, "not brought over: it has no canonical text"),
        ({"id": "a", "kind": ["x"]}, "a node of the kind \"['x']\", which isn't a behavior"),
        ("nonsense", "not read: not JSON (Expecting value: line 1 column 1 (char 0))"),
    ],
)
def test_node_that_is_no_behavior_is_listed_with_its_whole_line(given: Any, why: str) -> None:
    found = read_floop(lines(given))
    assert [(each.why, each.text) for each in found.unmapped] == [(why, lines(given)[0])]
    assert found.behaviors == ()


CORRECTION = {
    "id": "c-1",
    "timestamp": "1970-01-01T00:00:07Z",
    "context": {"file_path": "uv.lock", "task": "release", "branch": "main"},
    "agent_action": "Edited uv.lock",
    "human_response": "Do not do that.",
    "corrected_action": "Run uv lock.",
    "conversation_id": "s-1",
    "corrector": "Ada",
    "processed": False,
}


def test_correction_that_was_not_learned_from_is_a_pending_behavior() -> None:
    behavior = only(read_floop([], [], lines(CORRECTION), scope="project"))
    assert (behavior.canonical, behavior.name, behavior.status, behavior.scope) == (
        "Run uv lock.",
        "Run-uv-lock.",
        "pending",
        "project",
    )
    source = behavior.provenance
    assert (source.wrong, source.note, source.at) == ("Edited uv.lock", "Do not do that.", 7)
    assert (source.file, source.task, source.session) == ("uv.lock", "release", "s-1")
    rest = {"id": "c-1", "context": {"branch": "main"}, "corrector": "Ada", "processed": False}
    assert json.loads(behavior.extra) == {"correction": rest}


def test_correction_that_was_learned_from_is_where_the_behavior_comes_from() -> None:
    found = read_floop(lines(NODE), [], lines({**CORRECTION, "processed": True}))
    behavior = only(found)
    assert (behavior.provenance.note, behavior.provenance.file) == ("Do not do that.", "uv.lock")
    assert json.loads(behavior.extra)["correction"]["corrected_action"] == "Run uv lock."
    assert found.unmapped == ()


def test_correction_whose_behavior_is_gone_is_to_be_reviewed() -> None:
    found = read_floop([], [], lines({**CORRECTION, "processed": True}))
    assert (only(found).status, found.unmapped) == ("pending", ())


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
        ({"task": "test*"}, {"task": "testing"}),
        ({"file.path": "store/*"}, {"file": "store/*"}),
        ({"file.language": "go"}, {"language": "go"}),
        ({"language": "java*"}, {"language": ["java", "javascript"]}),
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
        key: {values} if isinstance(values, str) else set(values) for key, values in expected.items()
    }
    dropped = [key for key in given if len(expected) < len(given)]
    assert bool(found.unmapped) is bool(dropped)
    if dropped:
        assert "so the rule is told" in found.unmapped[0].why
        assert json.dumps(given[dropped[0]]).strip('"[]') in only(found).extra.replace('","', '", "')


def test_rules_of_another_project_are_listed_and_not_told_everywhere() -> None:
    nodes = lines(node("a", metadata__scope="project:acme/shop"), node("b", metadata__scope="project:acme/other"))
    found = read_floop(nodes, projects=["acme/shop"])
    assert [(each.id, each.scope) for each in found.behaviors] == [("a", "project")]
    assert "belongs to the project acme/other" in found.unmapped[0].why


@pytest.mark.parametrize("name", ["größe-prüfen", "规则", "नियम"])
def test_name_of_any_script_survives(name: str) -> None:
    assert only(read_floop(lines(node("a", content__name=name)))).name == name


def test_correction_without_a_text_is_listed() -> None:
    found = read_floop([], [], lines({**CORRECTION, "corrected_action": ""}))
    assert len(found.unmapped) == 1


def test_empty_folder_is_nothing() -> None:
    assert read_floop([], [], []) == Floop(())


texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
ids = st.sampled_from(["a", "b", "c", " d", ""]) | texts
KEYS = {
    "nodes": ["id", "kind", "content", "metadata", "provenance", "stats"],
    "content": ["name", "kind", "when", "content", "provenance", "requires", "similar_to", "memory_type"],
    "inner": ["canonical", "summary", "tags", "structured", "expanded"],
    "metadata": ["confidence", "priority", "scope", "stats", "provenance", "replacement_id"],
}


def some(keys: list[str], **known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {key: known.get(key, values) for key in keys}
    return st.fixed_dictionaries({}, optional=fields)


inner = some(KEYS["inner"], canonical=texts.filter(str.strip), tags=st.lists(texts, max_size=2))
content = some(KEYS["content"], name=texts, content=inner, when=st.dictionaries(texts, values, max_size=2))
nodes = st.fixed_dictionaries({"id": ids, "content": content | values, "metadata": some(KEYS["metadata"]) | values})
edges = st.fixed_dictionaries(
    {"source": ids, "target": ids, "kind": st.sampled_from(["requires", "merged-into"]) | texts, "weight": values}
)
corrections = st.fixed_dictionaries(dict.fromkeys(CORRECTION, texts | values))


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inside for text in strings(each)]


@given(st.lists(nodes, max_size=4), st.lists(edges, max_size=3), st.lists(corrections, max_size=3))
def test_every_text_that_was_there_is_there_again(n: list[Any], e: list[Any], c: list[Any]) -> None:
    found = read_floop(lines(*n), lines(*e), lines(*c))
    kept: list[str] = []
    for behavior in found.behaviors:
        record = encode(behavior)
        extra = record.pop("extra", {})
        kept += strings(record) + strings(extra if isinstance(extra, dict) else json.loads(extra))
    kept += [text for edge in found.edges for text in strings(encode_edge(edge))]
    kept += [text for each in found.unmapped for text in strings(json.loads(each.text))]
    have = {text.strip() for text in kept}
    for text in strings([*n, *e, *c]):
        assert text.strip() in have or not text.strip()
