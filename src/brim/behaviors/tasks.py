"""What is being done, and about what: ``tasks.tsv`` and ``subjects.tsv`` in data/."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from brim.behaviors.words import looked_at, stem, tokens
from brim.files import data_map, data_rows
from brim.rules.programs import launched, steps
from brim.rules.shell import pieces

RUN = 3
"""What a command counts against a word: a command is done, a word is only said."""


def task_of(text: str) -> str | None:
    """Return the task that *text* speaks of most clearly, or None if it speaks of none.

    >>> [task_of(text) for text in ("cd api && uv run pytest -x", "git commit -m 'fix tests'", "Why does it crash?")]
    ['testing', 'git', 'debugging']
    """
    return next(iter(tasks_of(text)), None)


def tasks_of(text: str) -> tuple[str, ...]:
    """Return every task that *text* speaks of, the clearest first; equal ones in the order of the
    table."""
    text = looked_at(text)
    points = dict.fromkeys(tasks_run(text), RUN)
    by_stem = data_map(
        __file__, "task_stems.tsv"
    )  # the tasks that a stem speaks of, with spaces between them
    for word in {stem(token) for token in tokens(text)}:
        for task in by_stem.get(word, "").split():
            points[task] = points.get(task, 0) + 1
    order = list(known_tasks())
    return tuple(sorted(points, key=lambda task: (-points[task], order.index(task))))


def tasks_run(text: str) -> list[str]:
    """Return the tasks of the commands in *text*, whatever its words speak of."""
    return [task for command in _commands(steps(text.lower())) for task in _ran(command)]


def programs_of(text: str) -> tuple[str, ...]:
    """Return the programs that the commands in *text* run, each alone and with its next word if
    that is one.

    >>> programs_of("cd api && uv run pytest -x; git push origin")
    ('cd', 'cd api', 'pytest', 'git', 'git push')
    """

    found = []
    for first, *rest in _commands([piece.words for piece in pieces(text.lower())]):
        found.append(first)
        if rest and rest[0].isidentifier():
            found.append(f"{first} {rest[0]}")
    return tuple(dict.fromkeys(found))


def is_program(word: str) -> bool:
    """Whether the table of tasks knows commands that begin with *word*, in lower case."""
    return bool(_shapes(word))


def named_task(task: str) -> str:
    """Return the name by which the table knows *task*, or the task as it is, on one line.

    >>> named_task("Deploy"), named_task("testing"), named_task("taxes")
    ('deployment', 'testing', 'taxes')
    """
    task = " ".join(task.split())
    return task if task.casefold() in known_tasks() else task_of(task) or task


def known_tasks() -> tuple[str, ...]:
    """Return every task of the table, in its order."""
    return tuple(dict.fromkeys([row[0] for row in data_rows(__file__, "tasks.tsv")]))


def _commands(found: list[list[str]]) -> list[list[str]]:
    """Return the commands that those in *found* launch. A program goes by its name, a project's
    script by its path."""
    return [[_name(words[0]), *words[1:]] for each in found if (words := launched(each))]


def _name(program: str) -> str:
    return (
        program.rsplit("/", 1)[-1].removesuffix(".exe")
        if "/bin/" in program
        else program.removeprefix("./")
    )


def _ran(words: list[str]) -> list[str]:
    """Return the task that the command of *words* is for: that of the longest beginning that it
    has."""
    fitting = [(len(shape), task) for shape, task in _shapes(words[0]) if _begins(words, shape)]
    return [max(fitting, key=lambda each: each[0])[1]] if fitting else []


def _begins(words: list[str], shape: list[str]) -> bool:
    if shape[-1] == "$":
        return words == shape[:-1]
    return len(words) >= len(shape) and all(
        word.startswith(part[:-1]) if part.endswith("*") else word == part
        for word, part in zip(words, shape, strict=False)
    )


@lru_cache(1024)
def _shapes(first: str) -> list[tuple[list[str], str]]:
    """Return the beginnings of commands with this first word, each with its task. Most words begin
    no command."""
    return [
        (shape.split(), task)
        for task, how, said in data_rows(__file__, "tasks.tsv")
        if how == "run" and first in said
        for shape in said.split(", ")
        if shape == first or shape.startswith(f"{first} ")
    ]


def subjects_of(stems: Iterable[str]) -> dict[str, int]:
    """Return the subjects that the *stems* of a rule speak of, each with how many of them do.

    >>> subjects_of(["literal", "tooltip", "deploy"])
    {'#ui': 2, '#text': 2, '#operations': 1}
    """
    return _subjects(stems, alone=2)


def subjects_asked(stems: Iterable[str]) -> dict[str, int]:
    """Return the subjects that a prompt with these *stems* has to do with, each with how many of
    them say so.

    >>> subjects_asked(["click", "tooltip", "deploy"])
    {'#ui': 2, '#text': 1, '#secrets': 1, '#operations': 1}
    """
    return _subjects(stems, alone=3)


def _subjects(stems: Iterable[str], *, alone: int) -> dict[str, int]:
    """Return the subjects of *stems* by the words of both and those in the column *alone*."""
    found, sought = dict[str, int](), [f" {each} " for each in stems]
    for row in data_rows(__file__, "subjects.tsv"):
        known = f" {row[1]} {row[alone]} "
        if many := sum([each in known for each in sought]):
            found[f"#{row[0]}"] = many
    return found
