"""Every public value is one: typed, immutable, copied, pickled, matched, written as JSON, a field
of pydantic's."""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import enum
import importlib
import json
import pickle
import types
import typing
from datetime import date
from decimal import Decimal
from typing import Any

import pydantic
import pytest

import brim
from brim.record import PlainData
from brim.rules import BehaviorKind, Edge, EdgeKind, Rule, When
from brim.tokens import Count
from brim.usd import Money

PACKAGES = (
    *("guard", "memory", "messages", "rules"),
    *("models", "money", "sessions", "tokens"),
)


def public() -> dict[str, type]:
    """Return every class with fields that a package exports, by its name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"brim.{package}")
        for name in dir(module):
            value = getattr(module, name)
            if (
                isinstance(value, type)
                and not name.startswith("_")
                and value.__module__.startswith("brim.")
            ):
                has_fields = issubclass(
                    value, (PlainData, tuple, Count)
                ) or dataclasses.is_dataclass(value)
                if has_fields:
                    found[f"{package}.{name}"] = value
    return found


VALUES = public()
GIVEN: dict[str, Any] = {
    "scope": "shop",
    "period": "day",
    "unit": "usd",
    "answer": "stop",
    "zone": "UTC",
}
"""Fields whose values are checked."""
PLAIN: dict[Any, Any] = {
    int: 1,
    str: "a",
    float: 0.5,
    bool: True,
    type(None): None,
    Decimal: Decimal("1.5"),
}
PLAIN |= {
    date: date(2026, 1, 2),
    Any: None,
    object: None,
    dict: {},
    list: [],
    tuple: (),
    Count: Count(3, "estimated", 2, 4),
    Money: Money(8_000_000),
}
MADE: dict[str, Any] = {
    "rules.Context": lambda: brim.rules.Context(file="a.py", prompt="test it"),
    "rules.When": lambda: When(language="python"),
    "rules.Rule": lambda: Rule(
        id="b", name="use-uv", kind=BehaviorKind.DIRECTIVE, canonical="Use uv."
    ),
    "rules.Edge": lambda: Edge("b", "c", EdgeKind.REQUIRES),
    "messages.Decisions": lambda: brim.messages.Decisions(2, (0,), "abc", 1),
    "rules.ActivationTierMapper": brim.rules.ActivationTierMapper,
    "money.Raise": lambda: brim.money.Raise("8"),
    "models.Model": lambda: brim.model("claude-sonnet-4-5"),
    "models.Price": lambda: brim.model("claude-sonnet-4-5").price(),
    "models.Tokens": lambda: brim.models.Tokens(input=5, output=7),
    "tokens.Calibration": lambda: brim.tokens.Calibration(1.2, 0.1, 3),
    "tokens.Count": lambda: Count(3, "estimated", 2, 4, "a note"),
}


def made(name: str, kind: Any) -> Any:
    """Return a value of *kind* with something in every field."""
    if name in MADE:
        return MADE[name]()
    hints = typing.get_type_hints(kind)
    return kind(
        **{
            field: GIVEN[field] if field in GIVEN else sample(hints[field])
            for field in fields_of(kind)
        }
    )


def fields_of(kind: Any) -> list[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(
        kind.__match_args__ if issubclass(kind, PlainData) else getattr(kind, "_fields", ("basis",))
    )


def sample(hint: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN or isinstance(hint, typing.TypeVar):
        return PLAIN.get(hint)
    if origin in (typing.Union, types.UnionType):
        return sample(next(each for each in arguments if each is not type(None)))
    if origin is typing.Literal:
        return arguments[0]
    if origin is tuple:
        whole = arguments[:1] if arguments[1:] == (...,) else arguments
        return tuple(sample(each) for each in whole)
    if origin is frozenset:
        return frozenset([sample(arguments[0])])
    if origin in (list, collections.abc.Sequence):
        return [sample(arguments[0])]
    if origin in (dict, collections.abc.Mapping):
        return {sample(arguments[0]): sample(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return next(iter(hint))
    name = next((name for name, kind in VALUES.items() if kind is hint), "")
    return made(name, origin or hint)


@pytest.mark.parametrize("name", VALUES)
def test_it_is_a_value(name: str) -> None:
    kind = VALUES[name]
    value = made(name, kind)
    assert typing.get_type_hints(kind) is not None
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    json.dumps(value.to_dict(), allow_nan=False)
    if hasattr(value, "__replace__"):  # tuples get it with Python 3.13
        assert value.__replace__() == value
    else:
        assert isinstance(value, tuple)
    with pytest.raises(AttributeError):
        setattr(value, fields_of(kind)[0], None)


@pytest.mark.parametrize("name", VALUES)
def test_it_is_a_field_of_a_pydantic_model(name: str) -> None:
    kind = VALUES[name]
    value = made(name, kind)
    model: Any = pydantic.create_model("Holder", value=(kind, ...))
    held = model(value=value)
    assert held.value == value
    assert json.loads(held.model_dump_json())
    if isinstance(value, (PlainData, Count)):
        assert model.model_validate({"value": value}).value == value


def test_a_count_is_replaced_matched_and_validated() -> None:
    count = Count(120, "estimated", 96, 156)
    assert count.__replace__(low=100) == 120
    assert count.__replace__(low=100).low == 100
    match count:
        case Count(basis="exact"):
            raise AssertionError
        case Count(basis="estimated", low=low, high=high):
            assert (low, high) == (96, 156)
    adapter = pydantic.TypeAdapter(Count)
    assert adapter.validate_python(count) is count
    assert adapter.validate_python(7) == Count(7)
    assert adapter.validate_python(count.to_dict()).high == 156
    with pytest.raises(pydantic.ValidationError):
        adapter.validate_python(-1)
    with pytest.raises(pydantic.ValidationError):
        adapter.validate_python("many")


def test_a_record_is_validated_from_its_fields() -> None:
    adapter = pydantic.TypeAdapter(brim.models.Tokens)
    tokens = brim.models.Tokens(input=5, output=7)
    assert adapter.validate_python(tokens) is tokens
    assert adapter.validate_python({"input": 5, "output": 7}) == tokens
    assert json.loads(adapter.dump_json(tokens))["output"] == 7


def test_records_and_receipts_match_patterns() -> None:
    fitted = brim.fit([{"role": "user", "content": "Hi"}] * 9, model="gpt-4o", target=20)
    match fitted:
        case brim.Fitted(fits=True, receipt=brim.messages.Receipt(dropped=[first, *_])):
            assert first.indices == (0,)
        case _:
            raise AssertionError


def test_brim_exports_what_it_says() -> None:
    names = ["fit", "Guard", "count", "counter_for", "cost", "model", "Money", "validate", "repair"]
    for name in (*names, *PACKAGES):
        assert getattr(brim, name) is not None
        assert name in dir(brim)
    assert issubclass(brim.InputError, ValueError)


@pytest.mark.parametrize("name", VALUES)
def test_it_is_replaced_field_by_field(name: str) -> None:
    value = made(name, VALUES[name])
    for field in fields_of(VALUES[name]):
        replaced = copy.deepcopy(value)
        if hasattr(value, "__replace__"):
            replaced = value.__replace__(**{field: getattr(value, field)})
        assert type(replaced) is type(value)
        assert replaced == value


@pytest.mark.parametrize("name", VALUES)
def test_it_is_validated_from_its_fields(name: str) -> None:
    value = made(name, VALUES[name])
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(VALUES[name])
    assert adapter.validate_python(value) == value
    assert adapter.dump_json(value)


@pytest.mark.parametrize(
    "model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "nobody-knows-me"]
)
def test_a_counter_is_copied_and_pickled(model: str) -> None:
    counter = brim.counter_for(model)
    for copied in (copy.copy(counter), copy.deepcopy(counter), pickle.loads(pickle.dumps(counter))):
        assert copied.count("Hello world") == counter.count("Hello world")
        assert copied.model == counter.model
