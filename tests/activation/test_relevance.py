"""How much rules have to do with a situation: their words, conditions and headings."""

from __future__ import annotations

from brim.activation import Context, Graph, explain
from brim.activation.relevance import rank
from brim.behaviors import Behavior, Provenance


def under(heading: str, *texts: str, file: str = "CLAUDE.md") -> list[Behavior]:
    came_from = Provenance("rules", file=file, note=heading)
    return [Behavior(text, "name", "directive", text, provenance=came_from) for text in texts]


def found(rules: list[Behavior], prompt: str) -> dict[str, float]:
    return {
        each.id: each.value for each in rank(Graph(rules), Context(prompt=prompt), now=0, always=False).activations()
    }


def test_a_rule_comes_with_the_others_under_its_heading() -> None:
    money = under("Money", "Invoices are rounded once.", "Amounts have two decimals.")
    rules = [*money, *under("Pages", "Tables scroll.", "Icons have labels.")]
    told = found(rules, "print the invoices")
    assert list(told) == ["Invoices are rounded once.", "Amounts have two decimals."]
    assert told["Invoices are rounded once."] > told["Amounts have two decimals."]


def test_the_same_heading_in_another_file_is_another_one() -> None:
    rules = [*under("Style", "Invoices are rounded once."), *under("Style", "Icons have labels.", file="web/CLAUDE.md")]
    assert list(found(rules, "print the invoices")) == ["Invoices are rounded once."]


def test_a_heading_over_many_rules_says_little() -> None:
    rules = under("Rules", "Invoices are rounded once.", *(f"Thing{n} is nice." for n in range(40)))
    assert list(found(rules, "print the invoices")) == ["Invoices are rounded once."]


def test_it_is_said_that_the_heading_is_why() -> None:
    rules = under("Money", "Invoices are rounded once.", "Amounts have two decimals.")
    course = rank(Graph(rules), context := Context(prompt="print the invoices"), now=0, always=False)
    assert course.activations()[1].reasons == ("others under its heading",)
    why = explain(Graph(rules), context, "Amounts have two decimals.", now=0, course=course)
    assert why.outcome == "in: confirmed by others under its heading"
