"""Masks secrets in text that is stored or logged.

The mask names the kind of secret, so the sentence stays readable.

Masked are the keys of providers (``data/masking.tsv``), ``Authorization`` and cookie values, private key blocks,
passwords in URLs, and values whose name ends in key, token, secret or password. Git hashes, UUIDs, paths, and what only
refers to a secret (``$TOKEN``, ``${{ secrets.KEY }}``, ``<your key>``) stay. A mask is never masked again.
"""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Match, Pattern

    _Step = Callable[[str], tuple[str, int]]

_PASSES = 12
"""A mask is a border, so masking can uncover one more secret; more often than this only a text made for it does."""
_LONGEST_PEM = 32_768
_BORDER = r"(?:(?<![A-Za-z0-9])|(?<=\[m)|(?<=[\[;]\dm)|(?<=[\[;]\d\dm))"
"""A shape begins where no letter or digit stands before it; the ``m`` that ends a terminal's colour code is none."""
_WRAPPED = (
    r"(?:\r?\n[ \t]{0,8}(?=[a-z0-9_-]*+[A-Z])(?=[A-Z0-9_-]*+[a-z])(?=[A-Za-z_-]*+[0-9])"
    r"[A-Za-z0-9_-]{12,}+(?![^\s\"'`,;)]))?"
)
"""The rest of a key that a terminal broke: capitals, small letters and digits, as no hash, id or word has them."""
_GLUED = ("api", "access", "auth", "secret", "private", "account", "client")
"""What a word of a secret may be glued to, as in ``apikey``."""
_MASK = r"\[masked [a-z0-9 ]{1,40}\]"
_QUOTED = {
    '"': r'"(?:[^"\\\n]|\\[^\n])*+',
    "'": r"'(?:[^'\\\n]|\\[^\n]|'')*+",
    '\\"': r'\\"(?:[^"\\\n]|\\(?!")[^\n])*+',
    "\\'": r"\\'(?:[^'\\\n]|\\(?!')[^\n])*+",
}
_BARE = rf"(?:{_MASK}|[&;](?![\w.-]{{1,40}}=)|[^\s\"'`&;\\])++"
_REFERENCE = (
    r"\$\{|\$\(|\$[A-Z_][A-Z0-9_]*+(?![\w$])|\$[a-z_]++(?![\w$])|\{[^}\n]{0,80}\}|<[^>\n]{1,60}>|%[A-Za-z_]{1,60}%"
    r"|(?:\*|\.|…|[xX]){3,}+(?!\w)"
)
_CODE = (
    r"(?i:os\.|process\.|env\.|import\.|self\.|this\.|(?:true|false|none|null|nil|undefined)(?![\w-]))"
    r"|[A-Za-z_][\w.]{0,80}[(\[]"
)
_PLACE = (
    r"(?:~|\.{1,2}|[A-Za-z]:)[/\\]|/(?:etc|home|root|run|tmp|usr|var|opt)/"
    r"|(?:/[\w.+@ -]{1,60}){2,30}\.[a-z]{2,5}(?![\w.])|[a-z_]{1,40}\.[a-z_.]{1,80}(?![\w-])"
)
"""What a value may be instead of a secret: a reference; without quotes code; where no password is due, a path."""


def mask(text: str) -> str:
    """Return *text* with every secret replaced by its kind.

    The number of newlines stays the same.

    >>> mask("export OPENAI_API_KEY=sk-abcdefghijklmnopqrst1234")
    'export OPENAI_API_KEY=[masked openai key]'
    """
    return masked(text)[0]


def masked(text: str) -> tuple[str, int]:
    """Return *text* without its secrets, and the number of secrets."""
    total = 0
    for _ in range(_PASSES):
        found = 0
        for step in _steps(text):
            text, count = step(text)
            found += count
        total += found
        if not found:
            break
    return text, total


def _steps(text: str) -> Iterator[_Step]:
    """Yield what there is to do: most texts hold none of the words that a secret needs, and cost a few look-ups."""
    if "PRIVATE KEY" in text:
        yield _without_private_keys
    lowered = text.lower()
    if "authorization" in lowered:
        yield _without_authorization
    if "cookie" in lowered:
        yield _without_cookies
    for hints, step in _table()[0]:
        for hint in hints:  # a loop, not any(): most of the time of a text without secrets is spent here
            if hint in text:
                yield step
                break
    if "://" in text and "@" in text:
        yield _without_url_passwords
    if any(word in lowered for word in ("key", "token", "secret", "pass", "credential")):
        yield _without_named_values


