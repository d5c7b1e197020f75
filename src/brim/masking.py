"""Masks secrets in text that is stored or logged.

The mask names the kind of secret, so the sentence stays readable.

Two things give a secret away. Its **shape**: the keys of providers, private key blocks, what a
command takes as a password (``shape``, ``inside`` and ``flag`` lines of ``data/masking.tsv``). Or
its **name**: whatever a password is called is a secret; what a key, token or login is called must
also look like one (``name`` lines). What only refers to a secret stays (``$TOKEN``, ``${{
secrets.KEY }}``, ``<your key>``), and so do code (``token = Name.Class``), types, git hashes, UUIDs
and paths. A mask is never masked again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from re import Match, Pattern

from brim.files import data_rows
from brim.record import PlainData

_Place = tuple[int, int, str]
_Step = Callable[[str], list[_Place]]

_PASSES = 12
"""A mask is a border, so masking can uncover one more secret; more often than this only a text made
for it does."""
_LONGEST_PEM = 32_768
_LOOK_BACK = 40
"""How far before its hint an ``inside`` shape may begin."""
_LOOK_AHEAD = 200
"""How much of a value is looked at to see whether it is a secret; all of it is masked."""
_BORDER = r"(?:(?<![A-Za-z0-9])|(?<=\[m)|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<=\\[nrt]))"
"""A shape begins where no letter or digit stands before it; a terminal's colour code and ``\\n``
don't count."""
_WRAPPED = (
    r"(?:\r?\n[ \t]{0,8}(?=[a-z0-9_-]*+[A-Z])(?=[A-Z0-9_-]*+[a-z])(?=[A-Za-z_-]*+[0-9])"
    r"[A-Za-z0-9_-]{12,}+(?![^\s\"'`,;)]))?"
)
"""The rest of a key that a terminal broke: capitals, small letters and digits, as no hash, id or
word has them."""
_MASK = r"\[masked [a-z0-9 ]{1,40}\]"
# Possessive groups, (?:…)*+, match too much before Python 3.11.5: atomic ones stand in their place.
_QUOTED = {
    '"': r'"(?>(?:[^"\\\n]++|\\[^\n])*)',
    "'": r"'(?>(?:[^'\\\n]++|\\[^\n]|'')*)",
    "`": r"`[^`\n]*+",
    '\\"': r'\\"(?>(?:[^"\\\n]++|\\(?!")[^\n])*)',
    "\\'": r"\\'(?>(?:[^'\\\n]++|\\(?!')[^\n])*)",
}
_BARE = rf"(?>(?:{_MASK}|[&;,](?![\w.-]{{1,40}}=)|[^\s\"'`&;,\\<])+)"
_REFERENCE = (
    r"\$\{|\$\(|\$[A-Z_][A-Z0-9_]*+(?![\w$])|\$[a-z_]++(?![\w$])|\{[^}\n]{0,80}\}|<[^>\n]{1,60}>|%[A-Za-z_]{1,60}%"
    r"|[*.…xX]{3,}+(?!\w)"
)
_ARGUMENT = (
    rf"[\"']?(?!{_MASK}|{_REFERENCE})"
    r"(?P<value>(?<=\")[^\"\n]++|(?<=')[^'\n]++|(?<![\"'])[^\s\"'`;&|<]++)"
)
"""What a command takes: one word, or what is in quotes."""
_REST = rf"\\?[\"'`]?(?!{_MASK}|{_REFERENCE})(?P<value>[^\"'`\\\n]*[^\"'`\\\s])"
"""What a header or a prompt takes: all up to the end of the quote or the line."""
_TEMPLATE = r"\$\{|#\{|\$\(|\{[\w.:!]{0,40}\}|%[sdr](?!\w)|%\(|\{\{|<[a-zA-Z][\w -]{0,40}>"
"""What a value begins with that only refers to a secret; and what makes a longer text a
template."""
_CALL = r"[A-Za-z_$][\w$.:]{0,80}[(\[{<]"
_CHAIN = r"[A-Za-z_$][\w$]*(?:(?:\??\.|!\.|->|::)[A-Za-z_$#][\w$]*)*"
_LEAD = r"(?:(?:new[ \t]|\[\])?(?:[\w$]{1,40}(?:\.|::)){0,4}(?P<call>[\w$]{1,40})\([ \t]{0,4})?[rbufRBUF@]{0,2}(?=[\"'])"
"""What may stand before a literal: a call around it, a prefix."""
_STRINGS = r"^(?>(?:[^\"'`]++|(?<=\w\w)'|\"[^\"]*+\"|'[^']*+'|`[^`]*+`)*)[\"'`](?=[^\"'`]*$)"
"""A line of code as far as the quote that is still open."""
_VALUE_KEY = r"\\?[\"']?(?:value|default)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
_BELOW = (
    rf"\\\r?\n[ \t]{{0,40}}|\{{\s{{0,40}}{_VALUE_KEY}|(?:[|>][+-]?)?[ \t]{{0,4}}(?:\r?\n|\\n)(?P<indent>[ \t]{{1,40}})"
    rf"(?:{_VALUE_KEY}|(?!\\?[\"']?[\w.-]{{1,60}}\\?[\"']?[ \t]{{0,4}}[:=](?:[\s{{\\]|$)|-[ \t]))"
)
"""Where a value is that isn't behind its name: on a shell's next line, in a mapping, on a deeper
line."""
_LOG = r"[0-9]{2}:[0-9]{2}:[0-9]{2}|(?<!\S)[\w.-]{1,40}=[^\s=]"
"""What only a line of a log has: a time, or pairs."""
_OTHER = r"[a-z]{2,10}://|[ \t]*[+.,)}\]](?:[ \t(]|$)|-----BEGIN|\(\?|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]|$)"
_END = r"[ \t]{0,20}(?:[\r\n\"'`#]|\\n|$)"
_PLACE = (
    r"(?:~|\.{1,2}|[A-Za-z]:)[/\\]|[\w.-]{1,60}(?:/[\w.-]{1,60}){1,9}\.[a-z0-9]{2,5}(?![\w.])|/(?:etc|home|root|run|tmp|usr|var|opt)/"
    r"|(?:/[\w.+@ -]{1,60}){2,30}\.[a-z]{2,5}(?![\w.])|[a-z_]{1,40}\.[a-z_.]{1,80}(?![\w-])"
)
"""What a value may be instead of a secret: a call, a chain of names, an address or a date, a
path."""


