"""Secrets by their shape, such as the keys of providers, and by their place: in an address, after
an authorization, in a mapping of secrets.

``load_table`` reads ``data/masking.tsv``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from re import Match, Pattern

from brim.files import data_rows
from brim.record import PlainData

Place = tuple[int, int, str]
"""Where a secret begins and ends, and what the mask calls it."""
Finder = Callable[[str], list[Place]]

MASK = r"\[masked [a-z0-9 ]{1,40}\]"
REFERENCE = (
    r"\$\{|\$\(|\$[A-Z_][A-Z0-9_]*+(?![\w$])|\$[a-z_]++(?![\w$])|\{[^}\n]{0,80}\}|<[^>\n]{1,60}>"
    r"|%[A-Za-z_]{1,60}%|[*.…xX]{3,}+(?!\w)"
)
"""What a value begins with that only refers to a secret."""
KEY_KINDS = ("shape", "inside")
"""Shapes of keys: their hints stand in long words."""
SHAPE_KINDS = (*KEY_KINDS, "flag", "line", "rest")

Hints = list[tuple[str, int]]
"""Hints, each with the number of its shape."""


@dataclass(frozen=True)
class ShapeLine(PlainData):
    """A line of the table about one shape."""

    kind: str
    label: str
    hints: list[str]
    pattern: str


@dataclass(frozen=True)
class SecretTable(PlainData):
    """What ``data/masking.tsv`` says."""

    shapes: list[ShapeLine]
    key_hints: Hints
    """The hints that stand in long words."""
    other_hints: Hints
    blocks: list[list[str]]
    labels: dict[str, str]
    """The words that a secret's name ends in, and how the mask calls it."""
    words: dict[str, frozenset[str]]
    """Lists of words; the table says what each is for."""


@cache
def load_table() -> SecretTable:
    """Return the table, read once."""
    table = SecretTable([], [], [], [], {}, {})
    for row in data_rows(__file__, "masking.tsv"):
        kind = row[0]
        if kind in SHAPE_KINDS:
            _add_shape(table, row)
        elif kind == "block":
            table.blocks.append(row[1:])
        elif kind == "name":
            for word in row[2].split(" "):
                table.labels[word] = row[1]
        elif kind == "words":
            table.words[row[1]] = frozenset(row[2].split(" "))
    return table


def _add_shape(table: SecretTable, row: list[str]) -> None:
    kind, label, hints, shape_pattern = row[:4]
    number = len(table.shapes)
    hint_list = hints.replace(" ", "\n").replace("·", " ").split("\n")
    table.shapes.append(ShapeLine(kind, label, hint_list, shape_pattern))
    numbered = table.other_hints
    if kind in KEY_KINDS:
        numbered = table.key_hints
    for hint in hint_list:
        numbered.append((hint, number))


@cache
def pattern(expression: str) -> Pattern[str]:
    """Return *expression* compiled for ASCII, once."""
    return re.compile(expression, re.ASCII)


def lowered(text: str) -> str:
    """Return *text* in small letters, each at its old place: only a capital dotted I becomes two
    characters."""
    return text.replace("\u0130", "i").lower()


def apart(places: list[Place]) -> list[Place]:
    """Return *places* in order, without those that begin inside an earlier one."""
    separate: list[Place] = []
    for place in sorted(places):
        if not separate or place[0] >= separate[-1][1]:
            separate.append(place)
    return separate


def sections(heads: Pattern[str], text: str) -> list[tuple[Match[str], int]]:
    """Return each match of *heads* and where the next one begins: who looks only that far looks at
    no character twice."""
    matches = list(heads.finditer(text))
    ends = [match.start() for match in matches[1:]]
    ends.append(len(text))
    return list(zip(matches, ends, strict=False))


# Keys and passwords -------------------------------------------------------------------------------

