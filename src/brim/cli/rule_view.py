"""How a rule looks: as text for a person, and as an object for a script."""

from __future__ import annotations

from collections.abc import Iterable

from brim.behaviors.behavior import Behavior, BehaviorKind, Status
from brim.behaviors.blocks import said, too_much
from brim.behaviors.jsonl import as_object, edge_object
from brim.behaviors.when import NOT_CI
from brim.cli.options import says_yes
from brim.cli.output import block, counted, note, paint, printable
from brim.config import Config
from brim.injection.text import summary_of as one_line
from brim.injection.tiers import Tier
from brim.masking import masked
from brim.store.planner import costs_of
from brim.store.rulebook import named
from brim.store.scopes import Scopes

__all__ = ["as_object", "edge_object", "named", "one_line"]

COLOURS = {"constraint": "red", "preference": "cyan", "procedure": "blue", "workflow": "blue", "episodic": "faint"}
"""The kinds that stand out; a directive is the usual one."""


def tier_tokens(scopes: Scopes, behavior: Behavior, config: Config) -> dict[str, int]:
    """Return what *behavior* costs at each tier, most detail first, for the model and the format of the settings."""
    costs = costs_of(scopes, (behavior.id,), config)
    tiers = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY)
    return {str(tier).replace("-", "_"): int(costs.count(costs.item(behavior, tier)[0])) for tier in tiers}


def tokens_line(tokens: dict[str, int]) -> str:
    """Return what ``tier_tokens`` found, in one line."""
    return f"{tokens['full']:,} whole, {tokens['summary']:,} as a summary, {tokens['name_only']:,} by name"


def title(behavior: Behavior) -> str:
    """Return the line that says which rule it is."""
    about = f"({behavior.status}, {behavior.scope})"
    return "  ".join([paint(behavior.name, "green"), kind_of(behavior), behavior.id, about])


def whole(behavior: Behavior) -> str:
    """Return all that an agent can be told about *behavior*, and when: a person is asked to agree to it.

    Blank lines are left out, as they are for the agent: what follows a thousand of them isn't overlooked.
    """
    about = [f"#{tag}" for tag in behavior.tags] + [f"when {behavior.when}"] * bool(behavior.when)
    about += ["(an agent's note)"] * (behavior.status is Status.PENDING)
    text = "\n".join(line for line in block(behavior.canonical).split("\n") if line.strip())
    text += f"\n  refuses {printable(refused(behavior))}" if behavior.blocks else ""
    return f"{kind_of(behavior)}  {printable('  '.join([behavior.name, *about]))}\n{text}"


def refused(behavior: Behavior) -> str:
    """Return what *behavior* refuses, in words; empty if nothing."""
    return ", ".join(f"{said(each)}{f' ({too_much(each)})' if too_much(each) else ''}" for each in behavior.blocks)


def is_meant(blocks: Iterable[str], *, yes: bool) -> bool:
    """Whether a person means *blocks*: one that would refuse nearly everything is asked about."""
    much = [each for block in blocks if (each := too_much(block))]
    no = "this would refuse {}; nothing was changed"
    return all(says_yes(f"This would refuse {each}. Really?", yes=yes, no=no.format(each)) for each in much)


def heard(behavior: Behavior) -> str:
    """Return when agents are told *behavior*: by its conditions, else by what its own words speak of."""
    declared, end = behavior.when.waits, " outside CI" * (NOT_CI in behavior.when.conditions)
    conditions = [each for each in (behavior.when if declared else behavior.inferred).conditions if each != NOT_CI]
    if not conditions or (not declared and behavior.kind is BehaviorKind.CONSTRAINT):
        return f"at the start of every session{end}"
    said = [
        _HEARD.get(key, "{key} is {}").format(_values(key, values), key=key.replace("_", " "))
        for key, values in conditions
    ]
    return f"only when {' and '.join(said)}{end}" if declared else f"when {' or '.join(said)}{end}"


_HEARD = {
    "language": "they work on {} files",
    "file": "they work on {}",
    "task": "the task is {}",
    "command": "they run {}",
    "branch": "they are on the branch {}",
    "environment": "the environment is {}",
    "project_type": "the project is {}",
}
_LANGUAGES = {"javascript": "JavaScript", "typescript": "TypeScript", "cpp": "C++", "csharp": "C#", "php": "PHP"} | {
    name: name.upper() for name in ("html", "css", "sql", "yaml", "json", "toml")
}


def _values(key: str, values: tuple[str, ...]) -> str:
    names = [_LANGUAGES.get(each, each.capitalize()) if key == "language" else each for each in values]
    return " or ".join(names)


def kind_of(behavior: Behavior) -> str:
    """Return its kind, in its colour."""
    kind = behavior.kind.value
    return paint(kind, COLOURS[kind]) if kind in COLOURS else kind


def tell_masked(*texts: str) -> int:
    """Say how many secrets in *texts* the store masks, and return the number."""
    count = sum(masked(text)[1] for text in texts)
    if count:
        note(f"{counted(count, 'secret')} masked: others may read your rules")
    return count