def mask(text: str) -> str:
    """Return *text* with every secret replaced by its kind.

    The number of newlines stays the same.

    >>> mask("export OPENAI_API_KEY=sk-abcdefghijklmnopqrst1234")
    'export OPENAI_API_KEY=[masked openai key]'
    """
    return masked(text)[0]


def masked(text: str) -> tuple[str, int]:
    """Return *text* without its secrets, and the number of secrets."""
    if not text:
        return text, 0
    total = 0
    steps: list[_Step] = [
        _private_keys,
        _authorizations,
        *_shapes(text),
        _blocks,
        _url_logins,
        _named_values,
    ]
    for _ in range(_PASSES):
        found = 0
        for step in steps:
            if places := step(text):
                text = _replaced(text, places)
                found += len(places)
        total += found
        if not found:
            break
    return text, total


def _replaced(text: str, places: list[_Place]) -> str:
    """Return *text* with each ``(start, end, label)`` masked; *places* are in order and apart."""
    parts, at = [], 0
    for start, end, label in places:
        parts += [text[at:start], f"[masked {label}]", "\n" * text.count("\n", start, end)]
        at = end
    return "".join([*parts, text[at:]])


@cache
def _pattern(pattern: str) -> Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _lowered(text: str) -> str:
    """Return *text* in small letters, each at its old place: only a capital dotted I becomes two
    characters."""
    return text.replace("\u0130", "i").lower()


