"""Secrets that stand in a place for one: a column of a table, a sentence about a password, the
words of a wallet, the line that a comment is about.
"""

from __future__ import annotations

import re

from brim.secret_shapes import (
    MASK,
    REFERENCE,
    Place,
    apart,
    has_letters_and_digits,
    is_random,
    lowered,
    pattern,
)

# Columns ------------------------------------------------------------------------------------------

COLUMN = (
    r"[\"'`*]*(?:[\w.-]{1,30}[ _-]){0,3}(?:password|passwd|passphrase|passcode|passwort|kennwort"
    r"|contraseña|mot de passe|senha|wachtwoord|pwd?|pass|secret(?:[ _]?access)?(?:[ _]?key)?"
    r"|api[ _]?(?:key|token)|(?:access|auth)[ _]?token|client[ _]?secret|private[ _]?key)[\"'`*]*"
)
HEADING = r"[\"'`*]*[\w .:/()#-]{0,40}[\"'`*]*"
"""What may stand above another column."""
COLUMN_WORDS = ("pass", "pw", "secret", "key", "token", "senha", "contraseña", "wort", "woord")
NAMED_CELL = (
    r"(?:\||<t[dh]>)[ \t]{0,20}[`*]{0,2}[\w.-]{0,40}"
    r"(?:password|passwd|passphrase|secret|token|api_key)"
    r"[`*]{0,2}[ \t]{0,20}(?:\||</t[dh]>[ \t]{0,20}<td>)[ \t]{0,20}`?(?P<value>[^\s|`<>]{6,200})`?"
    r"[ \t]{0,20}(?:\||</td>)"
)
SEPARATORS = ("|", "\t", ";", ",")
RULE = r"[ :|+-]*-[ :|+-]*"
"""The line below a table's head in Markdown."""
MOST_ROWS = 500
LONGEST_ROW = 2_000


def find_columns(text: str) -> list[Place]:
    """Find the secrets in the tables of *text*, in CSV, Markdown and HTML.

    A secret stands below a heading that names it, or in the cell to the right of its name.
    """
    if not any(sign in text for sign in ("\n", "|", "<td")):
        return []
    lines = text.split("\n")
    places = _cells_below_headings(lines)
    if "|" in text or "<td" in text:
        places += _cells_beside_names(lines)
    return apart(sorted(places))


def _cells_below_headings(lines: list[str]) -> list[Place]:
    """Return where the cells of secret columns are, in the tables among *lines*."""
    places: list[Place] = []
    columns: list[int] = []
    separator = ""
    size = 0  # cells of the table's head
    rows = 0  # lines of the table so far, without its head
    line_start = 0
    for line in lines:
        cells = _cells(line, separator)
        is_markdown = separator == "|"
        is_rule = is_markdown and pattern(RULE).fullmatch(line) is not None
        if columns and is_rule:
            rows += 1
        elif columns and is_markdown and rows == 0:
            columns = []  # in Markdown, a head has a rule below it: that line was none
        elif columns and len(cells) == size and rows < MOST_ROWS:
            rows += 1
            places += _secret_cells(cells, columns, line_start)
        else:
            # No table is open, or this line ends it: it may be the head of another one.
            columns, separator, size = _head(line)
            rows = 0
        line_start += len(line) + 1
    return places


def _cells_beside_names(lines: list[str]) -> list[Place]:
    """Return where the cells are whose left neighbour names a secret: ``| api_key | 8f3c… |``."""
    places: list[Place] = []
    line_start = 0
    for line in lines:
        if "|" in line or "<td" in line:
            places += _cells_beside_name(line, line_start)
        line_start += len(line) + 1
    return places


def _cells_beside_name(line: str, at: int) -> list[Place]:
    """Return where the value is in a row, beginning at *at*, that has the name to its left."""
    places: list[Place] = []
    for match in pattern(NAMED_CELL).finditer(lowered(line)):
        value = line[match.start("value") : match.end("value")]
        if not has_letters_and_digits(value):
            continue
        if pattern(rf"{MASK}|{REFERENCE}").match(value) is None:
            places.append((at + match.start("value"), at + match.end("value"), "password"))
    return places


def _cells(line: str, separator: str) -> list[str]:
    if not separator or len(line) > LONGEST_ROW:
        return []
    return line.split(separator)


def _head(line: str) -> tuple[list[int], str, int]:
    """Return which cells of a table's head name secrets, what separates them, and how many there
    are; nothing for another line."""
    line = line.lstrip("\ufeff").rstrip("\r")
    small = lowered(line)
    if len(line) > LONGEST_ROW or not any(word in small for word in COLUMN_WORDS):
        return [], "", 0
    for separator in SEPARATORS:
        cells = [cell.strip() for cell in small.split(separator)]
        is_table = separator == "|" or (line == line.lstrip() and f"{separator} " not in line)
        if len(cells) < 2 or not is_table:
            continue
        if not all(pattern(HEADING).fullmatch(cell) for cell in cells if not _is_column(cell)):
            continue
        columns = [number for number, cell in enumerate(cells) if _is_column(cell)]
        if columns:
            return columns, separator, len(cells)
    return [], "", 0


