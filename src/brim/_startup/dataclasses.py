"""What brim's modules import as ``dataclasses`` in a hook: the same classes, made without ``exec``
and ``inspect``.

It has what brim uses; the compiler of the start-up file refuses a module that wants more. It
doesn't check the definition of a class: the tests define every class with the real module first.
"""

from __future__ import annotations

import reprlib
from copy import deepcopy
from types import MemberDescriptorType

MISSING = object()


class FrozenInstanceError(AttributeError):
    """A field of a frozen dataclass was set or deleted."""


class Field:
    """What a dataclass knows about one of its fields."""

    name = ""
    default = MISSING
    default_factory = MISSING
    repr = True
    compare = True
    kw_only = None


def field(**described):
    """Describe a field of a dataclass."""
    described_field = Field()
    vars(described_field).update(described)
    return described_field


def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True, repr=True):
    """Make a class a dataclass."""

    def decorate(cls):
        fields = _collect_fields(cls, kw_only)
        cls.__dataclass_fields__ = fields
        _add_methods(cls, fields, frozen=frozen, slots=slots, eq=eq, repr=repr)
        return _with_slots(cls, fields, frozen) if slots else cls

    return decorate if cls is None else decorate(cls)


def fields(class_or_instance):
    """Return the fields of a dataclass or of one of its instances."""
    return tuple(_fields_of(class_or_instance).values())


def replace(instance, /, **changes):
    """Return a copy of *instance* with other values in the fields of *changes*."""
    if isinstance(instance, type) or not is_dataclass(instance):
        raise TypeError("replace() should be called on dataclass instances")
    for name in _fields_of(instance):
        if name not in changes:
            changes[name] = getattr(instance, name)
    return instance.__class__(**changes)


def asdict(instance):
    """Return the fields of *instance* by name, and those of dataclasses in them."""
    return {name: _copied(getattr(instance, name)) for name in _fields_of(instance)}


def _copied(value):
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_copied, value))
    if isinstance(value, list | tuple):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return type(value)((_copied(key), _copied(each)) for key, each in value.items())
    return deepcopy(value)


def is_dataclass(value):
    """Return whether *value* is a dataclass or an instance of one."""
    return hasattr(value, "__dataclass_fields__")


def _fields_of(class_or_instance):
    try:
        return class_or_instance.__dataclass_fields__
    except AttributeError:
        raise TypeError("must be called with a dataclass type or instance") from None


def _collect_fields(cls, kw_only):
    """Return the fields of *cls* and of its bases by name, and leave in the class only the
    defaults."""
    collected = {}
    for base in reversed(cls.__mro__[1:]):
        collected.update(getattr(base, "__dataclass_fields__", ()))
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        described = _described(cls, name)
        described.name = name
        if described.kw_only is None:
            described.kw_only = kw_only
        collected[name] = described
    return collected


def _described(cls, name):
    """Return the field *name*, which the class has as its default or describes by ``field``."""
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field):
        if default.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, default.default)
        return default
    described = Field()
    if not isinstance(default, MemberDescriptorType):  # the slot of a base
        described.default = default
    return described


def _add_methods(cls, fields, *, frozen, slots, eq, repr):
    own = vars(cls)
    # An __eq__ in a class makes its __hash__ None.
    has_hash = own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)
    if "__init__" not in own:
        cls.__init__ = _init_method(cls, fields, frozen, slots)
    if "__match_args__" not in own:
        cls.__match_args__ = tuple([name for name in fields if not fields[name].kw_only])
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr
        cls.__shown_fields__ = [name for name in fields if fields[name].repr]
    if eq:
        cls.__compared_fields__ = [name for name in fields if fields[name].compare]
    if eq and "__eq__" not in own:
        cls.__eq__ = _is_equal
    if eq and not has_hash:
        cls.__hash__ = _hash if frozen else None
    if frozen:
        cls.__setattr__ = _set_in_subclass
        cls.__delattr__ = _delete_in_subclass