@dataclass(frozen=True)
class _Shape(PlainData):
    """A line of the table: a pattern that is looked for only around its hints."""

    kind: str
    label: str
    hints: list[str]
    pattern: str

    def __call__(self, text: str) -> list[_Place]:
        places: list[_Place] = []
        compiled = self.compiled()
        for hint in self.hints:
            tried, at = 0, text.find(hint)
            while at >= 0:
                matches = (compiled.match(text, start) for start in self.starts(text, at, tried))
                tried = at + 1
                if found := next(filter(None, matches), None):
                    places.append((*found.span("value"), self.label))
                    tried = max(tried, found.end("value"))
                at = text.find(hint, tried)
        return _apart(places)

    def compiled(self) -> Pattern[str]:
        """Return the whole pattern: what begins at a border, and the secret in it or after it."""
        plain = self.pattern.removeprefix(r"\b")
        if self.kind in ("shape", "inside"):
            return _pattern(f"{_BORDER}(?P<value>(?:{plain}){_WRAPPED})")
        border = _BORDER if plain != self.pattern else ""
        return _pattern(f"{border}(?:{plain}){_REST if self.kind == 'rest' else _ARGUMENT}")

    def starts(self, text: str, at: int, tried: int) -> Iterator[int]:
        """Yield where it may begin if its hint is at *at*; what is before *tried* was looked at."""
        if self.kind == "inside":
            yield from (
                each.start()
                for each in _pattern(_BORDER).finditer(text, max(tried, at - _LOOK_BACK), at)
            )
        else:
            yield text.rfind("\n", max(0, at - 200), at) + 1 if self.kind == "line" else at


_BREAKS = str.maketrans(" \t\r\f\v\"'`", "\n" * 8)


def _shapes(text: str) -> list[_Shape]:
    """Return the shapes of which *text* has a hint; those of keys have it in a long word."""
    long = "\n".join([word for word in text.translate(_BREAKS).split("\n") if len(word) >= 14])
    table, found = _table(), set[int]()
    for hints, looked_at in ((table.key_hints, long), (table.other_hints, text)):
        if looked_at:
            found.update([number for hint, number in hints if hint in looked_at])
    return [_Shape(*table.shapes[number]) for number in sorted(found)]


def _apart(places: list[_Place]) -> list[_Place]:
    """Return *places* in order, without those that begin inside an earlier one."""
    kept: list[_Place] = []
    for place in sorted(places):
        if not kept or place[0] >= kept[-1][1]:
            kept.append(place)
    return kept


@dataclass(frozen=True)
class _Table(PlainData):
    """What ``data/masking.tsv`` says."""

    shapes: list[tuple[str, str, list[str], str]]
    """The fields of each ``_Shape``."""
    key_hints: list[tuple[str, int]]
    """The hints of shapes that are long words, each with the number of its shape."""
    other_hints: list[tuple[str, int]]
    blocks: list[list[str]]
    labels: dict[str, str]
    """The words that a secret's name ends in, and how the mask calls it."""
    words: dict[str, frozenset[str]]
    """Lists of words; the table says what each is for."""


@cache
def _table() -> _Table:
    rows = data_rows(__file__, "masking.tsv")
    shapes = [
        (row[0], row[1], row[2].replace(" ", "\n").replace("·", " ").split("\n"), row[3])
        for row in rows
        if row[0] in ("shape", "inside", "flag", "line", "rest")
    ]
    hints: tuple[list[tuple[str, int]], ...] = ([], [])
    for number, (kind, _, own, _) in enumerate(shapes):
        hints[kind not in ("shape", "inside")].extend([(hint, number) for hint in own])
    return _Table(
        shapes=shapes,
        key_hints=hints[0],
        other_hints=hints[1],
        blocks=[row[1:] for row in rows if row[0] == "block"],
        labels={word: row[1] for row in rows if row[0] == "name" for word in row[2].split(" ")},
        words={row[1]: frozenset(row[2].split(" ")) for row in rows if row[0] == "words"},
    )


def _parts(pattern: Pattern[str], text: str) -> list[tuple[Match[str], int]]:
    """Return each match and where the next one begins: who looks only that far looks at no
    character twice."""
    found = list(pattern.finditer(text))
    return list(zip(found, [*(each.start() for each in found[1:]), len(text)], strict=False))


