"""JSON for a fresh process: Python's own C code, without the modules around it, which would take a hook milliseconds.

What cannot be done so, and every error, is left to ``json`` itself: values, texts and exceptions are the same.
"""

from __future__ import annotations

try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
except ImportError:  # another Python
    make_scanner = None  # type: ignore[assignment,misc]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\n\r"


class _Rules:
    """What the scanner asks its decoder for: JSON as ``json.loads`` reads it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 (the scanner clears it itself)

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


def loads(text: str | bytes) -> Any:
    """Return what *text* holds, as ``json.loads`` does; a ``ValueError`` if it is no JSON."""
    if isinstance(text, bytes):
        if text[:1] not in (b"{", b"[") or text[1:2] == b"\0":  # perhaps of another encoding
            import json

            return json.loads(text)
        text = text.decode("utf-8", "surrogatepass")
    if make_scanner is not None:
        try:
            start = len(text) - len(text.lstrip(_SPACE))
            found, end = make_scanner(_Rules)(text, start)  # type: ignore[arg-type]
            if not text[end:].strip(_SPACE):
                return found
        except (StopIteration, SystemError):  # without json, the scanner of some versions has no error to raise
            pass
    import json

    return json.loads(text)


def dumps(
    value: Any,
    *,
    sort_keys: bool = False,
    ensure_ascii: bool = True,
    default: Callable[[Any], Any] | None = None,
) -> str:
    """Return *value* as JSON on one line, as ``json.dumps`` does."""
    if make_scanner is not None:
        quote = encode_basestring_ascii if ensure_ascii else encode_basestring
        encode = make_encoder({}, default or _unknown, quote, None, ": ", ", ", sort_keys, False, True)
        return "".join(encode(value, 0)) if not isinstance(value, str) else quote(value)
    import json

    return json.dumps(value, sort_keys=sort_keys, ensure_ascii=ensure_ascii, default=default)


def _unknown(value: object) -> Any:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
