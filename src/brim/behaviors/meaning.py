"""What a rule says, as far as a comparison of two wordings can see it.

Its content words in one form each, with a sign (asked for, or turned by a negation), a rank (earlier or later, where
the rule speaks of order) and a role (the preposition before it); its numbers; what looks like code; and the kinds of
its negations, conditions and exceptions. A reason (*because …*) is not part of the rule.
"""

from __future__ import annotations

from brim.behaviors import tables
from brim.behaviors.sense import is_reason, sense_words
from brim.behaviors.summary import one_line
from brim.behaviors.words import is_unspaced, looked_at, stem, tokens

_AROUND = ".,;:!?()[]{}\"'`*“”‘’«»、，。；：！？（）「」…"
_SENTENCE = frozenset(".;!?:。；：！？")
_COMMA = frozenset(",，、")
_PREPOSITIONS = frozenset("to into onto from than over under by as in on for with of at per via".split(" "))  # noqa: SIM905
_CODE = frozenset("_/\\.:()=<>{}[]$@#*+|&%~")
_NUMBERS = {word: str(at) for at, word in enumerate("two three four five six seven eight nine ten".split(), 2)}  # noqa: SIM905


class Meaning:
    """What one text says. ``words`` maps each content word to 1, or to -1 where a negation turns it."""

    __slots__ = ("code", "line", "numbers", "order", "ranks", "roles", "senses", "words")

    def __init__(self, text: str) -> None:
        self.line = _spaced(one_line(looked_at(text)))
        self.words: dict[str, int] = {}
        self.senses: set[str] = set()
        self.numbers: set[str] = set()
        self.code: set[str] = set()
        self.ranks: dict[str, int] = {}
        self.roles: dict[str, str] = {}
        self.order: list[str] = []
        _Reader(self).read()


class _Reader:
    """Goes through a line once, word by word, and fills a ``Meaning``."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.senses: dict[int, str] = {}
        kinds = _kinds()
        for start, end in sense_words(meaning.line):
            word = meaning.line[start:end].lower().replace("’", "'")
            self.senses[start] = kinds.get(word, word)
        self.sign = 1
        self.role = ""
        self.after_comma = self.contrast = self.clause_turned = self.preferring = False
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
                self.after_comma, self.role = True, ""
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
        if core.startswith("-") or _looks_like_code(core):
            if any(character.isdigit() for character in core) and not any(c.isalpha() for c in core):
                self.meaning.numbers.add(core)
            else:
                self.meaning.code.add(core)
            self._content(core.lower())
            return
        marked = chunk[:1] in ('"', "`", "“", "«")
        if marked or chunk[-1:] in ('"', "`", "”", "»"):
            self.meaning.code.add(core)
        for token in tokens(core):
            self._token(token, marked)

    def _token(self, token: str, marked: bool) -> None:
        token = _NUMBERS.get(token, token)
        if token[:1].isdecimal():
            self.meaning.numbers.add(token)
        elif token in _PREPOSITIONS:
            self.role = token
            if token == "over" and self.preferring:
                self._sense("instead")
        elif token == "then":
            self.sentence.append(("before", ""))
        elif marked or not (token in tables.words("fillers.txt") or token in _plain_senses()):
            self.preferring = self.preferring or token in ("prefer", "favor", "favour", "choose", "pick")
            self._content(_canonical(token))
        self.after_comma = False

    def _content(self, word: str) -> None:
        if word == "use" and (self.after_comma or self.contrast):
            self.sign, self.contrast = 1, False
        if word == "use":
            self.role = ""
        meaning = self.meaning
        if word not in meaning.words:
            meaning.words[word] = self.sign
            self.clause.append(word)
            if not self.role:
                meaning.order.append(word)
        if self.role:
            meaning.roles.setdefault(word, self.role)
        self.sentence.append(("word", word))

    def _sense(self, kind: str) -> None:
        self.meaning.senses.add(kind.rstrip("*"))
        self.role = ""
        if kind in ("not", "instead"):
            self.sign, self.contrast = -1, kind == "instead"
        elif kind == "not*":
            self.clause_turned = True
        elif kind == "but":
            self.sign = 1
        elif kind in ("before", "after"):
            self.sentence.append((kind, ""))

    def _end_clause(self) -> None:
        if self.clause_turned:
            for word in self.clause:
                self.meaning.words[word] = -1
        self.clause, self.clause_turned = [], False

    def _end_sentence(self) -> None:
        """Give the words of a sentence that speaks of order their ranks: 1 is earlier, 2 later."""
        marks = [at for at, (what, _) in enumerate(self.sentence) if what in ("before", "after")]
        if marks:
            mark = marks[0]
            first, second = (1, 2) if self.sentence[mark][0] == "before" else (2, 1)
            opening = not any(what == "word" for what, _ in self.sentence[:mark])
            border = mark
            if opening:
                first, second = second, first
                commas = [at for at, (what, _) in enumerate(self.sentence) if what == "comma" and at > mark]
                border = commas[0] if commas else len(self.sentence)
            for at, (what, word) in enumerate(self.sentence):
                if what == "word":
                    self.meaning.ranks.setdefault(word, first if at < border else second)
        self.sentence, self.sign, self.role = [], 1, ""
        self.after_comma = self.contrast = self.preferring = False


def _spaced(line: str) -> str:
    """Return *line* with a space after the commas and stops of scripts that have none."""
    if not line.isascii():
        for sign in "，。；：、！？":
            line = line.replace(sign, sign + " ")
    return line.rstrip()


def _looks_like_code(core: str) -> bool:
    if core.isalnum() and not any(a.islower() and b.isupper() for a, b in zip(core, core[1:], strict=False)):
        return False
    return not _CODE.isdisjoint(core) or core.replace("-", "").isalnum() is False or _is_camel(core)


def _is_camel(core: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in zip(core, core[1:], strict=False))