def _private_keys(text: str) -> list[_Place]:
    """Find each block from its first line to its last; one that was cut off, as far as it looks
    like one."""
    places: list[_Place] = []
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return places
    head = _pattern(
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: [0-9]{1,3}"
    )
    tail = _pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    torn = _pattern(r"(?>(?:(?>(?:\s|\\[nr])+)[A-Za-z0-9+/=]{16,}+)*)")
    quoted, long = (
        _pattern(r"[\"'`]"),
        _pattern(r"[A-Za-z0-9+/=]{40}"),
    )  # two constants of a program aren't a key
    for begin, after in _parts(head, text):
        stop = torn.match(text, begin.end()).end()  # type: ignore[union-attr]
        if end := tail.search(text, begin.end(), min(after, begin.end() + _LONGEST_PEM)):
            body = text[begin.end() : end.start()]
            stop = end.end() if not quoted.search(body) or long.search(body) else stop
        if stop > begin.end():
            places.append((begin.start(), stop, "private key"))
    return places


def _url_logins(text: str) -> list[_Place]:
    """Find passwords in URLs, and tokens that stand where the user's name does."""
    places: list[_Place] = []
    if "://" not in text or "@" not in text:
        return places
    login = _pattern(
        rf"://(?P<user>{_MASK}|[^\s/?#:@\"'<>\[\](){{}}|,;]{{0,200}})(?::(?!{_REFERENCE})(?P<password>[^\s/?#\"'<>@;]{{0,300}}))?@"
    )
    for found in login.finditer(text):
        if _random(found["user"]):
            places.append((*found.span("user"), "token"))
        if found["password"] and found["user"] + found["password"] not in (
            "userpass",
            "usernamepassword",
        ):
            places.append((*found.span("password"), "password"))
    return [place for place in places if not _pattern(_MASK).fullmatch(text, place[0], place[1])]


def _authorizations(text: str) -> list[_Place]:
    """Find what follows the scheme: one word, or up to the end of the quote or line where there are
    more."""
    places: list[_Place] = []
    if "authorization" not in (lowered := _lowered(text)):
        return places
    head = _pattern(
        r"(?:(?<![a-z])|(?<=\\[nrt]))authorization"
        r"\\?[\"'`]?[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}\[?(?:[bfr]?(?P<quote>\\?[\"'`]))?"
        r"(?P<scheme>[a-z][a-z0-9_-]{1,30}[ \t]{1,4})?"
    )
    for start, after in _parts(head, lowered):
        at, scheme, quote = start.end(), (start["scheme"] or "").strip(), start["quote"]
        several = (
            r"[^\n]++"
            if scheme in ("digest", "oauth", "aws4-hmac-sha256")
            else r"[^\s\"'`\\\]]*=\"[^\n]++"
        )
        value = _pattern(r"[^\"'`\\\n]++" if quote else rf"{several}|[^\s\"'`\\\]]++").match(
            text, at, after
        )
        if value is None or _pattern(rf"{_MASK}|{_REFERENCE}|\w{{1,20}}://").match(text, at):
            continue
        known = scheme in _table().words["scheme"]
        ends = bool(_pattern(r"[ \t]{0,8}(?:[\r\n\"'`]|\\n|$)").match(text, value.end()))
        meant = known or _odd(value[0]) or bool(quote and scheme and " " not in value[0].strip())
        meant = meant and value[0].strip().lower() not in _table().labels
        if meant and (known or quote or ends or _random(value[0])):
            places.append((at, value.end(), "authorization"))
    return places


