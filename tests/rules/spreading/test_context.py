from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from brim.errors import InputError
from brim.rules import Context


def test_the_language_is_that_of_the_files() -> None:
    assert Context(file="src/app.py").facts == {"file": ("src/app.py",), "language": ("python",)}
    assert Context(file=("a.py", "b.ts", "c.py")).facts["language"] == ("python", "typescript")
    assert "language" not in Context(file="notes").facts


def test_what_is_given_is_not_inferred() -> None:
    context = Context(
        file="a.py", language="rust", task="sailing", prompt="run the tests", command="pytest"
    )
    assert context.facts["language"] == ("rust",)
    assert context.facts["task"] == ("sailing",)


def test_words_are_those_of_prompt_and_command() -> None:
    assert {"marimba", "zebra"} <= Context(prompt="Marimbas!", command="zebra --run").words
    assert Context().words == frozenset()


def test_custom_keys_are_facts_too() -> None:
    facts = Context(custom={"colour": ["red", "blue", "red"], "lang": "rust", "empty": ""}).facts
    assert facts == {"colour": ("red", "blue"), "language": ("rust",)}


def test_empty_values_are_unknown() -> None:
    assert Context(file="", task=[" "], branch=None, environment=()).facts == {}


@pytest.mark.parametrize(
    "given",
    [
        {"file": 3},
        {"task": ["a", 3]},
        {"prompt": None},
        {"command": b"ls"},
        {"custom": {"a": 1}},
        {"custom": {"": "a"}},
    ],
)
def test_what_is_no_text_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InputError, match="context"):
        Context(**given)  # type: ignore[arg-type]


def test_contexts_are_values() -> None:
    context = Context(file="a.py", branch="main", custom={"colour": "red"})
    assert context == Context(file=["a.py"], branch=("main",), custom={"colour": ["red"]})
    assert hash(context) == hash(replace(context))
    assert replace(context, branch=("next",)).facts["branch"] == ("next",)
    assert pickle.loads(pickle.dumps(context)) == context
    assert pickle.loads(pickle.dumps(context)).facts == context.facts
    with pytest.raises(AttributeError):
        context.facts = {}


def test_a_context_says_what_it_knows() -> None:
    assert (
        str(Context(file="a.py", custom={"colour": "red"}))
        == "file a.py, language python, colour red"
    )
    assert str(Context()) == "nothing known"
