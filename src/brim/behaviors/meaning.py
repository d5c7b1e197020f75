"""What a rule says, as far as a comparison of two wordings can see it.

Its content words in one form each, with a sign (asked for, or turned by a negation), a rank (earlier or later, where
the rule speaks of order), a role (the preposition before it) and the condition or exception that it stands under; its
numbers; what looks like code; and the kinds of its negations, conditions and exceptions. A reason (*because …*) is no
part of the rule.
"""

from __future__ import annotations

from itertools import pairwise

from brim.behaviors import tables
from brim.behaviors.sense import is_reason, sense_words, single_words
from brim.behaviors.summary import one_line
from brim.behaviors.words import is_unspaced, looked_at, stem, tokens

_AROUND = ".,;:!?()[]{}\"'`*“”‘’«»、，。；：！？（）「」…"
_SENTENCE = frozenset(".;!?:。；：！？")
_COMMA = frozenset(",，、")
_PREPOSITIONS = frozenset(
    ("to", "into", "onto", "from", "than", "over", "under", "by", "as", "in", "on", "for", "with", "of", "at", "per")
)
_CODE = frozenset("_/\\.:()=<>{}[]$@#*+|&%~")
_MODAL = frozenset(("should", "must", "may", "can", "could", "shall", "will", "would", "is", "are", "does"))
_BEING = frozenset(("be", "is", "are", "been", "being", "get", "gets"))
_COMPARED = {"not*": "not", "n't": "not", "instead": "not", "before": "order", "after": "order"}
"""Kinds of sense words that are compared as one: signs and ranks tell them apart."""
_NUMBERS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "ten": "10"}


class Meaning:
    """What one text says. ``words`` maps each content word to 1, or to -1 where a negation turns it."""

    __slots__ = ("code", "limited", "line", "numbers", "passive", "ranks", "roles", "senses", "under", "words")

    def __init__(self, text: str) -> None:
        self.line = _spaced(one_line(looked_at(text))).replace("Make sure", "Ensure").replace("make sure", "ensure")
        self.words: dict[str, int] = {}
        self.senses: set[str] = set()
        self.numbers: set[str] = set()
        self.code: set[str] = set()
        self.ranks: dict[str, int] = {}
        self.roles: dict[str, str] = {}
        self.under: dict[str, str] = {}
        self.limited: set[str] = set()
        """What *only* speaks of: the word after it, or before it if there is none."""
        self.passive = False
        _Reader(self).read()


