"""What is written is read again, to the last digit; what cannot be read is listed, and stops
nothing."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Edge, Rule, RuleUsage, When
from brim.behaviors.jsonl import decode, dump, encode, iso, load, seconds_of
from brim.errors import InputError
from tests.behaviors.making import behaviors, graphs

A = Rule("a", "use-uv", "directive", "Use uv.")
B = Rule(
    "b",
    "no-force",
    "constraint",
    "Never force-push.",
    when=When(branch="main", language=["python", "go"]),
)
HEADER = '{"format":"brim-behaviors","version":1}\n'


@given(graphs)
def test_what_is_written_with_usage_is_read_again(graph: tuple[list[Rule], list[Edge]]) -> None:
    loaded = load(dump(*graph, usage=True))
    assert loaded.problems == ()
    assert list(loaded.behaviors) == sorted(graph[0], key=lambda each: each.id)
    assert set(loaded.edges) == set(graph[1])


@given(graphs)
def test_without_usage_everything_but_counters_is_read_again(
    graph: tuple[list[Rule], list[Edge]],
) -> None:
    loaded = load(dump(*graph))
    assert {replace(each, usage=RuleUsage()) for each in graph[0]} == set(loaded.behaviors)
    assert {replace(each, last_activated=None) for each in graph[1]} == set(loaded.edges)


@given(graphs)
def test_text_does_not_depend_on_the_order_and_is_valid_utf8_lines(
    graph: tuple[list[Rule], list[Edge]],
) -> None:
    text = dump(*graph)
    mixed = [list(part) for part in graph]
    for part in mixed:
        random.Random(1).shuffle(part)
    assert dump(*mixed) == text  # type: ignore[arg-type]
    assert len(text.encode().split(b"\n")) == 2 + len(graph[0]) + len(graph[1])


@given(behaviors)
def test_one_behavior_is_decoded_to_an_equal_one(behavior: Rule) -> None:
    assert decode(json.loads(json.dumps(encode(behavior)))) == behavior


def test_file_reads_well() -> None:
    text = dump(
        [B, replace(A, created_at=1700000000.25, usage=RuleUsage(3))],
        [Edge("b", "a", "requires", 0.5)],
    )
    assert text == HEADER + (
        '{"id":"a","name":"use-uv","kind":"directive","canonical":"Use uv.","created_at":"2023-11-14T22:13:20.25Z"}\n'
        '{"id":"b","name":"no-force","kind":"constraint","canonical":"Never force-push.",'
        '"when":{"branch":"main","language":["python","go"]}}\n'
        '{"source":"b","kind":"requires","target":"a","weight":0.5}\n'
    )


def test_lone_surrogate_can_be_written() -> None:
    odd = replace(A, canonical="x\ud800y")
    assert load(dump([odd]).encode().decode()).behaviors == (odd,)


def test_key_that_is_not_known_is_kept() -> None:
    known = '{"id":"a","name":"n","kind":"directive","canonical":"c","extra":{"x":2}'
    behavior = load(known + ',"colour":"red","provenance":{"mood":1}}').behaviors[0]
    assert json.loads(behavior.extra) == {"x": 2, "colour": "red", "provenance.mood": 1}
    assert load(dump([behavior])).behaviors == (behavior,)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[1]", "a line is an object"),
        ("<<<<<<< HEAD", "merge conflict"),
        ("NaN", "not JSON"),
        ('{"id":"x"}', "needs a 'name'"),
        ('{"id":"x","name":"n","kind":"mood","canonical":"c"}', "unknown kind 'mood'"),
        ('{"id":"x","name":"n n","kind":"directive","canonical":"c"}', "a name has"),
        ('{"id":"x","name":"n","kind":"directive","canonical":" "}', "is empty"),
        ('{"id":7,"name":"n","kind":"directive","canonical":"c"}', "id must be a text"),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","tags":"t"}',
            "tags must be a list of texts",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","priority":1.5}',
            "priority must be a whole number",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","confidence":"1"}',
            "confidence must be a number",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","confidence":7}',
            "a confidence is from 0 to 1",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","created_at":"soon"}',
            "created_at must be a time",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","created_at":1e999}',
            "created_at must be a time",
        ),
        ('{"id":"x","name":"n","kind":"directive","canonical":"c","odd":1e999}', "too large"),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","when":[1]}',
            "when must be an object",
        ),
        (
            '{"id":"x","name":"n","kind":"directive","canonical":"c","when":{"k":1}}',
            "the condition 'k'",
        ),
        ('{"source":"a","target":"b"}', "an edge needs a 'kind'"),
        ('{"source":"a","target":"b","kind":"loves"}', "unknown edge kind"),
        ('{"source":"a","target":"b","kind":"requires","weight":7}', "the weight of an edge"),
        ('{"source":"a","target":"a","kind":"requires"}', "to itself"),
        ('{"format":"other"}', "a file of the format 'other'"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_line_is_listed_and_the_others_are_read(line: str, why: str) -> None:
    loaded = load(dump([A]) + line + "\n" + dump([B]), "x.jsonl")
    assert loaded.behaviors == (A, B)
    (problem,) = loaded.problems
    assert (problem.line, problem.text) == (3, line)
    assert why in problem.why
    assert str(problem).startswith("x.jsonl:3: ")


def test_second_line_of_an_id_wins_and_the_first_is_listed() -> None:
    loaded = load(dump([A]) + dump([replace(A, name="other")]))
    assert [each.name for each in loaded.behaviors] == ["other"]
    assert [(each.line, "use-uv" in each.text) for each in loaded.problems] == [(2, True)]


def test_key_of_an_edge_that_means_nothing_is_listed() -> None:
    loaded = load('{"source":"a","target":"b","kind":"requires","mood":"odd"}')
    assert loaded.edges == (Edge("a", "b", "requires"),)
    assert [each.why for each in loaded.problems] == ["keys that mean nothing here: mood"]


def test_newer_format_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"^x\.jsonl:1: written in version 2 .* upgrade brim$"):
        load('{"format":"brim-behaviors","version":2}\n', "x.jsonl")


def test_file_may_have_no_header_blank_lines_windows_ends_and_a_mark() -> None:
    lines = dump([A, B]).removeprefix(HEADER)
    assert load("\ufeff\n" + lines.replace("\n", "\r\n\r\n")) == load(lines)
    assert load("").behaviors == ()


def test_line_separators_inside_a_text_do_not_end_a_line() -> None:
    odd = replace(A, canonical="a\u2028b\x85c\nd")
    assert load(dump([odd])).behaviors == (odd,)


def test_of_two_lines_with_one_id_the_last_is_used_and_the_other_wording_is_kept() -> None:
    first, last = replace(A, canonical="Use pip."), replace(A, variants=("Use conda.",))
    text = dump([first]) + dump([last]).split("\n", 1)[1]
    (found,) = load(text, "b.jsonl").behaviors
    assert found == replace(last, variants=("Use conda.", "Use pip."))


@given(st.floats(-6e10, 2.5e11))
def test_time_is_read_as_it_was_written(seconds: float) -> None:
    assert seconds_of(iso(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-01-29T20:22:55.64732705-08:00", 1769746975.64732705),
        ("1970-01-01", 0.0),
        ("1970-01-01T00:00:01", 1.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("0001-01-01T00:00:00Z", -62135596800.0),
    ],
)
def test_any_offset_and_any_number_of_digits_is_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "1970-01-01T00:00:01.", "1970-01-01T00:00:01.x", "1970-13-01", "٣"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        seconds_of(text)
