"""``brim connect`` relates two behaviors, and refuses what makes no sense."""

from __future__ import annotations

import pytest

from brim.behaviors import Edge
from tests.cli.conftest import Brim
from tests.cli.seeding import edges, events, refused, rule, seed
from tests.cli.test_help import complete


def test_two_behaviors_are_connected(brim: Brim) -> None:
    seed(brim, rule("b-1", name="one"), rule("b-2", name="two"))
    ran = brim("connect", "one", "similar-to", "b-2", "--weight", "0.5")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "connected: one (b-1) similar-to two (b-2), weight 0.5\n"
    (edge,) = edges(brim)
    assert (edge.source, edge.kind, edge.target, edge.weight) == ("b-1", "similar-to", "b-2", 0.5)
    assert events(brim, "b-1")[-1].kind == "connected"


def test_connecting_again_changes_the_weight_and_nothing_else(brim: Brim) -> None:
    old = Edge("b-1", "b-2", "requires", 0.25, created_at=5.0, last_activated=7.0)
    seed(brim, rule("b-1"), rule("b-2"), old)
    assert "was 0.25" in brim("connect", "b-1", "requires", "b-2").out
    assert edges(brim) == [old.replace(weight=1.0)]


def test_a_connection_is_removed(brim: Brim) -> None:
    seed(brim, rule("b-1"), rule("b-2"), Edge("b-1", "b-2", "requires"))
    refused(brim("connect", "b-2", "requires", "b-1", "--remove"), "no such connection", code=1)
    assert brim("connect", "b-1", "requires", "b-2", "--remove", "--json").json["removed"] is True
    assert edges(brim) == []
    assert events(brim, "b-1")[-1].kind == "disconnected"


def test_a_circle_of_requires_is_refused_and_named(brim: Brim) -> None:
    seed(brim, rule("b-1"), rule("b-2"), rule("b-3"))
    seed(brim, Edge("b-1", "b-2", "requires"), Edge("b-2", "b-3", "requires"))
    refused(brim("connect", "b-3", "requires", "b-1"), "circle", "b-1", "b-2", "b-3", "nothing was changed")
    assert len(edges(brim)) == 2
    assert brim("connect", "b-3", "similar-to", "b-1").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("b-1", "loves", "b-2"), ("'loves'", "'requires', 'overrides', 'conflicts'")),
        (("b-1", "requires", "b-1"), ("itself",)),
        (("b-1", "requires", "b-9"), ("'b-9'", "brim rules")),
        (("b-1", "requires", "b-2", "--weight", "0"), ("above 0", "0.0")),
        (("b-1", "requires", "b-2", "--weight", "1.5"), ("at most 1",)),
        (("b-1", "requires", "b-2", "--weight", "nan"), ("nan",)),
        (("b-1", "requires", "b-2", "--weight", "-1"), ("-1",)),
        (("b-1", "requires", "b-2", "--weight", "0.5", "--remove"), ("--remove",)),
    ],
)
def test_what_makes_no_sense_is_refused(brim: Brim, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    seed(brim, rule("b-1"), rule("b-2"))
    refused(brim("connect", *arguments), *words)
    assert edges(brim) == []


def test_a_project_cannot_weaken_a_users_constraint_and_that_is_said(brim: Brim) -> None:
    seed(brim, rule("b-1", kind="constraint"))
    seed(brim, rule("b-2"), scope="project")
    ran = brim("connect", "b-2", "overrides", "b-1", "--json")
    assert ran.json["followed"] is False
    assert "isn't followed" in ran.err


def test_a_connection_to_what_is_forgotten_rests(brim: Brim) -> None:
    seed(brim, rule("b-1"), rule("b-2", status="forgotten"))
    ran = brim("connect", "b-1", "requires", "b-2")
    assert ran.code == 0
    assert "rests" in ran.err


def test_kinds_complete(brim: Brim) -> None:
    assert complete(brim, "brim connect b-1 co") == {"conflicts", "co-activated"}