def _blocks(text: str) -> list[_Place]:
    """Find the values that are secret because of the mapping they are in."""
    places: list[_Place] = []
    for label, hint, block, name in (row for row in _table().blocks if row[1] in text):
        entry = _pattern(
            rf"(?<![\w./-])(?:{name})\\?[\"']?(?!{_MASK}|{_REFERENCE})"
            r"(?P<value>(?<=[\"'])[^\"'\\\n]++|(?<![\"'])[^\s\"'{},\\][^\"'{},\\\n]*+)"
        )
        for part in _secret_documents(text) if hint == "Secret" else [(0, len(text))]:
            for found in _pattern(block).finditer(text, *part):
                places += [
                    (*each.span("value"), label) for each in entry.finditer(text, *found.span())
                ]
    return _apart(places)


def _secret_documents(text: str) -> list[tuple[int, int]]:
    """Return where Kubernetes describes a secret: from the document's border or version to the next
    border."""
    borders = _pattern(r"\n---|kind\\?[\"']?:[ \t]*\\?[\"']?(?P<secret>Secret(?![\w/-]))?")
    places, before = [], 0
    for border, after in _parts(borders, text):
        if border["secret"]:
            start = max(
                before,
                border.start() - _LONGEST_PEM,
                text.rfind("apiVersion", before, border.start()),
            )
            places.append((start, min(after, border.end() + _LONGEST_PEM)))
        before = border.end()
    return places


