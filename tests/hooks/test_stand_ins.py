"""What hooks see instead of ``typing`` and ``dataclasses`` behaves as the real modules do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim._startup.compiler import Unsupported, compile_brim

HEAD = """
from __future__ import annotations
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, cast, overload, runtime_checkable
__all__ = ["fields", "replace"]
T = TypeVar("T")
Kind = Literal["a", "b"]
Handler = Callable[[Any], Kind | None] | None
"""
MODULE = "stand_in_case"

DEFAULTS = [
    "",
    " = 7",
    " = None",
    " = 'text'",
    " = (1, 2)",
    " = field(default=5)",
    " = field(default_factory=list)",
]
DEFAULTS += [" = field(default=3, repr=False)", " = field(default=4, compare=False)"]
BODIES = [
    "",
    "    def __hash__(self): return 11\n",
    "    def __repr__(self): return 'mine'\n",
    "    def __eq__(self, other): return True\n",
    "    def __init__(self): pass\n",
    "    def __post_init__(self): self.__class__.made.append(1)\n",
    "    @property\n    def first(self): return self.a\n",
    "    @classmethod\n    def make(cls, *args): return cls(*args)\n",
]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "slots": st.just(True),
        "kw_only": st.booleans(),
        "eq": st.booleans(),
        "repr": st.booleans(),
    },
)


@st.composite
def class_definitions(draw: st.DrawFn) -> str:
    """Two classes, the second perhaps with the first as its base."""
    frozen = draw(st.booleans())
    text = ""
    for name in ("First", "Second"):
        options = {"frozen": frozen, **draw(OPTIONS)}
        shown = ", ".join(f"{option}={value}" for option, value in options.items())
        base = draw(
            st.sampled_from(
                ["", "(First)", "(Generic[T])"] if name == "Second" else ["", "(Generic[T])"]
            )
        )
        text += f"@dataclass({shown})\nclass {name}{base}:\n    made: ClassVar[list[int]] = []\n"
        for letter in draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4)):
            text += f"    {letter}: int{draw(st.sampled_from(DEFAULTS))}\n"
        text += draw(st.sampled_from(BODIES))
    return text


def module(source: str, *, real: bool) -> dict[str, Any]:
    """Run *source* with the real modules or with the stand-ins; return its names."""
    made = types.ModuleType(MODULE)
    code = (
        compile(source, "case.py", "exec", dont_inherit=True)
        if real
        else compile_brim(source, "case.py")[0]
    )
    sys.modules[MODULE] = made
    exec(code, vars(made))
    return vars(made)


@pytest.fixture(autouse=True)
def forget_module() -> Iterator[None]:
    yield
    sys.modules.pop(MODULE, None)


def outcome(call: Any) -> Any:
    """Return what *call* returns, or which error it raises."""
    try:
        return call()
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return kinds, str(error) if isinstance(error, AttributeError) else ""


def behaviour(
    names: dict[str, Any], arguments: list[tuple[Any, ...]], keywords: list[dict[str, Any]]
) -> list[Any]:
    """Return everything that can be seen of the classes in *names* and of values made of them."""
    seen: list[Any] = []
    for kind in (names["First"], names["Second"]):
        seen.append([kind.__match_args__, kind.__hash__ is None, hasattr(kind, "__slots__")])
        seen.append(
            [(each.name, each.repr, each.compare, each.kw_only) for each in names["fields"](kind)]
        )
        values = []
        for args in arguments:
            for kwargs in keywords:
                made = outcome(lambda kind=kind, args=args, kwargs=kwargs: kind(*args, **kwargs))
                if type(made) is kind:
                    values.append(made)
                else:
                    seen.append(made[0])
        for value in values:
            seen += [outcome(lambda value=value, look=look: look(value)) for look in LOOKS]
            seen.append(outcome(lambda value=value: repr(names["replace"](value, a=99))))
            seen.append(
                [outcome(lambda value=value, other=other: value == other) for other in [*values, 5]]
            )
        seen.append(len(kind.made))
    return seen


def set_field(value: Any) -> None:
    if "a" in value.__dataclass_fields__:  # otherwise, real classes with slots raise this or that
        value.a = 1


def delete_field(value: Any) -> None:
    if "a" in value.__dataclass_fields__:
        del value.a


LOOKS = [
    repr,
    lambda value: "by identity" if vars(object)["__eq__"] is type(value).__eq__ else hash(value),
    lambda value: list(getattr(value, "__dict__", {}).items()),
    lambda value: {
        name: getattr(value, name) for name in ("a", "b", "c", "d") if hasattr(value, name)
    },
    lambda value: repr(pickle.loads(pickle.dumps(value))),
    lambda value: repr(copy.deepcopy(value)),
    lambda value: repr(copy.copy(value)),
    set_field,
    delete_field,
]


def addresses_hidden(seen: list[Any]) -> str:
    """Return *seen* as text; the default repr of an object has its address."""
    words = repr(seen).split(" object at 0x")
    return " object at ".join([words[0], *[word[12:] for word in words[1:]]])


@settings(max_examples=300)
@given(
    text=class_definitions(),
    arguments=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.tuples(st.just(1)),
        min_size=1,
        max_size=2,
    ),
    keywords=st.lists(
        st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3) | st.just([1]), max_size=4),
        min_size=1,
        max_size=2,
    ),
)
def test_classes_behave_as_the_real_ones(
    text: str, arguments: list[tuple[Any, ...]], keywords: list[dict[str, Any]]
) -> None:
    try:
        names = module(HEAD + text, real=True)
    except TypeError:
        return  # not a class: the real module refuses it
    real = addresses_hidden(behaviour(names, [(), *arguments], [{}, *keywords]))
    names = module(HEAD + text, real=False)
    assert addresses_hidden(behaviour(names, [(), *arguments], [{}, *keywords])) == real


CASES = {
    "an immutability error is an AttributeError": """
