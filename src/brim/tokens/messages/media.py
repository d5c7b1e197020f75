"""The tokens of images, sound, video and documents, by published rules.

The rules are rows of ``data/images.json`` and ``data/media.json``, each with its source. Data is
found wherever a provider puts it (bytes, base64, a data URL), and no more of it is decoded than a
rule needs.
"""

from __future__ import annotations

import struct
from binascii import Error, a2b_base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from brim.tokens.messages.fields import compact, first, get, is_sequence, pairs, string
from brim.tokens.messages.rules import best, load

if TYPE_CHECKING:
    from brim.tokens.messages.parts import Walk
Rule = dict[str, Any]
Size = tuple[int, int]
Cost = tuple[int, int, int]

_DATA = frozenset(
    ("data", "bytes", "file_data", "b64_json", "base64", "result", "image_bytes", "video_bytes")
)
_REFERENCES = frozenset(
    (
        *("url", "uri", "file_uri", "fileUri", "image_url", "video_url", "file_url", "image"),
        *("file_id", "fileId", "id"),
    )
)
_MIME = frozenset(("media_type", "mime_type", "mimeType", "format"))
_URL_SAFE = {ord("-"): "+", ord("_"): "/", ord("\n"): None, ord("\r"): None, ord(" "): None}


class Payload:
    """What a part carries: ``mime``, and data or a reference to it."""

    mime: str = ""
    data: bytes | str | None = None
    start: int = 0
    referred: bool = False

    def size(self) -> int:
        """How many bytes the data has, to within a few.

        0 if there is none.
        """
        if isinstance(self.data, str):
            return (len(self.data) - self.start) * 3 // 4
        return len(self.data or b"")

    def head(self, size: int) -> bytes:
        """Return the first *size* bytes.

        Fewer if there are no more, none if it is not base64.
        """
        if not isinstance(self.data, str):
            return (self.data or b"")[:size]

        # A line break after every 76 letters is the most that encoders add.
        text = self.data[self.start : self.start + size * 4 // 3 + size // 50 + 8].translate(
            _URL_SAFE
        )
        rest = len(text) % 4
        try:
            return a2b_base64(text[:-1] if rest == 1 else text + "=" * (-rest % 4))[:size]
        except (Error, ValueError):
            return b""

    def whole(self) -> bytes:
        """Return all of the data."""
        return self.head(self.size() + 4)


def locate(value: object, found: Payload | None = None, depth: int = 4) -> Payload:
    """Return what a part carries, wherever its provider puts it."""
    found = found or Payload()
    if depth == 0 or isinstance(value, str) or is_sequence(value):
        return found
    for name, inner in pairs(value):
        if isinstance(inner, (bytes, bytearray, memoryview)):
            found.data = bytes(inner) if found.data is None else found.data
        elif not isinstance(inner, str):
            locate(inner, found, depth - 1)
        elif name in _MIME:
            found.mime = found.mime or inner[:100].lower()
        elif found.data is None and inner[:5].lower() == "data:":
            comma = inner.find(",", 0, 300)
            if comma > 0:
                found.data, found.start = inner, comma + 1
                found.mime = inner[5:comma].partition(";")[0].lower()
        elif name in _DATA:
            found.data = inner if found.data is None else found.data
        elif name in _REFERENCES:
            found.referred = True
    return found


# Reads the size of an image from its first bytes: PNG, JPEG, GIF, WebP, BMP, HEIC and AVIF.
#
# The orientation that EXIF gives is left alone: every published rule gives an upright image and a
# turned one the same.


STEPS = (4_096, 262_144, 4_194_304)
"""How many bytes to try, in this order: a JPEG can have megabytes of metadata before its size."""

_NO_SIZE = frozenset((0xC4, 0xC8, 0xCC))
_NO_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))