def _random(value: str) -> bool:
    """Whether *value* is long and has no words in it: those have few runs of one kind of letter.

    Digits among letters of one case tell sooner.
    """
    part = value[:100]
    plain = len(part) >= 20 and part.isalnum() and part in (part.lower(), part.upper())
    longest = 2.3 if not _odd(part) else 7 if plain else 2.9
    runs = _pattern(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+").findall(part)
    return len(part) >= 16 and " " not in part and len(part) < longest * len(runs)


def _odd(value: str) -> bool:
    """Whether *value* has both letters and digits, as most secrets and few words do."""
    return bool(_pattern(r"[^\W\d_]").search(value) and _pattern(r"\d").search(value))


@dataclass(frozen=True)
class _Named(PlainData):
    """A name of a secret in a text, and what stands around it."""

    text: str
    start: int
    before: str
    """What stands before the word in the same name: ``db_`` of ``db_password``."""
    word: str
    label: str
    sign: str
    """What stands between name and value: one of ``= : , ( >``, ``-`` for a flag, or nothing."""
    spaced: bool
    closed: bool
    """Whether the name is in quotes."""

    @property
    def strong(self) -> bool:
        """Whether its name alone makes a value a secret."""
        return self.label in ("password", "secret") or "secret" in self.before.lower()

    @property
    def last(self) -> str:
        """The last word before the word, as ``api`` in ``X-Api-Key`` or in the sentence "the API
        key"."""
        before = self.before or self.text[max(0, self.start - 12) : self.start]
        found = _pattern(r"([A-Z]?[a-z0-9]+|[A-Z0-9]+)[_.\- ]?$").search(before)
        return found[1].lower() if found else ""

    @property
    def qualified(self) -> bool:
        return self.last in _table().words["before"] or self.before.lower().startswith("x-")

    @property
    def assigned(self) -> bool:
        """Whether it is set as in a shell, a query or a connection string: ``NAME=value``."""
        if self.sign == "-" or (
            self.sign and self.text[max(0, self.start - 2) : self.start] == "${"
        ):
            return True
        if self.sign != "=" or self.spaced or self.closed:
            return False
        whole = self.before + self.word
        return (
            whole.isupper()
            or whole[0] == "-"
            or self.text[self.start - 1 : self.start] in ("?", "&", ";")
        )

    @property
    def line(self) -> str:
        """The line as far as the name."""
        line = self.text[max(0, self.start - 200) : self.start].rpartition("\n")[2]
        return line.rpartition("\\n")[2]

    @property
    def in_call(self) -> bool:
        """Whether it is an argument or a field in code, as far as the line or the text in quotes
        shows."""
        line = _pattern(_STRINGS).sub("", self.line)
        return (
            line.rfind("(") > line.rfind(")")
            or line.rfind("{") > line.rfind("}")
            or line[:1].isspace()
        )

    def names_a_secret(self) -> bool:
        """Whether the word is one of its own (a monkey isn't a key), and the name isn't of
        something public."""
        words, word, last = _table().words, self.word.lower(), self.before[-1:]
        if self.text[self.start - 2 : self.start] == "::":
            return False
        if last.isalnum() and not (self.word[0].isupper() and not last.isupper()):
            if not word.startswith("passw") and not self.before.lower().endswith(
                tuple(words["glued"])
            ):
                return False
        elif self.last in words.get(f"plain {self.label}", ()):
            return False
        return bool(self.before.strip("-.")) or word != "key" or self.sign != "" or self.qualified

    def repeats(self, value: str) -> bool:
        """Whether *value* says no more than its name, or is a type, a constant or a word of a
        sentence."""
        if len(value) > 80:
            return False
        plain = "".join(filter(str.isalnum, value.lower()))
        name = "".join(filter(str.isalnum, (self.before + self.word).lower()))
        same = len(plain) > 2 and (
            name.endswith(plain)
            or name.startswith(plain)
            or ("." in value and plain.endswith(name))
        )
        return not plain or same or plain in _table().words["value"] or plain in _table().labels


def _named_values(text: str) -> list[_Place]:
    lowered = _lowered(text)
    places: list[_Place] = []
    if not any(mark in text for mark in "=:('\"<-0123456789") or not any(
        word in lowered for word in _table().labels
    ):
        return places
    names, at = _pattern(f"{_MASK}|{_name_pattern()}"), 0
    while found := names.search(lowered, at):
        at = found.end("word") if found["word"] else found.end()
        named = _named(text, found) if found["word"] else None
        if named and named.names_a_secret() and (place := _value(named, found.end())) is not None:
            places.append((*place, named.label))
            at = place[1]
    return places


@cache
def _name_pattern() -> str:
    table = _table()
    words = "|".join(sorted(table.labels, key=len, reverse=True))
    after = "|".join(sorted(table.words["after"]))
    return (
        rf"(?P<word>{words})(?:[_-]?[0-9]{{1,2}}(?![0-9a-z])|[_-](?:{after})(?![0-9a-z]))?(?P<close>\\?[\"'`])?\]?(?:"
        r"[ \t]{0,4}:[ \t]{0,4}[&*]?[a-z_][\w.\[\]| ]{0,40}(?P<typed>=)[ \t]{1,4}(?=[\"'])"
        r"|(?P<gap>[ \t]{0,20})(?:\.{3,60})?(?P<sign>:[=-]|=>|\?=|[=:](?![=:]))(?P<space>[ \t]{0,20})"
        r"|\)?[ \t]{0,4}(?:\?\?|\|\||\?:|or)(?P<default>[ \t]{1,4})(?=[\"'])"
        r"|,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}(?P<attribute>[=:])[ \t]{0,4}"
        r"|(?<=[\"'])[ \t]{0,4}(?P<comma>,)[ \t]{0,16}(?=\\?[\"'])"
        r"|(?P<call>\()(?=[rb]?[\"'])|(?:[ \t][^<>\n]{0,80})?(?P<tag>>)"
        r"|[ \t]{1,4}(?:(?:[a-z0-9@._-]{1,30}[ \t]){0,5}[a-z0-9@._-]{1,30}:[ \t]{1,4}|(?:is|was)[ \t]{1,4})?)"
    )


def _named(text: str, found: Match[str]) -> _Named:
    at = start = found.start()
    while start > 0 and at - start < 80 and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    if start < at and text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1  # a line's end, escaped
    sign = next(
        (
            found[each]
            for each in ("typed", "comma", "attribute", "call", "tag", "sign")
            if found[each]
        ),
        "",
    )
    before = text[start:at]
    defined = not sign and _pattern(r"#[ \t]{0,4}define[ \t]{1,8}$").search(
        text[max(0, start - 20) : start]
    )
    if found["default"] or defined:
        sign = "="
    elif not sign and before.startswith("-") and not found["close"]:
        sign = "-"
    word = text[found.start("word") : found.end("word")]
    return _Named(
        text=text,
        start=start,
        before=before,
        word=word,
        label=_table().labels[word.lower()],
        sign="=" if sign in (":=", ":-", "=>", "?=") else sign,
        spaced=bool(defined or found["gap"] or (found["space"] and "=" in sign)),
        closed=bool(found["close"]),
    )


def _value(named: _Named, at: int) -> tuple[int, int] | None:
    """Return where the value is, if it is a secret.

    Whatever is refused is refused after a bounded look, so that a text full of names costs no more
    than its length.
    """
    text = named.text
    at = _beginning(named, at)
    lead = _pattern(_LEAD).match(text, at)
    at = lead.end() if lead else at
    opening = next(
        (quote for quote in ('\\"', "\\'", '"', "'", "`") if text.startswith(quote, at)), ""
    )
    inside = at + len(opening)
    if _pattern(_REFERENCE).match(text, inside) or _pattern(
        rf"{_MASK}(?![^\s\"'`&\\,;.)\]}}><])"
    ).match(text, inside):
        return None
    if named.sign == ">":
        return _element(named, inside)
    pattern = _pattern(_QUOTED[opening] if opening else _BARE)
    value = pattern.match(text, at, at + _LOOK_AHEAD)
    if value is None or value.end() == inside:
        return None
    shown = text[inside : value.end()]
    shown = shown if opening else shown.rstrip(".,;:)]}>|") or shown
    meant = (
        _quoted_is_secret(named, shown)
        if opening
        else _bare_is_secret(named, shown, inside + len(shown))
    )
    if not meant or (lead and lead["call"] and not _random(shown) and not _converts(lead["call"])):
        return None
    whole = text[inside : pattern.match(text, at).end()]  # type: ignore[union-attr]
    return inside, inside + (len(whole if opening else whole.rstrip(".,;:)]}>|")) or len(whole))


def _beginning(named: _Named, at: int) -> int:
    """Return where the value begins: at *at*, or below where nothing is there."""
    below = _pattern(_BELOW).match(named.text, at)
    if below and below["indent"]:
        line = named.line
        alone = (
            named.text.startswith(('"', "'"), below.end())
            if named.sign == "="
            else not line.strip(" \t-\"'")
        )
        deeper = len(below["indent"]) > len(line) - len(line.lstrip(" \t-"))
        return below.end() if alone and deeper else at
    return below.end() if below else at


def _converts(call: str) -> bool:
    """Whether a function returns what it is given in another form, as ``b64decode`` and
    ``SecretStr`` do."""
    return bool(
        _pattern(rf"(?:_?(?:{'|'.join(_table().words['convert'])}))+").fullmatch(call.lower())
    )


def _element(named: _Named, at: int) -> tuple[int, int] | None:
    """Return where the text of an XML element is, if its tag or its attribute ``name`` or ``key``
    names a secret."""
    opens = named.text[max(0, named.start - 40) : named.start]
    if not _pattern(r".*(?:<(?:[\w-]{1,30}:)?|[ \t](?:name|key)=[\"'])").fullmatch(
        opens.rpartition("\n")[2]
    ):
        return None
    value = _pattern(r"[^<>\s]{1,4000}(?=</)").match(named.text, at)
    return value.span() if value and _quoted_is_secret(named, value[0][:300]) else None


def _quoted_is_secret(named: _Named, value: str) -> bool:
    """Whether a value with a clear beginning and end is a secret, and not a name or a sentence."""
    words = value.split()
    if named.repeats(value) or _pattern(_TEMPLATE).search(value) or _pattern(_OTHER).match(value):
        return False
    if named.sign == "" and (len(words) != 1 or len(named.word) < 5 or value.startswith("-")):
        return False
    if _random(value) or not named.strong:
        return _random(value) or _quoted_looks_secret(named, value)
    if named.sign == ",":
        call = _pattern(r"([A-Za-z_]+)[ \t]*\([ \t]*\\?[\"']?$").search(named.line[-60:])
        return len(words) == 1 and bool(
            call and call[1].lower().startswith(tuple(_table().words["setter"]))
        )
    if named.sign in ("(", ">"):
        return len(words) == 1 and (named.sign == ">" or named.last in ("", "set", "with"))
    sentence = len(words) > 2 and all(word.strip(".,:;!?'()").isalpha() for word in words)
    return not sentence or named.assigned or "phrase" in named.word.lower()


def _quoted_looks_secret(named: _Named, value: str) -> bool:
    """Whether a key or token in quotes looks like one, and not like a name."""
    if _pattern(_PLACE).match(value):
        return False
    if named.assigned and named.sign == "=" and named.label in ("key", "token"):
        return True
    letters = len(value) >= 16 and value.isalpha() and (value.islower() or value.isupper())
    return named.qualified and (letters or (len(value) >= 6 and _odd(value) and " " not in value))


def _bare_is_secret(named: _Named, value: str, end: int) -> bool:
    """Whether a value without quotes is a secret, and not code or the next word of a sentence."""
    if _bare_is_other(named, value):
        return False
    if _random(value) and (named.sign or named.strong or named.qualified or named.label != "key"):
        return True
    if named.sign == "":
        word = named.label == "password" and len(named.word) > 4
        return word and len(value) >= 6 and _odd(value) and value[0] not in "&*"
    if named.assigned and named.label not in ("authentication", "signature"):
        return (
            named.sign != "-"
            or named.strong
            or _odd(value)
            or (len(value) >= 16 and not value.islower())
        )
    name = bool(_pattern(_CHAIN).fullmatch(value)) and not (
        _odd(value) and len(value) >= 6 and "." not in value
    )
    judge = _assignment_is_secret if named.sign == "=" else _entry_is_secret
    return (named.strong or named.qualified) and judge(named, value, end, name)


def _bare_is_other(named: _Named, value: str) -> bool:
    """Whether a value without quotes is surely something else: code, a number, a path, a part of an
    address."""
    if (
        named.sign in (",", "(")
        or named.repeats(value)
        or _pattern(rf"{_OTHER}|{_CALL}").match(value)
    ):
        return True
    if (
        named.sign == ":"
        and not named.assigned
        and named.text[named.start - 1 : named.start] == ":"
    ):
        return True  # arn:aws:…:secret:name
    if value.replace(".", "").lstrip("-").isdigit():
        return not (named.label == "password" and len(value) >= 6 and named.sign)
    path = (not named.strong or named.word.lower() == "pwd") and _pattern(_PLACE).match(value)
    return bool(path or _pattern(_TEMPLATE).search(value))


def _assignment_is_secret(named: _Named, value: str, end: int, name: bool) -> bool:
    """Whether ``name = value`` is from a file or a command, and not code.

    *name*: the value could be a name too.
    """
    ends = bool(_pattern(_END).match(named.text, end))
    if not name:
        return (not named.spaced or ends or _odd(value)) and value[0] not in "&*!-+("
    if not named.strong or "." in value:
        return False
    if named.spaced:
        return ends and not named.line and value.islower()
    return not named.in_call and len(value) > 2


def _entry_is_secret(named: _Named, value: str, end: int, name: bool) -> bool:
    """Whether ``name: value`` is an entry of a file or a log, and not a type, a field in code or a
    sentence."""
    text = named.text
    apart = named.closed or text[end - len(value) - 1] in " \t"
    ends = _pattern(rf"{_END}|[,.](?:[ \t\r\n]|$)|[ \t]?\}}").match(text, end)
    if not ends and named.strong and len(value) >= 6:
        ends = _pattern(r"\d").search(value) or _pattern(_LOG).search(
            named.line + text[end : end + 200].partition("\n")[0]
        )
    if not apart or not ends or (named.word == "PASS" and not named.before):
        # "PASS: …" is the result of a test.
        return False
    if not name:
        return _odd(value) or (named.strong and value[0] not in "&*!-+(|>")
    if "." in value:
        return False
    if named.line.strip(" \t-#>\"'"):
        return named.label == "password" and not named.in_call
    code = text.startswith(tuple(",;)}"), end) or (named.in_call and not value.islower())
    return not code and value[0].islower()
