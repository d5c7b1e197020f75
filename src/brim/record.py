"""Immutable records, like frozen dataclasses but cheap to import.

Importing ``dataclasses`` costs a fresh process about as much as everything else a hook does. Modules that no hook
imports use ``dataclasses`` itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Self, TypeVar, dataclass_transform

    _Class = TypeVar("_Class", bound=type)
else:

    def dataclass_transform(**_: object) -> Callable[[_Class], _Class]:
        """Stand in for the decorator that only type checkers read."""
        return lambda made: made


@dataclass_transform(frozen_default=True)
class Record:
    """A value with annotated fields, given in order or by name.

    A class attribute is the default of its field, as in a dataclass; it must be immutable. Define ``__post_init__`` to
    check the values. Annotations that begin with ``ClassVar`` are not fields.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(3).replace(y=4)
    Point(x=3, y=4)
    """

    __match_args__: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        own = [name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar")]
        cls.__match_args__ = tuple(dict.fromkeys((*cls.__match_args__, *own)))  # type: ignore[misc]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names, values = self.__match_args__, self.__dict__
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__} takes {len(names)} fields, not {len(args)}")
        values.update(zip(names, args))  # noqa: B905 (a hook makes a thousand records, and strict= takes its time)
        if not kwargs and len(args) == len(names):
            self.__post_init__()
            return
        for name, value in kwargs.items():
            if name in values or name not in names:
                raise TypeError(f"{type(self).__name__} got an unexpected or repeated field {name!r}")
            values[name] = value
        if len(values) < len(names):
            for name in names:
                if name not in values:
                    try:
                        values[name] = getattr(type(self), name)
                    except AttributeError:
                        raise TypeError(f"{type(self).__name__} needs the field {name!r}") from None
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the values; a subclass may override this."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values in the fields of *changes*."""
        return type(self)(**{name: getattr(self, name) for name in self.__match_args__} | changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data: records become dicts, tuples become lists."""
        return {name: _plain(getattr(self, name)) for name in self.__match_args__}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: can't set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: can't delete {name}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each) for each in value]
    return value
