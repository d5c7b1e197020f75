"""What brim's values have in common: they are frozen dataclasses, and each can be written as plain
data."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self


class PlainData:
    """The base of values: ``to_dict``, ``copy.replace``, and a field of pydantic's models.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point(PlainData):
    ...     x: int
    ...     y: int = 0
    >>> Point(3).to_dict()
    {'x': 3, 'y': 0}
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, ready for ``json.dumps``."""
        own_fields = fields(self)  # type: ignore[arg-type]
        return {field.name: plain(getattr(self, field.name)) for field in own_fields}

    def __replace__(self, **changes: Any) -> Self:
        """Return a copy with other values in the fields of *changes*."""
        return replace(self, **changes)  # type: ignore[type-var]

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: object) -> Any:
        """Let a pydantic model have a value as a field: it's given as one, or as a dict of its
        fields."""
        from pydantic_core import core_schema

        from_fields = core_schema.no_info_after_validator_function(
            lambda values: cls(**values), core_schema.dict_schema()
        )
        schema = core_schema.union_schema(
            [core_schema.is_instance_schema(cls), from_fields], mode="left_to_right"
        )
        schema["serialization"] = core_schema.plain_serializer_function_ser_schema(cls.to_dict)
        return schema


def set_fields(value: PlainData, *values: object) -> None:
    """Set all fields of a frozen dataclass that has an ``__init__`` of its own."""
    for field, field_value in zip(fields(value), values, strict=True):  # type: ignore[arg-type]
        object.__setattr__(value, field.name, field_value)


def plain(value: Any) -> Any:
    """Return *value* as JSON has it: a dict, list, text, number, bool or None."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "items") and hasattr(value, "keys"):
        return _plain_mapping(value)
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    """Return an object as it writes itself, its fields, or its text."""
    if callable(getattr(value, "to_dict", None)):
        return value.to_dict()
    if callable(getattr(value, "model_dump", None)):  # a model of pydantic's
        return value.model_dump(mode="json")
    field_names = getattr(value, "__dataclass_fields__", None)
    if field_names is not None:
        return {name: plain(getattr(value, name)) for name in field_names}
    if hasattr(value, "isoformat"):  # a date
        return value.isoformat()
    # An exact amount, an object of someone else's.
    return str(value)


def _plain_mapping(mapping: Any) -> dict[str, Any]:
    plain_items = {}
    for key, value in mapping.items():
        name = key
        if not isinstance(key, str):
            name = str(key)
        plain_items[name] = plain(value)
    return plain_items
