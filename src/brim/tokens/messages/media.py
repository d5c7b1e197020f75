"""What sound, films and documents take, by the rates that providers publish (``data/media.json``)."""

from __future__ import annotations

from brim.tokens.messages.fields import compact, get, is_sequence, string
from brim.tokens.messages.images import add_image, page_cost
from brim.tokens.messages.payload import locate
from brim.tokens.messages.rules import best, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.messages.payload import Payload
    from brim.tokens.messages.walk import Walk

__all__ = ["add_audio", "add_by_mime", "add_document", "add_image_part", "add_video", "count_pages", "wav_seconds"]

_TEXT_MIMES = ("text/", "application/json", "application/xml", "application/x-yaml", "application/javascript")


def add_image_part(part: object, walk: Walk) -> None:
    """Add an image of any provider's shape."""
    add_image(part, walk.ledger, walk.names, walk.provider)


def add_audio(part: object, walk: Walk) -> None:
    """Add sound: seconds × rate. Sources: the rows of ``audio`` in ``media.json``."""
    transcript = get(part, "transcript")
    if isinstance(transcript, str):
        walk.ledger.maybe(transcript, likely=False)
    _timed("audio", locate(part), walk)


def add_video(part: object, walk: Walk) -> None:
    """Add a film: seconds × rate. Sources: the rows of ``video`` in ``media.json``."""
    _timed("video", locate(part), walk)


def add_document(part: object, walk: Walk) -> None:
    """Add a document: its text if it is text, its parts if it has parts, else pages × rate.

    Source: https://platform.claude.com/docs/en/build-with-claude/pdf-support#estimate-your-costs
    """
    for name in ("title", "context", "filename", "name"):
        walk.text(get(part, name) if name != "filename" else get(get(part, "file"), name) or get(part, name))
    source = get(part, "source")
    kind = string(get(source, "type"))
    if kind == "text":
        walk.text(get(source, "data"))
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
        add_image_part(part, walk)
    elif mime.startswith("audio/"):
        _timed("audio", carried, walk)
    elif mime.startswith("video/"):
        _timed("video", carried, walk)
    elif mime.startswith(_TEXT_MIMES) and carried.data is not None:
        walk.ledger.text(carried.whole().decode("utf-8", "replace"))
        walk.ledger.because("document: published estimate")
    elif carried.data is not None or carried.referred:
        _pages(carried, walk)
    else:
        walk.unknown(compact(part))


def count_pages(document: bytes) -> int:
    """Return how many pages a PDF says it has; 0 if it hides them in compressed streams."""
    return sum(
        document.count(b"/Type" + space + b"/Page") - document.count(b"/Type" + space + b"/Pages")
        for space in (b"", b" ", b"\n", b"\r\n")
    )


def wav_seconds(head: bytes, size: int) -> float:
    """Return how long a WAV file of *size* bytes plays; 0 if *head* is not the head of one."""
    at = head.find(b"fmt ", 12, 200)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE" or at < 0 or len(head) < at + 20:
        return 0.0
    per_second = int.from_bytes(head[at + 16 : at + 20], "little")
    return max(0, size - at - 32) / per_second if per_second else 0.0


def _timed(kind: str, carried: Payload, walk: Walk) -> None:
    table = load("media")
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
    walk.ledger.other(*(_up(length * tokens) for length, tokens in zip(seconds, rate, strict=True)))
    walk.ledger.because(f"{kind}: published rate" if exact else f"{kind} of unknown length")


def _pages(carried: Payload, walk: Walk) -> None:
    table = load("media")
    row = best(table["page"], walk.names)
    image = page_cost(walk.names, walk.provider) if row["with_image"] else (0, 0, 0)
    known = table["pages"]
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


def _up(number: float) -> int:
    return max(1, int(-(-number // 1)))
