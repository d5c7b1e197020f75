"""What an image takes, by the rule its provider publishes for the model, never by the length of its base64.

The rules are rows of ``data/images.json``, each with its source; here is one function for each kind of rule.
"""

from __future__ import annotations

from brim.tokens.messages.fields import get, string
from brim.tokens.messages.image_size import STEPS, image_size
from brim.tokens.messages.payload import locate
from brim.tokens.messages.rules import best, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from brim.tokens.messages.tally import Ledger

    Rule = dict[str, Any]
    Size = tuple[int, int]
    Cost = tuple[int, int, int]

__all__ = ["add_image", "image_cost", "page_cost"]

_LARGEST = 100_000


def add_image(part: object, ledger: Ledger, names: Iterable[str], provider: str) -> None:
    """Add the image in *part* to *ledger*, for the model that *names* spell."""
    carried = locate(part)
    size = None
    for step in STEPS:
        head = carried.head(step)
        size = image_size(head)
        if size or len(head) < step:
            break
    ledger.other(*image_cost(size, _detail(part), names, provider))
    ledger.because("image: published estimate" if size else "image of unknown size")


def image_cost(size: Size | None, detail: str, names: Iterable[str], provider: str) -> Cost:
    """Return point, low and high of an image of *size* pixels, or of unknown size, at a *detail* level.

    A model of no known provider gets the range of what all of them would take.
    """
    table = load("images")
    rules: list[Rule] = table["rules"]
    if provider == "other":
        typical = [best(rules, (name,)) for name in ("gpt-4o", "gpt-5.4", "claude", "claude-opus-5", "gemini")]
        costs = [_cost(rule, size, detail, table["unknown_size"]) for rule in typical]
        return costs[2][0], min(cost[1] for cost in costs), max(cost[2] for cost in costs)
    return _cost(best(rules, names), size, detail, table["unknown_size"])


def page_cost(names: Iterable[str], provider: str) -> Cost:
    """Return what a page of a document takes that is sent as an image."""
    width, height = load("images")["page_size"]
    return image_cost((width, height), "", names, provider)


def _cost(rule: Rule, size: Size | None, detail: str, default: list[int]) -> Cost:
    price = _KINDS[rule["kind"]]
    if size is None:
        return price(rule, default[0], default[1], detail)[0], price(rule, 1, 1, detail)[1], rule["max_tokens"]
    return price(rule, min(size[0], _LARGEST), min(size[1], _LARGEST), detail)


def _tile(rule: Rule, width: int, height: int, detail: str) -> Cost:
    """Fit into 2048 × 2048, shrink the short side to 768, count squares of 512. ``low`` is the base alone.

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
    """Cover with squares of 32, at most as many as the budget: shrink first if need be, then multiply.

    Source: https://developers.openai.com/api/docs/guides/images-vision#patch-based-image-tokenization
    """
    levels: dict[str, list[int]] = rule["levels"]
    level = detail if detail in levels else rule["auto"]
    full = _patches(width, height, *levels[level])
    patches = _patches(width, height, 256, 512) if detail == "low" else full
    return (
        _times(patches, rule["multiplier"]),
        _times(patches, rule["multiplier_low"]),
        _times(full, rule["multiplier"]),
    )


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

    Source: https://platform.claude.com/docs/en/build-with-claude/vision-coordinates#how-claude-resizes-and-pads-images
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
    """One unit up to 384 × 384; else crops with an edge of the short side / 1.5, 256 to 768, and perhaps a full view.

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


_KINDS: dict[str, Callable[[Rule, int, int, str], Cost]] = {
    "tile": _tile,
    "patch": _patch,
    "grid": _grid,
    "crop": _crop,
    "budget": _budget,
}


def _detail(part: object) -> str:
    for holder in (part, get(part, "image_url"), get(part, "source")):
        for name in ("detail", "resolution", "media_resolution", "mediaResolution"):
            found = get(holder, name)
            level = string(found) or string(get(found, "level"))
            if level:
                return level.lower().removeprefix("media_resolution_")
    return ""


def _ceil(length: float, unit: int) -> int:
    return max(1, int(-(-length // unit)))


def _times(count: int, factor: float) -> int:
    """*count* × *factor*, rounded up, without the error of a binary fraction."""
    return -(-count * round(factor * 100) // 100)
