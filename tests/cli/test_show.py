"""``brim rules why`` leaves nothing out."""

from __future__ import annotations

from brim.behaviors import Edge, Provenance, Rule, RuleUsage
from tests.cli.conftest import Brim
from tests.cli.seeding import THEN, refused, rule, seed
from tests.cli.test_help import complete

WHOLE = rule(
    "b-1",
    "Use uv, never pip.\n\n  code\n",
    name="use-uv",
    kind="constraint",
    summary="Use uv, never pip.",
    tags=("python",),
    when={"language": "python"},
    priority=7,
    confidence=0.75,
    variants=("Do not use pip.\nUse uv.",),
    supersedes=("b-0",),
    usage=RuleUsage(5, 3, 1, THEN),
    provenance=Provenance(
        "human",
        at=THEN,
        wrong="pip install x",
        file="setup.py",
        task="packaging",
        note="said twice",
    ),
    extra='{"was":"floop"}',
)


def test_everything_is_shown(brim: Brim) -> None:
    seed(
        brim,
        WHOLE,
        rule("b-2", name="lock"),
        Edge("b-1", "b-2", "requires", 0.5),
        Edge("b-9", "b-1", "overrides"),
    )
    ran = brim("rules", "why", "use-uv")
    assert (ran.code, ran.err) == (0, "")
    for text in (
        "use-uv  constraint  b-1  (active, user)",
        "  Use uv, never pip.\n\n    code\n",
        "Do not use pip.\n  Use uv.",
        "language python",
        "5 times, confirmed 3, overridden 1, last 2023-11-14",
        "2023-11-14 from human, file setup.py, task packaging",
        "pip install x",
        "said twice",
        "b-0",
        '{"was":"floop"}',
        "0.75",
        "by name",
        "requires",
        "lock",
        "is target of: overrides",
        "(not there)",
        "learned",
    ):
        assert text in ran.out, text


def test_the_object_has_every_field_and_what_belongs_to_it(brim: Brim) -> None:
    seed(brim, WHOLE, rule("b-2"), Edge("b-1", "b-2", "requires", 0.5))
    found = brim("rules", "why", "b-1", "--json").json["rule"]
    assert set(found) == {
        *Rule.__match_args__,
        "outcome",
        "tokens",
        "edges",
        "events",
        "file",
        "read_by",
    }
    assert found["outcome"] == {"told": 5, "held": 0, "obeyed": 0, "overridden": 1}
    assert found["usage"] == {
        "injected": 5,
        "confirmed": 3,
        "overridden": 1,
        "last_used": "2023-11-14T22:13:20Z",
    }
    assert found["when"] == {"language": ["python"]}
    assert found["tokens"]["full"] > found["tokens"]["summary"] > 0
    assert found["tokens"]["name_only"] > 0
    assert [(edge["target"], edge["weight"]) for edge in found["edges"]] == [("b-2", 0.5)]
    assert [event["kind"] for event in found["events"]] == ["learned", "connected"]


def test_only_the_latest_ten_events_are_shown(brim: Brim) -> None:
    seed(brim, *[WHOLE] * 15)
    assert brim("rules", "why", "b-1").out.count("2023-11-14  learned") == 10


def test_a_text_cannot_steer_the_terminal(brim: Brim) -> None:
    text = "red \x1b[31m, back \b\b, bell \a, turned \u202e"
    seed(brim, rule("b-1", text, variants=(text,), provenance=Provenance(wrong=text, note=text)))
    shown = brim("rules", "why", "b-1").out
    assert not {"\x1b", "\b", "\a", "\u202e"}.intersection(shown)
    assert brim("rules", "why", "b-1", "--json").json["rule"]["canonical"] == text


def test_a_beginning_of_an_id_will_do_if_no_other_begins_so(brim: Brim) -> None:
    seed(brim, rule("b-11"), rule("b-12"), rule("b-2"))
    assert brim("rules", "why", "b-2", "--json").json["id"] == "b-2"
    assert brim("rules", "why", "b-", "--json").code == 2
    refused(brim("rules", "why", "b-1"), "b-11", "b-12", "its id")


def test_what_is_not_there_is_said(brim: Brim) -> None:
    refused(brim("rules", "why", "nothing"), "'nothing'", "brim rules")
    assert not (brim.home / ".brim").exists()


def test_ids_and_names_complete(brim: Brim) -> None:
    seed(brim, rule("b-11", name="use-uv"), rule("b-2", name="tabs"))
    assert complete(brim, "brim rules why b-1") == {"b-11"}
    assert complete(brim, "brim rules why u") == {"use-uv"}


def test_a_damaged_file_completes_nothing(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    (brim.home / ".brim" / "brim.db").write_bytes(b"no database at all" * 100)
    assert complete(brim, "brim rules why b") == set()
