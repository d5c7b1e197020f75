"""The engines that are measured: how each is loaded, offline, from the vocabulary that brim ships.

An engine is a few lines of source that bind ``count``; the same lines run in this process and, for
the cold start, in a fresh one. ``VOCABULARIES`` in them is a folder that ``write_vocabularies``
fills: rank files for tiktoken, fastokens and gigatoken, a ``tokenizer.json`` for Hugging Face. The
other engines carry the vocabulary in their package. fastokens and gigatoken were weighed for
brim[fast] (docs/decisions) and are measured if they are installed.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from brim.tokens.vocabulary import open_table

ENCODINGS = ("o200k_base", "cl100k_base")

Count = Callable[[str], int]


@dataclass(frozen=True)
class Engine:
    """One engine: what it is called, the package it is in, and the source that binds ``count``."""

    name: str
    package: str
    source: str
    slow: bool = False
    """Measured on an eighth of the text, so that a run ends."""

    @property
    def version(self) -> str | None:
        """The installed version, or None if the package is absent."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None

    def load(self, encoding: str, folder: Path) -> Count:
        """Return the counter of *encoding*."""
        names: dict[str, Count] = {}
        exec(self.code(encoding, folder), names)
        return names["count"]

    def code(self, encoding: str, folder: Path) -> str:
        """Return the source for *encoding* and the vocabularies in *folder*."""
        return self.source.replace("ENCODING", repr(encoding)).replace(
            "VOCABULARIES", repr(str(folder))
        )


TIKTOKEN = Engine(
    "tiktoken",
    "tiktoken",
    "import tiktoken\nencode = tiktoken.get_encoding(ENCODING).encode_ordinary\ncount = lambda text: len(encode(text))",
)
BRIM = Engine(
    "brim",
    "brim",
    "from brim.tokens.vocabulary import load_table_counter\ncount = load_table_counter(ENCODING)",
    slow=True,
)
FAST = Engine(
    "brim[fast]",
    "splintr-rs",
    "from brim.tokens.engines import NativeEngine\ncount = NativeEngine().load(ENCODING)",
)
PEERS = (
    Engine(
        "splintr-rs",
        "splintr-rs",
        "from splintr import Tokenizer\nencode = Tokenizer.from_pretrained(ENCODING).encode_ordinary\n"
        "count = lambda text: len(encode(text))",
    ),
    Engine(
        "toktok-rs",
        "toktok-rs",
        "import toktok\ncount = lambda text: toktok.batch_count([text], ENCODING, threads=1)[0]",
    ),
    Engine(
        "bpe-openai",  # its public call refuses more than 200,000 tokens, so the binding below it is called
        "bpe-openai",
        "from bpe_openai import _bindings\ncount = _bindings.tokenizer_for_encoding(ENCODING).count",
    ),
    Engine(
        "rs-bpe", "rs-bpe", "from rs_bpe import openai\ncount = getattr(openai, ENCODING)().count"
    ),
    Engine(
        "tokenizers",
        "tokenizers",
        "from tokenizers import Tokenizer\ntokenizer = Tokenizer.from_file(VOCABULARIES + '/' + ENCODING + '.json')\n"
        "count = lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)",
        slow=True,
    ),
    Engine(
        "fastokens",
        "fastokens",
        "from fastokens import Tokenizer\nfile = VOCABULARIES + '/' + ENCODING + '.tiktoken'\n"
        "encode = Tokenizer.from_tiktoken(file, encoding=ENCODING).encode_ordinary\n"
        "count = lambda text: len(encode(text))",
    ),
    Engine(
        "gigatoken",
        "gigatoken",
        "from gigatoken import Tokenizer\nfile = VOCABULARIES + '/' + ENCODING + '.tiktoken'\n"
        "encode = Tokenizer.from_tiktoken(file, ENCODING.partition('_')[0], {}).encode\n"
        "count = lambda text: len(encode(text))",
    ),
)
ENGINES = (TIKTOKEN, FAST, BRIM, *PEERS)

# As tiktoken has them, in Hugging Face's dialect: without possessive quantifiers, and with \z for
# the end of text.
_CASES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_PATTERNS = {
    "o200k_base": (
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CASES}?|"
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CASES}?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        rf"{_CASES}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|"
        r"\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}


def write_vocabularies(folder: Path) -> None:
    """Fill *folder* with the rank files and tokenizer.json of each encoding, and point tiktoken at
    it."""
    for encoding in ENCODINGS:
        tokens = list(open_table(encoding).tokens())
        ranks = b"".join(
            b"%b %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)
        )
        (folder / f"{encoding}.tiktoken").write_bytes(ranks)
        # tiktoken looks for a file named by the hash of the address that it would download from.
        address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
        (folder / hashlib.sha1(address.encode()).hexdigest()).write_bytes(ranks)
        (folder / f"{encoding}.json").write_text(_hugging_face(encoding, tokens), encoding="utf-8")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)


def _hugging_face(encoding: str, tokens: list[bytes]) -> str:
    """Return a tokenizer.json: the tokens in its byte alphabet, and the merge that makes each."""
    ranks = {token: rank for rank, token in enumerate(tokens)}
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    letters = {byte: chr(byte) for byte in visible} | {
        byte: chr(256 + i) for i, byte in enumerate(hidden)
    }
    spell = {token: "".join(letters[byte] for byte in token) for token in tokens}
    merges = []
    for token in tokens:
        if len(token) > 1:
            left, right = _last_merge(token, ranks)
            merges.append([spell[left], spell[right]])
    split = {
        "type": "Split",
        "pattern": {"Regex": _PATTERNS[encoding]},
        "behavior": "Isolated",
        "invert": False,
    }
    to_bytes = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    model = {
        "type": "BPE",
        "ignore_merges": True,
        "vocab": {spell[t]: r for t, r in ranks.items()},
        "merges": merges,
    }
    pre_tokenizer = {"type": "Sequence", "pretokenizers": [split, to_bytes]}
    return json.dumps(
        {"version": "1.0", "added_tokens": [], "pre_tokenizer": pre_tokenizer, "model": model}
    )


def _last_merge(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """Return the two parts that byte-pair encoding joins last to make *token*."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = [ranks.get(parts[i] + parts[i + 1], len(ranks)) for i in range(len(parts) - 1)]
        at = pairs.index(min(pairs))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]
