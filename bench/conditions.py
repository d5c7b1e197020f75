"""Which conditions are read from the words of rules: ``python bench/conditions.py FILE [--totals]``.

Each line of FILE is a rule with the condition that a person gave it, in three columns between tabs:
an id, the text, and patterns such as ``path:src/** | lang:python | run:git push``, or nothing. What
was read is right if it's met in no situation in which the person's condition isn't: it may be
narrower. The situations are made from the values of both: files that a glob means, at the root and
in a folder, files of a language, a command with an argument. All usual test files are one place,
and ``src/*.py`` has subfolders too. The output lists the others, with ``--totals`` only the sums.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import brim.rules.languages
from brim.files import data_map
from brim.rules.prose import inferred_condition
from brim.rules.situation import Situation, commands_in
from brim.rules.when import BRANCH, LANGUAGE, PATH, RUN, TASK, TEST_FILES, Clause, Condition, any_of
from measure import say

KEYS = {"path": PATH, "lang": LANGUAGE, "run": RUN, "branch": BRANCH}
SAME = {
    "dockerfile": Clause(LANGUAGE, ("docker",)),
    "changelog.md": Clause(PATH, ("CHANGELOG*",)),
    "git checkout -b": Clause(RUN, ("git switch -c", "git branch")),
}
"""Other ways to say a value."""


@dataclass(frozen=True)
class LabelledCondition:
    """A rule and when it should be told."""

    text: str
    expected: Condition

    @classmethod
    def read(cls, line: str) -> LabelledCondition:
        """Return what a *line* of the file says."""
        _, text, written = [*line.rstrip("\n").split("\t"), ""][:3]
        return cls(text.replace("\\n", "\n"), labelled(written))


def labelled(written: str) -> Condition:
    """Return a condition as a person labelled it."""
    clauses: list[Clause] = []
    for part in written.split(" | "):
        key, _, value = part.strip().partition(":")
        if key not in KEYS:
            continue
        clauses.append(Clause(KEYS[key], (value,)))
        if "*test*" in value or value.startswith(("tests/", "**/tests")):
            clauses.append(Clause(PATH, TEST_FILES))
        if "/*." in value and "**" not in value:
            clauses.append(Clause(PATH, (value.replace("/*.", "/**/*."),)))
        if value.lower() in SAME:
            clauses.append(SAME[value.lower()])
    return any_of(*clauses)


def situations(condition: Condition) -> Iterator[Situation]:
    """Yield situations in which *condition* is met, some for each value."""
    for case in condition.cases:
        for clause in case:
            for value in clause.values:
                yield from situations_of(clause.key, value)


def situations_of(key: str, value: str) -> Iterator[Situation]:
    """Yield situations for one value."""
    if key == PATH:
        path = value.replace("**/", "a/b/").replace("**", "a/b.x").replace("*", "x")
        yield Situation(paths=(path,))
        yield Situation(paths=(f"pkg/{path}",))
    elif key == LANGUAGE:
        for ending, language in data_map(brim.rules.languages.__file__, "languages.tsv").items():
            if language == value:
                yield Situation(paths=(f"dir/x{ending}" if ending.startswith(".") else ending,))
    elif key == RUN:
        command = f"{value} x"
        yield Situation(command=command, commands=commands_in(command))
    elif key == BRANCH:
        yield Situation(branch=value.replace("*", "x"))


def without_tasks(condition: Condition) -> Condition:
    """Return *condition* without the tasks that a heading names beside their command."""
    return Condition(tuple([case for case in condition.cases if case[0].key != TASK]))


def main() -> int:
    """Measure, and return the exit status."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    rules = [LabelledCondition.read(line) for line in lines[1:] if line]
    shows = "--totals" not in sys.argv
    read = 0
    conditioned = 0
    right = 0
    for rule in rules:
        inferred = without_tasks(inferred_condition(rule.text))
        is_right = bool(inferred) and all(map(rule.expected.is_met, situations(inferred)))
        is_right = is_right and bool(rule.expected)
        read += bool(inferred)
        conditioned += bool(rule.expected)
        right += is_right
        if shows and inferred and not is_right:
            say(f"wrong: {rule.text}\n  read {inferred}, meant {rule.expected}")
        elif shows and rule.expected and not inferred:
            say(f"missed: {rule.text}\n  meant {rule.expected}")
    precision = right / read if read else 1.0
    recall = right / conditioned if conditioned else 1.0
    print(f"{len(rules)} rules, {conditioned} with a condition; {read} were read, {right} right")
    print(f"precision {precision:.0%}, recall {recall:.0%}")
    return 0 if precision >= 0.9 and recall >= 0.4 else 1


if __name__ == "__main__":
    sys.exit(main())
