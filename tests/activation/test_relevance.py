"""How much rules have to do with a situation: their words, conditions and headings."""

from __future__ import annotations

from brim.activation import Context, Graph, explain
from brim.activation.relevance import rank
from brim.behaviors import Provenance, Rule


def under(heading: str, *texts: str, file: str = "CLAUDE.md") -> list[Rule]:
    came_from = Provenance("rules", file=file, note=heading)
    return [Rule(text, "name", "directive", text, provenance=came_from) for text in texts]


def found(rules: list[Rule], prompt: str) -> dict[str, float]:
    return {
        each.id: each.value
        for each in rank(Graph(rules), Context(prompt=prompt), now=0, always=False).activations()
    }


def test_a_rule_comes_with_the_others_under_its_heading() -> None:
    money = under("Money", "Invoices are rounded once.", "Amounts have two decimals.")
    rules = [*money, *under("Pages", "Tables scroll.", "Icons have labels.")]
    told = found(rules, "print the invoices")
    assert list(told) == ["Invoices are rounded once.", "Amounts have two decimals."]
    assert told["Invoices are rounded once."] > told["Amounts have two decimals."]


def test_the_same_heading_in_another_file_is_another_one() -> None:
    rules = [
        *under("Style", "Invoices are rounded once."),
        *under("Style", "Icons have labels.", file="web/CLAUDE.md"),
    ]
    assert list(found(rules, "print the invoices")) == ["Invoices are rounded once."]


def test_a_heading_over_many_rules_says_little() -> None:
    rules = under("Rules", "Invoices are rounded once.", *(f"Thing{n} is nice." for n in range(40)))
    assert list(found(rules, "print the invoices")) == ["Invoices are rounded once."]


def test_it_is_said_that_the_heading_is_why() -> None:
    rules = under("Fleet", "Vans are washed on Mondays.", "Drivers bring their own lunch.")
    course = rank(Graph(rules), context := Context(prompt="wash the vans"), now=0, always=False)
    assert course.activations()[1].reasons == ("others under its heading",)
    why = explain(Graph(rules), context, "Drivers bring their own lunch.", now=0, course=course)
    assert why.outcome == "in: confirmed by others under its heading"


def test_a_rule_about_the_same_subject_is_found_without_a_shared_word() -> None:
    rules = under(
        "", "Strings go through the translation helper.", "Containers run as an ordinary user."
    )
    course = rank(
        Graph(rules), Context(prompt="add a tooltip to the save button"), now=0, always=False
    )
    assert [(each.id, each.reasons) for each in course.activations()] == [
        (rules[0].id, ("words #text",))
    ]


def test_a_shared_word_says_more_than_a_shared_subject() -> None:
    rules = under("", "Buttons have rounded corners.", "Icons have labels.")
    told = found(rules, "move the buttons")
    assert list(told) == [rules[0].id, rules[1].id]
    assert told[rules[0].id] > told[rules[1].id]


def test_a_rule_for_a_language_comes_with_a_change_but_not_with_a_question() -> None:
    rules = under("", "In Python, use pathlib.")
    assert list(found(rules, "store the receipts elsewhere")) == [rules[0].id]
    assert found(rules, "where are the receipts?") == {}


def test_a_rule_for_a_language_waits_in_a_project_of_another() -> None:
    (rule,) = under("", "In Python, use pathlib.")

    def told(project_type: str | None = None, open: str | None = None) -> list[str]:
        context = Context(
            prompt="store the receipts elsewhere", project_type=project_type, open=open
        )
        return [each.id for each in rank(Graph([rule]), context, now=0, always=False).activations()]

    assert told(project_type="go") == told(open="main.go") == []
    assert told(project_type="python") == told(project_type="go", open="tool.py") == [rule.id]


def test_it_is_said_that_a_rule_is_for_every_change() -> None:
    (rule,) = under("", "Run the formatter after every change.")
    course = rank(
        Graph([rule]), context := Context(prompt="store the receipts"), now=0, always=False
    )
    assert (
        explain(Graph([rule]), context, rule.id, now=0, course=course).outcome
        == "in: confirmed by task"
    )


def test_a_prompt_asks_for_things_and_a_rule_speaks_of_the_means() -> None:
    rules = [
        *under("", "No literal strings in components."),
        *under("", "Wrap errors with context."),
    ]
    assert list(found(rules, "add a tooltip to the save button")) == [rules[0].id]


def test_a_rule_far_behind_the_best_is_left_out() -> None:
    rules = under(
        "",
        *(
            f"Green receipts of parcel{n} have a stamp, a seal, a stripe and a dot."
            for n in range(3)
        ),
    )
    rules += under("", "Icons have words, shapes, corners, edges, shades and outlines.")
    assert rules[3].id in found(rules, "a new page")
    prompt = "stamp and seal the green receipts of parcel0, parcel1 and parcel2 on the page, with a stripe and a dot"
    assert rules[3].id not in found(rules, prompt)
