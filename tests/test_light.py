"""What stands in for ``enum``, ``collections`` and ``functools`` does what they do."""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import functools
import inspect
import json
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim import _light
from brim.activation.engine import Activation
from brim.behaviors.behavior import BehaviorKind, EdgeKind, Status
from brim.injection.sections import Section
from brim.injection.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS: list[Any] = [BehaviorKind, EdgeKind, Status, Section, Tier]

LIGHT: Any = _light
"""Any: a type checker sees the standard library's there."""
STANDARD: Any = collections

names = st.lists(
    st.from_regex(r"[A-Z][A-Z_]{0,8}", fullmatch=True).filter(lambda name: name != "mro"), min_size=1, unique=True
)


def outcome(function: Callable[[], Any]) -> Any:
    """What *function* returns, or the kind and words of what it raises."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


def twins(values: dict[str, Any]) -> tuple[Any, Any]:
    """The same members in an enum of ours and of the standard library."""
    kind = "IntEnum" if isinstance(next(iter(values.values())), int) else "StrEnum"
    light, standard = getattr(LIGHT, kind), getattr(enum, kind)
    body = {"__module__": __name__, "__qualname__": "Twin"}
    return type(light)("Twin", (light,), {**body, **values}), standard("Twin", values)


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    chosen = draw(names)
    of = draw(st.sampled_from([st.text(max_size=6), st.integers(-5, 50)]))
    values = draw(st.lists(of, min_size=len(chosen), max_size=len(chosen), unique=True))
    return dict(zip(chosen, values, strict=True))


anything = st.one_of(
    st.text(max_size=3), st.integers(-5, 50), st.booleans(), st.floats(0, 3), st.none(), st.just([1]), st.just({})
)


@given(choices(), anything)
def test_an_enum_behaves_as_the_standard_one(values: dict[str, Any], asked: Any) -> None:
    light, standard = twins(values)
    assert [each.name for each in light] == [each.name for each in standard] == list(values)
    assert [each.value for each in reversed(light)] == [each.value for each in reversed(standard)]
    assert len(light) == len(standard)
    assert bool(light)
    assert repr(light) == repr(standard)
    assert list(light.__members__) == list(standard.__members__)
    for name, value in [*values.items(), ("ABSENT", asked)]:
        for look in (
            lambda of, value=value: of(value).name,
            lambda of, name=name: of[name].value,
            lambda of, name=name: getattr(of, name).value,
        ):
            mine, theirs = outcome(lambda look=look: look(light)), outcome(lambda look=look: look(standard))  # type: ignore[misc]
            assert mine == theirs or mine[0] is theirs[0] is AttributeError
    for mine, theirs in zip(light, standard, strict=True):
        assert (repr(mine), str(mine), f"{mine}", f"{mine:>9}") == (
            repr(theirs),
            str(theirs),
            f"{theirs}",
            f"{theirs:>9}",
        )
        assert mine == theirs == mine.value
        assert hash(mine) == hash(theirs) == hash(mine.value)
        assert json.dumps([mine, {mine: mine}]) == json.dumps([theirs, {theirs: theirs}])
        assert mine in light
        assert mine.value in light
        assert light(mine) is light(mine.value) is light[mine.name] is mine
        assert type(mine) is light
        assert isinstance(mine, type(mine.value))
        assert bool(mine) == bool(theirs)
    assert sorted(light) == sorted(standard)
    assert (asked in light) is (outcome(lambda: standard(asked)) in list(standard))


@pytest.mark.parametrize("choice", OURS, ids=lambda choice: choice.__name__)
def test_a_member_is_the_same_however_it_is_copied(choice: Any) -> None:
    for member in choice:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(member, protocol)) is member
        assert copy.copy(member) is copy.deepcopy([member])[0] is member


@pytest.mark.parametrize("choice", OURS, ids=lambda choice: choice.__name__)
def test_an_enum_cannot_be_changed_or_extended(choice: Any) -> None:
    member = next(iter(choice))
    changes: tuple[Callable[[], None], ...] = (
        lambda: setattr(choice, member.name, "other"),
        lambda: delattr(choice, member.name),
        lambda: setattr(member, "value", "other"),
        lambda: setattr(member, "name", "OTHER"),
        lambda: delattr(member, "value"),
    )
    for change in changes:
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError):
        choice.__members__["OTHER"] = member
    with pytest.raises(TypeError, match="cannot extend"):
        type("More", (choice,), {})
    assert choice(member.value) is member


def test_two_members_with_one_value_are_refused() -> None:
    with pytest.raises(ValueError, match="the same value"):
        type(LIGHT.StrEnum)("Twice", (LIGHT.StrEnum,), {"ONE": "a", "OTHER": "a"})


def test_a_method_of_an_enum_is_no_member() -> None:
    assert [str(tier) for tier in Tier] == ["omitted", "name-only", "summary", "full"]
    assert f"{Tier.NAME_ONLY}" == "name-only"
    assert Tier.FULL > Tier.SUMMARY


def test_members_can_be_matched() -> None:
    match BehaviorKind("directive"):
        case BehaviorKind.CONSTRAINT:
            found = "constraint"
        case BehaviorKind.DIRECTIVE:
            found = "directive"
        case _:
            found = "neither"
    assert found == "directive"


# Named tuples ---------------------------------------------------------------------------------------------------------

fields = st.lists(
    st.from_regex(r"[a-e]{1,3}", fullmatch=True).filter(lambda name: name != "as"), max_size=4, unique=True
)
calls = st.tuples(
    st.lists(st.integers(), max_size=5), st.dictionaries(st.from_regex("[a-e]{1,3}", fullmatch=True), st.integers())
)


@settings(max_examples=50)
@given(fields, calls, st.data())
def test_a_named_tuple_behaves_as_the_standard_one(fields: list[str], call: Any, data: st.DataObject) -> None:
    light, standard = LIGHT.namedtuple("Twin", tuple(fields)), STANDARD.namedtuple("Twin", fields)
    values, named = call
    if data.draw(st.booleans()):  # a call that fits
        cut = data.draw(st.integers(0, len(fields)))
        values, named = list(range(cut)), dict.fromkeys(fields[cut:], 7)
    mine, theirs = outcome(lambda: light(*values, **named)), outcome(lambda: standard(*values, **named))
    if isinstance(theirs, standard):
        assert mine == theirs == tuple(mine)
        assert (repr(mine), hash(mine), len(mine)) == (repr(theirs), hash(theirs), len(theirs))
        assert [getattr(mine, field) for field in fields] == list(theirs)
        assert mine._asdict() == theirs._asdict()
        assert light._make(theirs) == theirs
        changed = dict.fromkeys(fields[:1], 8)
        assert mine._replace(**changed) == theirs._replace(**changed)
        assert copy.deepcopy(mine) == mine
        with pytest.raises(AttributeError):
            mine.new = 1
        with pytest.raises(ValueError, match="unexpected field names"):
            mine._replace(nothing=1)
    else:
        assert mine[0] is theirs[0] is TypeError
    assert (light._fields, light.__match_args__) == (standard._fields, standard.__match_args__)
    assert (light.__module__, light.__name__) == (standard.__module__, standard.__name__)


def test_a_named_tuple_is_pickled_matched_and_taken_apart() -> None:
    made = Activation("id", 0.5, reasons=("why",))
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(pickle.loads(pickle.dumps(made))) is Activation
    match made:
        case Activation(id, value):
            assert (id, value) == ("id", 0.5)
    with pytest.raises(AttributeError):
        made.id = "other"  # type: ignore[misc]


# Functions ---------------------------------------------------------------------------------------------------------


def test_a_function_that_is_wrapped_keeps_its_name_and_its_signature() -> None:
    def sample(number: int, *, more: str = "") -> Iterator[str]:
        """Say it."""
        yield more * number

    cached: list[Any] = [LIGHT.lru_cache(4)(sample), functools.lru_cache(4)(sample)]
    managed: list[Any] = [LIGHT.contextmanager(sample), contextlib.contextmanager(sample)]
    for mine, theirs in (cached, managed):
        for name in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
            assert getattr(mine, name) == getattr(theirs, name)
        assert inspect.signature(mine) == inspect.signature(theirs)


@given(st.lists(st.integers(0, 6), max_size=40))
def test_a_cache_keeps_what_the_standard_one_keeps(asked: list[int]) -> None:
    made: list[list[int]] = [[], []]
    caches: list[Any] = []
    for each, lru_cache in zip(made, (LIGHT.lru_cache, functools.lru_cache), strict=True):
        caches.append(lru_cache(maxsize=3)(lambda number, each=each: each.append(number) or -number))
    assert [caches[0](number) for number in asked] == [caches[1](number) for number in asked]
    assert made[0] == made[1]
    assert caches[0].cache_info() == caches[1].cache_info()
    caches[0].cache_clear()
    assert caches[0].cache_info().currsize == 0


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def test_sqlite_is_there_without_functools_and_functools_after_it() -> None:
    """The module of SQLite imports ``functools`` for one function; a hook cannot wait for that."""
    said = run("""
import sys
from brim.store.database import sqlite3
print("functools" in sys.modules or "collections" in sys.modules)
database = sqlite3.connect(":memory:", cached_statements=2)
print([database.execute(f"SELECT {n % 4} + ?", (1,)).fetchone()[0] for n in range(8)])
import functools, sqlite3 as whole
print(functools.__file__ is not None, functools.reduce(max, [1, 3, 2]), whole.connect is sqlite3.connect)
""")
    assert said.splitlines() == ["False", "[1, 2, 3, 4, 1, 2, 3, 4]", "True 3 True"]


def test_whoever_imports_functools_meanwhile_gets_all_of_it() -> None:
    """Another thread may import it at the very moment in which ours stands in for it."""
    said = run("""
import sys
from brim._light import without_functools
with without_functools():
    import functools as early
    from functools import reduce
    with without_functools():
        from functools import wraps
import functools
print(reduce is functools.reduce is early.reduce, wraps is functools.wraps, sys.modules["functools"] is functools)
print(functools.__file__.endswith("functools.py"), early.partial is functools.partial, hasattr(early, "nothing"))
""")
    assert said.splitlines() == ["True True True", "True True False"]
