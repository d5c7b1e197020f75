"""What has been cut from a transcript so far, to cut it the same way again."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brim.errors import InputError
from brim.record import Value
from brim.tokens.anchor import digests

VERSION = 1
"""The version of the JSON of ``Decisions``."""


@dataclass(frozen=True, slots=True)
class Decisions(Value):
    """What has been cut so far.

    Transcript and decisions give the same view in any process.
    """

    cut: int = 0
    """The first message of the run that stays; all after it stay too."""
    kept: tuple[int, ...] = ()
    """Messages before the cut that stay."""
    digest: str = ""
    """Identifies the messages before the cut; empty if they can't be written down, and then it matches nothing."""
    cuts: int = 0
    """How often it was cut."""

    def __post_init__(self) -> None:
        numbers = (self.cut, self.cuts, *self.kept)
        if any(not isinstance(number, int) or isinstance(number, bool) or number < 0 for number in numbers):
            raise InputError(f"decisions: places must be whole numbers from 0 on, not {numbers!r}")
        if list(self.kept) != sorted(set(self.kept)) or (self.kept and self.kept[-1] >= self.cut):
            raise InputError(f"decisions: kept must be in order and before the cut at {self.cut}, not {self.kept!r}")
        if not isinstance(self.digest, str):
            raise InputError(f"decisions: digest must be a text, not {self.digest!r}")

    def view(self, messages: Sequence[Any]) -> list[int] | None:
        """Return the places in *messages* that stay.

        None if these decisions were made on another transcript.
        """
        if not self.cut:
            return list(range(len(messages)))
        if not self.digest or self.cut > len(messages) or digest_of(messages[: self.cut]) != self.digest:
            return None
        return [*self.kept, *range(self.cut, len(messages))]

    def cut_again(self, messages: Sequence[Any], indices: Sequence[int], broken: Collection[int]) -> Decisions:
        """Return the decisions to keep the messages at the places *indices*.

        All that follow the last of them stay too.

        The cut lies before the run of kept messages that reaches to the end; kept messages before it are listed.
        *broken* messages don't end the run: a call that waits for its result now will have it in the next turn.
        """
        stays = {*indices, *broken}
        cut = len(messages)
        while cut and cut - 1 in stays:
            cut -= 1
        kept = tuple(place for place in indices if place < cut)
        return Decisions(cut, kept, digest_of(messages[:cut]), self.cuts + 1)

    def to_json(self) -> str:
        """Return the decisions as one line of JSON."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Decisions:
        """Return the decisions that ``to_json`` wrote; ``InputError`` for anything else."""
        try:
            found = json.loads(text)
            version = found.pop("version")
            decisions = cls(**{**found, "kept": tuple(found["kept"])})
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError("decisions: this is not what WatermarkPruner wrote; start over without them") from None
        if version != VERSION:
            raise InputError(f"decisions: version {version!r} is not {VERSION}; start over without them")
        return decisions


def digest_of(messages: Sequence[Any]) -> str:
    """Return what identifies *messages*; empty if one of them can't be written down."""
    found = list(digests(messages, None, ""))
    return found[-1] if found and len(found) == len(messages) else ""
