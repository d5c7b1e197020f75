"""The table keys that a model's name can mean, most literal first.

``openai/gpt-4o``, ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``, ``claude-4.5-sonnet``,
``gpt-4o-2099-01-01`` and ``ft:gpt-4o:org::id`` all name models that the table knows under another
spelling. The rules are here once; the light and the full path, and the script that builds the
table, all use them. Nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_NAME = 256
"""A longer text is not a model's name; the limit also bounds how many spellings are tried."""

_NO_MODELS = ("~", "#")
"""Signs at the beginning of the table's lines that aren't models: its families and its header."""
_MOST_FORMS = 8
_MOST_RELEASES = 6
_LONGEST_FAMILY = 64
_SEPARATORS = "-._:@/ "
CLAUDE = "claude"
"""What the names of Anthropic's models hold, wherever they are hosted."""
_CLAUDE_SIZE = "(opus|sonnet|haiku|fable|mythos)"
_SHORT_NUMBER = r"\d{1,2}(?![^-])"
_CLAUDE_VERSION_FIRST = rf"(\d+(?:-\d+)*)-{_CLAUDE_SIZE}(?!-{_SHORT_NUMBER})(-.*)?"
"""The name of a Claude model after ``claude-``: ``4-5-sonnet``."""
_CLAUDE_VERSION_LAST = rf"{_CLAUDE_SIZE}-({_SHORT_NUMBER}(?:-{_SHORT_NUMBER})*)(-.*)?"
"""The same in the other order: ``sonnet-4-5``."""
_MONTH = "(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_RELEASE = (
    r"-(?:latest|preview|exp|experimental|beta|v\d+"
    rf"|\d{{4}}-\d\d-\d\d|\d\d-\d\d|(?:0\d|1[0-2])-\d{{4}}"  # 2025-09-29, 05-06, 09-2025
    rf"|\d{{8}}|\d{{6}}|{_MONTH}{_DAY}|[23]\d{_MONTH}"  # 20250929, 250929, 0613, 2411
    r"|00\d)$"
)
"""One sign of a release at the end of a name: a word, a date or a revision."""
_PROVIDERS = {
    "x-ai": "xai",
    "grok": "xai",
    "moonshotai": "moonshot",
    "google-cloud": "google",
    "google-gla": "google",
    "google-vertex": "google",
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
    if not key.isprintable() or key.startswith(_NO_MODELS):
        return ""
    return key


def split_window(key: str) -> tuple[str, int]:
    """Split the window suffix from *key*: ``claude-opus-4-8[1m]`` asks for 1,000,000.

    Without a suffix, or with one that isn't a number, it is 0.
    """
    start = key.rfind("[")
    if start <= 0 or not key.endswith("]"):
        return key, 0
    name = key[:start].rstrip()
    number = key[start + 1 : -2]
    unit = _UNITS.get(key[-2:-1], 0)
    if unit and _is_number(number) and len(number) < 5:
        return name, int(number) * unit
    return name, 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def spellings(key: str) -> Iterator[tuple[str, str]]:
    """Yield the table keys that *key* can mean.

    Each comes with the provider part that was removed from it.
    """
    with_usual_provider = _with_usual_provider(key)
    if with_usual_provider != key:
        yield from spellings(with_usual_provider)
    for form, provider_part in provider_forms(key):
        if form.startswith(_NO_MODELS):
            continue
        shorter = form
        for _ in range(_MOST_RELEASES):
            for variant in _variants(shorter):
                yield variant, provider_part
            shorter = _without_release(shorter)
            if not shorter:
                break
        if _is_bedrock_profile(form):
            yield f"aws/{form}", provider_part


def _is_bedrock_profile(form: str) -> bool:
    """Whether *form* is written as Amazon Bedrock names a model for a region:
    ``us.anthropic.claude-x``."""
    region, _, hosted = form.partition(".")
    provider, _, model = hosted.partition(".")
    return region in _BEDROCK_REGIONS and provider.isalpha() and model != ""


def _with_usual_provider(key: str) -> str:
    """Return *key* with the provider before its first ``/`` or ``:`` as the table writes it."""
    end = _first_of("/:", key)
    provider = key[: max(end, 0)]
    if not _is_word(provider) or provider == "ft":
        return key
    return f"{_PROVIDERS.get(provider, provider)}/{key[end + 1 :]}"


def _first_of(signs: str, text: str) -> int:
    """Return where the first of *signs* stands in *text*, but not at its beginning; -1 if none
    does."""
    places = [text.find(sign) for sign in signs]
    return min([place for place in places if place > 0], default=-1)


def _is_word(text: str) -> bool:
    """Whether *text* has letters and no digit: a provider or a region, not a version."""
    return text.replace("-", "").replace("_", "").isalpha()


def provider_forms(key: str) -> Iterator[tuple[str, str]]:
    """Yield *key* as it is, then with ever less of what stands before the model's own name.

    ``bedrock/us.anthropic.claude-x`` gives itself, ``us.anthropic.claude-x``,
    ``anthropic.claude-x`` and ``claude-x``. A dotted or coloned part is a provider or region only
    if it has no digit: ``gpt-4.1`` stays whole.
    """
    name = key
    for _ in range(_MOST_FORMS):
        yield name, key[: len(key) - len(name)]
        name = _without_provider(name)
        if not name:
            return


def _without_provider(name: str) -> str:
    """Take one provider or region off the beginning; ``""`` if there is none."""
    slash = name.find("/")
    if slash >= 0:
        return name[slash + 1 :]
    end = _first_of(".:", name)
    if end > 0 and _is_word(name[:end]):
        return name[end + 1 :]
    return ""


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
        version = f"{parts[at]}.{parts[at + 1]}"
        if re.fullmatch(r"\d\.\d", version):
            return "-".join([*parts[:at], version, *parts[at + 2 :]])
    return form


def _claude_orders(form: str) -> Iterator[str]:
    """``claude-4-5-sonnet`` as ``claude-sonnet-4-5``, and the other way round."""
    before, _, after = form.partition("claude-")
    version_first = re.fullmatch(_CLAUDE_VERSION_FIRST, after)
    if version_first is not None:
        yield f"{before}claude-{version_first[2]}-{version_first[1]}{version_first[3] or ''}"
    version_last = re.fullmatch(_CLAUDE_VERSION_LAST, after)
    if version_last is not None:
        yield f"{before}claude-{version_last[2]}-{version_last[1]}{version_last[3] or ''}"


def _without_release(form: str) -> str:
    """Take one sign of a release off the end: a tag, a date, a revision, *latest* or *preview*;
    ``""`` if none."""
    for mark in (":", "@"):
        at = form.rfind(mark)
        if at > 0:
            return form[:at].rstrip(":")
    release = re.search(_RELEASE, form, re.ASCII)
    if release is None:
        return ""
    return form[: release.start()]