@cache
def _table() -> tuple[list[tuple[list[str], _Step]], dict[str, frozenset[str]]]:
    """Return the shapes and flags, and for each word of a secret the names that end in it and hold none."""
    rows = data_rows(__file__, "masking.tsv")
    makers = {"shape": _shape, "flag": _flag}
    steps = [(row[2].split(" "), makers[row[0]](row[1], row[3])) for row in rows if row[0] in makers]
    return steps, {row[1]: frozenset(row[2].split(" ")) for row in rows if row[0] == "plain"}


@cache
def _pattern(pattern: str) -> Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _shape(label: str, pattern: str) -> _Step:
    """Mask a shape, and where its line ends in the middle of it, the rest of it on the next line."""
    return lambda text: _pattern(f"{_BORDER}(?:{pattern}){_WRAPPED}").subn(
        lambda found: f"[masked {label}]" + "\n" * found[0].count("\n"), text
    )


def _flag(label: str, pattern: str) -> _Step:
    value = rf"(?![\"']?(?:{_MASK}|{_REFERENCE}))(?:[^\s\"'`;&|]++|'[^'\n]++'|\"[^\"\n]++\")"
    return lambda text: _pattern(f"({pattern}){value}").subn(rf"\1[masked {label}]", text)


def _replaced(text: str, places: list[tuple[int, int, str]]) -> tuple[str, int]:
    """Return *text* with each ``(start, end, label)`` masked; *places* are in order and apart."""
    parts, at = [], 0
    for start, end, label in places:
        parts += [text[at:start], f"[masked {label}]", "\n" * text.count("\n", start, end)]
        at = end
    return "".join([*parts, text[at:]]), len(places)


def _without_private_keys(text: str) -> tuple[str, int]:
    """Mask each block from its first line to its last; one that was cut off, as far as it looks like one."""
    head = _pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    tail = _pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    torn = _pattern(r"(?:(?:\s|\\[nr])++[A-Za-z0-9+/=]{16,}+)*+")
    places: list[tuple[int, int, str]] = []
    end = tail.search(text)
    for begin in head.finditer(text):
        if places and begin.start() < places[-1][1]:
            continue
        while end is not None and end.start() < begin.end():
            end = tail.search(text, end.end())
        if end is not None and end.start() - begin.end() <= _LONGEST_PEM:
            stop = end.end()
        else:
            rest = torn.match(text, begin.end())
            stop = rest.end() if rest else begin.end()
        if stop > begin.end():
            places.append((begin.start(), stop, "private key"))
    return _replaced(text, places)


def _without_url_passwords(text: str) -> tuple[str, int]:
    pattern = _pattern(rf"(://[^\s/?#:@\"'<>]{{0,100}}:)(?!{_REFERENCE})[^\s/?#\"'<>@]{{1,300}}@")
    return pattern.subn(r"\1[masked password]@", text)


def _without_authorization(text: str) -> tuple[str, int]:
    """Mask what follows the scheme: one word, or up to the end of the quote or line where there are more."""
    head = _pattern(
        r"(?i:authorization)\\?[\"'`]?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}(?:[bfr]?(?P<quote>\\?[\"'`]))?"
        r"(?P<scheme>(?i:bearer|basic|token|apikey|api-key|bot|oauth|negotiate|digest|aws4-hmac-sha256)[ \t]{1,4})?"
    )
    places: list[tuple[int, int, str]] = []
    for start in head.finditer(text):
        at = start.end()
        scheme = (start["scheme"] or "").strip().lower()
        several = scheme in ("digest", "oauth", "aws4-hmac-sha256") or start["quote"]
        body = r"[^\"'`\\\n]++" if start["quote"] else r"[^\n]++" if several else r"[^\s\"'`\\]++"
        if (places and at < places[-1][1]) or _pattern(rf"{_MASK}|{_REFERENCE}").match(text, at):
            continue
        value = _pattern(body).match(text, at)
        if value and (scheme or start["quote"] or _pattern(r"[ \t]{0,8}(?:[\r\n\"'`]|$)").match(text, value.end())):
            places.append((at, value.end(), "authorization"))
    return _replaced(text, places)


def _without_cookies(text: str) -> tuple[str, int]:
    head = _pattern(
        r"(?i:cookie)(?:\\?[\"'`]?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}|[ \t]{1,4}(?=[\"']))(?P<quote>\\?[\"'`])?"
    )
    value = r"(?=[^\s=;,\"'`\\]{1,100}=[^\s\"'`\\;])"
    places: list[tuple[int, int, str]] = []
    for start in head.finditer(text):
        body = r"[^\"'`\\\n]++" if start["quote"] else r"[^\"'`\n]++"
        if places and start.end() < places[-1][1]:
            continue
        found = _pattern(value + body).match(text, start.end())
        if found:
            places.append((start.end(), start.end() + len(found[0].rstrip()), "cookie"))
    return _replaced(text, places)


