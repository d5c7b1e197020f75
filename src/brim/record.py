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
    check the values.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(3).replace(y=4)
    Point(x=3, y=4)
    """

    __match_args__: tuple[str, ...] = ()
    _defaults: dict[str, object] = {}  # noqa: RUF012 (each class has its own)

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        fields = dict.fromkeys((*cls.__match_args__, *cls.__annotations__))
        cls.__match_args__ = tuple(fields)  # type: ignore[misc]
        cls._defaults = {**cls._defaults, **{name: own[name] for name in fields if name in own}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = self.__match_args__
        self.__dict__.update(zip(names, args))  # noqa: B905 (a hook makes a thousand, and strict= takes its time)
        if kwargs or len(args) != len(names):
            self._complete(args, kwargs)
        self.__post_init__()

    def _complete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take the fields that were given by name, and the defaults of those that weren't given."""
        names, values, kind = self.__match_args__, self.__dict__, type(self).__name__
        if len(args) > len(names):
            raise TypeError(f"{kind} takes {len(names)} fields, not {len(args)}")
        if not values.keys().isdisjoint(kwargs):
            raise TypeError(f"{kind} got a repeated field {next(name for name in kwargs if name in values)!r}")
        values.update({**self._defaults, **values, **kwargs})
        if len(values) != len(names) or not all(map(values.__contains__, names)):
            unknown = [name for name in kwargs if name not in names]
            problem = f"got an unexpected field {unknown[0]!r}" if unknown else ""
            missing = [name for name in names if name not in values]
            raise TypeError(f"{kind} {problem or f'needs the field {missing[0]!r}'}")

    def __post_init__(self) -> None:
        """Check the values; a subclass may override this."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values in the fields of *changes*."""
        return type(self)(**{name: getattr(self, name) for name in self.__match_args__} | changes)

    def __replace__(self, **changes: Any) -> Self:
        """Return a copy for ``copy.replace``."""
        return self.replace(**changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data: records become dicts, tuples become lists."""
        return {name: plain(getattr(self, name)) for name in self.__match_args__}

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: object) -> Any:
        """Let a pydantic model have a record as a field: it's given as one, or as a dict of its fields."""
        from pydantic_core import core_schema as schema

        made = schema.no_info_after_validator_function(lambda fields: cls(**fields), schema.dict_schema())
        either = schema.union_schema([schema.is_instance_schema(cls), made], mode="left_to_right")
        either["serialization"] = schema.plain_serializer_function_ser_schema(cls.to_dict)
        return either

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


class Value:
    """What dataclasses of brim have in common with records: ``to_dict`` and ``copy.replace``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, ready for ``json.dumps``."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]

    def __replace__(self, **changes: Any) -> Self:
        """Return a copy with other values in the fields of *changes*."""
        from dataclasses import replace

        return replace(self, **changes)  # type: ignore[type-var]


def plain(value: Any) -> Any:
    """Return *value* as JSON has it: a dict, list, text, number, bool or None."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if hasattr(value, "items") and hasattr(value, "keys"):
        return {key if isinstance(key, str) else str(key): plain(each) for key, each in value.items()}
    for name in ("to_dict", "model_dump"):
        if callable(found := getattr(value, name, None)):
            return found() if name == "to_dict" else found(mode="json")
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields}
    # A date, an exact amount, an object of someone else's.
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
