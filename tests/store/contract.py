"""What every engine that keeps behaviors has to do, whatever it is made of.

A test module of an engine subclasses ``StoreContract`` and says how a new, empty store is opened;
what was written must be there when it is opened again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.activation import Graph
from brim.behaviors import Edge, Rule, Status
from brim.behaviors.words import behavior_words
from brim.errors import InputError
from brim.rules.text import item_text
from brim.rules.tiers import Tier
from tests.store import making
from tests.store.making import behavior

Open = Callable[[], Any]

one_store_for_all_examples = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


class StoreContract:
    """The rules of a store. ``opened`` opens the same store anew each time it is called."""

    @pytest.fixture
    def opened(self, tmp_path: Any) -> Open:
        raise NotImplementedError

    def test_what_is_put_comes_back_as_it_was(self, opened: Open) -> None:
        one = behavior(
            when={"language": "python", "file": ["src/**", "*.py"]},
            tags=("python",),
            variants=("Uv only.",),
        )
        with opened() as store:
            store.put(one, event="learned", now=1.0)
        with opened() as store:
            assert store.get("b1") == one
            assert store.get_many(["b1", "b2"]) == {"b1": one}
            assert store.behaviors() == [one]

    def test_an_unknown_id_is_none(self, opened: Open) -> None:
        with opened() as store:
            assert store.get("nobody") is None
            assert store.behaviors() == []

    def test_putting_the_same_id_again_replaces_it(self, opened: Open) -> None:
        with opened() as store:
            store.put(behavior(when={"language": "python"}), event="learned", now=1.0)
            store.put(
                behavior(canonical="Use uv always.", when={"task": "testing"}),
                event="edited",
                now=2.0,
            )
            assert [each.canonical for each in store.behaviors()] == ["Use uv always."]
            assert list(store.seeds({"language": ("python",)}, frozenset())) == []
            assert [node.id for node in store.seeds({"task": ("testing",)}, frozenset())] == ["b1"]

    def test_behaviors_can_be_asked_for_by_status(self, opened: Open) -> None:
        with opened() as store:
            for status in Status:
                store.put(behavior(f"is-{status}", status=status), event="learned", now=1.0)
            assert [each.id for each in store.behaviors("active")] == ["is-active"]
            assert [each.id for each in store.behaviors((Status.ACTIVE, Status.PENDING))] == [
                "is-active",
                "is-pending",
            ]
            assert len(store.behaviors()) == 4

    def test_a_behavior_is_found_by_id_by_name_and_by_the_beginning_of_either(
        self, opened: Open
    ) -> None:
        with opened() as store:
            for id, name in (
                ("b-12ab", "one"),
                ("b-12cd", "two"),
                ("b-12", "three"),
                ("x", "b-12ab"),
            ):
                store.put(behavior(id, name=name), event="learned", now=1.0)
            assert store.find("b-12").name == "three"
            assert store.find("two").id == "b-12cd"
            assert store.find("b-12c").id == "b-12cd"
            assert store.find("b-12ab").name == "one"
            assert store.find("thr").id == "b-12"
            for text, words in (
                ("b-", r"may mean b-12 \(user: .*\), b-12ab \(.*\), b-12cd"),
                ("nobody", "'nobody'"),
                ("", "''"),
                ("b_", "b_"),
            ):
                with pytest.raises(InputError, match=words):
                    store.find(text)

    def test_of_two_with_one_name_the_live_one_is_meant(self, opened: Open) -> None:
        with opened() as store:
            store.put(behavior("old", status="superseded"), event="learned", now=1.0)
            store.put(behavior("new"), event="learned", now=1.0)
            assert store.find("use-uv").id == "new"

    @given(
        st.lists(making.behaviors, unique_by=lambda each: each.id, max_size=6),
        making.facts,
        st.data(),
    )
    @one_store_for_all_examples
    def test_seeds_are_never_too_few(
        self,
        opened: Open,
        some: list[Rule],
        facts: dict[str, tuple[str, ...]],
        data: st.DataObject,
    ) -> None:
        self.check_seeds(opened, some, facts, data)

    def check_seeds(
        self,
        opened: Open,
        some: list[Rule],
        facts: dict[str, tuple[str, ...]],
        data: st.DataObject,
    ) -> None:
        known = [word for each in some for word in behavior_words(each.name, each.tags)]
        words = (
            frozenset(data.draw(st.lists(st.sampled_from(known), max_size=2)))
            if known
            else frozenset()
        )
        with opened() as store:
            for old in store.behaviors(("active", "pending")):
                store.put(replace(old, status="forgotten"), event="forgotten", now=1.0)
            for each in some:
                store.put(replace(each, scope="user"), event="learned", now=1.0)
            found = [node.id for node in store.seeds(facts, words)]
        assert len(found) == len(set(found))
        wanted = {
            each.id
            for each in some
            if each.live
            and (
                not each.when
                or each.when.match(facts).confirmed
                or words & behavior_words(each.name, each.tags)
            )
        }
        assert wanted <= set(found) <= {each.id for each in some if each.live}

    def test_a_node_says_what_activation_wants_to_know(self, opened: Open) -> None:
        one = behavior(tags=("python",), when={"language": "python"})
        with opened() as store:
            store.put(one, event="learned", now=1.0)
            store.used(["b1"], now=50.0)
            store.used(["b1"], now=40.0)
            (node,) = store.nodes(["b1", "b1", "b2"])
        assert (node.id, node.when, node.words, node.uses, node.last_used) == (
            "b1",
            one.when,
            behavior_words(one.name, one.tags),
            2,
            50.0,
        )

    def test_a_term_finds_its_live_rules_with_their_weights(self, opened: Open) -> None:
        some = [
            behavior(id="b1", canonical="Test the retry helper.", tags=("retry",)),
            behavior(
                id="b, 2",
                canonical="Retry a webhook, then retry once more.",
                when={"language": "python"},
            ),
            behavior(id="b3", canonical="Retry nothing.", status="forgotten"),
        ]
        asked = ("retry", "webhook", "language=python", "", "unknown")
        with opened() as store:
            for each in some:
                store.put(each, event="learned", now=1.0)
            found = {term: sorted(rules) for term, rules in store.postings(asked).items()}
            assert found == {
                term: sorted(rules) for term, rules in Graph(some).postings(asked).items()
            }
            assert [id for id, _ in found["retry"]] == ["b, 2", "b1"]

    def test_edges_are_given_from_either_end_if_both_are_live(self, opened: Open) -> None:
        with opened() as store:
            for id in "abc":
                store.put(behavior(id), event="learned", now=1.0)
            store.put(behavior("gone", status="forgotten"), event="learned", now=1.0)
            kept = [
                Edge("a", "b", "requires", 0.5),
                Edge("b", "c", "conflicts"),
                Edge("a", "b", "similar-to"),
            ]
            for edge in (*kept, Edge("a", "gone", "requires"), Edge("nobody", "b", "requires")):
                store.put_edge(edge, now=1.0)
            assert set(store.edges(["b"])) == set(kept)
            assert set(store.edges(["a", "b", "c"])) == set(kept)
            assert store.edges(["gone"]) == []
            assert len(store.all_edges()) == 5

    def test_an_edge_is_replaced_and_removed_by_its_ends_and_kind(self, opened: Open) -> None:
        with opened() as store:
            for id in "ab":
                store.put(behavior(id), event="learned", now=1.0)
            store.put_edge(Edge("a", "b", "requires", 0.5), now=1.0)
            store.put_edge(Edge("a", "b", "requires", 0.75, last_activated=9.0), now=1.0)
            assert store.all_edges() == [Edge("a", "b", "requires", 0.75, last_activated=9.0)]
            assert store.remove_edge("a", "b", "overrides", now=2.0) is False
            assert store.remove_edge("a", "b", "requires", now=2.0) is True
            assert store.all_edges() == []

    def test_more_ids_than_one_statement_can_hold(self, opened: Open) -> None:
        with opened() as store:
            store.put(behavior("b7"), event="learned", now=1.0)
            many = [f"b{number}" for number in range(40_000)]
            assert [node.id for node in store.nodes(many)] == ["b7"]
            assert store.edges(many) == []
            assert set(store.get_many(many)) == {"b7"}

    def test_the_cost_of_every_line_is_what_the_line_counts(self, opened: Open) -> None:
        from brim.tokens.engines import encoding_counter

        one = behavior(
            canonical="Never do X.\n\n# not a heading\n\n- 規則 naïve",
            summary="",
            kind="constraint",
            tags=("a",),
        )
        with opened() as store:
            store.put(one, event="learned", now=1.0)
            for encoding in ("o200k_base", "o200k_harmony", "cl100k_base"):
                counter = encoding_counter(encoding)
                assert counter is not None
                texts = {
                    tier: item_text(one, tier) for tier in (Tier.NAME_ONLY, Tier.SUMMARY, Tier.FULL)
                }
                assert store.line_costs(["b1", "b2"], encoding) == {
                    ("b1", int(tier)): (counter(text), len(text)) for tier, text in texts.items()
                }

    def test_writing_is_all_or_nothing(self, opened: Open) -> None:
        with opened() as store:
            store.put(behavior("before"), event="learned", now=1.0)

            def fail() -> None:
                with store.writing():
                    store.put(behavior("half"), event="learned", now=1.0)
                    raise KeyError

            with pytest.raises(KeyError):
                fail()
            assert [each.id for each in store.behaviors()] == ["before"]

    def test_a_session_goes_on_where_it_was(self, opened: Open) -> None:
        with opened() as store, store.session("s1") as session:
            session.next_prompt()
            session.next_prompt()
        with opened() as store:
            with store.session("s1") as session:
                assert session.prompts == 2
            with store.session("s2") as session:
                assert session.prompts == 0
