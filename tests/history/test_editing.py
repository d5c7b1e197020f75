"""Copies with a field changed: of dicts, objects, and what the SDKs use."""

from __future__ import annotations

from collections import UserDict
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from brim.history.content import is_structured, with_fields, without_field
from brim.tokens.messages.fields import get


@dataclass
class Plain:
    role: str
    content: str


@dataclass(frozen=True)
class Frozen:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Slotted:
    role: str
    content: str


class Named(NamedTuple):
    role: str
    content: str


class Model:
    """As pydantic's: fields cannot be set, but a copy can be made."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("instance is frozen")

    def model_copy(self, *, update: dict[str, Any]) -> Model:
        return Model(**{**self.__dict__, **update})


class Computed:
    """Its content is computed, so it cannot be set."""

    def __init__(self) -> None:
        self.role = "tool"

    @property
    def content(self) -> str:
        return "old"


KINDS = [dict, Plain, Frozen, Slotted, Named, Model, SimpleNamespace, UserDict]


@pytest.mark.parametrize("kind", KINDS)
def test_the_copy_has_the_new_field_and_the_original_the_old(kind: Any) -> None:
    message = kind(role="tool", content="old")
    copy = with_fields(message, content="new")
    assert (get(copy, "role"), get(copy, "content")) == ("tool", "new")
    assert (get(message, "role"), get(message, "content")) == ("tool", "old")
    assert type(copy) is type(message)


@pytest.mark.parametrize(
    "message", [MappingProxyType({"role": "tool", "content": "old"}), Computed()], ids=["view", "computed"]
)
def test_what_cannot_be_changed_gets_a_copy_that_can(message: Any) -> None:
    copy = with_fields(message, content="new")
    assert (get(copy, "role"), get(copy, "content")) == ("tool", "new")
    assert get(message, "content") == "old"


def test_other_fields_are_the_same_objects() -> None:
    inner: list[int] = []
    assert with_fields({"content": "old", "other": inner}, content="new")["other"] is inner
    assert with_fields(SimpleNamespace(content="old", other=inner), content="new").other is inner


class Shy(dict[str, Any]):
    """A dict of a class of its own."""


def test_a_dict_gives_a_dict_of_its_class() -> None:
    message = Shy(role="human")
    changed = with_fields(message, role="user")
    assert (type(changed), changed, message) == (Shy, {"role": "user"}, {"role": "human"})


def test_an_object_that_keeps_no_change_becomes_a_dict() -> None:
    assert with_fields(Computed(), content="Hi") == {"role": "tool", "content": "Hi"}


def test_what_has_no_fields_becomes_a_dict_of_the_new_ones() -> None:
    assert with_fields("text", role="user") == with_fields(None, role="user") == {"role": "user"}


def test_a_field_is_taken_out_of_a_dict_and_emptied_in_an_object() -> None:
    message = {"role": "user", "id": 1}
    assert without_field(message, "id") == {"role": "user"}
    assert message == {"role": "user", "id": 1}
    assert without_field(SimpleNamespace(id=1), "id") == SimpleNamespace(id=None)


def test_only_what_has_fields_is_structured() -> None:
    assert is_structured({"a": 1})
    assert is_structured(SimpleNamespace(a=1))
    bare: tuple[object, ...] = (None, "text", b"", 5, [1], (), {}, SimpleNamespace())
    assert not any(is_structured(value) for value in bare)
