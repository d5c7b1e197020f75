"""What an import would change, before it does."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.behaviors.behavior import Behavior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LOCAL = frozenset({"usage", "updated_at"})
"""Fields that say what happened on one machine, not what was learned."""


class Difference(Frozen):
    """What becomes of one behavior: ``added``, ``changed`` in *fields*, or the ``same``."""

    __slots__ = ("id", "name", "change", "fields")

    id: str
    name: str
    change: str
    fields: tuple[str, ...]

    def __init__(self, id: str, name: str, change: str, fields: Iterable[str] = ()) -> None:
        self._fill(id=id, name=name, change=change, fields=tuple(fields))

    def __str__(self) -> str:
        return f"{self.change} {self.id} {self.name}" + (f": {', '.join(self.fields)}" if self.fields else "")


def differences(have: Mapping[str, Behavior], new: Iterable[Behavior]) -> list[Difference]:
    """Return what *new* would change of what we *have*, by id; of two with one id, the last is meant.

    Counters of use, and when it was last touched, do not count.
    """
    found = []
    for behavior in sorted({each.id: each for each in new}.values(), key=lambda each: each.id):
        old = have.get(behavior.id)
        fields = [
            field
            for field in Behavior.__slots__
            if old is not None and field not in _LOCAL and getattr(old, field) != getattr(behavior, field)
        ]
        change = "added" if old is None else "changed" if fields else "same"
        found.append(Difference(behavior.id, behavior.name, change, fields))
    return found
