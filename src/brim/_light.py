"""``enum``, ``collections``, ``functools`` and ``contextlib`` in so far as a hook uses them, without importing them.

Those four and what they bring take a fresh process five milliseconds, and an agent waits for it. What is here does the
same as its namesake in the standard library, and a type checker sees that one.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import namedtuple
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import contextmanager, suppress
    from enum import IntEnum, StrEnum
    from functools import lru_cache
    from types import ModuleType, TracebackType
    from typing import Any, NoReturn

    _tuplegetter: Any
    _lru_cache_wrapper: Any
else:
    ModuleType = type(sys)
    try:
        from _collections import _tuplegetter
        from _functools import _lru_cache_wrapper
    except ImportError:  # a Python that does not have them in C
        _tuplegetter = _lru_cache_wrapper = None

__all__ = [
    "IntEnum",
    "MappingProxy",
    "StrEnum",
    "contextmanager",
    "lru_cache",
    "namedtuple",
    "suppress",
    "without_functools",
]

MappingProxy: Any = type(type.__dict__)
"""A mapping that cannot be changed: ``types.MappingProxyType``."""


class _Choices(type):
    """The type of ``StrEnum`` and ``IntEnum``: every text or number in the body of a class is a member of it."""

    _members: dict[str, Any]
    _by_value: dict[object, Any]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        for base in bases:
            if getattr(base, "_members", None):
                raise TypeError(f"<enum {name!r}> cannot extend {base!r}")
        given = {key: value for key, value in body.items() if key[0] != "_" and isinstance(value, (str, int))}
        made = super().__new__(cls, name, bases, {key: value for key, value in body.items() if key not in given})
        members = {key: made.__mro__[-2].__new__(made, value) for key, value in given.items()}  # type: ignore[call-overload]
        for key, member in members.items():
            member.__dict__.update(name=key, value=given[key])
            type.__setattr__(made, key, member)
        type.__setattr__(made, "_members", members)
        type.__setattr__(made, "_by_value", {member.value: member for member in members.values()})
        if len(made._by_value) < len(members):
            raise ValueError(f"two members of {made!r} have the same value")
        return made

    def __call__(cls, value: object) -> Any:
        try:
            return cls._by_value[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

    def __getitem__(cls, name: str) -> Any:
        return cls._members[name]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._members.values())

    def __reversed__(cls) -> Iterator[Any]:
        return reversed(cls._members.values())

    def __len__(cls) -> int:
        return len(cls._members)

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, value: object) -> bool:
        try:
            return value in cls._by_value
        except TypeError:  # a list, for example
            return False

    @property
    def __members__(cls) -> Mapping[str, Any]:
        found: Mapping[str, Any] = MappingProxy(cls._members)
        return found

    def __repr__(cls) -> str:
        return f"<enum {cls.__name__!r}>"

    def __setattr__(cls, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot reassign member {name!r}")

    def __delattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete member {name!r}")


class _Named(tuple):  # type: ignore[type-arg]
    """What every ``namedtuple`` has."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: dict[str, Any] = {}  # noqa: RUF012 (no field ever has one)

    @classmethod
    def _make(cls, values: Any) -> Any:
        return cls(*values)

    def _replace(self, **named: Any) -> Any:
        made = self._make([named.pop(field, value) for field, value in zip(self._fields, self, strict=True)])
        if named:
            raise ValueError(f"Got unexpected field names: {list(named)!r}")
        return made

    __replace__ = _replace

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        fields = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
        return f"{type(self).__name__}({fields})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


def _namedtuple(name: str, fields: tuple[str, ...]) -> type[_Named]:
    many, make = len(fields), tuple.__new__

    def new(cls: type[_Named], *values: Any, **named: Any) -> _Named:
        if named:
            values += tuple([named.pop(field) for field in fields[len(values) :] if field in named])
        if named or len(values) != many:
            raise TypeError(f"{name} takes {', '.join(fields)}: each once")
        return make(cls, values)

    new.__name__ = "__new__"
    body = {field: _tuplegetter(at, f"Alias for field number {at}") for at, field in enumerate(fields)}
    module = sys._getframe(1).f_globals["__name__"]
    more = {"__slots__": (), "__module__": module, "__new__": new, "__match_args__": fields, "_fields": fields}
    return type(name, (_Named,), {**body, **more})


class _Context:
    """A generator that yields once, as something for ``with``: what is before, and what is after."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Any) -> None:
        self._steps = steps

    def __enter__(self) -> Any:
        try:
            return next(self._steps)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> bool:
        try:
            if kind is None:
                next(self._steps)
            else:
                self._steps.throw(error)
        except StopIteration:
            return kind is not None
        except BaseException as raised:
            turned = isinstance(error, StopIteration) and isinstance(raised, RuntimeError) and raised.__cause__ is error
            if raised is not error and not turned:  # a generator turns a StopIteration into a RuntimeError
                raise
            error.__traceback__ = trace
            return False
        self._steps.close()
        raise RuntimeError("generator didn't stop" if kind is None else "generator didn't stop after throw()")


def _contextmanager(function: Callable[..., Any]) -> Any:
    def begun(*values: Any, **named: Any) -> _Context:
        return _Context(function(*values, **named))

    return _like(function, begun)


class _Suppress:
    __slots__ = ("_kinds",)

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


def _lru_cache(maxsize: int) -> Callable[[Callable[..., Any]], Any]:
    return lambda function: _like(function, _lru_cache_wrapper(function, maxsize, False, _cache_info))


def _cache_info(*numbers: Any) -> Any:
    from functools import _CacheInfo

    return _CacheInfo(*numbers)


def _like(function: Any, wrapper: Any) -> Any:
    """Return *wrapper* with the name and the words of *function*."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(function, name):
            setattr(wrapper, name, getattr(function, name))
    wrapper.__wrapped__ = function
    return wrapper


class _Functools(ModuleType):
    """Stands in for ``functools`` as long as nobody asks for more of it than ``lru_cache``."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get("functools") is self:
            del sys.modules["functools"]
        import functools

        return getattr(functools, name)


def _without_functools() -> Iterator[None]:
    """Let what is imported inside have ``lru_cache``, all that SQLite's module wants of ``functools``, from here."""
    stand_in: Any = _Functools("functools")
    stand_in.lru_cache = lru_cache
    sys.modules.setdefault("functools", stand_in)
    try:
        yield
    finally:
        if sys.modules.get("functools") is stand_in:
            del sys.modules["functools"]


if not TYPE_CHECKING:

    class StrEnum(str, metaclass=_Choices):
        """Texts to choose from: each member is one, with a ``name``, and with itself as ``value``."""

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

        def __setattr__(self, name: str, value: object) -> NoReturn:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

        def __delattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

        def __reduce_ex__(self, _protocol: int) -> tuple[object, ...]:
            return type(self), (self.value,)

    class IntEnum(int, metaclass=_Choices):
        """Numbers to choose from, otherwise as ``StrEnum``."""

        __str__ = int.__repr__
        __repr__ = StrEnum.__repr__
        __setattr__ = StrEnum.__setattr__
        __delattr__ = StrEnum.__delattr__
        __reduce_ex__ = StrEnum.__reduce_ex__

    contextmanager, suppress, namedtuple, lru_cache = _contextmanager, _Suppress, _namedtuple, _lru_cache
    if _tuplegetter is None:
        from collections import namedtuple
        from functools import lru_cache

without_functools = contextmanager(_without_functools)
