"""A count is a whole number that keeps what it rests on, through every sum."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens.count import BASES, Count, weakest


@st.composite
def counts(draw: st.DrawFn) -> Count:
    low, value, high = sorted(draw(st.lists(st.integers(0, 10**9), min_size=3, max_size=3)))
    note = draw(st.sampled_from(["", "no answer", "images"]))
    return Count(value, draw(st.sampled_from(BASES)), low, high, note)


def parts(count: Count) -> tuple[int, str, int, int, str]:
    return int(count), count.basis, count.low, count.high, count.note


def test_a_plain_count_is_exact() -> None:
    assert parts(Count(2)) == (2, "exact", 2, 2, "")
    assert Count(2).exact
    assert not Count(2, "anchored").exact


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(-1, None, None), (5, 6, 7), (5, 3, 4), (5, -1, 5), (5, None, 4), (5, 6, None)],
)
def test_value_lies_in_its_interval_and_is_not_negative(
    value: int, low: int | None, high: int | None
) -> None:
    with pytest.raises(ValueError, match="0 <= low <= value <= high"):
        Count(value, "estimated", low, high)


def test_unknown_basis_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown basis 'guessed'"):
        Count(1, "guessed")  # type: ignore[arg-type]


def test_repr_shows_what_is_not_exact() -> None:
    assert repr(Count(2)) == "Count(2)"
    assert repr(Count(120, "estimated", 96, 156)) == "Count(120, estimated, 96 to 156)"


def test_it_prints_and_formats_as_a_number() -> None:
    count = Count(12_345, "estimated", 10_000, 20_000)
    assert (str(count), f"{count}", f"{count:,}", f"{count:>8}", "%d" % count) == (  # noqa: UP031
        "12345",
        "12345",
        "12,345",
        "   12345",
        "12345",
    )
    assert json.dumps({"tokens": count}) == '{"tokens": 12345}'


def test_it_compares_and_hashes_as_a_number() -> None:
    assert Count(5) == 5 == Count(5, "estimated", 1, 9)
    assert hash(Count(5)) == hash(5)
    assert Count(5) < 6 <= Count(6)
    assert not Count(0)
    assert max(Count(3), Count(4, "calibrated")).basis == "calibrated"


@pytest.mark.parametrize("name", ["basis", "low", "high", "note", "other"])
def test_it_is_immutable(name: str) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(Count(1), name, 1)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(Count(1), name)


@given(counts())
def test_it_survives_pickle_and_copy(count: Count) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert parts(pickle.loads(pickle.dumps(count, protocol))) == parts(count)
    assert parts(copy.copy(count)) == parts(copy.deepcopy([count])[0]) == parts(count)


@given(counts(), counts())
def test_addition_adds_intervals_and_keeps_the_weakest_basis(first: Count, second: Count) -> None:
    total = first + second
    assert int(total) == int(first) + int(second)
    assert (total.low, total.high) == (first.low + second.low, first.high + second.high)
    assert BASES.index(total.basis) == max(BASES.index(first.basis), BASES.index(second.basis))
    assert set(total.note.split("; ")) >= {note for note in (first.note, second.note) if note}


@given(counts(), counts(), counts())
def test_addition_is_associative(a: Count, b: Count, c: Count) -> None:
    assert parts((a + b) + c) == parts(a + (b + c))


@given(counts(), st.integers(0, 10**6))
def test_a_plain_number_is_exact(count: Count, number: int) -> None:
    assert parts(count + number) == parts(number + count) == parts(count + Count(number))


@given(st.lists(counts(), min_size=1))
def test_sum_is_a_count(several: list[Count]) -> None:
    total = sum(several)
    assert isinstance(total, Count)
    assert (total.low, int(total), total.high) == (
        sum(each.low for each in several),
        sum(int(each) for each in several),
        sum(each.high for each in several),
    )


def test_a_note_is_told_once() -> None:
    failed = Count(1, "estimated", note="no answer")
    assert sum([failed, failed, Count(1, note="images")], failed).note == "no answer; images"


def test_a_difference_is_a_plain_number() -> None:
    for result in (
        Count(5) - 3,
        3 - Count(5),
        Count(5) + -7,
        -7 + Count(5),
        Count(5) * 2,
        Count(7) // 2,
    ):
        assert type(result) is int
    assert Count(5) + 0.5 == 5.5


@pytest.mark.parametrize(
    ("value", "ratio", "expected"),
    [(100, 1.1, 110), (100, 1.27, 127), (3, 1.27, 4), (0, 1.6, 0), (1, 0.5, 1)],
)
def test_scaled_rounds_up_once(value: int, ratio: float, expected: int) -> None:
    assert Count(value).scaled(ratio, ratio, ratio, "calibrated") == expected


@given(counts(), st.floats(0.5, 1), st.floats(1, 1.5), st.floats(1.5, 2), st.sampled_from(BASES))
def test_scaled_keeps_the_weaker_basis_and_an_interval(
    count: Count, low: float, ratio: float, high: float, basis: str
) -> None:
    scaled = count.scaled(ratio, low, high, basis)  # type: ignore[arg-type]
    assert scaled.low <= scaled <= scaled.high
    assert scaled.low <= count.low
    assert scaled.high >= count.high
    assert scaled.basis == weakest(count.basis, basis)  # type: ignore[arg-type]
    assert scaled.note == count.note


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys; before = set(sys.modules); import brim.tokens.count, brim.tokens.calibrate;"
    code += "print(sorted({'json', 'logging', 'pathlib'} & (set(sys.modules) - before)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=_env()
    )
    assert done.stdout.strip() == "[]"


def _env() -> dict[str, str]:
    import brim

    return {"PYTHONPATH": str(brim.__path__[0]).removesuffix("brim")}
