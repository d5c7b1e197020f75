"""The table keys that a model's name can mean, most literal first.

``openai/gpt-4o``, ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``, ``claude-4.5-sonnet``,
``gpt-4o-2099-01-01`` and ``ft:gpt-4o:org::id`` all name models that the table knows under another
spelling. The rules are here once; the light and the full path, and the script that builds the
table, all use them. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

LONGEST_NAME = 256
"""A longer text is not a model's name; the limit also bounds how many spellings are tried."""

_MOST_FORMS, _MOST_RELEASES, _LONGEST_FAMILY = 8, 6, 64
_SEPARATORS = "-._:@/ "
_RELEASE_WORDS = ("latest", "preview", "exp", "experimental", "beta")
CLAUDE = "claude"
"""What the names of Anthropic's models hold, wherever they are hosted."""
_CLAUDE_SIZES = ("opus", "sonnet", "haiku", "fable", "mythos")
_PROVIDERS = {
    "x-ai": "xai",
    "grok": "xai",
    "moonshotai": "moonshot",
    **dict.fromkeys(("google-cloud", "google-gla", "google-vertex"), "google"),
}
"""What frameworks call a provider, and what the table does."""
_BEDROCK_REGIONS = ("global", "us", "eu", "apac", "jp", "au")
"""How the names of Bedrock's inference profiles begin."""
_UNITS = {"k": 1_000, "m": 1_000_000}


def clean(name: str) -> str:
    """Return *name* in lower case, without surrounding space.

    Returns ``""`` if it can't be a model's name.
    """
    if len(name) > LONGEST_NAME:
        return ""
    key = name.strip().lower()
    return key if key.isprintable() and key[:1] not in ("~", "#") else ""


def split_window(key: str) -> tuple[str, int]:
    """Split the window suffix from *key*: ``claude-opus-4-8[1m]`` asks for 1,000,000.

    Without a suffix, or with one that isn't a number, it is 0.
    """
    start = key.rfind("[")
    if start <= 0 or not key.endswith("]"):
        return key, 0
    number, unit = key[start + 1 : -2], _UNITS.get(key[-2:-1], 0)
    is_number = unit and number.isascii() and number.isdigit() and len(number) < 5
    return key[:start].rstrip(), int(number) * unit if is_number else 0


def spellings(key: str) -> Iterator[tuple[str, str]]:
    """Yield the table keys that *key* can mean.

    Each comes with the provider part that was removed from it.
    """
    end = max(0, min((at for at in (key.find("/"), key.find(":")) if at > 0), default=0))
    head = key[:end]
    usual = f"{_PROVIDERS.get(head, head)}/{key[end + 1 :]}"
    if head.replace("-", "").replace("_", "").isalpha() and head != "ft" and usual != key:
        yield from spellings(usual)
    for form, taken in provider_forms(key):
        shorter = form
        for _ in range(_MOST_RELEASES):
            for variant in _variants(shorter):
                yield variant, taken
            shorter = _without_release(shorter)
            if not shorter:
                break
        if _is_bedrock_profile(form):
            yield f"aws/{form}", taken


def _is_bedrock_profile(form: str) -> bool:
    """Whether *form* is written as Amazon Bedrock names a model for a region:
    ``us.anthropic.claude-x``."""
    region, _, hosted = form.partition(".")
    provider, _, model = hosted.partition(".")
    return region in _BEDROCK_REGIONS and provider.isalpha() and model != ""


def provider_forms(key: str) -> Iterator[tuple[str, str]]:
    """Yield *key* as it is, then with ever less of what stands before the model's own name.

    ``bedrock/us.anthropic.claude-x`` gives itself, ``us.anthropic.claude-x``,
    ``anthropic.claude-x`` and ``claude-x``. A dotted or coloned part is a provider or region only
    if it has no digit: ``gpt-4.1`` stays whole.
    """
    rest = key
    for _ in range(_MOST_FORMS):
        yield rest, key[: len(key) - len(rest)]
        cut = rest.find("/")
        if cut < 0:
            cut = min([at for at in (rest.find("."), rest.find(":")) if at > 0], default=-1)
            cut = cut if rest[: max(cut, 0)].replace("-", "").replace("_", "").isalpha() else -1
        rest = rest[cut + 1 :] if cut >= 0 else ""
        if not rest:
            return


