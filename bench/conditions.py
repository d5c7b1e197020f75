"""Which conditions are read from the words of rules: ``python bench/conditions.py FILE``.

Each line of FILE is a rule with the condition that a person gave it, in three columns between tabs:
the text, its heading, and the ``when`` as a rules file has it; ``-`` for none. A condition that was
read is right if it's a part of that one: it names nothing else. The output lists the others.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from brim.errors import InputError
from brim.rules.languages import language_of
from brim.rules.prose import TEST_FILES, inferred_condition
from brim.rules.when import (
    ALWAYS,
    LANGUAGE,
    PATH,
    RUN,
    TASK,
    Clause,
    Condition,
    any_of,
    read_condition,
)
from measure import say


@dataclass(frozen=True)
class LabelledCondition:
    """A rule and when it should be told."""

    text: str
    heading: str
    expected: Condition

    @classmethod
    def read(cls, line: str) -> LabelledCondition:
        """Return what a *line* of the file says."""
        columns = [*line.rstrip("\n").split("\t"), "", ""]
        return cls(columns[0], columns[1].strip("- "), declared(columns[2].strip()))


def declared(written: str) -> Condition:
    """Return a condition as it's written in a rules file, with or without quotes."""
    if written in ("", "-"):
        return ALWAYS
    try:
        value = tomllib.loads(f"when = {written}")["when"]
    except tomllib.TOMLDecodeError:
        value = written
    if value == "tests":
        return any_of(Clause(PATH, TEST_FILES))
    try:
        return read_condition(value)
    except InputError:
        return any_of(Clause(TASK, (str(value),)))  # a label in words of its own


def values_of(condition: Condition) -> set[tuple[str, str]]:
    """Return the values of *condition* by their keys. ``*.py`` is the same as ``python``, and a
    task named beside its command says nothing new."""
    values: set[tuple[str, str]] = set()
    for case in condition.cases:
        for clause in case:
            values.update([value_of(clause.key, value) for value in clause.values])
    if any(key == RUN for key, _ in values):
        values = {(key, value) for key, value in values if key != TASK}
    return values


def value_of(key: str, value: str) -> tuple[str, str]:
    """Return a value in one form."""
    ending = value.removeprefix("**/").removeprefix("*")
    if key == PATH and ending.startswith(".") and ending[1:].isalnum():
        language = language_of(f"x{ending}")
        if language is not None:
            return LANGUAGE, language
    # People who write `docs/*.md` mean subfolders too, so brim reads it that way.
    return key, value.removeprefix("**/").replace("/**/", "/")


def main() -> int:
    """Measure, and return the exit status."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    if "\twhen" in lines[0] or "\texpected" in lines[0]:
        lines = lines[1:]  # the names of the columns
    rules = [LabelledCondition.read(line) for line in lines if line and not line.startswith("#")]
    read = 0
    conditioned = 0
    right = 0
    for rule in rules:
        inferred = values_of(inferred_condition(rule.text, rule.heading))
        expected = values_of(rule.expected)
        is_right = bool(inferred) and inferred <= expected
        read += bool(inferred)
        conditioned += bool(expected)
        right += is_right
        if inferred and not is_right:
            say(f"wrong: {rule.text}\n  read {sorted(inferred)}, meant {sorted(expected)}")
        elif expected and not inferred:
            say(f"missed: {rule.text}\n  meant {sorted(expected)}")
    precision = right / read if read else 1.0
    recall = right / conditioned if conditioned else 1.0
    print(f"{len(rules)} rules, {conditioned} with a condition; {read} were read, {right} right")
    print(f"precision {precision:.0%}, recall {recall:.0%}")
    return 0 if precision >= 0.9 and recall >= 0.4 else 1


if __name__ == "__main__":
    sys.exit(main())