class _Reader:
    """Goes through a line once, word by word, and fills a ``Meaning``."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.senses: dict[int, str] = {}
        kinds = _kinds()
        for start, end in sense_words(meaning.line):
            word = meaning.line[start:end].lower().replace("’", "'")
            kind = kinds.get(word, word)
            self.senses[start] = "n't" if kind == "not" and "n't" in word and word != "don't" else kind
        self.sign = 1
        self.role = self.under = ""
        self.after_comma = self.contrast = self.clause_turned = self.preferring = self.limiting = False
        self.last = ""
        self.clause: list[str] = []
        self.sentence: list[tuple[str, str]] = []

    def read(self) -> None:
        line, at, skipping = self.meaning.line, 0, False
        for chunk in line.split(" "):
            start, at = at, at + len(chunk) + 1
            if self.meaning.words and self._gives_reason(line, start, chunk):
                skipping = True
            if not skipping:
                self._chunk(chunk, start)
            tail = chunk.rstrip("\"'`)]}*”’»）」")[-1:]
            if tail in _SENTENCE and tail:
                self._end_clause()
                self._end_sentence()
                skipping = False
            elif tail in _COMMA and tail:
                self._end_clause()
                self.after_comma, self.role, self.under = True, "", ""
                self.sentence.append(("comma", ""))
        self._end_clause()
        self._end_sentence()

    def _gives_reason(self, line: str, start: int, chunk: str) -> bool:
        return chunk.lower() == "because" or (self.after_comma and is_reason(line[start : start + 40].lower()))

    def _chunk(self, chunk: str, start: int) -> None:
        core = chunk.strip(_AROUND)
        for place in range(start, start + len(chunk)):
            if place in self.senses:
                self._sense(self.senses[place])
        if not core:
            return
        if _looks_like_code(core):
            if core[-1].isdigit() and not any(map(str.isalpha, core)):
                self.meaning.numbers.add(core)
            else:
                self.meaning.code.add(core)
            self._content(core.lower())
            return
        marked = chunk[:1] in ('"', "`", "“", "«")
        if marked or chunk[-1:] in ('"', "`", "”", "»"):
            self.meaning.code.add(core)
        # "A" and "I" inside a sentence are names of things as often as words of English.
        marked = marked or (len(core) == 1 and core.isupper() and bool(self.sentence))
        for word in tokens(core):
            self._word(word, marked)

    def _word(self, word: str, marked: bool) -> None:
        word = _NUMBERS.get(word, word)
        if self.last in _BEING and word not in _PREPOSITIONS:
            self._being(word)
        self.last = word
        if word[:1].isdecimal():
            self.meaning.numbers.add(word)
        elif word in _PREPOSITIONS:
            self.role = word
            if word == "over" and self.preferring:
                self._sense("instead")
        elif word == "then":
            self.sentence.append(("then", ""))
        elif marked or not (word in tables.words("fillers.txt") or word in _plain_senses()):
            self.preferring = self.preferring or word in ("prefer", "favor", "favour", "choose", "pick")
            self._content(canonical(word))
        self.after_comma = False

    def _being(self, word: str) -> None:
        """Note a passive: *errors are logged* says of errors what *log errors* says."""
        if word.endswith(("ed", "en")) or stem(word) != word:
            self.meaning.passive = True
            if self.sign < 0:
                self.clause_turned = True

    def _content(self, word: str) -> None:
        if word == "use" and (self.after_comma or self.contrast):
            self.sign, self.contrast = 1, False
        if word == "use":
            self.role = ""
        meaning = self.meaning
        if self.limiting and word != "use":
            meaning.limited.add(word)
            self.limiting = False
        if word not in meaning.words:
            meaning.words[word] = self.sign
            self.clause.append(word)
        if self.role:
            meaning.roles.setdefault(word, self.role)
        if self.under:
            meaning.under.setdefault(word, self.under)
        self.sentence.append(("word", word))

    def _sense(self, kind: str) -> None:
        self.meaning.senses.add(_COMPARED.get(kind, kind))
        self.role = ""
        if kind in ("not", "n't", "instead"):
            self.sign, self.contrast = -1, kind == "instead"
            # In "code must not print" the negation turns what stands before it too; in "use uv, not pip" it does not.
            if self.clause and (kind == "n't" or (kind == "not" and self.last in _MODAL)):
                self.clause_turned = True
        elif kind == "not*":
            self.clause_turned = True
        elif kind == "but":
            self._end_clause()
            self.sign = 1
        elif kind in ("before", "after"):
            self.sentence.append((kind, ""))
        elif kind == "only":
            self.limiting = True
        else:
            self.under = kind

    def _end_clause(self) -> None:
        if self.limiting:  # "in CI only" is "only in CI"
            self.meaning.limited.update([word for what, word in self.sentence if what == "word"][-1:])
            self.limiting = False
        if self.clause_turned:
            for word in self.clause:
                self.meaning.words[word] = -1
        self.clause, self.clause_turned = [], False

    def _end_sentence(self) -> None:
        """Give the words of a sentence that speaks of order their ranks: 1 is earlier, 2 later."""
        marks = [at for at, (what, _) in enumerate(self.sentence) if what in ("before", "after")]
        if marks:
            self._rank_around(marks[0])
        elif any(what == "then" for what, _ in self.sentence):
            rank = 1
            for what, word in self.sentence:
                rank += what == "then"
                if what == "word":
                    self.meaning.ranks.setdefault(word, rank)
        self.sentence, self.sign, self.role, self.under, self.last = [], 1, "", "", ""
        self.after_comma = self.contrast = self.preferring = self.limiting = False

    def _rank_around(self, mark: int) -> None:
        """Rank the words on both sides of *before* or *after*, or of the comma if the sentence opens with it."""
        first, second = (1, 2) if self.sentence[mark][0] == "before" else (2, 1)
        border = mark
        if not any(what == "word" for what, _ in self.sentence[:mark]):
            first, second = second, first
            commas = [at for at, (what, _) in enumerate(self.sentence) if what == "comma" and at > mark]
            border = commas[0] if commas else len(self.sentence)
        for at, (what, word) in enumerate(self.sentence):
            if what == "word":
                self.meaning.ranks.setdefault(word, first if at < border else second)


def _spaced(line: str) -> str:
    """Return *line* with spaces after the signs, and around the foreign words, of scripts that have none."""
    if line.isascii():
        return line
    for sign in "，。；：、！？":
        line = line.replace(sign, sign + " ")
    parts = []
    for last, character in zip(" " + line, line, strict=False):
        if " " not in (last, character) and is_unspaced(last) is not is_unspaced(character):
            parts.append(" " if last.isalnum() and (character.isalnum() or character in '`"') else "")
        parts.append(character)
    return " ".join("".join(parts).split())


def _looks_like_code(core: str) -> bool:
    if core.lower() in tables.words("fillers.txt"):
        return False
    camel = any(a.islower() and b.isupper() for a, b in pairwise(core))
    return camel or core[0] == "-" or not _CODE.isdisjoint(core)


_same: dict[str, str] = {}
_kind: dict[str, str] = {}
_plain: list[frozenset[str]] = []


def canonical(token: str) -> str:
    """Return the one form of *token* that stands for all its forms and synonyms."""
    if not _same:
        for word, others in tables.rows("synonyms.tsv"):
            _same.update((stem(other), word) for other in (word, *others.split()))
    root = stem(token)
    return _same.get(root, root)


def _kinds() -> dict[str, str]:
    """Return the kind of each sense word that shares one with others."""
    if not _kind:
        for kind, words in tables.rows("sense_kinds.tsv"):
            _kind.update((word, kind) for word in words.split(", "))
    return _kind


def _plain_senses() -> frozenset[str]:
    if not _plain:
        _plain.append(frozenset(word.replace("'", "") for word in single_words()))
    return _plain[0]