def _is_column(cell: str) -> bool:
    return pattern(COLUMN).fullmatch(cell) is not None


def _secret_cells(cells: list[str], columns: list[int], at: int) -> list[Place]:
    """Return where the secrets are in a row that begins at *at*."""
    places: list[Place] = []
    for number, cell in enumerate(cells):
        value = cell.strip().strip("\"'`")
        is_plain = pattern(rf"{MASK}|{REFERENCE}|{RULE}").match(value)
        is_value = len(value) >= 4 and (is_plain is None or is_plain.end() == 0)
        if number in columns and is_value and " " not in value and "(" not in value:
            start = at + cell.index(value)
            places.append((start, start + len(value), "password"))
        at += len(cell) + 1
    return places


# Sentences ----------------------------------------------------------------------------------------

FOREIGN = (
    r"mot de passe|mdp|contraseña|contrasena|senha|palavra-passe|wachtwoord|hasło|пароль|密码|密碼|パスワード"
    r"|비밀번호|lösenord|parola|kennwort|passwort|heslo|salasana|adgangskode|şifre|parol"
)
SAID_WORDS = ("pass", "pw", "cred", "login", "log in", "account")
ENGLISH = r"password|passphrase|passcode|passwd|pass|pwd|pw"
FOREIGN_VALUE = (
    rf"(?:{FOREIGN})[ \t]{{0,3}}(?:[:：=]|(?:est|es|lautet|ist|is|è|é|jest)[ \t])?[ \t]{{0,3}}"
    r"[\"'`«„“]?(?P<value>[^\s\"'`,;:：=<>«»„“”(){}]{4,80})"
)
SAID_VALUE = (
    rf"(?<![\w-])(?:{ENGLISH})[ \t]{{1,3}}(?:(?:for|of|on|to)[ \t][\w.@ -]{{1,40}}[ \t])?"
    r"(?:is|was|->|→)(?:[ \t]now)?[ \t]{1,3}[\"'`“]?(?P<value>[^\s\"'`,;<>“”(){}\[\]]{4,80})"
)
USED_VALUE = (
    r"\b(?:use|try|with|set|enter|type)[ \t]{1,3}[\"'`“]?(?P<value>[^\s\"'`,;<>“”(){}\[\]]{6,80})"
    rf"[\"'`”]?[ \t]{{1,3}}as[ \t](?:[\w-]{{1,20}}[ \t]){{0,3}}(?:{ENGLISH})\b"
)
QUOTED_VALUE = (
    rf"(?<![\w-])(?:{ENGLISH})(?:[ \t][^\s:=]{{1,20}}){{0,6}}?[ \t]{{1,3}}(?:is|was)[ \t]{{1,3}}"
    r"[\"'`“](?P<value>[^\s\"'`“”\n]{1,40}(?:[ ][^\s\"'`“”\n]{1,40}){1,6})[\"'`”]"
)
LOGIN_VALUE = (
    r"\b(?:credentials|creds|login|log in|account)[ \t]{0,2}(?:are|is|with|as|:|=)[ \t]{0,2}[\"'`]?"
    r"[\w.@-]{1,40}[ \t]?[/:][ \t]?(?P<value>[^\s\"'`,;<>(){}\[\]/]{6,80})"
)
NAMES_IN_PROSE = rf"{FOREIGN}|clave|password|passphrase|passcode|passwd|pwd|pw"
VERBS = r"is|was|to|now|est|es|ist|lautet|è|é|jest|är|er|to"
PROSE_VALUE = (
    rf"(?<![\w-])(?:{NAMES_IN_PROSE})(?:"
    rf"(?:[ \t]{{1,3}}[^\s:=]{{1,20}}){{0,6}}?[ \t]{{1,3}}(?:{VERBS})[ \t]"
    r"|(?:[ \t]{1,3}[^\s:=]{1,20}){1,6}?[ \t]{0,3}(?:[:：=]|->|→)[ \t]"
    r"|(?:は|是|为|を)[ \t]?)"
    r"[ \t]{0,3}[\"'`«„“]?(?P<value>[^\s\"'`,;:=<>«»„“”(){}\[\]]{6,80}+)(?![(\[=:])"
)
"""A password that a sentence names: the word for it, some more words, a verb or a sign, the
value."""
LOGIN_PAIR = (
    r"\buser(?:name)?[ :=]{1,3}[\w.@-]{1,40}[ ,/]{1,3}(?:and[ ])?(?:password|pass|pw)[ :=]{1,3}"
    r"[\"'`]?(?P<value>[^\s\"'`,;<>(){}\[\]]{6,80})"
)
COMPARED_VALUE = (
    r"(?:password|passwd|passphrase|secret|pwd?)[\"']?\]?\)?[ \t]{0,3}[!=]==?[ \t]{0,3}"
    r"(?P<quote>[\"'])(?P<value>[^\s\"']{6,80})(?P=quote)"
)
"""A password that code compares."""
ALGORITHMS = r"(?:sha|md|utf|base|aes|argon|pbkdf|bcrypt|scrypt|python|http|oauth|x)[-_]?[0-9]"
ORDINARY = (
    r"(?:case|read|user|machine|time|plain|base64|self|auto|pre|non|re|well|too|not|un)-"
    r"|.*-(?:sensitive|encoded|only|based|protected|provided|generated|specific|hashed|less|in|time"
    r"|dependent|encrypted|salted|supplied|defined|known|checked|stored|safe|free|long|length)$"
)


