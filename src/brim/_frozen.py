"""Values that cannot be changed, for the path of a hook: ``dataclasses`` alone would take it 14 milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Self


class Frozen:
    """A value: its fields are its ``__slots__``, in order, and ``__init__`` takes each by name.

    A subclass annotates its fields, takes them in ``__init__`` and hands them to ``_fill``. Two values are equal if
    they are of the same class and all their fields are.
    """

    __slots__: tuple[str, ...] = ()

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def changed(self, **fields: object) -> Self:
        """Return a copy with other values in *fields*."""
        copy: Self = _rebuilt(type(self), {**dict(zip(self.__slots__, self._values(), strict=True)), **fields})
        return copy

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), dict(zip(self.__slots__, self._values(), strict=True)))


def _rebuilt(kind: type[Any], fields: dict[str, object]) -> Any:
    return kind(**fields)