def image_size(head: bytes) -> Size | None:
    """Return width and height of the image that begins with *head*.

    ``None`` if that doesn't say.
    """
    size = None
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            at = head.find(b"IHDR", 8, 64)
            size = _two(">II", head, at + 4) if at > 0 else None
        elif head.startswith(b"\xff\xd8"):
            size = _jpeg(head)
        elif head.startswith((b"GIF87a", b"GIF89a")):
            size = _two("<HH", head, 6)
        elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            size = _webp(head)
        elif head.startswith(b"BM"):
            width, height = _two("<Ii", head, 18)
            size = width, abs(height)
        elif head[4:8] == b"ftyp":
            size = _heif(head)
    except struct.error:  # the head is too short
        return None
    return size if size and min(size) > 0 else None


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _NO_LENGTH:
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            return _two(">HH", head, at + 5)[::-1]
        elif marker in (0xD9, 0xDA):
            return None
        else:
            at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4], "big"))
    return None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        low, high = _two("<IH", head, 24)  # two numbers of 24 bits
        return (low & 0xFFFFFF) + 1, (low >> 24 | high << 8) + 1
    if kind == b"VP8L" and head[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = _two("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _heif(head: bytes) -> Size | None:
    """The largest of the sizes that the file lists: the others are thumbnails and tiles."""
    sizes = []
    at = head.find(b"ispe")
    while at > 0 and at + 16 <= len(head):
        sizes.append(_two(">II", head, at + 8))
        at = head.find(b"ispe", at + 4)
    return max(sizes, key=lambda size: size[0] * size[1], default=None)


def _two(form: str, head: bytes, at: int) -> Size:
    one, two = struct.unpack_from(form, head, at)
    return one, two


# What an image takes, by the rule its provider publishes for the model, never by the length of its
# base64.
#
# The rules are rows of ``data/images.json``, each with its source; here is one function for each
# kind of rule.


_LARGEST = 100_000


def add_image(part: object, walk: Walk) -> None:
    """Add an image of any provider's shape."""
    carried = locate(part)
    size = None
    for step in STEPS:
        head = carried.head(step)
        size = image_size(head)
        if size or len(head) < step:
            break
    walk.ledger.other(*image_cost(size, _detail(part), walk.names, walk.provider))
    walk.ledger.because("image: published estimate" if size else "image of unknown size")


def image_cost(size: Size | None, detail: str, names: Iterable[str], provider: str) -> Cost:
    """Return point, low and high of an image of *size* pixels, or of unknown size, at a *detail*
    level.

    A model of no known provider gets the range of what all of them would take.
    """
    table = load("images")
    rules: list[Rule] = table["rules"]
    if provider == "other":
        typical = [
            best(rules, (name,))
            for name in ("gpt-4o", "gpt-5.4", "claude", "claude-opus-5", "gemini")
        ]
        costs = [_cost(rule, size, detail, table["unknown_size"]) for rule in typical]
        return costs[2][0], min(cost[1] for cost in costs), max(cost[2] for cost in costs)
    return _cost(best(rules, names), size, detail, table["unknown_size"])


def _cost(rule: Rule, size: Size | None, detail: str, default: list[int]) -> Cost:
    price = _KINDS[rule["kind"]]
    if size is None:
        return (
            price(rule, default[0], default[1], detail)[0],
            price(rule, 1, 1, detail)[1],
            rule["max_tokens"],
        )
    return price(rule, min(size[0], _LARGEST), min(size[1], _LARGEST), detail)


def _tile(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """Fit into 2048 × 2048, shrink the short side to 768, count squares of 512.

    ``low`` is the base alone.

    Source: https://developers.openai.com/api/docs/guides/images-vision#calculating-costs
    """
    base: int = rule["base"]
    if detail == "low":
        return base, base, base
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    tiles = _ceil(width * scale, 512) * _ceil(height * scale, 512)
    high = base + rule["tile"] * tiles
    return high, high if detail == "high" else base, high


def _patch(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """Cover with squares of 32, at most as many as the budget: shrink first if need be, then
    multiply.

    Source:
    https://developers.openai.com/api/docs/guides/images-vision#patch-based-image-tokenization
    """
    levels: dict[str, list[int]] = rule["levels"]
    level = detail if detail in levels else rule["auto"]
    full = _patches(width, height, *levels[level])
    patches = _patches(width, height, 256, 512) if detail == "low" else full
    factor, least = rule["multiplier"], rule["multiplier_low"]
    return _times(patches, factor), _times(patches, least), _times(full, factor)


def _patches(width: float, height: float, budget: int, max_edge: int) -> int:
    if max_edge and max(width, height) > max_edge:
        scale = max_edge / max(width, height)
        width, height = max(1.0, width * scale), max(1.0, height * scale)
    count = _ceil(width, 32) * _ceil(height, 32)
    if not budget or count <= budget:
        return count
    shrink = (32 * 32 * budget / (width * height)) ** 0.5
    across, down = width * shrink / 32, height * shrink / 32
    adjust = min(int(across) / across, int(down) / down) or 1.0
    return min(budget, _ceil(width * shrink * adjust, 32) * _ceil(height * shrink * adjust, 32))


def _grid(rule: Rule, width: int, height: int, _: str) -> Cost:
    """Shrink to the largest size within the limits of edge and tokens, then count squares of 28.

    Source:
    https://platform.claude.com/docs/en/build-with-claude/vision-coordinates#how-claude-resizes-and-pads-images
    """
    unit, edge, most = rule["size"], rule["max_edge"], rule["max_tokens"]

    def tokens(long: int, short: int) -> int:
        count = _ceil(long, unit) * _ceil(short, unit)
        return count if _ceil(long, unit) * unit <= edge and count <= most else 0

    long, short = max(width, height), min(width, height)
    count = tokens(long, short)
    fits, over = 1, long
    while not count and fits + 1 < over:
        middle = (fits + over) // 2
        if tokens(middle, max(1, round(middle * short / long))):
            fits = middle
        else:
            over = middle
    count = count or tokens(fits, max(1, round(fits * short / long)))
    return count, count, min(most, _times(count, rule["spread"]))


def _crop(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """One unit up to 384 × 384; else crops with an edge of the short side / 1.5, 256 to 768, and
    perhaps a full view.

    Source: https://ai.google.dev/gemini-api/docs/image-understanding#technical-details-image
    """
    unit: int = rule["tokens"]
    if detail in rule["levels"]:
        return rule["levels"][detail], rule["levels"][detail], unit
    if max(width, height) <= rule["small"]:
        return unit, unit, unit
    scale = min(1.0, rule["max_edge"] / max(width, height))
    wide, tall = max(1, int(width * scale)), max(1, int(height * scale))
    edge = min(rule["unit_max"], max(rule["unit_min"], int(min(wide, tall) / rule["divisor"])))
    tiles = _ceil(wide, edge) * _ceil(tall, edge)
    return unit * tiles, unit, unit * (tiles + 1)


def _budget(rule: Rule, _: int, __: int, detail: str) -> Cost:
    """A number for each level of ``media_resolution``, whatever the size.

    Source: https://ai.google.dev/gemini-api/docs/media-resolution#token-counts
    """
    levels: dict[str, int] = rule["levels"]
    most = levels.get(detail, levels[rule["auto"]])
    return most, int(most * rule["spread_low"]), most


_KINDS = {"tile": _tile, "patch": _patch, "grid": _grid, "crop": _crop, "budget": _budget}


def _detail(part: object) -> str:
    for holder in (part, get(part, "image_url"), get(part, "source")):
        found = first(holder, "detail", "resolution", "media_resolution", "mediaResolution")
        level = string(found) or string(get(found, "level"))
        if level:
            return level.lower().removeprefix("media_resolution_")
    return ""


def _ceil(length: float, unit: int) -> int:
    return max(1, int(-(-length // unit)))


def _times(count: int, factor: float) -> int:
    """*count* × *factor*, rounded up, without the error of a binary fraction."""
    return -(-count * round(factor * 100) // 100)


# What sound, films and documents take, by the rates that providers publish (``data/media.json``).


_TEXT_MIMES = (
    "text/",
    "application/json",
    "application/xml",
    "application/x-yaml",
    "application/javascript",
)


def add_audio(part: object, walk: Walk) -> None:
    """Add sound and, in case it is sent too, its transcript."""
    transcript = get(part, "transcript")
    if isinstance(transcript, str):
        walk.ledger.maybe(transcript, likely=False)
    add_timed("audio", part, walk)


def add_document(part: object, walk: Walk) -> None:
    """Add a document: its text if it is text, its parts if it has parts, else pages × rate.

    Source: https://platform.claude.com/docs/en/build-with-claude/pdf-support#estimate-your-costs
    """
    for name in ("title", "context", "filename", "name"):
        walk.part(
            get(part, name)
            if name != "filename"
            else get(get(part, "file"), name) or get(part, name)
        )
    source = get(part, "source")
    kind = string(get(source, "type"))
    if kind == "text":
        walk.part(get(source, "data"))
    elif kind == "content" or is_sequence(get(source, "content")):
        walk.parts(get(source, "content"))
    elif is_sequence(get(part, "content")):
        walk.parts(get(part, "content"))
    else:
        add_by_mime(part, walk, "application/pdf")
    walk.ledger.because("document: published estimate")


def add_by_mime(part: object, walk: Walk, default: str = "") -> None:
    """Add data by what its MIME type says it is."""
    carried = locate(part)
    mime = carried.mime or default
    if mime.startswith("image/"):
        add_image(part, walk)
    elif mime.startswith(("audio/", "video/")):
        add_timed(mime[:5], part, walk)
    elif mime.startswith(_TEXT_MIMES) and carried.data is not None:
        walk.ledger.text(carried.whole().decode("utf-8", "replace"))
        walk.ledger.because("document: published estimate")
    elif carried.data is not None or carried.referred:
        _pages(carried, walk)
    else:
        walk.rough(compact(part))


def count_pages(document: bytes) -> int:
    """Return how many pages a PDF says it has.

    0 if it hides them in compressed streams.
    """
    return sum(
        document.count(b"/Type" + space + b"/Page") - document.count(b"/Type" + space + b"/Pages")
        for space in (b"", b" ", b"\n", b"\r\n")
    )


def wav_seconds(head: bytes, size: int) -> float:
    """Return how long a WAV file of *size* bytes plays.

    0 if *head* is not the head of one.
    """
    at = head.find(b"fmt ", 12, 200)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE" or at < 0 or len(head) < at + 20:
        return 0.0
    per_second = int.from_bytes(head[at + 16 : at + 20], "little")
    return max(0, size - at - 32) / per_second if per_second else 0.0


def add_timed(kind: str, part: object, walk: Walk) -> None:
    """Add ``audio`` or ``video``: seconds × rate. Sources: their rows in ``media.json``."""
    table, carried = load("media"), locate(part)
    rate = best(table[kind], walk.names)["rate"]
    known = table["seconds"][kind]
    size = carried.size()
    exact = wav_seconds(carried.head(256), size) if kind == "audio" else 0.0
    if exact:
        seconds = [exact, exact, exact]
    elif size:
        seconds = [size / bytes_per_second for bytes_per_second in known["bytes_per_second"]]
    else:
        seconds = known["unknown"]
    walk.ledger.other(
        *(_ceil(length * tokens, 1) for length, tokens in zip(seconds, rate, strict=True))
    )
    walk.ledger.because(f"{kind}: published rate" if exact else f"{kind} of unknown length")


def _pages(carried: Payload, walk: Walk) -> None:
    row, known = best(load("media")["page"], walk.names), load("media")["pages"]
    page = tuple(load("images")["page_size"])
    image = image_cost(page, "", walk.names, walk.provider) if row["with_image"] else (0, 0, 0)
    size = carried.size()
    counted = count_pages(carried.whole()) if size else 0
    if counted:
        pages = [counted, counted, counted]
    elif size:
        most = known["unknown"][2]
        pages = [min(most, max(1, size // per_page)) for per_page in known["bytes_per_page"]]
    else:
        pages = known["unknown"]
    costs = [text + extra for text, extra in zip(row["text"], image, strict=True)]
    walk.ledger.other(*(number * cost for number, cost in zip(pages, costs, strict=True)))
    walk.ledger.because("document: published estimate" if counted else "document of unknown length")
