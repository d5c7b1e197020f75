"""A copy is changed, never the caller's own object."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from brim.history.repairing.edit import is_structured, with_fields, without_field


class Deaf:
    """Takes every change and keeps none."""

    def __init__(self) -> None:
        self.__dict__["role"] = "human"

    def __setattr__(self, name: str, value: object) -> None:
        pass


class Shy(dict[str, Any]):
    """A dict of a class of its own."""


def test_a_dict_gives_a_dict_of_its_class() -> None:
    message = Shy(role="human")
    changed = with_fields(message, role="user")
    assert (type(changed), changed, message) == (Shy, {"role": "user"}, {"role": "human"})


def test_an_object_that_keeps_no_change_becomes_a_dict() -> None:
    assert with_fields(Deaf(), content="Hi") == {"role": "human", "content": "Hi"}


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
