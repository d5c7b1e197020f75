"""The tokens of images, sound, video and documents, by published rules.

The rules are rows of ``data/images.json`` and ``data/media.json``, each with its source. Data is
found wherever a provider puts it (bytes, base64, a data URL), and no more of it is decoded than a
rule needs.
"""

from __future__ import annotations

import operator
import struct
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterable
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
        "url",
        "uri",
        "file_uri",
        "fileUri",
        "image_url",
        "video_url",
        "file_url",
        "image",
        "file_id",
        "fileId",
        "id",
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
        end = self.start + size * 4 // 3 + size // 50 + 8
        text = self.data[self.start : end].translate(_URL_SAFE)
        surplus = len(text) % 4
        if surplus == 1:
            text = text[:-1]
        else:
            text += "=" * (-surplus % 4)
        try:
            return a2b_base64(text)[:size]
        except (Error, ValueError):
            return b""

    def whole(self) -> bytes:
        """Return all of the data."""
        return self.head(self.size() + 4)

    def add_bytes(self, data: bytes) -> None:
        """Take *data* unless there is some already."""
        if self.data is None:
            self.data = data

    def add_text(self, name: str, text: str) -> None:
        """Take what the field *name* says about the data, or the data itself."""
        if name in _MIME:
            self.mime = self.mime or text[:100].lower()
        elif self.data is None and text[:5].lower() == "data:":
            self._add_data_url(text)
        elif name in _DATA:
            if self.data is None:
                self.data = text
        elif name in _REFERENCES:
            self.referred = True

    def _add_data_url(self, url: str) -> None:
        comma = url.find(",", 0, 300)
        if comma > 0:
            self.data = url
            self.start = comma + 1
            self.mime = url[5:comma].partition(";")[0].lower()


def locate(value: object) -> Payload:
    """Return what a part carries, wherever its provider puts it."""
    payload = Payload()
    _locate(value, payload, 4)
    return payload


def _locate(value: object, payload: Payload, depth: int) -> None:
    if depth == 0 or isinstance(value, str) or is_sequence(value):
        return
    for name, inner in pairs(value):
        if isinstance(inner, bytes | bytearray | memoryview):
            payload.add_bytes(bytes(inner))
        elif isinstance(inner, str):
            payload.add_text(name, inner)
        else:
            _locate(inner, payload, depth - 1)


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
    try:
        size = _pixels(head)
    except struct.error:  # the head is too short
        return None
    if size is None or min(size) <= 0:
        return None
    return size


