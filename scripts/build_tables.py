"""Builds the vocabulary tables that brim ships, byte for byte the same on every machine.

    python scripts/build_tables.py RANKS [--out DIR] [--check]

RANKS is a folder with OpenAI's rank files, under their own names (o200k_base.tiktoken,
cl100k_base.tiktoken) or the names that tiktoken gives them in its cache (the SHA-1 of their
address). A file is used only if its SHA-256 is the one that tiktoken pins. Packages that carry such
a folder: litellm (litellm_core_utils/tokenizers), gpt-tokenizer (data).

The Unicode classes are asked of tiktoken's own regular-expression engine, so that they are of its
Unicode version and not of Python's. ``--check`` writes nothing and ends with 1 if the shipped bytes
differ from a fresh build.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
from array import array
from pathlib import Path
from zlib import crc32

import tiktoken

DATA = Path(__file__).parent.parent / "src/brim/tokens/data"
HASHES = DATA / "SHA256SUMS"

RANKS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""SHA-256 of each rank file, as tiktoken pins it."""

CACHED_NAMES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}

CLASSES = {
    r"[\p{Lu}\p{Lt}]": 1,
    r"\p{Ll}": 2,
    r"[\p{Lm}\p{Lo}]": 3,
    r"\p{M}": 4,
    r"\p{N}": 5,
    r"\s": 6,
}
"""What the split patterns tell apart; 0 is everything else. ``brim.tokens.vocabulary`` reads these
numbers."""


def read_ranks(folder: Path, encoding: str) -> list[bytes]:
    """Return the tokens of *encoding* in rank order, from a rank file with the right hash."""
    for name in (f"{encoding}.tiktoken", CACHED_NAMES[encoding]):
        path = folder / name
        if path.is_file():
            content = path.read_bytes()
            found = hashlib.sha256(content).hexdigest()
            if found != RANKS[encoding]:
                raise SystemExit(
                    f"{path}: SHA-256 is {found}, not {RANKS[encoding]}: not the published vocabulary"
                )
            return tokens_in_order(content)
    raise SystemExit(f"{folder}: no rank file of {encoding} here")


def tokens_in_order(content: bytes) -> list[bytes]:
    """Parse a rank file: a token in base64 and its rank on each line."""
    ranks = {
        int(rank): base64.b64decode(token)
        for token, rank in (line.split() for line in content.splitlines())
    }
    if sorted(ranks) != list(range(len(ranks))):
        raise SystemExit("the ranks are not 0, 1, 2, ... without gaps")
    return [ranks[rank] for rank in range(len(ranks))]


def table_bytes(tokens: list[bytes]) -> bytes:
    """Lay the tokens out as ``brim.tokens.vocabulary`` reads them."""
    slot_count = 1 << (2 * len(tokens)).bit_length()
    slots = array("I", bytes(4 * slot_count))
    offsets = array("I", [0])
    for rank, token in enumerate(tokens):
        slot = crc32(token) & (slot_count - 1)
        while slots[slot]:
            slot = (slot + 1) & (slot_count - 1)
        slots[slot] = rank + 1
        offsets.append(offsets[-1] + len(token))
    header = array("I", [slot_count - 1, len(tokens)])
    if sys.byteorder == "big":
        for numbers in (header, slots, offsets):
            numbers.byteswap()
    return b"BRIMBPE1" + header.tobytes() + slots.tobytes() + offsets.tobytes() + b"".join(tokens)


def class_bytes() -> bytes:
    """Lay out the class of every code point: one page number per 256 code points, then the
    pages."""
    code_points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    classes = bytearray(0x110000)
    for pattern, number in CLASSES.items():
        for code_point in matched_by(pattern, code_points):
            classes[code_point] = number
    pages: dict[bytes, int] = {}
    index = bytearray()
    for start in range(0, 0x110000, 256):
        index += pages.setdefault(bytes(classes[start : start + 256]), len(pages)).to_bytes(
            2, "little"
        )
    return bytes(index) + b"".join(pages)


def matched_by(pattern: str, code_points: list[int]) -> set[int]:
    """Return the code points that *pattern* matches, in the engine that tiktoken uses.

    A tokenizer of the 256 bytes that splits by *pattern* gives back exactly the bytes of what it
    matches.
    """
    probe = tiktoken.Encoding(
        "probe",
        pat_str=pattern,
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={},
    )
    found: set[int] = set()
    for start in range(0, len(code_points), 4096):
        text = "".join(map(chr, code_points[start : start + 4096]))
        found.update(map(ord, bytes(probe.encode_ordinary(text)).decode()))
    return found


def build(folder: Path) -> dict[str, bytes]:
    """Return every shipped file, by name."""
    files = {f"{encoding}.bin": table_bytes(read_ranks(folder, encoding)) for encoding in RANKS}
    return files | {"classes.bin": class_bytes()}


def main() -> int:
    """Build, or compare with what is shipped."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ranks", type=Path, metavar="RANKS")
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    files = build(options.ranks)
    files["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    ).encode()
    differing = 0
    for name, content in files.items():
        path = options.out / name
        same = path.is_file() and path.read_bytes() == content
        print(f"{len(content):>9,} bytes  {'same     ' if same else 'different'}  {name}")
        if not same and not options.check:
            path.write_bytes(content)
        differing += not same
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
