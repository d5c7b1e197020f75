"""Masks secrets in text that is stored or logged.

The mask names the kind of secret, so the sentence stays readable.

Two things give a secret away. Its **shape** (``secret_shapes``): the keys of providers, private key
blocks, what a command takes as a password. Or its **name**: whatever a password is
called is a secret; what a key, token or login is called must also look like one. What only refers
to a secret stays (``$TOKEN``, ``${{ secrets.KEY }}``, ``<your key>``), and so do code (``token =
Name.Class``), types, git hashes, UUIDs and paths. A mask is never masked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from re import Match

from brim.record import PlainData
from brim.secret_places import (
    find_columns,
    find_commented,
    find_database_logins,
    find_inserted,
    find_seeds,
    find_sentences,
    find_tokens_in_prose,
)
from brim.secret_shapes import (
    MASK,
    OTHER,
    SHORTEST_SECRET,
    TEMPLATE,
    Finder,
    Place,
    converts,
    find_authorizations,
    find_blocks,
    find_private_keys,
    find_url_logins,
    has_letters_and_digits,
    is_long_and_of_one_case,
    is_odd,
    is_one_word,
    is_random,
    is_sentence,
    is_template_or_other,
    load_table,
    lowered,
    may_be_name,
    pattern,
    quote_at,
    refers,
    shapes_in,
    value_pattern,
    without_tail,
)

MOST_PASSES = 12
"""A mask is a border, so masking can uncover one more secret; more often than this only a text made
for it does."""


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
    finders: list[Finder] = [
        find_private_keys,
        find_authorizations,
        *shapes_in(text),
        find_blocks,
        find_columns,
        find_inserted,
        find_database_logins,
        find_url_logins,
        find_seeds,
        find_named_values,
        find_sentences,
        find_tokens_in_prose,
        find_commented,
    ]
    for _ in range(MOST_PASSES):
        text, count = _masked_once(text, finders)
        total += count
        if count == 0:
            break
    return text, total


def without_login(address: str) -> str:
    """Return an *address* for people, without what may be a password in it.

    >>> without_login("anna:pw@db/money"), without_login("ledger.db")
    ('…@db/money', 'ledger.db')
    """
    _, sign, place = address.rpartition("@")
    if sign and not any(word in lowered(address) for word in ("=", "pass")):
        return f"…@{place}"[:80]
    if sign:
        return "…"
    user, colon, password = address.partition(":")
    if colon and "/" not in address and has_letters_and_digits(password):
        return f"{user}:…"[:80]
    return mask(address)[:80]


def _masked_once(text: str, finders: list[Finder]) -> tuple[str, int]:
    """Return *text* after each of *finders* has looked at it, and the number of secrets."""
    count = 0
    for find in finders:
        places = find(text)
        if places:
            text = _replaced(text, places)
            count += len(places)
    return text, count


def _replaced(text: str, places: list[Place]) -> str:
    """Return *text* with each ``(start, end, label)`` masked; *places* are in order and apart."""
    parts = []
    at = 0
    for start, end, label in places:
        newlines = "\n" * text.count("\n", start, end)
        parts += [text[at:start], f"[masked {label}]", newlines]
        at = end
    parts.append(text[at:])
    return "".join(parts)


# Names -------------------------------------------------------------------------------------------

LONGEST_PREFIX = 80
LONGEST_LINE = 200
LONGEST_REPEAT = 80
"""A longer value says more than its name."""
STRINGS = r"^(?>(?:[^\"'`]++|(?<=\w\w)'|\"[^\"]*+\"|'[^']*+'|`[^`]*+`)*)[\"'`](?=[^\"'`]*$)"
"""A line of code as far as the quote that is still open."""
SIGN_GROUPS = ("typed", "comma", "attribute", "call", "tag", "sign")
WEAK_LABELS = ("authentication", "signature")
ASSIGNMENT_SIGNS = (":=", ":-", "=>", "?=")


@dataclass(frozen=True)
class SecretName(PlainData):
    """A name of a secret in a text, and what stands around it."""

    text: str
    start: int
    before: str
    """What stands before the word in the same name: ``db_`` of ``db_password``."""
    word: str
    label: str
    sign: str
    """What stands between name and value: one of ``= : , ( >``, ``-`` for a flag, or nothing."""
    is_spaced: bool
    is_quoted: bool

    @property
    def is_strong(self) -> bool:
        """Whether its name alone makes a value a secret."""
        return self.label in ("password", "secret") or "secret" in self.before.lower()

    @property
    def is_password(self) -> bool:
        """Whether it's a whole word for a password: ``pass`` and ``pw`` mean more."""
        return self.label == "password" and len(self.word) > 4

    @property
    def is_named_well(self) -> bool:
        """Whether its name or the words before it say that it's a secret."""
        return self.is_strong or self.is_qualified

    @property
    def suits_random(self) -> bool:
        """Whether a random value is its secret: many things are called a key."""
        return bool(self.sign) or self.label != "key" or self.is_named_well

    @property
    def last(self) -> str:
        """The last word before the word, as ``api`` in ``X-Api-Key`` or in the sentence "the API
        key"."""
        before = self.before or self.text[max(0, self.start - 12) : self.start]
        match = pattern(r"([A-Z]?[a-z0-9]+|[A-Z0-9]+)[_.\- ]?$").search(before)
        if match is None:
            return ""
        return match[1].lower()

    @property
    def is_qualified(self) -> bool:
        """Whether the words before it say that it's a secret."""
        return self.last in load_table().words["before"] or self.before.lower().startswith("x-")

    @property
    def is_assigned(self) -> bool:
        """Whether it is set as in a shell, a query or a connection string: ``NAME=value``."""
        if self.sign == "-":
            return True
        if self.sign and self.text[max(0, self.start - 2) : self.start] == "${":
            return True
        if self.sign != "=" or self.is_spaced or self.is_quoted:
            return False
        name = self.before + self.word
        if name.isupper() or name[0] == "-":
            return True
        return self.text[self.start - 1 : self.start] in ("?", "&", ";")

    @property
    def line(self) -> str:
        """The line as far as the name."""
        line = self.text[max(0, self.start - LONGEST_LINE) : self.start].rpartition("\n")[2]
        return line.rpartition("\\n")[2]

    @property
    def is_in_call(self) -> bool:
        """Whether it is an argument or a field in code, as far as the line or the text in quotes
        shows."""
        line = pattern(STRINGS).sub("", self.line)
        if line.rfind("(") > line.rfind(")"):
            return True
        if line.rfind("{") > line.rfind("}"):
            return True
        return line[:1].isspace()

    def names_a_secret(self) -> bool:
        """Whether the word is one of its own (a monkey isn't a key), and the name isn't of
        something public."""
        if self.text[self.start - 2 : self.start] == "::":
            return False
        if self._is_end_of_word():
            if not self._may_be_glued():
                return False
        elif self.last in load_table().words.get(f"plain {self.label}", ()):
            return False
        if self.before.strip("-.") or self.sign:
            return True
        return self.word.lower() != "key" or self.is_qualified

    def _is_end_of_word(self) -> bool:
        """Whether letters stand right before the word, as in ``monkey`` and unlike ``apiKey``."""
        letter = self.before[-1:]
        if not letter.isalnum():
            return False
        return not self.word[0].isupper() or letter.isupper()

    def _may_be_glued(self) -> bool:
        """Whether a word that ends in this one names a secret all the same, as ``apikey``."""
        if self.word.lower().startswith("passw"):
            return True
        return self.before.lower().endswith(tuple(load_table().words["glued"]))

    def repeats(self, value: str) -> bool:
        """Whether *value* says no more than its name, or is a type, a constant or a word of a
        sentence."""
        if len(value) > LONGEST_REPEAT:
            return False
        plain = _letters_and_digits(value)
        table = load_table()
        if not plain or plain in table.words["value"] or plain in table.labels:
            return True
        if len(plain) <= 2:
            return False
        name = _letters_and_digits(self.before + self.word)
        if name.startswith(plain) or name.endswith(plain):
            return True
        return "." in value and plain.endswith(name)


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def find_named_values(text: str) -> list[Place]:
    """Find the values whose names make them secrets."""
    places: list[Place] = []
    small = lowered(text)
    if not _may_have_values(text, small):
        return places
    names = pattern(f"{MASK}|{_name_pattern()}")
    match = names.search(small)
    while match is not None:
        at = match.end()
        if match["word"]:
            at = match.end("word")
            name = read_name(text, match)
            place = None
            if name.names_a_secret():
                place = secret_value(name, match.end())
            if place is not None:
                at = place[1]
                places.append((*place, name.label))
        match = names.search(small, at)
    return places


def _may_have_values(text: str, small: str) -> bool:
    """Whether *text* has a sign or a digit, and a word for a secret."""
    if not any(sign in text for sign in "=:('\"<-0123456789"):
        return False
    return any(word in small for word in load_table().labels)


@cache
def _name_pattern() -> str:
    table = load_table()
    words = "|".join(sorted(table.labels, key=len, reverse=True))
    after = "|".join(sorted(table.words["after"]))
    return (
        rf"(?P<word>{words})(?:[_-]?[0-9]{{1,2}}(?![0-9a-z])|[_-](?:{after})(?![0-9a-z]))?"
        r"(?P<close>\\?[\"'`])?\]?(?:"
        r"[ \t]{0,4}:[ \t]{0,4}[&*]?[a-z_][\w.\[\]| ]{0,40}(?P<typed>=)[ \t]{1,4}(?=[\"'])"
        r"|(?P<gap>[ \t]{0,20})(?:\.{3,60})?"
        r"(?P<sign>:[=-]|=>|\?=|[=:](?![=:]))(?P<space>[ \t]{0,20})"
        r"|\)?[ \t]{0,4}(?:\?\?|\|\||\?:|or)(?P<default>[ \t]{1,4})(?=[\"'])"
        r"|,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}(?P<attribute>[=:])[ \t]{0,4}"
        r"|(?<=[\"'])[ \t]{0,4}(?P<comma>,)[ \t]{0,16}(?=\\?[\"'])"
        r"|(?P<call>\()(?=[rb]?[\"'])|(?:[ \t][^<>\n]{0,80})?(?P<tag>>)"
        r"|[ \t]{1,4}(?:(?:[a-z0-9@._-]{1,30}[ \t]){0,5}[a-z0-9@._-]{1,30}:[ \t]{1,4}"
        r"|(?:is|was)[ \t]{1,4})?)"
    )


def read_name(text: str, match: Match[str]) -> SecretName:
    """Return the name whose word was found by *match*, with the sign after it."""
    start = _start_of_name(text, match.start())
    before = text[start : match.start()]
    word = text[match.start("word") : match.end("word")]
    written_sign = _sign(match)
    sign = written_sign
    is_defined = not written_sign and _is_defined(text, start)
    if match["default"] or is_defined or written_sign in ASSIGNMENT_SIGNS:
        sign = "="
    elif not written_sign and before.startswith("-") and not match["close"]:
        sign = "-"
    has_space = bool(match["space"]) and ("=" in written_sign or bool(match["default"]))
    return SecretName(
        text=text,
        start=start,
        before=before,
        word=word,
        label=load_table().labels[word.lower()],
        sign=sign,
        is_spaced=is_defined or bool(match["gap"]) or has_space,
        is_quoted=bool(match["close"]),
    )


def _start_of_name(text: str, at: int) -> int:
    """Return where the name begins whose word is at *at*."""
    start = at
    while start > 0 and at - start < LONGEST_PREFIX and _is_of_name(text[start - 1]):
        start -= 1
    is_escaped = start < at and text[start - 1 : start] == "\\" and text[start] in "nrt"
    if is_escaped:  # a line's end
        return start + 1
    return start


def _is_of_name(letter: str) -> bool:
    return letter.isalnum() or letter in "_-."


def _sign(match: Match[str]) -> str:
    """Return what stands between a name and its value."""
    for group in SIGN_GROUPS:
        if match[group]:
            return str(match[group])
    return ""


def _is_defined(text: str, start: int) -> bool:
    """Whether the name at *start* is a constant of C: ``#define NAME value``."""
    before = text[max(0, start - 20) : start]
    return pattern(r"#[ \t]{0,4}define[ \t]{1,8}$").search(before) is not None


# Values -------------------------------------------------------------------------------------------

LOOK_AHEAD = 200
"""How much of a value is looked at to see whether it is a secret; all of it is masked."""
CALL = r"[A-Za-z_$][\w$.:]{0,80}[(\[{<]"
LEAD = (
    r"(?:(?:new[ \t]|\[\])?(?:[\w$]{1,40}(?:\.|::)){0,4}(?P<call>[\w$]{1,40})\([ \t]{0,4})?"
    r"[rbufRBUF@]{0,2}(?=[\"'])"
)
"""What may stand before a literal: a call around it, a prefix."""
VALUE_KEY = r"\\?[\"']?(?:value|default)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
BELOW = (
    rf"\\\r?\n[ \t]{{0,40}}|\{{\s{{0,40}}{VALUE_KEY}"
    r"|(?:[|>][+-]?)?[ \t]{0,4}(?:\r?\n|\\n)(?P<indent>[ \t]{1,40})"
    rf"(?:{VALUE_KEY}|(?!\\?[\"']?[\w.-]{{1,60}}\\?[\"']?[ \t]{{0,4}}[:=](?:[\s{{\\]|$)|-[ \t]))"
)
"""Where a value is that isn't behind its name: on a shell's next line, in a mapping, on a deeper
line."""
LOG = r"[0-9]{2}:[0-9]{2}:[0-9]{2}|(?<!\S)[\w.-]{1,40}=[^\s=]"
"""What only a line of a log has: a time, or pairs."""
END = r"[ \t]{0,20}(?:[\r\n\"'`#]|\\n|$)"
PATH = (
    r"(?:~|\.{1,2}|[A-Za-z]:)[/\\]|[\w.-]{1,60}(?:/[\w.-]{1,60}){1,9}\.[a-z0-9]{2,5}(?![\w.])"
    r"|/(?:etc|home|root|run|tmp|usr|var|opt)/"
    r"|(?:/[\w.+@ -]{1,60}){2,30}\.[a-z]{2,5}(?![\w.])|[a-z_]{1,40}\.[a-z_.]{1,80}(?![\w-])"
)


def secret_value(name: SecretName, at: int) -> tuple[int, int] | None:
    """Return where the value of *name* is, if it is a secret.

    Whatever is refused is refused after a bounded look, so that a text full of names costs no more
    than its length.
    """
    text = name.text
    at = _beginning(name, at)
    lead = pattern(LEAD).match(text, at)
    call = ""
    if lead is not None:
        at = lead.end()
        call = lead["call"] or ""
    quote = quote_at(text, at)
    inside = at + len(quote)
    if refers(text, inside):
        return None
    if name.sign == ">":
        return _element(name, inside)
    if not _begins_secret(name, at, quote, call):
        return None
    whole = value_pattern(quote).match(text, at)
    if whole is None:
        return None
    return inside, inside + len(without_tail(text[inside : whole.end()], quote))


def _begins_secret(name: SecretName, at: int, quote: str, call: str) -> bool:
    """Whether the value at *at* is a secret, by the beginning of it."""
    text = name.text
    inside = at + len(quote)
    start = value_pattern(quote).match(text, at, at + LOOK_AHEAD)
    if start is None or start.end() == inside:
        return False
    value = without_tail(text[inside : start.end()], quote)
    if call and not is_random(value) and not converts(call):
        return False
    if quote:
        return _quoted_is_secret(name, value)
    return _bare_is_secret(name, value, inside + len(value))


def _beginning(name: SecretName, at: int) -> int:
    """Return where the value begins: at *at*, or below where nothing is there."""
    below = pattern(BELOW).match(name.text, at)
    if below is None:
        return at
    if below["indent"] and not _is_value_below(name, below):
        return at
    return below.end()


def _is_value_below(name: SecretName, below: Match[str]) -> bool:
    """Whether the deeper line *below* a name holds its value."""
    line = name.line
    if name.sign == "=":
        is_alone = name.text.startswith(('"', "'"), below.end())
    else:
        is_alone = not line.strip(" \t-\"'")
    indent = len(line) - len(line.lstrip(" \t-"))
    return is_alone and len(below["indent"]) > indent


def _element(name: SecretName, at: int) -> tuple[int, int] | None:
    """Return where the text of an XML element is, if its tag or its attribute ``name`` or ``key``
    names a secret."""
    line = name.text[max(0, name.start - 40) : name.start].rpartition("\n")[2]
    if not pattern(r".*(?:<(?:[\w-]{1,30}:)?|[ \t](?:name|key)=[\"'])").fullmatch(line):
        return None
    value = pattern(r"[^<>\s]{1,4000}(?=</)").match(name.text, at)
    if value is None or not _quoted_is_secret(name, value[0][:300]):
        return None
    return value.span()


# Values with a clear beginning and end ------------------------------------------------------------


def _quoted_is_secret(name: SecretName, value: str) -> bool:
    """Whether a value in quotes is a secret, and not a name or a sentence."""
    if name.repeats(value) or is_template_or_other(value):
        return False
    if name.sign == "" and not _may_stand_alone(name, value):
        return False
    if is_random(value):
        return True
    if name.is_strong:
        return _quoted_is_password(name, value)
    return _quoted_looks_secret(name, value)


def _quoted_is_password(name: SecretName, value: str) -> bool:
    """Whether a value whose name makes it a secret isn't a word in code or a sentence."""
    if name.sign == ",":
        return is_one_word(value) and _is_set_by_call(name)
    if name.sign == ">":
        return is_one_word(value)
    if name.sign == "(":
        return is_one_word(value) and name.last in ("", "set", "with")
    if not is_sentence(value):
        return True
    return name.is_assigned or "phrase" in name.word.lower()


def _may_stand_alone(name: SecretName, value: str) -> bool:
    """Whether *value* may be a secret although nothing stands between it and its name."""
    return is_one_word(value) and len(name.word) >= 5 and not value.startswith("-")


def _is_set_by_call(name: SecretName) -> bool:
    """Whether the name is the first argument of a call that sets something."""
    call = pattern(r"([A-Za-z_]+)[ \t]*\([ \t]*\\?[\"']?$").search(name.line[-60:])
    if call is None:
        return False
    return call[1].lower().startswith(tuple(load_table().words["setter"]))


def _quoted_looks_secret(name: SecretName, value: str) -> bool:
    """Whether a key or token in quotes looks like one, and not like a name."""
    if pattern(PATH).match(value):
        return False
    if name.is_assigned and name.sign == "=" and name.label in ("key", "token"):
        return True
    if not name.is_qualified:
        return False
    if is_long_and_of_one_case(value):
        return True
    return " " not in value and is_odd(value)


# Values without quotes ----------------------------------------------------------------------------


def _bare_is_secret(name: SecretName, value: str, end: int) -> bool:
    """Whether a value without quotes is a secret, and not code or the next word of a sentence."""
    if _bare_is_no_secret(name, value):
        return False
    if is_random(value) and name.suits_random:
        return True
    if not name.sign:
        return name.is_password and is_odd(value) and value[0] not in "&*"
    if name.is_assigned and name.label not in WEAK_LABELS:
        return _is_assigned_secret(name, value)
    if name.sign == "=":
        return name.is_named_well and _assignment_is_secret(name, value, end)
    return name.is_named_well and _entry_is_secret(name, value, end)


def _is_assigned_secret(name: SecretName, value: str) -> bool:
    """Whether a shell's variable or a flag has a secret: a flag's weaker names need a value that
    looks like one."""
    if name.sign != "-" or name.is_strong or has_letters_and_digits(value):
        return True
    return len(value) >= 16 and not value.islower()


def _bare_is_no_secret(name: SecretName, value: str) -> bool:
    """Whether a value without quotes is surely no secret: code, a number, a path, a part of an
    address."""
    if name.sign in (",", "(") or name.repeats(value):
        return True
    if pattern(rf"{OTHER}|{CALL}").match(value):
        return True
    is_after_colon = name.text[name.start - 1 : name.start] == ":"
    if name.sign == ":" and is_after_colon and not name.is_assigned:
        return True  # arn:aws:…:secret:name
    if value.replace(".", "").lstrip("-").isdigit():
        return not _may_be_digits(name, value)
    if pattern(TEMPLATE).search(value):
        return True
    may_be_path = not name.is_strong or name.word.lower() == "pwd"  # pwd is a folder too
    return may_be_path and pattern(PATH).match(value) is not None


def _may_be_digits(name: SecretName, value: str) -> bool:
    """Whether the secret may be a number: only a password may."""
    return name.label == "password" and len(value) >= SHORTEST_SECRET and name.sign != ""


def _assignment_is_secret(name: SecretName, value: str, end: int) -> bool:
    """Whether ``name = value`` is from a file or a command, and not code."""
    ends_line = pattern(END).match(name.text, end) is not None
    if not may_be_name(value):
        if name.is_spaced and not ends_line and not has_letters_and_digits(value):
            return False
        return value[0] not in "&*!-+("
    if not name.is_strong or "." in value:
        return False
    if name.is_spaced:
        return ends_line and not name.line and value.islower()
    return not name.is_in_call and len(value) > 2


def _entry_is_secret(name: SecretName, value: str, end: int) -> bool:
    """Whether ``name: value`` is an entry of a file or a log, and not a type, a field in code or a
    sentence."""
    is_test_result = name.word == "PASS" and not name.before
    is_apart = name.is_quoted or name.text[end - len(value) - 1] in " \t"
    if is_test_result or not is_apart or not _ends_entry(name, value, end):
        return False
    if not may_be_name(value):
        if has_letters_and_digits(value):
            return True
        return name.is_strong and value[0] not in "&*!-+(|>"
    if "." in value:
        return False
    if name.line.strip(" \t-#>\"'"):
        return name.label == "password" and not name.is_in_call
    return value[0].islower() and not _is_field(name, value, end)


def _ends_entry(name: SecretName, value: str, end: int) -> bool:
    """Whether an entry ends after *value*; in a log more may follow."""
    text = name.text
    if pattern(rf"{END}|[,.](?:[ \t\r\n]|$)|[ \t]?\}}").match(text, end):
        return True
    if not name.is_strong or len(value) < SHORTEST_SECRET:
        return False
    if pattern(r"\d").search(value):
        return True
    line = name.line + text[end : end + LOOK_AHEAD].partition("\n")[0]
    return pattern(LOG).search(line) is not None


def _is_field(name: SecretName, value: str, end: int) -> bool:
    """Whether ``name: value`` is a field in code."""
    if name.text.startswith((",", ";", ")", "}"), end):
        return True
    return name.is_in_call and not value.islower()
