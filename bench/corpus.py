"""Text to measure on: sixteen kinds, made from a seed, the same on every machine with the same
Python version.

``make(kind, size, seed)`` returns about ``size`` UTF-8 bytes. What is real in it: ``python`` is the
source of the running interpreter's own standard library, and about half of ``english`` is its
docstrings; they are on every machine and change only with the Python version. Everything else is
generated: words follow Zipf's law over a list of common words of the language (words.toml; for
English also the words of those docstrings) with a tail of made-up ones, because an engine that
caches pieces would look far too good on a small vocabulary; and identifiers, numbers, hashes and
times are random, as they are in logs and tool output.
"""

from __future__ import annotations

import ast
import base64
import itertools
import json
import random
import re
import sysconfig
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

Maker = Callable[[random.Random], Iterator[str]]


@cache
def _words(language: str) -> tuple[str, ...]:
    """Return the common words of *language*, most frequent first."""
    lists = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return tuple(lists[language].split())


@cache
def _sources() -> tuple[str, ...]:
    """Return the standard library's top-level modules and packages as text, in a fixed order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    rooms = (
        "",
        "asyncio",
        "concurrent/futures",
        "email",
        "html",
        "http",
        "importlib",
        "json",
        "logging",
        "multiprocessing",
    )
    paths = [
        path
        for room in (*rooms, "unittest", "urllib", "xml/dom")
        for path in sorted((root / room).glob("*.py"))
    ]
    return tuple(path.read_text(encoding="utf-8") for path in paths if path.stat().st_size > 2_000)


@cache
def _docstrings() -> tuple[str, ...]:
    """Return every docstring of two lines or more in the standard library."""
    found = []
    for source in _sources():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if "\n" in text:
                    found.append(text)
    return tuple(found)


_ONSETS = re.split(" ", "b c d f g h l m n p r s t v w br ch cl cr dr fl gr pl sh st str th tr qu")
_NUCLEI = re.split(" ", "a e i o u ai ea ee ie oo ou")
_CODAS = re.split(" ", "ck d l m n nd nt r s st t ll tion ment ness ing er ed ly")


def _made_word(rng: random.Random) -> str:
    """Return a pronounceable word that no vocabulary holds as one token, such as
    ``strealmount``."""
    syllables = (
        rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(("", "", "n", "r"))
        for _ in range(rng.randint(1, 3))
    )
    return "".join(syllables) + rng.choice(_CODAS)


def _zipf(rng: random.Random, words: tuple[str, ...]) -> str:
    """Return one of *words* with a frequency of about one over its rank."""
    return words[min(int(len(words) ** rng.random()), len(words)) - 1]


@cache
def _english() -> tuple[str, ...]:
    """Return the common English words, then those that the standard library's docstrings add, by
    frequency."""
    common = _words("english")
    seen = Counter(word for text in _docstrings() for word in re.findall(r"\b[a-z]{4,}\b", text))
    return common + tuple(word for word, _ in seen.most_common() if word not in common)


def _word(rng: random.Random) -> str:
    return _zipf(rng, _english()) if rng.random() < 0.93 else _made_word(rng)


def _sentence(rng: random.Random, low: int = 5, high: int = 28) -> str:
    words = [_word(rng) for _ in range(rng.randint(low, high))]
    for i in range(4, len(words) - 1, 7):
        words[i] += rng.choice((",", ",", ";", " —", "'s", "n't"))
    if rng.random() < 0.2:
        words.insert(2, rng.choice(("$", "", "about ")) + str(rng.randint(2, 20_000)))
    return " ".join(words).capitalize() + rng.choice("....?!")


def _paragraph(rng: random.Random) -> str:
    return " ".join(_sentence(rng) for _ in range(rng.randint(2, 7)))


def _identifier(rng: random.Random) -> str:
    words = [_word(rng) for _ in range(rng.randint(1, 3))]
    return (
        "_".join(words)
        if rng.random() < 0.6
        else words[0] + "".join(word.title() for word in words[1:])
    )


def _hex(rng: random.Random, digits: int) -> str:
    return f"{rng.getrandbits(digits * 4):0{digits}x}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_hex(rng, n) for n in (8, 4, 4, 4, 12))


def _time(rng: random.Random) -> str:
    return (
        f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randrange(24):02}:{rng.randrange(60):02}:"
        f"{rng.randrange(60):02}.{rng.randrange(1000):03}Z"
    )


_ROOTS = ("src", "/usr/lib", "/home/user", "./pkg", "C:\\Users")


def _path(rng: random.Random) -> str:
    folders = "/".join(_identifier(rng) for _ in range(rng.randint(1, 4)))
    return f"{rng.choice(_ROOTS)}/{folders}.{rng.choice(('py', 'ts', 'rs', 'md', 'json'))}"


def _url(rng: random.Random) -> str:
    query = "&".join(
        f"{_word(rng)}={rng.choice((_hex(rng, 8), str(rng.randint(1, 999)), _word(rng)))}"
        for _ in range(rng.randrange(4))
    )
    host = f"{_made_word(rng)}.{rng.choice(('com', 'org', 'io', 'example'))}"
    return f"https://{host}/{'/'.join(_identifier(rng) for _ in range(rng.randint(1, 4)))}{'?' if query else ''}{query}"


def english(rng: random.Random) -> Iterator[str]:
    while True:
        yield rng.choice(_docstrings()) + "\n\n"
        yield _paragraph(rng) + "\n\n"
        yield _paragraph(rng) + "\n\n"


def python(rng: random.Random) -> Iterator[str]:
    while True:
        lines = rng.choice(_sources()).splitlines(keepends=True)
        start = rng.randrange(max(1, len(lines) - 200))
        yield "".join(lines[start : start + 200])


def logs(rng: random.Random) -> Iterator[str]:
    while True:
        row = {
            "ts": _time(rng),
            "level": rng.choice(("INFO", "INFO", "INFO", "DEBUG", "WARNING", "ERROR")),
            "logger": ".".join(_word(rng) for _ in range(3)),
            "msg": _sentence(rng, 3, 12),
            "request_id": _uuid(rng),
            "duration_ms": round(rng.expovariate(0.01), 3),
            "status": rng.choice((200, 200, 200, 201, 404, 500)),
            "path": "/" + _identifier(rng) + "/" + str(rng.randrange(10**6)),
            "tags": [_word(rng) for _ in range(rng.randrange(4))],
        }
        yield json.dumps(row, separators=(",", ":") if rng.random() < 0.5 else (", ", ": ")) + "\n"


def _terminal_line(rng: random.Random) -> str:
    match rng.randrange(6):
        case 0:
            day, size = rng.randint(1, 28), rng.randrange(10**6)
            return f"-rw-r--r--  1 user  staff {size:>8} Nov {day:>2} 10:3{rng.randrange(10)} {_identifier(rng)}.py\n"
        case 1:
            name = f"tests/test_{_identifier(rng)}.py::test_{_identifier(rng)}"
            return f"\x1b[32mPASSED\x1b[0m {name} [{rng.randrange(100):>3}%]\n"
        case 2:
            return f"{_hex(rng, 7)} (HEAD -> {_word(rng)}) {_sentence(rng, 3, 8)}\n"
        case 3:
            code = f"{_identifier(rng)} = self.{_identifier(rng)}({_word(rng)})"
            return f'  File "{_path(rng)}", line {rng.randrange(2000)}, in {_identifier(rng)}\n    {code}\n'
        case 4:
            return f"[{'=' * rng.randrange(40):<40}] {rng.randrange(100)}% {rng.randrange(500)}/500 MB\r\n"
        case _:
            return f"warning: {_path(rng)}:{rng.randrange(999)}:{rng.randrange(80)}: {_sentence(rng, 4, 9)}\n"


def terminal(rng: random.Random) -> Iterator[str]:
    while True:
        command = rng.choice(("git log", "ls -la", "pytest -q", "npm test", "make"))
        yield f"user@{_made_word(rng)}:~/{_identifier(rng)}$ {command}\n"
        for _ in range(rng.randint(2, 12)):
            yield _terminal_line(rng)


def markdown(rng: random.Random) -> Iterator[str]:
    while True:
        yield f"{'#' * rng.randint(1, 4)} {_sentence(rng, 2, 6)}\n\n"
        yield f"{_paragraph(rng)} See [{_word(rng)}]({_url(rng)}).\n"
        for _ in range(rng.randint(2, 6)):
            yield f"\n- **{_word(rng)}**: {_sentence(rng, 4, 12)} `{_identifier(rng)}`"
        yield "\n\n| name | key | value |\n|---|---|---|\n"
        for _ in range(rng.randint(2, 6)):
            yield f"| {_word(rng)} | `{_identifier(rng)}` | {rng.randrange(10**4)} |\n"
        yield f"\n```python\n{_identifier(rng)} = {_identifier(rng)}({rng.randrange(99)})\n```\n\n"


def _script(language: str, space: str, ends: str, commas: str, rare: str) -> Maker:
    """Return a maker of paragraphs in *language*; *rare* holds the letters of its made-up names."""

    def make_paragraphs(rng: random.Random) -> Iterator[str]:
        while True:
            for _ in range(rng.randint(2, 8)):
                words = [_zipf(rng, _words(language)) for _ in range(rng.randint(5, 24))]
                words[len(words) // 2] += rng.choice(commas)
                if rng.random() < 0.25:
                    words.insert(1, "".join(rng.choices(rare, k=rng.randint(2, 5))))
                if rng.random() < 0.2:
                    words.insert(
                        2,
                        rng.choice(
                            (str(rng.randrange(3000)), _word(rng), "GPT-4o", "“" + words[0] + "”")
                        ),
                    )
                yield space.join(words) + rng.choice(ends) + space
            yield "\n\n"

    return make_paragraphs


def _letters(first: int, last: int) -> str:
    return "".join(chr(code) for code in range(first, last + 1))


def emoji(rng: random.Random) -> Iterator[str]:
    while True:
        yield (
            _sentence(rng, 1, 5)
            + " "
            + "".join(rng.choices(_words("emoji"), k=rng.randint(1, 6)))
            + rng.choice((" ", "\n"))
        )


def base64_text(rng: random.Random) -> Iterator[str]:
    while True:
        text = base64.b64encode(rng.randbytes(rng.randint(300, 3_000))).decode()
        yield "data:image/png;base64," + text + "\n"
        yield "\n".join(text[i : i + 76] for i in range(0, len(text), 76)) + "\n"


def urls(rng: random.Random) -> Iterator[str]:
    while True:
        yield rng.choice((_url, _path))(rng) + rng.choice(("\n", "\n", " ", "\t"))


def minified(rng: random.Random) -> Iterator[str]:
    names = [
        a + b for a, b in itertools.product("abcdefghijklmnopqrstuvwxyz", ("", *"eitnoARxyz0123"))
    ]
    while True:
        a, b, c = rng.sample(names, 3)
        yield rng.choice(
            (
                f"function {a}({b},{c}){{return {b}.{_identifier(rng)}({c},{rng.randrange(99)})}}",
                f'var {a}={b}?"{_word(rng)}":{c}.prototype.{_identifier(rng)};',
                f"if(!{a}&&void 0!=={b}.{_identifier(rng)}){{for(let {c}=0;{c}<{a}.length;{c}++){b}[{c}]={a}[{c}]|0}}",
                f"({a}=>{{const{{{_identifier(rng)}:{b},{_word(rng)}:{c}}}={a};return{{...{b},{c}}}}})();",
                f'{a}.exports={{{_word(rng)}:"#{_hex(rng, 6)}",{_identifier(rng)}:[{rng.randrange(999)},.5,!0]}},',
            )
        )


def transcript(rng: random.Random) -> Iterator[str]:
    makers = [maker(rng) for maker in (python, terminal, logs, markdown)]
    while True:
        yield f"User: {_sentence(rng)}\n\nAssistant: {_paragraph(rng)}\n\n"
        arguments = json.dumps(
            {"path": _path(rng), "pattern": _identifier(rng), "limit": rng.randrange(500)}
        )
        result = "".join(itertools.islice(rng.choice(makers), rng.randint(1, 12)))[
            : rng.randint(200, 6_000)
        ]
        call = {
            "type": "tool_use",
            "id": "toolu_" + _hex(rng, 24),
            "name": rng.choice(("Read", "Bash", "Grep")),
            "input": arguments,
        }
        yield f"{json.dumps(call)}\n{json.dumps({'type': 'tool_result', 'content': result})}\n"
        for number, line in enumerate(result.split("\n")[:40], rng.randint(1, 900)):
            yield f"{number:>6}\t{line}\n"


_HAN = _letters(0x4E00, 0x9FA5)
_MAKERS: dict[str, Maker] = {
    "english": english,
    "python": python,
    "logs": logs,
    "terminal": terminal,
    "markdown": markdown,
    "transcript": transcript,
    "minified": minified,
    "urls": urls,
    "base64": base64_text,
    "emoji": emoji,
    "chinese": _script("chinese", "", "。。。！？", "，、：", _HAN),
    "japanese": _script(
        "japanese", "", "。。。！？」", "、、・", _HAN[:6000] + _letters(0x30A1, 0x30F6)
    ),
    "korean": _script("korean", " ", "..?!", ",,·", _letters(0xAC00, 0xD7A3)),
    "russian": _script("russian", " ", "...?!", ",,;", _letters(0x430, 0x44F)),
    "arabic": _script("arabic", " ", "..؟!", "،؛", _letters(0x627, 0x63A) + _letters(0x641, 0x64A)),
    "hindi": _script("hindi", " ", "।।?!", ",,;", _letters(0x915, 0x939) + "ािीुे्"),
}

KINDS = tuple(_MAKERS)


def make(kind: str, size_bytes: int, seed: int = 1) -> str:
    """Return about *size_bytes* UTF-8 bytes of *kind*; the same text for the same kind, size and
    seed."""
    rng = random.Random(f"{kind}:{seed}")
    parts, size = [], 0
    for part in _MAKERS[kind](rng):
        parts.append(part)
        size += len(part.encode())
        if size >= size_bytes:
            return "".join(parts).encode()[:size_bytes].decode(errors="ignore")
    raise AssertionError("a maker never ends")