SHORTEST_KEY = 14
LOOK_BACK = 40
"""How far before its hint an ``inside`` shape may begin."""
LONGEST_LINE_START = 200
BORDER = r"(?:(?<![A-Za-z0-9])|(?<=\[m)|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<=\\[nrt]))"
"""A shape begins where no letter or digit stands before it; a terminal's colour code and ``\\n``
don't count."""
WRAPPED = (
    r"(?:\r?\n[ \t]{0,8}(?=[a-z0-9_-]*+[A-Z])(?=[A-Z0-9_-]*+[a-z])(?=[A-Za-z_-]*+[0-9])"
    r"[A-Za-z0-9_-]{12,}+(?![^\s\"'`,;)]))?"
)
"""The rest of a key that a terminal broke: capitals, small letters and digits, as no hash, id or
word has them."""
ARGUMENT = (
    rf"[\"']?(?!{MASK}|{REFERENCE})"
    r"(?P<value>(?<=\")[^\"\n]++|(?<=')[^'\n]++|(?<![\"'])[^\s\"'`;&|<]++)"
)
"""What a command takes: one word, or what is in quotes."""
REST = rf"\\?[\"'`]?(?!{MASK}|{REFERENCE})(?P<value>[^\"'`\\\n]*[^\"'`\\\s])"
"""What a header or a prompt takes: all up to the end of the quote or the line."""
_BREAKS = str.maketrans(" \t\r\f\v\"'`", "\n" * 8)


@dataclass(frozen=True)
class Shape(PlainData):
    """A pattern that is looked for only around its hints."""

    line: ShapeLine

    def __call__(self, text: str) -> list[Place]:
        """Find the secrets of this shape."""
        places: list[Place] = []
        for hint in self.line.hints:
            places += self._around(hint, text)
        return apart(places)

    def _around(self, hint: str, text: str) -> Iterator[Place]:
        """Yield the places around each *hint*."""
        searched = 0
        at = text.find(hint)
        while at >= 0:
            match = self._match(text, at, searched)
            searched = at + 1
            if match is not None:
                start, end = match.span("value")
                yield start, end, self.line.label
                searched = max(searched, end)
            at = text.find(hint, searched)

    def _match(self, text: str, at: int, searched: int) -> Match[str] | None:
        """Return the first match whose hint is at *at*."""
        compiled = self.compiled()
        for start in self._starts(text, at, searched):
            match = compiled.match(text, start)
            if match is not None:
                return match
        return None

    def compiled(self) -> Pattern[str]:
        """Return the whole pattern: what begins at a border, and the secret in it or after it."""
        plain = self.line.pattern.removeprefix(r"\b")
        if self.line.kind in KEY_KINDS:
            return pattern(f"{BORDER}(?P<value>(?:{plain}){WRAPPED})")
        border = ""
        if plain != self.line.pattern:
            border = BORDER
        if self.line.kind == "rest":
            return pattern(f"{border}(?:{plain}){REST}")
        return pattern(f"{border}(?:{plain}){ARGUMENT}")

    def _starts(self, text: str, at: int, searched: int) -> Iterator[int]:
        """Yield where it may begin if its hint is at *at*; all before *searched* was looked at."""
        if self.line.kind == "inside":
            for border in pattern(BORDER).finditer(text, max(searched, at - LOOK_BACK), at):
                yield border.start()
        elif self.line.kind == "line":
            yield text.rfind("\n", max(0, at - LONGEST_LINE_START), at) + 1
        else:
            yield at


def shapes_in(text: str) -> list[Shape]:
    """Return the shapes of which *text* has a hint; those of keys have it in a long word."""
    words = text.translate(_BREAKS).split("\n")
    long_words = [word for word in words if len(word) >= SHORTEST_KEY]
    table = load_table()
    numbers = _numbers(table.key_hints, "\n".join(long_words))
    numbers |= _numbers(table.other_hints, text)
    return [Shape(table.shapes[number]) for number in sorted(numbers)]


