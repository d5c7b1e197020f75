"""A rule taken apart: what to do or avoid, and when, each as phrases of plain word forms.

Two rules are compared by their clauses, so that a changed order or inflection makes no difference, while a negation, a
condition, a direction or a number does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from brim.behaviors.summary import is_reason, one_line, single_words
from brim.behaviors.words import is_unspaced, language_spoken, looked_at, stem, stems, tokens, word_list
from brim.files import data_rows

Phrase = tuple[str, tuple[str, ...]]
"""A preposition, or nothing, and the words that it leads."""

LANGUAGES = ("en", "de", "fr", "es", "pt")
"""The languages whose word forms are known."""
CONDITIONS = frozenset(("if", "before", "after", "except", "while", "without"))
"""The kinds of words that begin a clause which says when."""
SCOPES = frozenset(("in", "on", "at", "for", "inside", "within", "under", "during", "across"))
"""Prepositions that say where a rule counts."""

_SIGNS = re.compile(r"([.!?;:](?=\s|$)|[。！？；：，、]|,(?!\d)|\((?!\))|(?<!\()\)|[\[\]]|\s[-–—]+\s|—)")
_NAME = re.compile(r"(?<![\w-])[\w-]+(?:[./\\][\w*-]+)+|(?<![\w-])[^\W_]+(?:_[^\W_]+)+|(?<!\S)--?[a-z][\w-]*")
"""A name with dots, slashes or underscores, or an option."""
SOFT = frozenset(("in", "on", "at", "for", "with", "of", "as", "per", "via", "inside", "within", "across", "during"))
"""Prepositions that can stand for each other."""
HARD = frozenset(("to", "from", "into", "onto", "by", "than", "through", "under", "over"))
_AUXILIARIES = frozenset(
    ("must", "should", "may", "can", "could", "would", "will", "shall", "might", "do", "does", "did", "is", "are", "be")
)
_JOINING = frozenset(("and", "or", "but", "und", "oder", "aber", "et", "ou", "mais", "y", "o", "pero", "e", "mas"))
_PARTICLES = frozenset(("off", "out", "down"))
"""What turns a verb round: *turn it on*, *turn it off*."""
_CHOICES = frozenset(("or", "nor", "oder", "ou", "o"))
_RELATIVES = frozenset(("that", "which", "who", "whose"))
_SPELLED = {
    word: str(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_NUMBER = r"(?=\d|(?:" + "|".join(_SPELLED) + r")\b)"
_MODES = {"until": "before", "till": "before", "unless": "except", "while": "while"} | dict.fromkeys(
    ("without", "ohne", "sans", "sin", "sem"), "without"
)


@dataclass(frozen=True)
class Clause:
    """What a rule says in one go."""

    role: str
    """Empty is what to do; else one of ``CONDITIONS``: when."""
    negated: bool
    phrases: tuple[Phrase, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All of its words, in order."""
        return tuple(word for _, words in self.phrases for word in words)

    @property
    def led(self) -> list[tuple[str, str]]:
        """Its words, each with the preposition that leads it."""
        return [(word, lead) for lead, words in self.phrases for word in words]

    @property
    def key(self) -> tuple[object, ...]:
        """What two clauses have in common that say the same: phrases in any order."""
        return (
            self.role,
            self.negated,
            tuple(sorted(("" if lead in SOFT else lead, words) for lead, words in self.phrases)),
        )


@lru_cache(16_384)
def clauses_of(text: str) -> tuple[Clause, ...]:
    """Return the clauses of *text*, without its reasons.

    >>> for each in clauses_of("Before committing, run the tests, never the benchmarks, because they are slow."):
    ...     print(each.role or "do", each.negated, each.words)
    before False ('commit',)
    do False ('run', 'test')
    do True ('benchmark',)
    """
    found: list[Clause] = []
    carried: list[Phrase] = []
    negated, line = False, one_line(looked_at(text))
    language = language_spoken(tokens(line))
    for sign, part, rest in _parts(line):
        if is_reason(part.lower()):
            continue
        said = _said(part)
        inherits = negated and sign == "," and _is_listed(said, _said(rest))
        for clause in _split(said, language, negated=inherits):
            if not clause.role and clause.phrases[0][0] in SCOPES and said[0] in SCOPES and rest and not found:
                carried += clause.phrases
                continue
            if not clause.role:
                negated = clause.negated
                clause, carried = Clause("", clause.negated, (*clause.phrases, *carried)), []  # noqa: PLW2901
                if found and clause.negated and not found[-1].negated and not found[-1].role:
                    found[-1], clause = _scoped(found[-1], clause)  # noqa: PLW2901
            found.append(clause)
    if carried:
        found.append(Clause("", False, tuple(carried)))
    return tuple(found)


