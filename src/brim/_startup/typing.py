"""What brim's modules import as ``typing`` in a hook: names that mean nothing when the code runs.

It has what brim uses; the compiler of the start-up file refuses a module that wants more.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False


class _Form:
    """A type that only a type checker reads."""

    def __getitem__(self, _):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__


Any = _Form()
BinaryIO = TextIO = Any
Annotated = Concatenate = Literal = Optional = Union = Any
ClassVar = Final = Unpack = Any
Never = NoReturn = Self = TypeAlias = Any


def TypeVar(*_, **__):
    """Return a type variable."""
    return Any


ParamSpec = TypeVar


class Generic:
    """The base of generic classes: ``Base[int]`` is ``Base``."""

    __slots__ = ()

    def __class_getitem__(cls, _):
        return cls


class _ProtocolType(type):
    def __instancecheck__(cls, instance):
        members = cls.__dict__.get("_checked_members")
        if members is None:
            return type.__instancecheck__(cls, instance)
        return all(hasattr(instance, name) for name in members)


class Protocol(Generic, metaclass=_ProtocolType):
    """The base of protocols."""

    __slots__ = ()


class _Empty(Protocol):
    pass


def runtime_checkable(cls):
    """Let ``isinstance`` look for the members of a protocol."""
    own = {*vars(cls), *vars(cls).get("__annotations__", ())}
    cls._checked_members = own - set(vars(_Empty)) - {"__annotations__"}
    return cls


class _NamedTupleType(type):
    def __new__(cls, name, _, namespace):
        names = list(namespace.get("__annotations__", ()))
        defaults = [namespace[each] for each in names if each in namespace]
        made = namedtuple(name, names, defaults=defaults, module=namespace["__module__"])
        for key, value in namespace.items():
            if key not in names and key not in ("__module__", "__annotations__", "__slots__"):
                setattr(made, key, value)
        return made


def NamedTuple(*_):
    """Stand as the base of a class that is a named tuple."""
    raise TypeError("NamedTuple is only supported as a base class")


_NamedTuple = type.__new__(_NamedTupleType, "NamedTuple", (), {})
NamedTuple.__mro_entries__ = lambda _: (_NamedTuple,)


def cast(_, value):
    """Return *value*."""
    return value


def overload(_):
    """Stand for one of several signatures."""
    return None


def dataclass_transform(**_):
    """Return a decorator that only a type checker reads."""
    return lambda cls: cls