def _numbers(hints: Hints, text: str) -> set[int]:
    """Return the numbers of the shapes that have one of their *hints* in *text*."""
    if not text:
        return set()
    return {number for hint, number in hints if hint in text}


# Private keys -------------------------------------------------------------------------------------

LONGEST_KEY_BLOCK = 32_768
HEAD = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: [0-9]{1,3}"
TAIL = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
TORN = r"(?>(?:(?>(?:\s|\\[nr])+)[A-Za-z0-9+/=]{16,}+)*)"
"""What is left of a block that was cut off."""


def find_private_keys(text: str) -> list[Place]:
    """Find each block; one that was cut off, as far as it looks like one."""
    places: list[Place] = []
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return places
    for head, next_head in sections(pattern(HEAD), text):
        end = _end_of_block(text, head, next_head)
        if end > head.end():
            places.append((head.start(), end, "private key"))
    return places


def _end_of_block(text: str, head: Match[str], next_head: int) -> int:
    """Return where the block ends that *head* begins."""
    last = min(next_head, head.end() + LONGEST_KEY_BLOCK)
    tail = pattern(TAIL).search(text, head.end(), last)
    if tail is not None and _is_key(text[head.end() : tail.start()]):
        return tail.end()
    torn = pattern(TORN).match(text, head.end())
    if torn is None:
        return head.end()
    return torn.end()


def _is_key(body: str) -> bool:
    """Whether *body* isn't just what stands between two constants of a program."""
    if not pattern(r"[\"'`]").search(body):
        return True
    return pattern(r"[A-Za-z0-9+/=]{40}").search(body) is not None


# How a value looks --------------------------------------------------------------------------------

SHORTEST_RANDOM = 16
LONGEST_LOOK = 100
"""How much of a value is looked at."""


def is_random(value: str) -> bool:
    """Whether *value* is long and has no words in it: those have few runs of one kind of letter.

    Digits among letters of one case tell sooner.
    """
    part = value[:LONGEST_LOOK]
    if len(part) < SHORTEST_RANDOM or " " in part:
        return False
    runs = pattern(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+").findall(part)
    return len(part) < _longest_run(part) * len(runs)


def _longest_run(part: str) -> float:
    """Return how long the runs of *part* are on average if it has words in it."""
    if not has_letters_and_digits(part):
        return 2.3
    if len(part) >= 20 and part.isalnum() and part in (part.lower(), part.upper()):
        return 7
    return 2.9


def has_letters_and_digits(value: str) -> bool:
    """Whether *value* has both letters and digits, as most secrets and few words do."""
    if not pattern(r"[^\W\d_]").search(value):
        return False
    return pattern(r"\d").search(value) is not None


# Possessive groups, (?:…)*+, match too much before Python 3.11.5: atomic ones stand in their place.
QUOTED = {
    '\\"': r'\\"(?>(?:[^"\\\n]++|\\(?!")[^\n])*)',
    "\\'": r"\\'(?>(?:[^'\\\n]++|\\(?!')[^\n])*)",
    '"': r'"(?>(?:[^"\\\n]++|\\[^\n])*)',
    "'": r"'(?>(?:[^'\\\n]++|\\[^\n]|'')*)",
    "`": r"`[^`\n]*+",
}
"""Values by the quotes that open them, the longest first."""
BARE = rf"(?>(?:{MASK}|[&;,](?![\w.-]{{1,40}}=)|[^\s\"'`&;,\\<])+)"
AFTER_BARE = ".,;:)]}>|"
"""What may stand right after a value without quotes."""
TEMPLATE = r"\$\{|#\{|\$\(|\{[\w.:!]{0,40}\}|%[sdr](?!\w)|%\(|\{\{|<[a-zA-Z][\w -]{0,40}>"
"""What makes a longer text a template."""
CHAIN = r"[A-Za-z_$][\w$]*(?:(?:\??\.|!\.|->|::)[A-Za-z_$#][\w$]*)*"
OTHER = (
    r"[a-z]{2,10}://|[ \t]*[+.,)}\]](?:[ \t(]|$)|-----BEGIN|\(\?"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]|$)"
)
"""What a value may be instead of a secret: an address, the rest of an expression, a date."""
SHORTEST_SECRET = 6
"""A shorter value with letters and digits is a word such as ``utf8``."""