TOKEN_IN_PROSE = (
    r"(?<![\w-])(?:api[ _-]?key|access[ _-]?key|secret[ _-]?key|token)"
    rf"(?:[ \t]{{1,3}}[^\s:=]{{1,20}}){{1,6}}?[ \t]{{1,3}}(?:{VERBS})[ \t]{{1,3}}"
    r"[\"'`«„“]?(?P<value>[\w.+/=~-]{16,200}+)(?![(\[:])"
)
SAID_EXPRESSIONS = (
    SAID_VALUE,
    USED_VALUE,
    LOGIN_VALUE,
    QUOTED_VALUE,
    PROSE_VALUE,
    LOGIN_PAIR,
    COMPARED_VALUE,
)
FOREIGN_WORDS = (*FOREIGN.split("|"), "clave")


def find_sentences(text: str) -> list[Place]:
    """Find passwords that a sentence says, in several languages."""
    places: list[Place] = []
    small = lowered(text)
    expressions: tuple[str, ...] = ()
    if any(word in small for word in FOREIGN_WORDS):
        for match in pattern(FOREIGN_VALUE).finditer(small):
            if _is_foreign_value(text, match):
                places.append((*_span(text, match), "password"))
        expressions += (PROSE_VALUE,)
    if any(word in small for word in SAID_WORDS):
        expressions += SAID_EXPRESSIONS
    for expression in dict.fromkeys(expressions):
        for match in pattern(expression).finditer(small):
            if expression == QUOTED_VALUE or _is_said_value(text, match):
                places.append((*_span(text, match), "password"))
    return apart(sorted(places))


def find_tokens_in_prose(text: str) -> list[Place]:
    """Find keys and tokens that a sentence says."""
    places: list[Place] = []
    small = lowered(text)
    if "key" not in small and "token" not in small:
        return places
    for match in pattern(TOKEN_IN_PROSE).finditer(small):
        start, end = _span(text, match)
        if is_random(text[start:end]):
            places.append((start, end, "token"))
    return apart(places)


def _span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the value is, without the end of its sentence."""
    start, end = match.span("value")
    return start, start + len(text[start:end].rstrip(".!?:"))


def _is_foreign_value(text: str, match: re.Match[str]) -> bool:
    """Whether the word after a foreign name is a value, and not the next one of a sentence."""
    start, end = _span(text, match)
    value = text[start:end]
    if _refers(value) or pattern(FOREIGN).search(match["value"]):
        return False
    if has_letters_and_digits(value):
        return True
    after = pattern(r"[.!?\"'`]?[ \t]*(?:\n|\\n|$)").match(text, end)
    return after is not None and any(sign in match[0] for sign in ":：=")


def _is_said_value(text: str, match: re.Match[str]) -> bool:
    """Whether the word is no word of a language: it has digits, or signs inside."""
    start, end = _span(text, match)
    value = text[start:end]
    if _refers(value) or pattern(rf"{ORDINARY}|{ALGORITHMS}").match(match["value"]):
        return False
    if has_letters_and_digits(value):
        return True
    return pattern(r"[^\W_]+(?:[-.!@#$%^&*+?]+[^\W_]+)+").fullmatch(value) is not None


def _refers(value: str) -> bool:
    return len(value) < 4 or pattern(rf"{MASK}|{REFERENCE}|\[|/|~").match(value) is not None


# Wallets ------------------------------------------------------------------------------------------

SEED = (
    r"(?:mnemonic|seed|wallet|(?:recovery|backup|secret)[ _-]?(?:phrase|words))\w{0,20}"
    r"[^\n]{0,60}?[\"'`:=\s](?P<value>(?:(?:[0-9]{1,2}[.)][ \t]?)?[a-z]{3,8}[\s,\"']{1,6}){11,23}"
    r"(?:[0-9]{1,2}[.)][ \t]?)?[a-z]{3,8})(?![a-z])"
)
SEED_WORDS = ("mnemonic", "seed", "wallet", "phrase", "recovery")
FILLERS = frozenset(("the", "and", "for", "are", "that", "this", "with", "from", "have", "you"))
"""Words of sentences that no list of wallets' words has."""


