"""What a correction says besides its text: its kind, its tags, a name, and when it matters. Guesses by word lists."""

from __future__ import annotations

from brim.behaviors import tables
from brim.behaviors.kinds import BehaviorKind
from brim.behaviors.languages import language_of
from brim.behaviors.names import as_tag
from brim.behaviors.summary import one_line
from brim.behaviors.tasks import named_task
from brim.behaviors.when import When
from brim.behaviors.words import is_unspaced, looked_at, stem, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TAGS = 8
LONGEST_NAME = 50
WORDS_IN_NAME = 6

_OPENERS = frozenset(("please", "you", "we", "and", "but", "also", "always", "important", "note", "remember", "so"))
_CONDITIONS = (
    "when ",
    "if ",
    "whenever ",
    "after ",
    "once ",
    "as soon as ",
    "wenn ",
    "falls ",
    "si ",
    "quando ",
    "se ",
)
_NEGATIONS = frozenset(("not", "no", "never", "only", "without", "instead", "before", "after", "unless", "dont"))


def infer_kind(right: str, wrong: str = "") -> BehaviorKind:
    """Return what kind of rule *right* is: ``data/kinds.tsv``, steps, and conditions with what follows on them.

    What happened once is no correction, so it is taken for one only if nothing was *wrong*.

    >>> infer_kind("Never push to main."), infer_kind("Use uv, not pip")
    (<BehaviorKind.CONSTRAINT: 'constraint'>, <BehaviorKind.DIRECTIVE: 'directive'>)
    """
    text = looked_at(right).lower().replace("’", "'")
    clauses = list(_clauses(text))
    steps = _has_steps(text)
    # A list of steps is a procedure even if one of them says never; not if that is how it begins.
    told = _told(text, clauses[:1] if steps else clauses, anywhere=not steps)
    if told is BehaviorKind.CONSTRAINT or (told and not steps and not (told is BehaviorKind.EPISODIC and wrong)):
        return told
    if steps:
        return BehaviorKind.PROCEDURE
    if clauses and clauses[0].startswith(_CONDITIONS) and ("," in text or " then " in text):
        return BehaviorKind.WORKFLOW
    return BehaviorKind.DIRECTIVE


def infer_tags(right: str, file: str = "") -> tuple[str, ...]:
    """Return at most 8 tags, sorted: the language of *file*, then the topics that *right* names first.

    >>> infer_tags("Use pytest fixtures for the database", "tests/test_app.py")
    ('database', 'python', 'testing')
    """
    language = language_of(file) if file else None
    found = [as_tag(language)] if language else []
    topics = _topics()
    for word in tokens(looked_at(right)):
        found.extend(topics.get(stem(word), ()))
    return tuple(sorted(list(dict.fromkeys(found))[:MOST_TAGS]))


def infer_name(right: str) -> str:
    """Return a short name from the first words of *right*; without letters of ASCII one from its hash.

    >>> infer_name("Please always use uv, and never pip, for installing packages."), infer_name("Größe prüfen!")
    ('use-uv-never-pip-installing-packages', 'grosse-prufen')
    """
    kept: list[str] = []
    for word in _name_words(looked_at(right)):
        if len("-".join((*kept, word))) > LONGEST_NAME or len(kept) == WORDS_IN_NAME:
            break
        kept.append(word)
    if kept:
        return "-".join(kept)
    return next(_name_words(looked_at(right)), "")[:LONGEST_NAME].strip("-.") or f"rule-{_digest(right)[:6]}"


def infer_when(file: str = "", task: str = "") -> When:
    """Return the conditions that *file* and *task* stand for.

    Of a file only its language: a correction made in one Python file is meant for the others too. A task may
    also go by the name that is inferred for it, so that ``deploy`` comes back with *deployment*.
    """
    task = " ".join(task.split())
    return When(language=language_of(file) if file else None, task=(task, named_task(task)) if task else None)


def _told(text: str, clauses: list[str], *, anywhere: bool) -> BehaviorKind | None:
    for kind, where, phrases in tables.rows("kinds.tsv"):
        for phrase in phrases.split(", "):
            if where == "start":
                said = any(_begins(clause, phrase) for clause in clauses)
            else:
                said = anywhere and _says(text, phrase)
            if said:
                return BehaviorKind(kind)
    return None


def _begins(clause: str, phrase: str) -> bool:
    return clause.startswith(phrase) and (
        is_unspaced(phrase[-1]) or not clause[len(phrase) : len(phrase) + 1].isalnum()
    )


def _says(text: str, phrase: str) -> bool:
    at = text.find(phrase)
    while at >= 0:
        if is_unspaced(phrase[0]) or (not text[at - 1 : at].isalnum() and _begins(text[at:], phrase)):
            return True
        at = text.find(phrase, at + 1)
    return False


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of *text*, each without the words that only open it."""
    for sign in (". ", "! ", "? ", "; ", ": ", ", ", " - ", " — ", " but ", "。", "，", "；", "！"):
        text = text.replace(sign, "\n")
    for line in text.split("\n"):
        words = line.strip(" \t-*+#>•\"'`(_").split(" ")
        while words and words[0].strip(",:*_") in _OPENERS:
            words = words[1:]
        if words and words[0] and not words[0].strip(".)").isdecimal():
            yield " ".join(words)


def _has_steps(text: str) -> bool:
    """Whether *text* tells steps: two numbered lines, *step 1*, or *first … then*."""
    numbered = 0
    for line in text.split("\n"):
        number = line.strip().partition(" ")[0]
        numbered += len(number) > 1 and number[-1] in ".):" and number[:-1].isdecimal()
    if numbered > 1 or _says(text, "step 1"):
        return True
    first = text.find("first")
    return first >= 0 and _says(text[first:], "then") and not text[max(0, first - 1) : first].isalnum()


def _name_words(text: str) -> Iterator[str]:
    """Yield the words of the beginning of *text* that a name can hold, without fillers."""
    from unicodedata import normalize

    fillers = tables.words("fillers.txt") - _NEGATIONS
    for chunk in one_line(text[:1_000]).replace("'", "").replace("’", "").split():
        plain = normalize("NFKD", chunk.casefold())
        word = "".join(
            character if (character.isascii() and character.isalnum()) or character == "." else " "
            for character in plain
            if not _is_accent(character)
        )
        word = "-".join(part.strip(".") for part in word.split() if part.strip("."))
        if word and word not in fillers:
            yield word


def _is_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


def _topics() -> dict[str, list[str]]:
    if not _by_word:
        for tag, words in tables.rows("topics.tsv"):
            for word in dict.fromkeys(map(stem, words.split())):
                _by_word.setdefault(word, []).append(tag)
    return _by_word


_by_word: dict[str, list[str]] = {}


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(" ".join(text.lower().split()).encode("utf-8", "replace")).hexdigest()