def value_pattern(quote: str) -> Pattern[str]:
    """Return the pattern of a value in *quote*; without quotes if that is empty."""
    return pattern(QUOTED.get(quote, BARE))


def quote_at(text: str, at: int) -> str:
    """Return the quote that stands at *at*; empty if none does."""
    for quote in QUOTED:
        if text.startswith(quote, at):
            return quote
    return ""


def without_tail(value: str, quote: str) -> str:
    """Return a *value* without what stands after it in a sentence, unless it's in quotes or nothing
    else."""
    if quote:
        return value
    return value.rstrip(AFTER_BARE) or value


def refers(text: str, at: int) -> bool:
    """Whether the value at *at* only refers to a secret, or is masked."""
    if pattern(REFERENCE).match(text, at):
        return True
    return pattern(rf"{MASK}(?![^\s\"'`&\\,;.)\]}}><])").match(text, at) is not None


def converts(call: str) -> bool:
    """Whether a function returns what it is given in another form, as ``b64decode`` and
    ``SecretStr`` do."""
    words = "|".join(load_table().words["convert"])
    return pattern(rf"(?:_?(?:{words}))+").fullmatch(call.lower()) is not None


def is_template_or_other(value: str) -> bool:
    """Whether *value* is a template, an address, the rest of an expression or a date."""
    if pattern(TEMPLATE).search(value):
        return True
    return pattern(OTHER).match(value) is not None


def is_one_word(value: str) -> bool:
    """Whether *value* has no space inside."""
    return len(value.split()) == 1


def is_sentence(value: str) -> bool:
    """Whether *value* has three words or more, and only words."""
    words = value.split()
    if len(words) <= 2:
        return False
    return all(word.strip(".,:;!?'()").isalpha() for word in words)


def is_long_and_of_one_case(value: str) -> bool:
    """Whether *value* has 16 letters or more, all small or all capital."""
    return len(value) >= 16 and value.isalpha() and (value.islower() or value.isupper())


def is_odd(value: str) -> bool:
    """Whether *value* has letters and digits, and more than a short word has."""
    return len(value) >= SHORTEST_SECRET and has_letters_and_digits(value)


def may_be_name(value: str) -> bool:
    """Whether *value* could be a name in code too."""
    if not pattern(CHAIN).fullmatch(value):
        return False
    return "." in value or not is_odd(value)


# Places -------------------------------------------------------------------------------------------

LOGIN = (
    rf"://(?P<user>{MASK}|[^\s/?#:@\"'<>\[\](){{}}|,;]{{0,200}})"
    rf"(?::(?!{REFERENCE})(?P<password>[^\s/?#\"'<>@;]{{0,300}}))?@"
)
EXAMPLE_LOGINS = (("user", "pass"), ("username", "password"))
AUTHORIZATION = (
    r"(?:(?<![a-z])|(?<=\\[nrt]))authorization"
    r"\\?[\"'`]?[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}\[?(?:[bfr]?(?P<quote>\\?[\"'`]))?"
    r"(?P<scheme>[a-z][a-z0-9_-]{1,30}[ \t]{1,4})?"
)
SCHEMES_OF_SEVERAL_WORDS = ("digest", "oauth", "aws4-hmac-sha256")
LONGEST_DOCUMENT = 32_768