def shorter_names(form: str) -> Iterator[str]:
    """Yield *form* cut at each separator, longest first: the families an unknown name may belong
    to."""
    for at in range(min(len(form) - 1, _LONGEST_FAMILY), 0, -1):
        if form[at] in _SEPARATORS:
            yield form[:at]


def _variants(form: str) -> Iterator[str]:
    dashed = form.replace(".", "-")
    yield from dict.fromkeys((form, dashed, _dotted(form)))
    if "claude-" in dashed:
        yield from _claude_orders(dashed)


def _dotted(form: str) -> str:
    """``gemini-2-5-pro`` as ``gemini-2.5-pro``: a dash between two single digits is a point of a
    version."""
    parts = form.split("-")
    for at in range(1, len(parts) - 1):
        if len(parts[at]) == len(parts[at + 1]) == 1 and (parts[at] + parts[at + 1]).isdigit():
            return "-".join([*parts[:at], parts[at] + "." + parts[at + 1], *parts[at + 2 :]])
    return form


def _claude_orders(form: str) -> Iterator[str]:
    """``claude-4-5-sonnet`` as ``claude-sonnet-4-5``, and the other way round."""
    before, _, after = form.partition("claude-")
    parts = after.split("-")
    size = next((part for part in _CLAUDE_SIZES if part in parts), "")
    if not size:
        return
    at = parts.index(size)
    numbers_first = parts[:at]
    numbers_last = list(takewhile(lambda part: part.isdigit() and len(part) < 3, parts[at + 1 :]))
    rest = parts[at + 1 + len(numbers_last) :]
    if numbers_first and all(part.isdigit() for part in numbers_first) and not numbers_last:
        yield "-".join([before + "claude", size, *numbers_first, *rest])
    elif numbers_last and not numbers_first:
        yield "-".join([before + "claude", *numbers_last, size, *rest])


def _without_release(form: str) -> str:
    """Take one sign of a release off the end: a tag, a date, a revision, *latest* or *preview*;
    ``""`` if none."""
    for mark in (":", "@"):
        at = form.rfind(mark)
        if at > 0:
            return form[:at].rstrip(":")
    parts = form.split("-")
    last = parts[-1]
    if len(parts) > 1 and (last in _RELEASE_WORDS or (last[:1] == "v" and last[1:].isdigit())):
        return "-".join(parts[:-1])
    dated = _date_parts(parts)
    return "-".join(parts[:-dated]) if dated else ""


def _date_parts(parts: list[str]) -> int:
    """How many of the last *parts* are a date or a revision number: 20250929, 2025-09-29, 05-06,
    09-2025, 0613, 001."""
    last = parts[-1]
    if len(parts) < 2 or not (last.isascii() and last.isdigit()):
        return 0
    before = parts[-2] if parts[-2].isdigit() else ""
    if len(last) == 2 and len(before) == 2:
        year = parts[-3] if len(parts) > 3 else ""
        return 3 if len(year) == 4 and year.isdigit() else 2
    if len(last) == 4 and len(before) == 2 and int(before) <= 12:
        return 2
    whole_date = len(last) in (6, 8)
    month_day = len(last) == 4 and 1 <= int(last[:2]) <= 12 and 1 <= int(last[2:]) <= 31
    year_month = len(last) == 4 and 20 <= int(last[:2]) <= 39 and 1 <= int(last[2:]) <= 12
    revision = len(last) == 3 and last.startswith("00")
    return 1 if whole_date or month_day or year_month or revision else 0
