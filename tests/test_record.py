"""Records look and behave like frozen dataclasses."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

import pytest

from brim.record import PlainData


@dataclass(frozen=True)
class Point(PlainData):
    """A place."""

    x: int
    y: int = 0


@dataclass(frozen=True)
class Named(Point):
    name: str = "here"
    inner: tuple[Point, ...] = ()


def test_fields_are_given_in_order_or_by_name_and_have_defaults() -> None:
    assert Point(3) == Point(x=3, y=0)
    assert Named(1, 2, name="there").name == "there"
    assert repr(Point(3)) == "Point(x=3, y=0)"


def test_a_record_is_a_value() -> None:
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1) != Named(1)
    assert replace(Point(1), y=5) == Point(1, 5)
    assert pickle.loads(pickle.dumps(Named(1, inner=(Point(2),)))) == Named(1, inner=(Point(2),))
    assert copy.deepcopy(Named(1)) == Named(1)


def test_a_record_becomes_plain_data() -> None:
    assert Named(1, inner=(Point(2),)).to_dict() == {
        "x": 1,
        "y": 0,
        "name": "here",
        "inner": [{"x": 2, "y": 0}],
    }


def test_a_record_matches_by_position() -> None:
    match Named(1, 2, "there"):
        case Named(x, y, name):
            assert (x, y, name) == (1, 2, "there")


def test_a_record_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot assign to field"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field"):
        del point.x


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2})]
)
def test_wrong_fields_are_a_type_error(args: tuple[int, ...], kwargs: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(*args, **kwargs)