def _scoped(done: Clause, avoided: Clause) -> tuple[Clause, Clause]:
    """Return both with what stands after the second and says where the two count: *uv instead of pip in CI*."""
    inner = [phrase for phrase in avoided.phrases[1:] if phrase[0] in SCOPES]
    rest = tuple(phrase for phrase in avoided.phrases if phrase not in inner)
    return Clause("", False, (*done.phrases, *inner)), Clause("", True, rest)


def in_order(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Return *clauses* with one way of saying what comes first.

    *Never commit without testing*, *don't commit until you tested* and *commit after testing* are *test before you
    commit*.
    """
    if len(clauses) != 2 or sorted(not each.role for each in clauses) != [False, True]:
        return clauses
    done, when = sorted(clauses, key=lambda each: bool(each.role))
    if (done.negated and when.role in ("without", "before", "except")) or (not done.negated and when.role == "after"):
        return Clause("", False, when.phrases), Clause("before", False, done.phrases)
    return clauses


def _parts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of *text* between its signs: the sign before each, the part, and the rest of the sentence."""
    pieces = _SIGNS.split(text)
    sign = ""
    for at in range(0, len(pieces), 2):
        if pieces[at].strip():
            rest = ""
            for after in range(at + 1, len(pieces) - 1, 2):
                if pieces[after] not in (",", "，", "、"):
                    break
                rest += f" {pieces[after + 1]}"
            yield sign, pieces[at].strip(), rest
        sign = pieces[at + 1].strip() if at + 1 < len(pieces) else ""


def _said(part: str) -> list[str]:
    """Return the words of *part*; ``os.path`` and ``src/app.py`` are one."""
    for pattern, word in _spellings():
        part = pattern.sub(word, part)
    found: list[str] = []
    at = 0
    for name in _NAME.finditer(part):
        found += [*tokens(part[at : name.start()]), name[0].lower()]
        at = name.end()
    return found + tokens(part[at:])


@cache
def _spellings() -> list[tuple[re.Pattern[str], str]]:
    """Return patterns for what is said in several ways, each with the word that stands for it."""
    limits = [(rf"{pattern} {_NUMBER}", f" {word} ") for word, pattern in data_rows(__file__, "limits.tsv")]
    compounds = [(rf"\b(?:{pattern})\b", word) for word, pattern in data_rows(__file__, "compounds.tsv")]
    return [(re.compile(pattern, re.IGNORECASE), word) for pattern, word in (*limits, *compounds)]


def _is_listed(said: list[str], rest: list[str]) -> bool:
    """Whether what was *said* after a comma, with the *rest* of the sentence, goes on with what was before.

    It doesn't if it begins like a clause of its own, unless *or* says that it does: *don't read, print or log it*.
    """
    every = {*said, *rest}
    return bool(said) and not (_JOINING if not _opens(said[0]) else _CHOICES).isdisjoint(every) and said[0] != "use"


def _opens(word: str) -> bool:
    """Whether a clause of its own begins with *word*."""
    return word in word_list("verbs.txt") or stem(word) in word_list("verbs.txt") or kind_of(word) in CONDITIONS


def _split(said: list[str], language: str, *, negated: bool) -> Iterator[Clause]:
    """Yield the clauses of one part: a condition, a contrast or a negation after *and* begins another."""
    role, phrases, lead, words = "", list[Phrase](), "", list[str]()
    prefers = "prefer" in said
    before = ""

    def done() -> Iterator[Clause]:
        every = [*phrases, (lead, tuple(words))] if words else phrases
        every += [("", (lead,))] if every and not words and lead not in ("", "and") else []
        if every:
            yield Clause(role, negated, tuple(every))

    for word in said:
        kind = kind_of(word)
        contrasts = word in ("instead", "rather") or (prefers and word in ("over", "to")) or kind == "instead"
        splits = contrasts or (
            kind == "not"
            and (before in _JOINING or before in _RELATIVES or (word == "not" and before not in _AUXILIARIES))
        )
        if kind in CONDITIONS or (splits and (phrases or words)):
            yield from done()
            role, negated = (kind, False) if kind in CONDITIONS else ("", True)
            phrases, lead, words = [], "", []
        elif kind in ("not", "instead"):
            negated = True
        elif word in SOFT or word in HARD or word in _JOINING:
            if words or lead not in ("", "and"):
                phrases.append((lead, tuple(words)) if words else ("", (lead,)))
            lead, words = "and" if word in _JOINING else word, []
        elif kind != "but" and word not in word_list("fillers.txt"):
            words.append(kind or plain(word, language))
        before = word
    yield from done()


def kind_of(word: str) -> str:
    """Return the kind of a word that turns or narrows a sense: ``not``, ``if``, ``before``, ...; empty for others."""
    kinds = _kinds()
    if is_unspaced(word[0]) and word not in kinds:  # a pair of characters
        return next((kinds[each] for each in word if kinds.get(each) == "not"), "")
    return _MODES.get(word) or kinds.get(word, "")


def plain(word: str, language: str = "en") -> str:
    """Return the form of *word* that stands for its other forms and its synonyms."""
    known, word = _synonyms(), _SPELLED.get(word, word)
    if word in known:
        return known[word]
    found = stems(word, language) if language != "en" else []
    root = found[0] if len(found) == 1 else stem(word)
    return known.get(root, root)


def counts(word: str) -> bool:
    """Whether *word* is, or has, a number, or is a single letter."""
    return any(map(str.isdecimal, word)) or (len(word) == 1 and word.isascii())


def turns(word: str) -> bool:
    """Whether *word*, if only one of two rules has it, makes another rule of it: a number, or a word of sense."""
    return counts(word) or word in _PARTICLES or word in single_words() or word in _kinds().values()


@cache
def _kinds() -> dict[str, str]:
    return {
        word.replace("'", ""): kind.rstrip("*")
        for kind, words in data_rows(__file__, "sense_kinds.tsv")
        for word in words.split(", ")
    }


@cache
def _synonyms() -> dict[str, str]:
    return {
        stem(other): word for word, others in data_rows(__file__, "synonyms.tsv") for other in (word, *others.split())
    }


def is_form(word: str, other: str) -> bool:
    """Whether two words may be forms of one, as *lint* and *linter*, or *log* and *logger*."""
    short, long = sorted((word, other), key=len)
    ending, known = long[len(short) :] if long.startswith(short) else " ", word_list("word_endings.txt")
    doubled = len(short) > 2 and ending[1:] in known and ending[0] == short[-1]
    return word == other or doubled or (len(short) > 3 and ending in known)


def related(word: str, other: str) -> bool:
    """Whether two words may be forms of one, or say the same (``data/related_words.tsv``)."""
    return is_form(word, other) or not _related().get(word, frozenset()).isdisjoint(_related().get(other, ()))


def keys_of(word: str) -> frozenset[str]:
    """Return what *word* shares with every word that is ``related`` to it."""
    return _related().get(word, frozenset()) | {f"{word[:3]}-"}


def excludes(word: str, other: str) -> bool:
    """Whether two words are alternatives, of which one excludes the other (``data/alternatives.tsv``)."""
    return not alternatives(word).isdisjoint(alternatives(other))


def alternatives(word: str) -> frozenset[str]:
    """Return what *word* is one of several alternatives for: indentation, a language, a package manager, ..."""
    return _alternatives().get(word, frozenset())


@cache
def _related() -> dict[str, frozenset[str]]:
    rows = data_rows(__file__, "related_words.tsv")
    return _grouped(((word, f"{word} {others}") for word, others in rows), ("en",))


@cache
def _alternatives() -> dict[str, frozenset[str]]:
    return _grouped(data_rows(__file__, "alternatives.tsv"), LANGUAGES)


def _grouped(rows: Iterable[Sequence[str]], languages: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the groups that each word is in, by its form in each of *languages*; *rows* are groups and their words."""
    found: dict[str, set[str]] = {}
    for group, words in rows:
        for word in words.split():
            for language in languages:
                found.setdefault(plain(word, language), set()).add(group)
    return {word: frozenset(groups) for word, groups in found.items()}