def _without_named_values(text: str) -> tuple[str, int]:
    word = _pattern(
        r"(?P<word>(?i:key|token|secret|password|passwd|passphrase|credentials?|(?<=_)pass))"
        r"(?P<close>\\?[\"'`])?(?:(?P<before>[ \t]{0,4})(?P<sign>:=|=>|=|:)(?!=)|(?P<flag>[ \t]))(?P<after>[ \t]{0,4})"
    )
    places: list[tuple[int, int, str]] = []
    for found in word.finditer(text):
        inside = places and found.start() < places[-1][1]
        if not inside and _names_a_secret(text, found) and (place := _value(text, found)) is not None:
            label = found["word"].lower()
            places.append((*place, "password" if label.startswith("pass") else label))
    return _replaced(text, places)


def _name(text: str, found: Match[str]) -> str:
    """Return what stands before the word in the same name, with its last border: ``db_`` of ``db_password``."""
    at = start = found.start()
    while start > 0 and at - start < 80 and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    return text[start:at]


def _names_a_secret(text: str, found: Match[str]) -> bool:
    name, word = _name(text, found), found["word"]
    if found["flag"] is not None:
        return name.startswith("--") and not found["close"]
    kind = "key" if word.lower() == "key" else "token" if word.lower() == "token" else ""
    if not name.strip("-."):
        return kind != "key"
    joined = name[-1].isalnum()
    if joined and not (word[0].isupper() and not name[-1].isupper()):
        # PGPASSWORD: whatever a password is glued to, it is one. A monkey isn't a key.
        return word.lower().startswith("pass") or name.lower().endswith(_GLUED)
    last = _pattern(r"[A-Z]?[a-z0-9]+$|[A-Z0-9]+$").search(name.rstrip("_-."))
    return not (last and last[0].lower() in _table()[1].get(kind, ()))


def _value(text: str, found: Match[str]) -> tuple[int, int] | None:
    """Return where the value is, if there is one that isn't a reference, a path or a mask already.

    Whatever is refused is refused after a bounded look, so that a text full of names costs no more than its length.
    """
    at = found.end()
    if (broken := _pattern(r"\\\r?\n[ \t]{0,40}").match(text, at)) is not None:  # a shell's command goes on below
        at = broken.end()
    opening = next((quote for quote in ('\\"', "\\'", '"', "'") if text.startswith(quote, at)), "")
    inside = at + len(opening)
    refused = _REFERENCE if opening else f"{_REFERENCE}|{_CODE}"
    if not found["word"].lower().startswith(("pass", "secret")):
        refused += f"|{_PLACE}"
    if _pattern(refused).match(text, inside) or _pattern(rf"{_MASK}(?![^\s\"'`&\\,;.)\]}}>])").match(text, inside):
        return None
    if opening and found["flag"] is None:
        value = _pattern(_QUOTED[opening]).match(text, at)
        return (inside, value.end()) if value and value.end() > inside else None
    value = _pattern(_BARE).match(text, inside)
    if value is None or not _bare_is_meant(text, found, value):
        return None
    end = inside + (len(value[0].rstrip(".,;:)]}>|")) or len(value[0]))
    return inside, end


def _bare_is_meant(text: str, found: Match[str], value: Match[str]) -> bool:
    """Whether a value without quotes is one, and not the next word of a sentence."""
    ends = bool(_pattern(r"[ \t]{0,20}(?:[\r\n\"'`#,]|\\n|$)").match(text, value.end()))
    whole = value[0][:200]
    odd = any(letter.isdigit() for letter in whole) and any(letter.isalpha() for letter in whole)
    name = _name(text, found)
    if found["flag"] is not None:
        return odd or (len(whole) >= 16 and not whole.islower())
    if found["sign"] == ":":
        start = found.start() - len(name)
        line = text[max(0, start - 40) : start].rpartition("\n")[2]
        first = line.endswith(('"', "'", "`")) or not line.strip(" \t-{,")
        number = whole.rstrip(",}]").replace(".", "").lstrip("-").isdigit()
        after = bool(found["after"]) or bool(found["close"])
        named = "_" in name or "-" in name
        return after and ends and not number and (first or bool(found["close"]) or named) and (odd or (named and first))
    return (not found["after"] or ends) and whole.lower() != found["word"].lower()