def find_url_logins(text: str) -> list[Place]:
    """Find passwords in URLs, and tokens that stand where the user's name does."""
    places: list[Place] = []
    if "://" not in text or "@" not in text:
        return places
    for login in pattern(LOGIN).finditer(text):
        if is_random(login["user"]):
            places.append((*login.span("user"), "token"))
        if login["password"] and (login["user"], login["password"]) not in EXAMPLE_LOGINS:
            places.append((*login.span("password"), "password"))
    mask = pattern(MASK)
    return [place for place in places if not mask.fullmatch(text, place[0], place[1])]


def find_authorizations(text: str) -> list[Place]:
    """Find the word after the scheme, or all up to the end of the quote or line where there are
    more."""
    places: list[Place] = []
    small = lowered(text)
    if "authorization" not in small:
        return places
    for head, next_head in sections(pattern(AUTHORIZATION), small):
        value = _credentials(text, head, next_head)
        if value is not None and _are_credentials(text, head, value):
            places.append((head.end(), value.end(), "authorization"))
    return places


def _scheme(head: Match[str]) -> str:
    return (head["scheme"] or "").strip()


def _credentials(text: str, head: Match[str], end: int) -> Match[str] | None:
    """Return what follows the scheme; None if that only refers to a secret."""
    if pattern(rf"{MASK}|{REFERENCE}|\w{{1,20}}://").match(text, head.end()):
        return None
    expression = r"[^\s\"'`\\\]]*=\"[^\n]++|[^\s\"'`\\\]]++"
    if head["quote"]:
        expression = r"[^\"'`\\\n]++"
    elif _scheme(head) in SCHEMES_OF_SEVERAL_WORDS:
        expression = r"[^\n]++|[^\s\"'`\\\]]++"
    return pattern(expression).match(text, head.end(), end)


def _are_credentials(text: str, head: Match[str], value: Match[str]) -> bool:
    """Whether *value* is a secret, and not the next word of a sentence or of code."""
    table = load_table()
    word = value[0].strip()
    if word.lower() in table.labels:
        return False
    if _scheme(head) in table.words["scheme"]:
        return True
    is_one_quoted_word = bool(head["quote"] and _scheme(head) and " " not in word)
    if not has_letters_and_digits(value[0]) and not is_one_quoted_word:
        return False
    if head["quote"] or is_random(value[0]):
        return True
    return pattern(r"[ \t]{0,8}(?:[\r\n\"'`]|\\n|$)").match(text, value.end()) is not None


def find_blocks(text: str) -> list[Place]:
    """Find the values that are secret because of the mapping they are in."""
    places: list[Place] = []
    for label, hint, block, name in load_table().blocks:
        if hint not in text:
            continue
        parts = [(0, len(text))]
        if hint == "Secret":
            parts = _secret_documents(text)
        for start, end in parts:
            for match in pattern(block).finditer(text, start, end):
                places += _entries(text, match, name, label)
    return apart(places)


def _entries(text: str, block: Match[str], name: str, label: str) -> list[Place]:
    """Return the values of the entries called *name* in *block*."""
    entry = pattern(
        rf"(?<![\w./-])(?:{name})\\?[\"']?(?!{MASK}|{REFERENCE})"
        r"(?P<value>(?<=[\"'])[^\"'\\\n]++|(?<![\"'])[^\s\"'{},\\][^\"'{},\\\n]*+)"
    )
    matches = entry.finditer(text, block.start(), block.end())
    return [(*match.span("value"), label) for match in matches]


def _secret_documents(text: str) -> list[tuple[int, int]]:
    """Return where Kubernetes describes a secret: from the document's border or version to the next
    border."""
    borders = pattern(r"\n---|kind\\?[\"']?:[ \t]*\\?[\"']?(?P<secret>Secret(?![\w/-]))?")
    documents = []
    before = 0
    for border, next_border in sections(borders, text):
        if border["secret"]:
            version = text.rfind("apiVersion", before, border.start())
            start = max(before, border.start() - LONGEST_DOCUMENT, version)
            end = min(next_border, border.end() + LONGEST_DOCUMENT)
            documents.append((start, end))
        before = border.end()
    return documents