def _init_method(cls, fields, frozen, slots):
    positional = tuple([name for name in fields if not fields[name].kw_only])
    complete = _completing(cls, fields, positional)
    if hasattr(cls, "__post_init__") or slots or not _sets_at_once(cls, fields, frozen):
        return _init_one_by_one(complete, object.__setattr__ if frozen else setattr)
    count = -1  # never all by their places
    if len(positional) == len(fields):
        count = len(fields)

    def __init__(self, *args, **kwargs):
        if len(args) == count and not kwargs:
            self.__dict__.update(zip(positional, args))  # noqa: B905 (strict= takes time)
        else:
            self.__dict__.update(complete(args, kwargs))

    return __init__


def _sets_at_once(cls, fields, frozen):
    """Whether all fields go into the ``__dict__`` of an instance, and nothing has to see them."""
    if not cls.__dictoffset__:
        return False
    if not frozen and cls.__setattr__ is not object.__setattr__:
        return False
    return not any(hasattr(getattr(cls, name, None), "__set__") for name in fields)


def _init_one_by_one(complete, store):
    def __init__(self, *args, **kwargs):
        for name, value in complete(args, kwargs).items():
            store(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _completing(cls, fields, positional):
    """Return what gives each field of a call its value, in their order."""
    defaults = {}
    factories = {}
    for name, field in fields.items():
        defaults[name] = field.default
        if field.default_factory is not MISSING:
            factories[name] = field.default_factory

    def complete(args, kwargs):
        values = defaults.copy()
        values.update(zip(positional, args))  # noqa: B905
        values.update(kwargs)
        for name, factory in factories.items():
            if values[name] is MISSING:
                values[name] = factory()
        is_twice = kwargs and not kwargs.keys().isdisjoint(positional[: len(args)])
        if is_twice or len(args) > len(positional) or len(values) > len(defaults):
            raise TypeError(_problem(cls, fields, positional, args, kwargs))
        if MISSING in values.values():
            raise TypeError(_problem(cls, fields, positional, args, kwargs))
        return values

    return complete


def _problem(cls, fields, positional, args, kwargs):
    """Return what is wrong with a call."""
    call = f"{cls.__name__}.__init__()"
    if len(args) > len(positional):
        return f"{call} takes {len(positional)} positional arguments but {len(args)} were given"
    for name in kwargs:
        if name not in fields:
            return f"{call} got an unexpected keyword argument {name!r}"
        if name in positional[: len(args)]:
            return f"{call} got multiple values for argument {name!r}"
    for name, field in fields.items():
        is_given = name in kwargs or name in positional[: len(args)]
        if not is_given and field.default is MISSING and field.default_factory is MISSING:
            return f"{call} missing a required argument: {name!r}"
    return f"{call}: a value is missing"


# Methods of every dataclass -----------------------------------------------------------------------


@reprlib.recursive_repr()
def _repr(self):
    values = [f"{name}={getattr(self, name)!r}" for name in self.__shown_fields__]
    return f"{self.__class__.__qualname__}({', '.join(values)})"


def _is_equal(self, other):
    if other.__class__ is not self.__class__:
        return NotImplemented
    names = self.__compared_fields__
    return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


def _hash(self):
    return hash(tuple([getattr(self, name) for name in self.__compared_fields__]))


def _set_in_subclass(self, name, value):
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete_in_subclass(self, name):
    if _is_frozen(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(self, name):
    """Whether the attribute *name* can't be set: a subclass that is no dataclass may have its
    own."""
    return "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__


def _with_slots(cls, fields, frozen):
    """Return *cls* again with slots for its own fields."""
    namespace = dict(cls.__dict__)
    inherited = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    namespace["__slots__"] = tuple(name for name in fields if name not in inherited)
    for name in (*fields, "__dict__", "__weakref__"):
        namespace.pop(name, None)
    if frozen:
        namespace.setdefault("__getstate__", _get_state)
        namespace.setdefault("__setstate__", _set_state)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _get_state(self):
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _set_state(self, state):
    for name, value in zip(self.__dataclass_fields__, state):  # noqa: B905
        object.__setattr__(self, name, value)