def find_seeds(text: str) -> list[Place]:
    """Find the words from which a wallet is made: twelve or more short ones."""
    places: list[Place] = []
    small = lowered(text)
    if not any(word in small for word in SEED_WORDS):
        return places
    for match in pattern(SEED).finditer(small):
        words = re.findall(r"[a-z]+", match["value"])
        if FILLERS.isdisjoint(words):
            places.append((*match.span("value"), "seed phrase"))
    return apart(places)


# Comments, and addresses of databases -------------------------------------------------------------

COMMENT = r"(?:#|//|--|;|/\*|<!--)[ \t]{0,3}"
COMMENTED = (
    r"[:=(\[,][ \t]{0,4}(?:(?P<quote>[\"'])(?P<quoted>[^\"'\s]{6,80})(?P=quote)"
    r"|(?P<bare>[^\s\"'#;,(]{6,80}))"
    rf"[ \t,;)\]]{{0,4}}(?<=[ \t,;)\]\"']){COMMENT}(?:[\w'-]{{1,20}}[ \t]){{0,4}}(?:{ENGLISH})"
    r"[ \t]{0,3}(?:\*/|-->)?[ \t]{0,3}(?:\r?\n|$)"
)
DATABASE = (
    r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|oracle|sqlserver)"
    r"(?:\+\w{1,20})?://[^\s:/@\"'`]{0,100}:(?P<value>[^\s\"'`<>]{1,200})"
    r"@(?=[\w.\[\]-]{1,200}(?::[0-9]{1,5})?(?:[/?#\s\"'`,;)]|$))"
)


def find_commented(text: str) -> list[Place]:
    """Find the values of lines whose comment says that they are passwords."""
    places: list[Place] = []
    if "pass" not in lowered(text) and "pw" not in lowered(text):
        return places
    for match in pattern(COMMENTED).finditer(lowered(text)):
        group = "quoted"
        if match["bare"]:
            group = "bare"
        value = match[group]
        is_name = pattern(rf"[a-z_]*(?:{ENGLISH})[a-z_]*").fullmatch(value)
        is_code = group == "bare" and not has_letters_and_digits(value) and "-" not in value
        if is_name is None and not is_code and not _refers(value):
            places.append((*match.span(group), "password"))
    return places


EASY_CONNECT = (
    r"(?<![\w./-])[\w.$]{1,30}/(?P<value>[^\s/@\"'`]{4,80})@(?://)?[\w.-]{1,100}:[0-9]{2,5}/\w"
)
"""An address of Oracle: ``scott/tiger@//host:1521/name``."""
INSERTED = (
    r"insert[ \t]{1,4}into[ \t]{1,4}[^\s(]{1,80}[ \t]{0,4}\((?P<columns>[^()]{1,400})\)"
    r"\s{0,20}values\s{0,20}\((?P<values>[^()]{1,800})\)"
)
CELL = r"[ \t\n]*(?:'(?P<quoted>[^']*)'|[^,']*)"


def find_inserted(text: str) -> list[Place]:
    """Find the passwords in rows of SQL: the values below a column for one."""
    places: list[Place] = []
    small = lowered(text)
    if "insert" not in small:
        return places
    for match in pattern(INSERTED).finditer(small):
        names = [name.strip(' \t\n"`[]') for name in match["columns"].split(",")]
        at = match.start("values")
        for name in names:
            cell = pattern(CELL).match(text, at, match.end("values"))
            if cell is None:
                break
            if cell["quoted"] and len(cell["quoted"]) >= 4 and _is_column(name):
                places.append((*cell.span("quoted"), "password"))
            at = cell.end() + 1
    return places


def find_database_logins(text: str) -> list[Place]:
    """Find the passwords in addresses of databases, also those with ``@`` or ``/``."""
    places: list[Place] = []
    if "@" not in text:
        return places
    for match in pattern(EASY_CONNECT).finditer(text):
        if has_letters_and_digits(match["value"]) and not _refers(match["value"]):
            places.append((*match.span("value"), "password"))
    if "://" not in text:
        return places
    for match in pattern(DATABASE).finditer(text):
        value = match["value"]
        is_plain = not any(sign in value for sign in "@/?#")
        if not is_plain and pattern(rf"{MASK}|{REFERENCE}|[0-9]{{1,5}}/").match(value) is None:
            places.append((*match.span("value"), "password"))
    return apart(places)
