"""Text of every kind, made from a seed, for comparing counters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

_COMMON = (
    "the of and to in is it that was for on are with as his they at be this from have or by one had not but what all "
    "were when we there can an your which their said if do will each about how up out them then she many some so these "
    "would other into has more her two like him see time could no make than first been its who now people my made over "
    "did down only way find use may water long little very after words called just where most know Anfrage Größe naïve "
    "façade Übermut señor перевод слово время данные 日本語 文章 情報 中文 上下文 令牌 한국어 문장 العربية سياق हिन्दी"
)
_WORDS = _COMMON.split()
_CODE = (
    'def {a}(self, {b}: int = {n}) -> str:\n    return f"{{{b}}}-{n}"\n',
    "    if {a}.{b}[{n}] != '{a}':\n        raise ValueError(\"{b}\")\n",
    "const {a} = ({b}) => {{ return {b}?.{a} ?? {n}; }}\n",
    '{{"{a}": {n}, "{b}": [true, null, "{a}/{b}.py"]}}\n',
    "2026-03-0{n} 12:3{n}:11,{n}42 INFO  {a}.{b}: took {n}.{n}ms  id=0x{n}f{n}a\n",
    "\x1b[32m{a}\x1b[0m\t{b}\r\n",
    "https://example.com/{a}/{b}?q={n}&{a}=%2F{b}#{n}\n",
    "They'll've said: \"it's {a}\", WE'RE {b}'D I'M; {a}'s\n\n  \n",
    "SELECT {a}, COUNT(*) FROM {b} WHERE id IN ({n}, {n}{n}{n}{n});\n",
    "| {a} | {b} |\n|---|--:|\n",
    "😀👩‍👩‍👧‍👦🏳️‍🌈 {a} ½ ² Ⅷ ٣٤٥ {b}…—–‘’\n",
)


def documents(seed: int, number: int, length: int = 40) -> Iterator[str]:
    """Yield *number* documents that mix prose, code, logs, markup and scripts."""
    chance = random.Random(seed)
    for _ in range(number):
        lines = []
        for _ in range(length):
            if chance.random() < 0.5:
                words = [chance.choice(_WORDS) for _ in range(chance.randrange(3, 18))]
                lines.append(
                    " ".join(words).capitalize()
                    + chance.choice((". ", "。", "!\n", ",\n", "\n\n", "  "))
                )
            else:
                line = chance.choice(_CODE)
                names = {
                    "a": _identifier(chance),
                    "b": _identifier(chance),
                    "n": chance.randrange(10),
                }
                lines.append("    " * chance.randrange(4) + line.format(**names))
        yield "".join(lines)


def _identifier(chance: random.Random) -> str:
    parts = [chance.choice(_WORDS) for _ in range(chance.randrange(1, 4))]
    return chance.choice(
        ("_".join(parts), "".join(part.capitalize() for part in parts), "-".join(parts).upper())
    )


PATHOLOGICAL: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "dashes": lambda size: "-" * size,
    "zeros": lambda size: "0" * size,
    "one CJK character": lambda size: "中" * size,
    "one emoji": lambda size: "😀" * size,
    "one mark": lambda size: "\u0301" * size,
    "spaces and a letter": lambda size: (" " * 99 + "x") * (size // 100),
    "base64": lambda size: "".join(random.Random(1).choices(_BASE64, k=size)),
    "random letters": lambda size: "".join(
        random.Random(2).choices("abcdefghijklmnopqrstuvwxyz", k=size)
    ),
    "random CJK": lambda size: "".join(
        map(chr, random.Random(3).choices(range(0x4E00, 0x9FA5), k=size))
    ),
    "capital, other, capital": lambda size: "A中" * (size // 2),
    "carriage returns": lambda size: "\r\n \r" * (size // 4),
}
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

TRICKY = st.sampled_from(
    [
        *" \n\r\t\x0b\x0c\x85\xa0\u2028\u3000/'’ſsStTmMdDlLrReEvV0123AaZz.,;-_中é\u0301ǅʰ½٣😀\x00\x1c\ufeff",
        "'ll",
        "\r\n",
    ]
)
"""Characters that the split patterns tell apart, and neighbours that they treat in special ways."""

ANY_TEXT = st.one_of(
    st.text(),
    st.text(st.characters(codec=None)),  # every plane, lone surrogates too
    st.lists(TRICKY).map("".join),
    st.lists(st.one_of(TRICKY, st.text(max_size=3))).map("".join),
)
