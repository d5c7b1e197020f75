"""How a rule looks: as text for a person, and as an object for a script."""

from __future__ import annotations

from collections.abc import Iterable

from brim.behaviors.behavior import Behavior, Status
from brim.behaviors.blocks import too_much
from brim.behaviors.jsonl import as_object, edge_object
from brim.behaviors.sentences import heard, refused
from brim.cli.options import says_yes
from brim.cli.output import block, counted, note, paint, printable
from brim.injection.text import summary_of as one_line
from brim.masking import masked
from brim.store.rulebook import named
from brim.store.statistics import tier_tokens

__all__ = ["as_object", "edge_object", "heard", "named", "one_line", "refused", "tier_tokens"]

COLOURS = {"constraint": "red", "preference": "cyan", "procedure": "blue", "workflow": "blue", "episodic": "faint"}
"""The kinds that stand out; a directive is the usual one."""


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


def is_meant(blocks: Iterable[str], *, yes: bool) -> bool:
    """Whether a person means *blocks*: one that would refuse nearly everything is asked about, twice."""
    much = [each for block in blocks if (each := too_much(block))]
    no = "this would refuse {}; nothing was changed"
    asked = ("This would refuse {}. Really?", "No agent could do that until you remove the rule. Sure?")
    return all(says_yes(each.format(what), yes=yes, no=no.format(what)) for what in much for each in asked)


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
