"""How much of a request ``brim context`` explains: ``python bench/context.py [--quick] [--json
FILE]``.

Whole sessions of three clients are written, billed by vocabularies and ratios that brim isn't
given, and read again. What is measured is the remainder of every request, the first one included:
what was billed beyond all parts, or less, as a share of what was billed. Exits with 1 if a target
is missed.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recorder
from brim.sessions import read_requests
from brim.tokens.engines import encoding_counter
from recorder import STYLES, Bill, Session
from report import Target, arguments, finish, markdown, measured, table, this_machine

MODELS = {"codex": "gpt-5.5", "gemini": "gemini-2.5-flash"}
NAMES = {
    "records": "Claude Code, with request records",
    "snapshot": "Claude Code, without them",
    "plain": "Claude Code, older: no system prompt or tools",
    "codex": "Codex",
    "gemini": "Gemini CLI",
}
RECORDED, UNRECORDED = 0.05, 0.15
"""The targets: the 95th percentile of the remainder with request records, and without."""


def bills() -> list[Bill]:
    """Return how the models bill; open vocabularies are there only if ``splintr-rs`` is
    installed."""
    found = []
    for encoding, ratios in (("o200k_base", (1.0, 1.27, 1.7)), ("cl100k_base", (1.3,))):
        count = encoding_counter(encoding)
        assert count is not None
        found += [Bill(f"{encoding} x {ratio}", count, ratio) for ratio in ratios]
    found.append(Bill("hash buckets x 1.1", recorder.bucket, 1.1))
    try:
        import splintr
    except ImportError:
        return found
    for name, ratio in (("llama3", 1.35), ("mistral_v3", 1.2), ("deepseek_v3", 1.5)):
        vocabulary = splintr.Tokenizer.from_pretrained(name)
        found.append(Bill(f"{name} x {ratio}", counting(vocabulary), ratio))
    return found


def counting(vocabulary: Any) -> Callable[[str], int]:
    """Return how *vocabulary* counts."""
    return lambda text: len(vocabulary.encode_ordinary(text))


def measure(bill: Bill, style: str, seed: int, count: int, folder: Path) -> list[float]:
    """Return the remainder of each request of one session, as a share of what was billed."""
    rng = random.Random(f"{bill.name} {style} {seed}")
    model = MODELS.get(style) or rng.choice(
        ("claude-sonnet-4-5", "claude-opus-5-5", "claude-haiku-4-5")
    )
    session = Session(rng, bill, style, model)
    lines = session.write(count)
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    requests = read_requests(path)
    assert [request.billed for request in requests] == session.billed
    return [abs(request.remainder) / request.billed for request in requests]


def percentile(values: list[float], share: float) -> float:
    """Return the value that *share* of all *values* don't exceed."""
    return sorted(values)[max(0, round(share * len(values)) - 1)]


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="one session per vocabulary and client")
    parser.add_argument(
        "--sessions", type=int, default=2, metavar="N", help="sessions per vocabulary and client"
    )
    options = parser.parse_args()
    print(this_machine())
    found: dict[str, dict[str, list[float]]] = {}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for style in STYLES:
            for bill in bills():
                values = found.setdefault(style, {}).setdefault(bill.name, [])
                for seed in range(1 if options.quick else options.sessions):
                    count = random.Random(f"{style} {seed}").randrange(30, 140)
                    values += measure(bill, style, seed, count, Path(folder))
    rows = []
    for style, by_bill in found.items():
        by_bill["all"] = [value for values in by_bill.values() for value in values]
        for name, values in by_bill.items():
            shares = (percentile(values, 0.5), percentile(values, 0.95), max(values))
            rows.append(
                [f"{style}, {name}", f"{len(values):,}", *(f"{share:.2%}" for share in shares)]
            )
    table(
        "Not explained, as a share of what was billed",
        ["client, billed by", "requests", "p50", "p95", "worst"],
        rows,
        [],
    )
    print(f"{time.perf_counter() - began:.0f} s")
    targets = [
        Target(f"{style}: p95 of the remainder", percentile(by_bill["all"], 0.95), at_most=limit)
        for style, by_bill in found.items()
        for limit in [RECORDED if style == "records" else UNRECORDED]
    ]
    numbers = {
        style: {name: sorted(values) for name, values in found[style].items()} for style in found
    }
    sessions = 1 if options.quick else options.sessions
    how = f"{sessions * sum(len(each) - 1 for each in found.values())} sessions"
    head = measured(options, how)
    lines = []
    for style, each in found.items():
        most_often = [percentile(each["all"], 0.5), percentile(each["all"], 0.95)]
        most = RECORDED if style == "records" else UNRECORDED
        lines.append(
            [
                NAMES[style],
                f"{len(each['all']):,}",
                *(f"{share:.2%}" for share in most_often),
                f"{most:.0%}",
            ]
        )
    tables = {"context": head + markdown(["session", "requests", "median", "p95", "target"], lines)}
    return finish(options, {"remainders": numbers}, targets, tables)


if __name__ == "__main__":
    raise SystemExit(main())