@dataclass(frozen=True)
class X:
    a: int = 1
try:
    X().a = 2
except AttributeError as error:
    result = type(error).__name__, str(error), isinstance(error, FrozenInstanceError)
""",
    "another attribute of a subclass can be set": """
@dataclass(frozen=True)
class X:
    a: int = 1
class Y(X):
    pass
y = Y()
y.b = 3
result = y.b, y, y == X()
""",
    "a cached property of a frozen class": """
from functools import cached_property
@dataclass(frozen=True)
class X:
    a: int = 1
    @cached_property
    def double(self): return self.a * 2
result = X(4).double, X(4)
""",
    "a value in itself": """
@dataclass
class X:
    a: Any = None
x = X()
x.a = x
result = repr(x)
""",
    "slots and what isn't in them": """
@dataclass(frozen=True, slots=True)
class X:
    a: int
    b: int = 2
@dataclass(frozen=True, slots=True)
class Y(X):
    c: int = 3
result = Y(1), Y.__slots__, X.__slots__, hasattr(Y(1), "__dict__"), Y(1) == Y(1), Y(1) == X(1), X.__qualname__
""",
    "protocols and generics": """
@runtime_checkable
class Counts(Protocol):
    name: str
    def count(self, text: str) -> int: ...
class Base(Generic[T]):
    def get(self): return 1
class Sub(Base[int], Counts): pass
class Good:
    name = "n"
    def count(self, text): return 1
class Bad:
    def count(self, text): return 1
result = isinstance(Good(), Counts), isinstance(Bad(), Counts), Base[str]().get(), Sub().get(), issubclass(Sub, Base)
""",
    "named tuples": """
class Point(NamedTuple):
    \"\"\"A point.\"\"\"
    x: int
    y: int = 2
    def total(self): return self.x + self.y
    @property
    def both(self): return self
point = Point(1)
result = (point, point.total(), point.both, point._replace(x=5), point._asdict(), Point._fields, Point.__match_args__)
import pickle
result += (pickle.loads(pickle.dumps(point)), isinstance(point, tuple), Point.__module__, Point.__bases__)
""",
    "cast and overload": """
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x): return x
result = f(3), cast("int", "x"), cast(Mapping[str, Any], {})
""",
    "as a dict": """
class Point(NamedTuple):
    x: Any
@dataclass(frozen=True)
class X:
    a: Any
    b: int = 2
value = X([X(1), (X(2), Point(X(3)))], {"k": X({4})})
made = asdict(value)
result = made, made["b"]["k"]["a"] is value.b["k"].a
""",
    "what isn't a dataclass": """
result = []
for call in (lambda: fields(3), lambda: replace(3), lambda: replace(int)):
    try:
        call()
    except TypeError as error:
        result.append(str(error))
""",
}


@pytest.mark.parametrize("case", CASES)
def test_it_does_what_the_real_modules_do(case: str) -> None:
    real = repr(module(HEAD + CASES[case], real=True)["result"])
    assert repr(module(HEAD + CASES[case], real=False)["result"]) == real


def test_matching() -> None:
    source = HEAD + "@dataclass(frozen=True)\nclass X:\n    a: int\n    b: int = 2\n"
    names = module(source, real=False)
    match names["X"](1):
        case dataclasses.MISSING:
            raise AssertionError
        case value:
            assert value.__match_args__ == ("a", "b")


UNSUPPORTED = {
    "order": ("@dataclass(order=True)\nclass X: pass\n", "dataclass(order=...)"),
    "init=False": ("class X:\n    a: int = field(init=False)\n", "field(init=...)"),
    "another dict": (
        "def f(x):\n    return asdict(x, dict_factory=list)\n",
        "asdict(dict_factory=...)",
    ),
    "other helpers": ("from dataclasses import make_dataclass\n", "dataclasses.make_dataclass"),
    "the whole module": ("import dataclasses\n", "'import dataclasses'"),
    "another name": ("from dataclasses import dataclass as value\n", "'dataclass as value'"),
    "other names": ("from typing import TypedDict\n", "typing.TypedDict"),
    "inside a function": (
        "def f():\n    from typing import get_type_hints\n",
        "typing.get_type_hints",
    ),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_the_stand_ins_lack_is_refused_with_its_line(case: str) -> None:
    source, problem = UNSUPPORTED[case]
    with pytest.raises(Unsupported) as refused:
        compile_brim("from __future__ import annotations\n\n" + source, "src/x.py")
    line = next(
        number
        for number, text in enumerate(source.splitlines(), 3)
        if problem.split("(")[0].split(".")[-1].strip("'") in text
    )
    assert str(refused.value).startswith(f"src/x.py:{line}: hooks can't use {problem}")


def test_annotations_must_be_texts() -> None:
    with pytest.raises(Unsupported, match="from __future__ import annotations"):
        compile_brim("from dataclasses import dataclass\n", "x.py")
