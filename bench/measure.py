"""The five measurements. Each takes loaded engines and returns plain numbers; nothing is printed
here but progress."""

from __future__ import annotations

import base64
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import brim
import corpus
from brim.tokens.vocabulary import TableEncoding
from peers import BRIM, TIKTOKEN, Count, Engine

SOURCES = str(Path(brim.__file__).parents[1])


def say(text: str) -> None:
    """Tell on standard error what is being measured."""
    print(text, file=sys.stderr, flush=True)


def cold_start(engines: list[Engine], folder: Path, rounds: int) -> dict[str, float]:
    """Milliseconds over bare ``python -I`` for one exact count of 5 KB in a fresh process: medians
    of *rounds*."""
    prompt = folder / "prompt.txt"
    prompt.write_text(corpus.make("transcript", 5_000), encoding="utf-8")
    read = f"text = open({str(prompt)!r}, encoding='utf-8').read()\n"
    path = f"import sys; sys.path.insert(0, {SOURCES!r})\n"
    commands = {"python -I": _python(read)}
    for engine in engines:
        commands[engine.name] = _python(
            f"{path}{read}{engine.code('o200k_base', folder)}\ncount(text)"
        )
    commands[BRIM.name] = _python(f"{path}{read}import brim; brim.count(text)")
    script = Path(sys.executable).with_name("brim")
    main = _python(f"{path}from brim.cli import main; main()")
    commands["brim dev count FILE"] = [
        *([str(script)] if script.exists() else main),
        "dev",
        "count",
        str(prompt),
    ]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for i in range(rounds + 1):
        say(f"cold start: round {i} of {rounds}")
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode:
                times.pop(name, None)
                say(f"{name}: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
            elif i and name in times:  # the first round only warms the file cache
                times[name].append((time.perf_counter() - start) * 1000)
    bare = statistics.median(times.pop("python -I"))
    return {"bare python -I": bare} | {
        name: statistics.median(taken) - bare for name, taken in times.items()
    }


def _python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def throughput(
    counters: dict[Engine, Count], kinds: tuple[str, ...], size: int, rounds: int
) -> dict[str, dict[str, tuple[float, float]]]:
    """MB/s and the ratio to tiktoken, per kind of text: medians over *rounds* of fresh text, after
    a first text.

    The ratio of a round is taken between neighbours in time, so that a busy machine slows both.
    """
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for kind in kinds:
        say(f"throughput: {kind}")
        speeds: dict[Engine, list[float]] = {engine: [] for engine in counters}
        ratios: dict[Engine, list[float]] = {engine: [] for engine in counters}
        for i in range(rounds + 1):
            text = corpus.make(kind, size, seed=100 + i)
            short = text[: len(text) // 8]
            reference = _speed(counters[TIKTOKEN], text)
            for engine, count in counters.items():
                speed = (
                    reference
                    if engine is TIKTOKEN
                    else _speed(count, short if engine.slow else text)
                )
                if i:
                    speeds[engine].append(speed)
                    ratios[engine].append(speed / reference)
        table[kind] = {
            e.name: (statistics.median(speeds[e]), statistics.median(ratios[e])) for e in counters
        }
    return table


def _speed(count: Count, text: str) -> float:
    start = time.perf_counter()
    count(text)
    return len(text.encode()) / 1e6 / (time.perf_counter() - start)


def latency(counters: dict[str, Count], rounds: int) -> dict[int, dict[str, float]]:
    """Microseconds for a warm count of 50 and of 500 characters: the median over calls on different
    text."""
    text = corpus.make("english", 400_000) + corpus.make("python", 400_000)
    table: dict[int, dict[str, float]] = {}
    for length in (50, 500):
        say(f"latency: {length} characters")
        rng = random.Random(length)
        starts = [rng.randrange(len(text) - length) for _ in range(rounds)]
        table[length] = {}
        for name, count in counters.items():
            times = []
            for start in starts:
                part = text[start : start + length]
                before = time.perf_counter_ns()
                count(part)
                times.append(time.perf_counter_ns() - before)
            table[length][name] = statistics.median(times) / 1000
    return table


RUNS = ("one letter", "spaces", "newlines", "dashes", "digits", "one CJK character", "one emoji")
"""The pathological texts that are one character over and over."""


def pathological_texts(size: int) -> dict[str, str]:
    """Text of *size* bytes that naive engines are slow on, or fail on."""
    rng = random.Random(3)
    return {
        "one letter": "a" * size,
        "spaces": " " * size,
        "newlines": "\n" * size,
        "dashes": "-" * size,
        "digits": "7" * size,
        "one CJK character": "中" * (size // 3),
        "one emoji": "🙂" * (size // 4),
        "random letters": "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=size)),
        "base64 on one line": base64.b64encode(rng.randbytes(size * 3 // 4)).decode(),
        "punctuation": "".join(rng.choices("!@#$%^&*()-=+[]{};:,.<>?/", k=size)),
    }


def pathological(counters: dict[str, Count], size: int) -> dict[str, dict[str, float | str]]:
    """Milliseconds per text, counted once, for a cache would answer at the second time; or the
    exception's name."""
    table: dict[str, dict[str, float | str]] = {}
    for label, text in pathological_texts(size).items():
        say(f"pathological: {label}")
        table[label] = {name: _milliseconds(count, text) for name, count in counters.items()}
    return table


def growth(size: int) -> dict[str, float]:
    """How many times as long brim's own engine takes for 16 times the text: best runs, each with
    empty caches."""
    table = {}
    for label, once in pathological_texts(size).items():
        say(f"growth: {label}")
        # A sixteenth of a megabyte of one character takes less than a millisecond, which no clock
        # measures well.
        text = once * 16 if label in RUNS else once
        small = min(_fresh_seconds(text[: len(text) // 16]) for _ in range(3))
        large = min(_fresh_seconds(text) for _ in range(3))
        table[label] = large / max(small, 1e-4)
    return table


def _fresh_seconds(text: str) -> float:
    count = TableEncoding("o200k_base")
    count("the patterns are compiled, for ünïcode too")
    start = time.process_time()
    count(text)
    return time.process_time() - start


def _milliseconds(count: Count, text: str) -> float | str:
    start = time.perf_counter()
    try:
        with _silent():
            count(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a Rust panic is one
        return type(error).__name__
    return (time.perf_counter() - start) * 1000


@contextmanager
def _silent() -> Iterator[None]:
    """Send standard error to nowhere: a panic prints its stack."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def exactness(counters: dict[str, Count], cases: int) -> dict[str, tuple[int, int]]:
    """How many of the cases each engine counts otherwise than tiktoken, and on how many it
    raises."""
    say(f"exactness: {cases:,} random strings and the corpus")
    texts = [*_samples(), *_random_strings(cases)]
    reference = [counters[TIKTOKEN.name](text) for text in texts]
    table = {}
    for name, count in counters.items():
        if name == TIKTOKEN.name:
            continue
        wrong = raised = 0
        for text, right in zip(texts, reference, strict=True):
            try:
                wrong += count(text) != right
            except Exception:
                raised += 1
        table[name] = (wrong, raised)
    return table


def exactness_cases(cases: int) -> int:
    """How many texts ``exactness`` compares for *cases* random strings."""
    return len(corpus.KINDS) * 101 + cases


def _samples() -> Iterator[str]:
    for kind in corpus.KINDS:
        text = corpus.make(kind, 200_000, seed=5)
        yield text
        rng = random.Random(kind)
        for _ in range(100):
            start = rng.randrange(len(text))
            yield text[start : start + rng.randrange(1, 400)]


_POOL = (
    "abzABZ019 \n\r\t'’\".,;:!?/\\-_=+*#<>|()[]{}@$%^&~`éßſKİıǅʰªñаЯжЖ"
    "中文字日本語のカタ한국어العربيةहिन्दी🙂👩‍💻🏽🇩🇪①½Ⅷ٣३"
    "\x00\x0b\x1f\x7f\x85\u00a0\u0300\u2028\u3000\ufeff\ufffd"
)
_PARTS = (
    "'s",
    "'T",
    "'re",
    "'VE",
    "n't",
    "'ſ",
    "ſ",
    "'",
    "x",
    "A",
    " ",
    "1",
    "中",
    "<|endoftext|>",
    "<|im_start|>",
)


def _random_strings(cases: int) -> Iterator[str]:
    """Strings of awkward characters, of any code point, of contractions and special tokens, of
    white space."""
    rng = random.Random(7)
    for i in range(cases):
        length = rng.randrange(1, 60)
        match i % 4:
            case 0:
                yield "".join(rng.choices(_POOL, k=length))
            case 1:
                yield "".join(
                    chr(rng.randrange(rng.choice((0x300, 0x3000, 0x10000, 0x110000))))
                    for _ in range(length)
                )
            case 2:
                yield "".join(rng.choices(_PARTS, k=length))
            case _:
                yield "".join(
                    rng.choice(_POOL) * rng.randrange(1, 12) for _ in range(length // 3 + 1)
                )