def _pixels(head: bytes) -> Size | None:
    for signature, reader in _IMAGE_READERS:
        if head.startswith(signature):
            return reader(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    if head[4:8] == b"ftyp":
        return _heif(head)
    return None


def _png(head: bytes) -> Size | None:
    at = head.find(b"IHDR", 8, 64)
    if at < 0:
        return None
    return _two(">II", head, at + 4)


def _gif(head: bytes) -> Size:
    return _two("<HH", head, 6)


def _bmp(head: bytes) -> Size:
    width, height = _two("<Ii", head, 18)
    return width, abs(height)


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


_IMAGE_READERS: tuple[tuple[bytes, Callable[[bytes], Size | None]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8", _jpeg),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"BM", _bmp),
)
"""How a file begins, and what reads its size."""


# What an image takes, by the rule its provider publishes for the model, never by the length of its
# base64.
#
# The rules are rows of ``data/images.json``, each with its source; here is one function for each
# kind of rule.


_LARGEST = 100_000
_MIDDLE_MODEL = "claude"
_TYPICAL_MODELS = ("gpt-4o", "gpt-5.4", _MIDDLE_MODEL, "claude-opus-5", "gemini")
"""Models whose rules are the range for a model of no known provider."""


def add_image(part: object, walk: Walk) -> None:
    """Add an image of any provider's shape."""
    payload = locate(part)
    size = None
    for step in STEPS:
        head = payload.head(step)
        size = image_size(head)
        if size or len(head) < step:
            break
    walk.ledger.other(*image_cost(size, _detail(part), walk.names, walk.provider))
    if size is None:
        walk.ledger.because("image of unknown size")
    else:
        walk.ledger.because("image: published estimate")


def image_cost(size: Size | None, detail: str, names: Iterable[str], provider: str) -> Cost:
    """Return point, low and high of an image of *size* pixels, or of unknown size, at a *detail*
    level.

    A model of no known provider gets the range of what all of them would take.
    """
    table = load("images")
    rules: list[Rule] = table["rules"]
    default = table["unknown_size"]
    if provider != "other":
        return _cost(best(rules, names), size, detail, default)
    point = 0
    lows = []
    highs = []
    for name in _TYPICAL_MODELS:
        tokens, low, high = _cost(best(rules, (name,)), size, detail, default)
        lows.append(low)
        highs.append(high)
        if name == _MIDDLE_MODEL:
            point = tokens
    return point, min(lows), max(highs)


def _cost(rule: Rule, size: Size | None, detail: str, default: list[int]) -> Cost:
    price = _KINDS[rule["kind"]]
    if size is None:
        point, _, _ = price(rule, default[0], default[1], detail)
        _, low, _ = price(rule, 1, 1, detail)
        return point, low, rule["max_tokens"]
    width, height = size
    return price(rule, min(width, _LARGEST), min(height, _LARGEST), detail)


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
    low = base
    if detail == "high":
        low = high
    return high, low, high


def _patch(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """Cover with squares of 32, at most as many as the budget: shrink first if need be, then
    multiply.

    Source:
    https://developers.openai.com/api/docs/guides/images-vision#patch-based-image-tokenization
    """
    levels: dict[str, list[int]] = rule["levels"]
    level = rule["auto"]
    if detail in levels:
        level = detail
    full = _patches(width, height, *levels[level])
    patches = full
    if detail == "low":
        patches = _patches(width, height, 256, 512)
    factor = rule["multiplier"]
    return (
        _times(patches, factor),
        _times(patches, rule["multiplier_low"]),
        _times(full, factor),
    )


def _patches(width: float, height: float, budget: int, max_edge: int) -> int:
    if max_edge and max(width, height) > max_edge:
        scale = max_edge / max(width, height)
        width = max(1.0, width * scale)
        height = max(1.0, height * scale)
    count = _ceil(width, 32) * _ceil(height, 32)
    if not budget or count <= budget:
        return count
    shrink = (32 * 32 * budget / (width * height)) ** 0.5
    across = width * shrink / 32
    down = height * shrink / 32
    adjust = min(int(across) / across, int(down) / down) or 1.0
    return min(budget, _ceil(width * shrink * adjust, 32) * _ceil(height * shrink * adjust, 32))


def _grid(rule: Rule, width: int, height: int, _: str) -> Cost:
    """Shrink to the largest size within the limits of edge and tokens, then count squares of 28.

    Source:
    https://platform.claude.com/docs/en/build-with-claude/vision-coordinates#how-claude-resizes-and-pads-images
    """
    long = max(width, height)
    short = min(width, height)
    count = _squares(rule, long, short)
    fits = 1
    over = long
    while not count and fits + 1 < over:
        middle = (fits + over) // 2
        if _squares(rule, middle, max(1, round(middle * short / long))):
            fits = middle
        else:
            over = middle
    count = count or _squares(rule, fits, max(1, round(fits * short / long)))
    return count, count, min(rule["max_tokens"], _times(count, rule["spread"]))


def _squares(rule: Rule, long: int, short: int) -> int:
    """Return how many squares cover an image; 0 if it is larger than *rule* allows."""
    unit = rule["size"]
    along = _ceil(long, unit)
    count = along * _ceil(short, unit)
    if along * unit > rule["max_edge"] or count > rule["max_tokens"]:
        return 0
    return count


def _crop(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """One unit up to 384 × 384; else crops with an edge of the short side / 1.5, 256 to 768, and
    perhaps a full view.

    Source: https://ai.google.dev/gemini-api/docs/image-understanding#technical-details-image
    """
    unit: int = rule["tokens"]
    if detail in rule["levels"]:
        tokens = rule["levels"][detail]
        return tokens, tokens, unit
    if max(width, height) <= rule["small"]:
        return unit, unit, unit
    scale = min(1.0, rule["max_edge"] / max(width, height))
    wide = max(1, int(width * scale))
    tall = max(1, int(height * scale))
    edge = min(rule["unit_max"], max(rule["unit_min"], int(min(wide, tall) / rule["divisor"])))
    tiles = _ceil(wide, edge) * _ceil(tall, edge)
    return unit * tiles, unit, unit * (tiles + 1)


def _budget(rule: Rule, _: int, __: int, detail: str) -> Cost:
    """A number for each level of ``media_resolution``, whatever the size.

    Source: https://ai.google.dev/gemini-api/docs/media-resolution#token-counts
    """
    levels: dict[str, int] = rule["levels"]
    tokens = levels.get(detail, levels[rule["auto"]])
    return tokens, int(tokens * rule["spread_low"]), tokens


_KINDS = {"tile": _tile, "patch": _patch, "grid": _grid, "crop": _crop, "budget": _budget}


def _detail(part: object) -> str:
    for holder in (part, get(part, "image_url"), get(part, "source")):
        detail = first(holder, "detail", "resolution", "media_resolution", "mediaResolution")
        level = string(detail) or string(get(detail, "level"))
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
    walk.part(get(part, "title"))
    walk.part(get(part, "context"))
    walk.part(get(get(part, "file"), "filename") or get(part, "filename"))
    walk.part(get(part, "name"))
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
    payload = locate(part)
    mime = payload.mime or default
    if mime.startswith("image/"):
        add_image(part, walk)
    elif mime.startswith(("audio/", "video/")):
        add_timed(mime[:5], part, walk)
    elif mime.startswith(_TEXT_MIMES) and payload.data is not None:
        walk.ledger.text(payload.whole().decode("utf-8", "replace"))
        walk.ledger.because("document: published estimate")
    elif payload.data is not None or payload.referred:
        _add_pages(payload, walk)
    else:
        walk.rough(compact(part))


def count_pages(document: bytes) -> int:
    """Return how many pages a PDF says it has.

    0 if it hides them in compressed streams.
    """
    pages = 0
    for space in (b"", b" ", b"\n", b"\r\n"):
        pages += document.count(b"/Type" + space + b"/Page")
        pages -= document.count(b"/Type" + space + b"/Pages")
    return pages


def wav_seconds(head: bytes, size: int) -> float:
    """Return how long a WAV file of *size* bytes plays.

    0 if *head* is not the head of one.
    """
    at = head.find(b"fmt ", 12, 200)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE" or at < 0 or len(head) < at + 20:
        return 0.0
    bytes_per_second = int.from_bytes(head[at + 16 : at + 20], "little")
    if not bytes_per_second:
        return 0.0
    return max(0, size - at - 32) / bytes_per_second


def add_timed(kind: str, part: object, walk: Walk) -> None:
    """Add ``audio`` or ``video``: seconds × rate. Sources: their rows in ``media.json``."""
    table = load("media")
    payload = locate(part)
    size = payload.size()
    length = 0.0
    if kind == "audio":
        length = wav_seconds(payload.head(256), size)
    lengths = table["seconds"][kind]
    if length:
        seconds = [length, length, length]
        walk.ledger.because(f"{kind}: published rate")
    elif size:
        seconds = [size / bytes_per_second for bytes_per_second in lengths["bytes_per_second"]]
        walk.ledger.because(f"{kind} of unknown length")
    else:
        seconds = lengths["unknown"]
        walk.ledger.because(f"{kind} of unknown length")
    rate = best(table[kind], walk.names)["rate"]
    point, low, high = map(_tokens, seconds, rate)
    walk.ledger.other(point, low, high)


def _tokens(seconds: float, rate: float) -> int:
    return _ceil(seconds * rate, 1)


def _add_pages(payload: Payload, walk: Walk) -> None:
    pages, is_counted = _page_numbers(payload)
    point, low, high = map(operator.mul, pages, _page_cost(walk))
    walk.ledger.other(point, low, high)
    if is_counted:
        walk.ledger.because("document: published estimate")
    else:
        walk.ledger.because("document of unknown length")


def _page_numbers(payload: Payload) -> tuple[list[int], bool]:
    """Return point, low and high of a document's pages, and whether they were counted."""
    lengths = load("media")["pages"]
    size = payload.size()
    if not size:
        return lengths["unknown"], False
    count = count_pages(payload.whole())
    if count:
        return [count, count, count], True
    _, _, longest = lengths["unknown"]
    return [min(longest, max(1, size // per_page)) for per_page in lengths["bytes_per_page"]], False


def _page_cost(walk: Walk) -> Cost:
    """Return point, low and high of one page: its text and, for some models, its image."""
    row = best(load("media")["page"], walk.names)
    text_point, text_low, text_high = row["text"]
    if not row["with_image"]:
        return text_point, text_low, text_high
    width, height = load("images")["page_size"]
    point, low, high = image_cost((width, height), "", walk.names, walk.provider)
    return text_point + point, text_low + low, text_high + high
